"""Run one `TrainConfig`, from its start or from its last checkpoint.

The loop, per batch: ask problems, sample groups under the published weights, turn rewards into
per-token advantages and weights, take the batch's optimizer updates, publish. It knows no
algorithm; `swarm.learn.recipe` and the loss settings do.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from swarm import seeds
from swarm.config.parts import SamplingSettings
from swarm.config.train import TrainConfig
from swarm.dataflow.difficulty import SignalByLevel
from swarm.dataflow.drawing import NOTHING, Drawn, draw_batch
from swarm.dataflow.prompts import allowed_levels, batch_problems
from swarm.dataflow.rollout import roll_out
from swarm.dataflow.supervised import supervised_batch
from swarm.disk.folder import ADAPTER, DIVERGED, RunResult, RunStatus, RunWriter
from swarm.disk.run_config import write_config
from swarm.disk.storage import Storage
from swarm.disk.trees import save_trees
from swarm.engine.torch_engine import TorchEngine
from swarm.errors import Interrupted, RewardFailed
from swarm.learn.learner import Diverged, Learner, UpdateMetrics
from swarm.learn.recipe import REFERENCE, Recipe
from swarm.learn.scored import scored_tree
from swarm.policy import checkpoint
from swarm.policy.adapters import export
from swarm.policy.base_model import Base, load_base
from swarm.policy.policy import Policy
from swarm.records import Group, TokenTree
from swarm.tasks import Task, load
from swarm.train import metrics
from swarm.train.evaluate import EVAL_SEEDS, EVAL_TEMPERATURE
from swarm.train.raised import OnAlarm, Watch
from swarm.train.resume import begin, write_place
from swarm.train.samples import readable

OnStep = Callable[[int, Mapping[str, float]], None]

#: Evaluation prompts on whose answers the KL to the reference is measured.
KL_PROMPTS = 128


def train(
    config: TrainConfig,
    folder: Path,
    *,
    resume_from: Path | None = None,
    checkpoints: str | None = None,
    on_step: OnStep | None = None,
    on_alarm: OnAlarm | None = None,
    stop: Callable[[], str | None] = lambda: None,
) -> RunResult:
    """Train into `folder` (see `swarm.disk.folder`), seal it, and say how it ended.

    With `resume_from`, the folder of an earlier attempt at the same config (it may be `folder`
    itself), the records up to its newest valid checkpoint are taken over and training goes on from
    there; without a valid checkpoint it starts afresh. `checkpoints` is a path or URL to keep them
    at (`swarm.disk.storage`), by default where `folder` has them. A non-finite loss or gradient
    ends the run as `diverged`, its batch saved. `on_alarm` hears once of each kind of thing that
    looks wrong (`swarm.train.alarms`), which is among the run's events too. `stop` is asked after
    every step: where it names a signal, the run is saved. Raises Interrupted then; Refusal when the
    config cannot be run, when `resume_from` had another, when `checkpoints` are those of another
    run, and when `folder` holds a run that is not resumed; RewardFailed when the user's reward
    fails.
    """
    task = load(config.task)
    config = config.with_values({"task.digest": task.digest})
    storage, found = begin(config, folder, resume_from, checkpoints)
    run = _Run(config, task, folder, storage, on_step, on_alarm)
    write_config(config, folder)
    write_place(storage, folder)
    try:
        run.start(found)
        while run.step < config.steps:
            if asked := stop():
                run.interrupt(asked)
            run.one_batch()
    except Diverged as cause:
        return run.diverged(cause)
    except RewardFailed as cause:
        run.writer.event("failed", step=run.step, cause=str(cause))
        raise
    return run.finish("finished")


class _Run:
    """The state of a run: `step` batches are done after `wall` training seconds."""

    def __init__(
        self,
        config: TrainConfig,
        task: Task,
        folder: Path,
        storage: Storage,
        on_step: OnStep | None,
        on_alarm: OnAlarm | None,
    ) -> None:
        self.config = config
        self.folder = folder
        self.storage = storage
        self.on_step = on_step or (lambda step, values: None)
        self.task = task
        self.base: Base = load_base(config.model, config.device)
        task.check(self.base.tokenizer, config)
        self.policy = Policy(
            self.base.host, config.policy, config.optim, seeds.derive(config.seed, "policy")
        )
        if config.algorithm.baseline == "value":
            lr = config.algorithm.value.head_lr
            self.policy.add_value_head(lr, seeds.derive(config.seed, "value"))
        self.learner = Learner(
            self.base.host.model,
            self.policy,
            config.optim,
            config.algorithm,
            config.sampling.temperature if config.algorithm.samples else 1.0,
            config.steps,
        )
        self.recipe = Recipe(self.learner, config.batch, config.sampling.max_tokens)
        self.engine = TorchEngine(self.base.host, self.base.stop_tokens)
        self.eval_problems = task.evaluation(config.evaluation.prompts)
        self.signal = SignalByLevel()
        self.writer = RunWriter(folder)
        self.watch = Watch(config, self.writer, on_alarm)
        self.step = 0
        self._saved: int | None = None
        self._wall = 0.0
        self._since = time.monotonic()

    @property
    def wall(self) -> float:
        return self._wall + time.monotonic() - self._since

    def start(self, found: int | None) -> None:
        """Warm up and evaluate, or load the checkpoint of step `found`."""
        if found is not None:
            state = checkpoint.load(self.storage, found, self.policy)
            self.step, self._wall = state.step, state.wall
            self.signal = SignalByLevel.from_json(state.signal)
            self._since = time.monotonic()
            self._saved = found
            self.watch.go_on()
            self.writer.event("resumed", step=self.step)
            return
        self.writer.event("started", digest=self.config.digest())
        self._warm_up()
        self.policy.snapshot()
        self._record(0, self._evaluate())

    def one_batch(self) -> None:
        """One batch, of rollouts or of demonstrations, and its optimizer updates."""
        config, began = self.config, time.monotonic()
        version = max(0, self.policy.version - config.max_staleness)
        drawn = self._draw(version) if config.algorithm.samples else NOTHING
        self.signal.observe(drawn.groups)
        rolled = time.monotonic()
        updates = self._learn(drawn.kept)
        learned = time.monotonic()
        staleness = self.policy.version - version
        self._publish()
        self.step += 1
        values = metrics.of_batch(drawn, config.data) if config.algorithm.samples else {}
        values |= metrics.of_updates(updates)
        values |= {
            "staleness/mean": float(staleness),
            "time/rollout": rolled - began,
            "time/learn": learned - rolled,
            "time/sync": time.monotonic() - learned,
        }
        tokens = metrics.token_count(drawn.groups) or sum(update.tokens for update in updates)
        values["perf/tokens_per_sec"] = tokens / (learned - began)
        if self.step % config.evaluation.every == 0 or self.step == config.steps:
            values |= self._evaluate()
        self._record(self.step, values)
        for row in readable(drawn.groups, self.step):
            self.writer.rollout(row)
        if self.step % config.checkpoint_every == 0 and self.step < config.steps:
            self._checkpoint()

    def diverged(self, cause: Diverged) -> RunResult:
        """Save the batch that could not be trained on; the weights are those before it."""
        save_trees(self.folder / DIVERGED, cause.trees, self.base.tokenizer.decode)
        why = f"{cause} on the batch in {DIVERGED}/"
        self.writer.event("diverged", step=self.step, cause=str(cause), batch=DIVERGED)
        return self.finish("diverged", why)

    def interrupt(self, signal: str) -> None:
        """Save the run as it is after its last step. Raises Interrupted."""
        if self._saved != self.step:
            self._checkpoint()
        self.writer.event("interrupted", step=self.step, signal=signal)
        raise Interrupted(signal, self.step, self.folder)

    def finish(self, status: RunStatus, cause: str = "") -> RunResult:
        """Export the weights and seal the folder."""
        self.watch.end()
        export(self.policy, self.config.model, self.config.policy, self.folder / ADAPTER)
        result = RunResult(status, self.step, round(self.wall, 3), cause)
        self.writer.event("ended", status=status, steps=self.step)
        self.writer.seal(result)
        return result

    def _draw(self, version: int) -> Drawn:
        """The batch's groups, sampled from the weights of `version`."""
        ask = partial(self._ask, version)
        with self.policy.weights(version):
            return draw_batch(ask, self.config.batch.prompts, self.config.data)

    def _ask(self, version: int, number: int, first: int, count: int) -> list[Group]:
        """Groups of the batch's problems `first` to `first + count - 1`, as its draw `number`."""
        config = self.config
        problems = batch_problems(
            self.task,
            config.data,
            seed=config.seed,
            step=self.step,
            steps=config.steps,
            count=count,
            first=first,
            signal=self.signal,
        )
        again = ("again", number) if number else ()
        return roll_out(
            self.engine,
            self.base.tokenizer,
            self.task,
            problems,
            members=config.batch.group_size,
            sampling=config.sampling,
            seed_parts=(config.seed, "rollout", self.step, *again),
            version=version,
            slot=self.policy.adapter,
        )

    def _learn(self, groups: Sequence[Group]) -> list[UpdateMetrics]:
        config = self.config
        if config.algorithm.samples:
            return self.recipe.reinforce(groups) if groups else []
        levels = allowed_levels(self.task.levels, config.data.order, self.step / config.steps)
        number = config.warmup.steps + self.step
        return self.recipe.imitate(self._demonstrations(levels, config.batch.rollouts, number))

    def _demonstrations(self, levels: tuple[int, int], rows: int, number: int) -> list[TokenTree]:
        tokenizer, seed = self.base.tokenizer, self.config.seed
        return supervised_batch(self.task, levels, tokenizer, rows, seed, number)

    def _publish(self) -> None:
        """Count the batch; freeze this version if a later batch will be sampled from it."""
        self.policy.version += 1
        if self.config.max_staleness:
            self.policy.snapshot()
            oldest = self.policy.version - self.config.max_staleness
            self.policy.forget(keep={REFERENCE, *range(oldest, self.policy.version + 1)})

    def _warm_up(self) -> None:
        warmup = self.config.warmup
        for step in range(warmup.steps):
            trees = self._demonstrations(self.task.levels, warmup.rows, step)
            self.learner.supervise(trees, warmup.lr)

    def _evaluate(self) -> dict[str, float]:
        """One sampled answer to each held-out problem; the same draws for every run, so runs
        differ by their weights alone."""
        began = time.monotonic()
        groups = roll_out(
            self.engine,
            self.base.tokenizer,
            self.task,
            self.eval_problems,
            members=1,
            sampling=SamplingSettings(
                temperature=EVAL_TEMPERATURE, max_tokens=self.config.sampling.max_tokens
            ),
            seed_parts=EVAL_SEEDS,
            version=self.policy.version,
            slot=self.policy.adapter,
        )
        values = metrics.of_evaluation(groups)
        values |= self._kl_to_reference(groups[:KL_PROMPTS])
        values["time/eval"] = time.monotonic() - began
        return values

    def _kl_to_reference(self, groups: Sequence[Group]) -> dict[str, float]:
        """Mean over evaluation tokens of log(pi/ref): an estimate of KL(pi || ref). Nothing where
        no answer was scored."""
        trees = [scored_tree(group).tree for group in groups]
        with self.policy.weights(REFERENCE):
            reference = np.concatenate(self.learner.logprobs(trees, EVAL_TEMPERATURE))
        sampled = np.concatenate([n.logprobs[n.mask] for tree in trees for n in tree.nodes])
        return {"policy/kl_ref": metrics.mean(sampled - reference)} if len(sampled) else {}

    def _record(self, step: int, values: dict[str, float]) -> None:
        self.writer.metrics(step, self.wall, values)
        self.on_step(step, values)
        self.watch.look(step, values)

    def _checkpoint(self) -> None:
        state = checkpoint.RunState(self.step, self.wall, self.signal.to_json())
        checkpoint.save(self.storage, self.policy, state)
        self._saved = self.step
        self.writer.event("checkpoint", step=self.step)
