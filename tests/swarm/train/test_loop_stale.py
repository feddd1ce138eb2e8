"""Staleness is a bound: batch t is sampled from version max(0, t - k), also for k = 0."""

from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from support.scored_groups import credited_trees
from support.tiny_runs import rows, same_weights, small

from swarm import seeds, tasks
from swarm.config.train import TrainConfig
from swarm.dataflow.prompts import batch_problems
from swarm.dataflow.rollout import roll_out
from swarm.disk.folder import ADAPTER
from swarm.engine.torch_engine import TorchEngine
from swarm.learn.learner import Learner
from swarm.policy.adapters import export
from swarm.policy.base_model import load_base
from swarm.policy.policy import Policy
from swarm.train.loop import train

pytestmark = pytest.mark.usefixtures("tiny_model")


def plain_loop(config: TrainConfig, folder: Path) -> None:
    """Ask, answer, credit, update: no snapshot, no version, no checkpoint."""
    base, task = load_base(config.model, "cpu"), tasks.load(config.task)
    host = base.host
    policy = Policy(host, config.policy, config.optim, seeds.derive(config.seed, "policy"))
    learner = Learner(host.model, policy, config.optim, config.algorithm, 1.0, config.steps)
    engine = TorchEngine(host, base.stop_tokens)
    for step in range(config.steps):
        problems = batch_problems(
            task,
            config.data,
            seed=config.seed,
            step=step,
            steps=config.steps,
            count=config.batch.prompts,
        )
        groups = roll_out(
            engine,
            base.tokenizer,
            task,
            problems,
            ends=base.ends,
            members=config.batch.group_size,
            sampling=config.sampling,
            seed_parts=(config.seed, "rollout", step),
            version=0,
            slot=policy.slot,
        )
        (trees,) = credited_trees(groups, config.algorithm, config.sampling.max_tokens, 1)
        learner.reinforce(trees)
    export(policy, config.model, config.policy, folder / ADAPTER)


def test_staleness_zero_is_plain_synchronous_training(tmp_path: Path) -> None:
    """To the bit: publication, snapshots, evaluation and checkpoints leave no trace."""
    config = small(max_staleness=0)
    train(config, tmp_path / "run")
    plain_loop(config, tmp_path / "plain")
    assert same_weights(tmp_path / "run", tmp_path / "plain")


class TestStaleness:
    @pytest.mark.parametrize("k", [1, 2, 4])
    def test_batch_t_is_sampled_from_version_t_less_k(
        self, k: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        used: list[int] = []
        swap_in = Policy.weights

        def spied(policy: Policy, version: int) -> AbstractContextManager[None]:
            used.append(version)
            return swap_in(policy, version)

        monkeypatch.setattr(Policy, "weights", spied)
        train(small(max_staleness=k, evaluation__every=6), tmp_path)
        # The reference (version 0) is swapped in once more at each of the two evaluations.
        assert used == [0, *(max(0, t - k) for t in range(6)), 0]
        stale = [row["staleness/mean"] for row in rows(tmp_path)[1:]]
        assert stale == [min(t, k) for t in range(6)]

    def test_the_ratio_leaves_one_with_the_lag(self, tmp_path: Path) -> None:
        """Sampler log-probabilities are those of the stale policy, so the ratio corrects for it."""
        train(small(max_staleness=2), tmp_path)
        ratios = [row["policy/ratio_max"] for row in rows(tmp_path)[1:]]
        assert ratios[0] == pytest.approx(1, abs=1e-4)
        assert min(ratios[1:]) > 1.01

    def test_first_batches_do_not_depend_on_the_bound(self, tmp_path: Path) -> None:
        """While no version is old enough the bound cannot act: equal to the bit, then not."""
        for k in (0, 1):
            train(small(steps=2, max_staleness=k, evaluation__every=1), tmp_path / str(k))
        fresh, stale = rows(tmp_path / "0"), rows(tmp_path / "1")
        assert fresh[:2] == stale[:2]
        assert fresh[2] != stale[2]
