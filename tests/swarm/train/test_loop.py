"""Whole runs on the `tiny` model."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from support.tiny_runs import Killed, assert_same_run, kill_at, rows, same_weights, small, weights

from swarm import tasks
from swarm.disk.folder import (
    CHECKPOINTS,
    EVENTS,
    ROLLOUTS,
    check_seal,
    read_result,
    read_rows,
    read_series,
)
from swarm.disk.run_config import read_config
from swarm.errors import ModelUnavailable, Refusal
from swarm.tasks import Problem
from swarm.tasks.strings import Reverse
from swarm.train.loop import train

pytestmark = pytest.mark.usefixtures("tiny_model")


class TestAFinishedRun:
    @pytest.fixture(scope="class")
    @staticmethod
    def run(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Path:
        folder = tmp_path_factory.mktemp("runs") / "finished"
        result = train(small(), folder)
        assert (result.status, result.steps, result.cause) == ("finished", 6, "")
        return folder

    def test_its_folder_is_sealed_and_describes_itself(self, run: Path) -> None:
        assert check_seal(run) == []
        assert read_config(run) == small()
        result = read_result(run)
        assert result is not None
        assert result.status == "finished"

    def test_every_step_has_one_row_and_evaluations_fall_on_their_steps(self, run: Path) -> None:
        assert [row["step"] for row in rows(run)] == list(range(7))
        assert [step for step, _, _ in read_series(run, "eval/acc")] == [0, 3, 6]
        assert [step for step, _, _ in read_series(run, "reward/mean")] == list(range(1, 7))

    def test_wall_seconds_only_grow(self, run: Path) -> None:
        walls = [wall for _, wall, _ in read_series(run, "reward/mean")]
        assert walls == sorted(walls)

    def test_the_policy_starts_as_its_reference(self, run: Path) -> None:
        """KL 0 but for decode against re-prefill; then it moves."""
        kl = [value for _, _, value in read_series(run, "policy/kl_ref")]
        assert abs(kl[0]) < 1e-6
        assert kl[-1] > 1e-4

    def test_one_update_per_batch_has_ratio_one_and_never_clips(self, run: Path) -> None:
        for row in rows(run)[1:]:
            assert row["policy/ratio_max"] == pytest.approx(1, abs=1e-4)
            assert row["policy/clip_frac"] == row["staleness/mean"] == 0
            assert row["mismatch/kl"] < 1e-9

    def test_readable_samples_are_kept(self, run: Path) -> None:
        samples = list(read_rows(run / ROLLOUTS))
        assert [row["step"] for row in samples] == [s for s in range(1, 7) for _ in range(4)]
        for row in samples:
            assert row["answer"] == row["prompt"][2:-1][::-1]
            assert row["correct"] == (row["completion"] == row["answer"])
            assert row["reward"] == float(row["correct"])

    def test_a_rerun_is_equal_to_the_bit_and_another_seed_is_not(
        self, run: Path, tmp_path: Path
    ) -> None:
        train(small(), tmp_path / "again")
        assert_same_run(tmp_path / "again", run)
        train(small(seed=1), tmp_path / "other")
        assert not same_weights(tmp_path / "other", run)
        # Evaluation asks and draws the same in every run: before training all runs are equal.
        assert rows(tmp_path / "other")[0]["eval/acc"] == rows(run)[0]["eval/acc"]

    def test_a_folder_that_holds_a_run_is_not_overwritten(self, run: Path) -> None:
        with pytest.raises(Refusal, match="holds a run already"):
            train(small(), run)
        assert check_seal(run) == []


class TestTemperature:
    def test_without_an_update_the_ratio_is_one_at_any_temperature(self, tmp_path: Path) -> None:
        train(small(steps=1, sampling__temperature=0.6), tmp_path)
        row = rows(tmp_path)[1]
        assert row["policy/ratio_max"] == pytest.approx(1, abs=1e-4)
        assert row["mismatch/kl"] < 1e-9

    def test_evaluation_is_not_at_the_training_temperature(self, tmp_path: Path) -> None:
        """Neither its answers nor the KL measured on them."""
        for t in (0.6, 1.0):
            train(small(steps=1, sampling__temperature=t), tmp_path / str(t))
        cold, warm = (rows(tmp_path / str(t))[0] for t in (0.6, 1.0))
        assert cold == warm
        assert abs(cold["policy/kl_ref"]) < 1e-6


class NoReward(Reverse):
    """Reversing, of which nothing can be scored."""

    def reward(self, name: str, problem: Problem, completion: str) -> float | None:
        return None


class SomeRewards(Reverse):
    """Reversing, of which about every other answer cannot be scored."""

    def reward(self, name: str, problem: Problem, completion: str) -> float | None:
        return None if sum(map(ord, completion)) % 2 else super().reward(name, problem, completion)


class NotANumber(Reverse):
    """Reversing, by a judge that breaks on answers that hold a `q`."""

    def reward(self, name: str, problem: Problem, completion: str) -> float:
        return math.nan if "q" in completion else super().reward(name, problem, completion)


@pytest.fixture
def family(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The family that `reverse` stands for in a test."""
    monkeypatch.setattr(tasks, "FAMILIES", {"reverse": request.param()})


class TestGroupsWithoutSignal:
    def test_dropped_groups_are_counted(self, tmp_path: Path) -> None:
        train(small(data__group_filter="mixed_rewards"), tmp_path)
        for row in rows(tmp_path)[1:]:
            assert row["data/groups_dropped"] == 4 * row["reward/zero_std_frac"]

    def test_a_batch_without_signal_takes_no_step_and_the_run_goes_on(self, tmp_path: Path) -> None:
        """Strings of 20 letters are beyond the model, so every reward is 0; with a filter nothing
        is left to train on, without one the advantages are exactly 0."""
        hard = {"task__args__min": 20, "task__args__max": 20, "steps": 2}
        filtered, unfiltered = tmp_path / "filtered", tmp_path / "unfiltered"
        assert train(small(data__group_filter="mixed_rewards", **hard), filtered).steps == 2
        train(small(**hard), unfiltered)
        assert [row["data/groups_dropped"] for row in rows(filtered)[1:]] == [4, 4]
        assert [row["tokens/trained"] for row in rows(filtered)[1:]] == [0, 0]
        assert [row["optim/grad_norm"] for row in rows(unfiltered)[1:]] == [0, 0]
        for folder in (filtered, unfiltered):
            for name, tensor in weights(folder).items():
                assert not tensor.any() or "lora_A" in name

    @pytest.mark.parametrize("family", [NoReward], indirect=True)
    def test_a_batch_in_which_nothing_was_scored(self, family: None, tmp_path: Path) -> None:
        assert train(small(steps=2), tmp_path).status == "finished"
        for row in rows(tmp_path)[1:]:
            assert row["data/groups_dropped"] == 4
            assert math.isnan(row["reward/mean"])

    @pytest.mark.parametrize("family", [SomeRewards], indirect=True)
    @pytest.mark.parametrize("name", ["default", "grpo", "rloo", "reinforce_pp"])
    def test_unscored_answers_are_not_trained(
        self, family: None, name: str, tmp_path: Path
    ) -> None:
        train(small(steps=2, algorithm__name=name), tmp_path)
        for row in rows(tmp_path)[1:]:
            assert 0 < row["tokens/trained"] < row["tokens/completion"]
            assert math.isfinite(row["optim/grad_norm"])


class TestDivergence:
    def assert_diverged(self, folder: Path) -> None:
        result = read_result(folder)
        assert result is not None
        assert result.status == "diverged"
        assert "gradient norm is nan" in result.cause
        assert check_seal(folder) == []
        events = [row["kind"] for row in read_rows(folder / EVENTS)]
        assert events[-2:] == ["diverged", "ended"]

    def test_a_huge_learning_rate(self, tmp_path: Path) -> None:
        assert train(small(optim__lr=1e30), tmp_path).status == "diverged"
        self.assert_diverged(tmp_path)

    @pytest.mark.parametrize("family", [NotANumber], indirect=True)
    def test_a_reward_that_is_not_a_number(self, family: None, tmp_path: Path) -> None:
        """The weights are those before the update that failed."""
        result = train(small(steps=40, optim__lr=1e-4), tmp_path)
        assert result.status == "diverged"
        self.assert_diverged(tmp_path)
        assert all(torch.isfinite(tensor).all() for tensor in weights(tmp_path).values())
        assert [row["step"] for row in rows(tmp_path)] == list(range(result.steps + 1))

    def test_while_warming_up(self, tmp_path: Path) -> None:
        config = small(policy__kind="full", warmup__steps=4, warmup__lr=1e30)
        assert train(config, tmp_path).steps == 0
        self.assert_diverged(tmp_path)


class TestWarmUp:
    def test_it_teaches_before_the_first_evaluation(self, tmp_path: Path) -> None:
        """The reference is the policy after it."""
        for steps in (0, 20):
            config = small(steps=1, warmup__steps=steps, evaluation__prompts=128)
            train(config, tmp_path / str(steps))
        without, with_it = (rows(tmp_path / s)[0] for s in ("0", "20"))
        assert with_it["eval/acc"] > without["eval/acc"] + 0.1
        assert abs(with_it["policy/kl_ref"]) < 1e-6


class TestOffPolicyUpdates:
    def test_the_ratio_moves_within_a_batch_and_the_clip_binds(self, tmp_path: Path) -> None:
        train(small(steps=1, batch__epochs=4, batch__minibatches=2), tmp_path)
        for row in rows(tmp_path)[1:]:
            assert row["policy/ratio_max"] > 1.2
            assert row["policy/clip_frac"] > 0
            assert row["tokens/trained"] == 4 * row["tokens/completion"]
            # Measured at the first update, before the policy moves.
            assert row["mismatch/kl"] < 1e-9


class TestRefusals:
    """Before anything is written."""

    @pytest.mark.parametrize(
        ("values", "named"),
        [
            ({"task__ref": "revers"}, r"task\.ref: 'revers'"),
            ({"task__reward": "praise"}, r"task\.reward: 'praise' is unknown; known: exact"),
            ({"task__args__max": 2}, r"task\.args: min 3 and max 2"),
            ({"task__args__min": 1, "task__args__max": 1}, r"evaluation\.prompts: 16"),
        ],
    )
    def test_a_task_that_cannot_be_had(self, values: dict, named: str, tmp_path: Path) -> None:
        with pytest.raises(Refusal, match=named):
            train(small(**values), tmp_path / "run")
        assert not (tmp_path / "run").exists()

    def test_a_model_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(ModelUnavailable, match=r"model\.ref: 'nowhere' is not a model name"):
            train(small(model__ref="nowhere"), tmp_path / "run")
        assert not (tmp_path / "run").exists()


def test_a_model_folder_can_be_trained(random_llama_folder: Path, tmp_path: Path) -> None:
    config = small(steps=1, model__ref=str(random_llama_folder), task__reward="partial")
    assert train(config, tmp_path / "run").status == "finished"


def test_checkpoints_are_counted_and_the_last_step_has_one(tmp_path: Path) -> None:
    train(small(steps=5, checkpoint_every=2), tmp_path)
    kept = sorted(path.name for path in (tmp_path / CHECKPOINTS).iterdir())
    assert kept == ["step-000004", "step-000005"]


def test_an_exception_leaves_an_unsealed_folder(tmp_path: Path) -> None:
    with pytest.raises(Killed):
        train(small(), tmp_path, on_step=kill_at(2))
    assert read_result(tmp_path) is None
    assert [damage.problem for damage in check_seal(tmp_path)] == ["unsealed"]
    assert np.isfinite([row["reward/mean"] for row in rows(tmp_path)[1:]]).all()
