"""One run: its policy, its batches, its end.

The loop, per batch: ask problems, sample groups under the published weights, turn rewards into
per-token advantages and weights, take the batch's optimizer updates, publish. It knows no
algorithm; `swarm.learn.recipe` and the loss settings do.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from swarm import seeds
from swarm.config.train import TrainConfig
from swarm.dataflow.difficulty import SignalByLevel
from swarm.dataflow.drawing import NOTHING, Drawn, draw_batch
from swarm.dataflow.prompts import allowed_levels, batch_problems
from swarm.dataflow.rollout import roll_out
from swarm.dataflow.supervised import supervised_batch
from swarm.disk.folder import ADAPTER, DIVERGED, RunResult, RunStatus, RunWriter
from swarm.disk.ownership import Ownership
from swarm.disk.run_config import write_config
from swarm.disk.trees import save_trees
from swarm.engine.torch_engine import TorchEngine
from swarm.errors import Interrupted, RewardFailed, WriteFailed
from swarm.learn.learner import Diverged, Learner, UpdateMetrics
from swarm.learn.recipe import REFERENCE, Recipe
from swarm.policy import checkpoint
from swarm.policy.adapters import export, started
from swarm.policy.base_model import Base
from swarm.records import Group, TokenTree
from swarm.tasks import Task
from swarm.train import metrics
from swarm.train.drift import kl_to_reference
from swarm.train.eval_sets import Ready, check_sets
from swarm.train.evaluate import answers_of
from swarm.train.fingerprint import attempt_fingerprint, told
from swarm.train.proof import load_proven
from swarm.train.raised import OnAlarm, Watch
from swarm.train.resume import Beginning, check_owner, write_place
from swarm.train.samples import readable
from swarm.train.set_figures import of_set
from swarm.train.stretches import write_conditions

OnStep = Callable[[int, Mapping[str, float]], None]


class Run:
    """The state of a run: `step` batches are done after `wall` training seconds."""

    def __init__(
        self,
        config: TrainConfig,
        task: Task,
        sets: Sequence[Ready],
        ownership: Ownership,
        beginning: Beginning,
        on_step: OnStep | None,
        on_alarm: OnAlarm | None,
    ) -> None:
        self.config = config
        self.ownership = ownership
        self.folder = ownership.folder
        self.beginning = beginning
        self.storage = beginning.storage
        self.on_step = on_step or (lambda step, values: None)
        self.task = task
        self.base: Base = load_proven(config.model, config.device)
        task.check(self.base.tokenizer, config, self.base.limit)
        seed = seeds.derive(config.seed, "policy")
        self.policy = started(self.base.host, config.policy, config.optim, seed)
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
        bootstraps = config.algorithm.value.truncation == "bootstrap"
        longest = self.base.limit.tokens - bootstraps  # it reads V one token past a cut-off row
        self.engine = TorchEngine(self.base.host, self.base.stop_tokens, longest=longest)
        self.engine.check_budget(config.sampling.max_tokens)
        self.sets = sets
        check_sets(sets, task, self.base.tokenizer, config, self.base.limit)
        self.signal = SignalByLevel()
        self.writer = RunWriter(self.folder)
        self.watch = Watch(config, self.writer, on_alarm)
        self.exact = True
        self.step = 0
        self._saved: int | None = None
        self._wall = 0.0
        self._since = time.monotonic()

    @property
    def wall(self) -> float:
        return self._wall + time.monotonic() - self._since

    def to_its_end(self, stop: Callable[[], str | None]) -> RunResult:
        """Begin, take every batch, seal the folder. Raises Interrupted where `stop` names a
        signal."""
        write_config(self.config, self.folder)
        write_place(self.storage, self.folder, self.beginning.conditions.run)
        try:
            self._start(self.beginning.step)
            while self.step < self.config.steps:
                if asked := stop():
                    self.interrupt(asked)
                self.one_batch()
        except Diverged as cause:
            return self.diverged(cause)
        except RewardFailed as cause:
            self.writer.event("failed", step=self.step, cause=str(cause))
            raise
        return self.finish("finished")

    def _start(self, found: int | None) -> None:
        """Warm up and evaluate, or load the checkpoint of step `found`."""
        for kind, detail in self.beginning.events:
            self.writer.event(kind, **detail)
        self._note_conditions(found or 0)
        if found is not None:
            state = checkpoint.load(self.storage, found, self.policy)
            self.step, self._wall = state.step, state.wall
            self.signal = SignalByLevel.from_json(state.signal)
            self._since = time.monotonic()
            self._saved = found
            self.watch.go_on()
            self.writer.event("resumed", step=self.step)
            return
        self.writer.event("started", digest=self.config.digest(), **self._adapted())
        self._warm_up()
        self.policy.snapshot()
        self._record(0, self._evaluate())

    def _adapted(self) -> dict[str, Any]:
        """What share of the blocks' weights has an adapter, in all and by kind."""
        if not self.policy.pairs:
            return {}
        return {"adapted": self.base.host.coverage(self.config.policy.targets).to_json()}

    def _note_conditions(self, step: int) -> None:
        """Keep what the run is trained under from `step` on, and say where that has changed."""
        now = attempt_fingerprint(self.config, str(self.base.device))
        conditions, changed = self.beginning.conditions.then(step, now)
        write_conditions(conditions, self.folder)
        self.exact = conditions.exact
        if changed:
            self.writer.event("inexact", step=step, text=told(changed), changed=changed)

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
        if self.step % config.checkpoint_every == 0 or self.step == config.steps:
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
        config, folder = self.config, self.folder / ADAPTER
        export(self.policy, config.model, config.policy, folder, self.base.tokenizer)
        self.ownership.check()
        result = RunResult(status, self.step, round(self.wall, 3), cause, self.exact)
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
            ends=self.base.ends,
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
        tokenizer, end, seed = self.base.tokenizer, self.base.ends.written, self.config.seed
        return supervised_batch(self.task, levels, tokenizer, end, rows, seed, number)

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
        self.policy.begin_phase()

    def _evaluate(self) -> dict[str, float]:
        """Sampled answers to the prompts of every set; the same draws for every run, so runs differ
        by their weights alone. The first set's figures are those of `eval/acc` and the like."""
        began = time.monotonic()
        values: dict[str, float] = {}
        for index, each in enumerate(self.sets):
            groups = answers_of(
                each,
                self.engine,
                self.base,
                self.config.sampling.max_tokens,
                version=self.policy.version,
                slot=self.policy.adapter,
            )
            if index == 0:
                values |= metrics.of_evaluation(groups)
                if each.temperature:  # of what is not sampled there is no KL
                    values |= kl_to_reference(groups, self.policy, self.learner, each.temperature)
            if each.title:
                values |= of_set(each.title, groups, each.k)
        values["time/eval"] = time.monotonic() - began
        return values

    def _record(self, step: int, values: dict[str, float]) -> None:
        self.ownership.check()
        self.writer.metrics(step, self.wall, values)
        self.on_step(step, values)
        self.watch.look(step, values)

    def _checkpoint(self) -> None:
        self.ownership.check()
        check_owner(self.storage, self.folder, self.beginning.conditions.run)
        state = checkpoint.RunState(self.step, self.wall, self.signal.to_json())
        try:
            checkpoint.save(self.storage, self.policy, state)
        except OSError as error:
            step = "put that right, then go on with --resume: what was saved is kept"
            raise WriteFailed(f"checkpoints in {self.storage.address}", error, step) from error
        self._saved = self.step
        self.writer.event("checkpoint", step=self.step)
