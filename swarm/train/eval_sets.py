"""What a run is evaluated on: the task's held-out prompts, or sets of their own. No torch: plans
are made with it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from swarm.config.parts import HELD_OUT_REF, EvalSet, TaskSettings
from swarm.config.train import TrainConfig
from swarm.errors import BadTask, Refusal
from swarm.records import NO_LIMIT, Limit
from swarm.tasks import MIXTURE, Problem, Task, is_own, load, offers, rewards
from swarm.tasks.builtin import BuiltIn
from swarm.tasks.likeness import overlap
from swarm.tasks.mixed import Mixture
from swarm.tasks.own import OwnTask, Use
from swarm.tasks.refs import own_ref
from swarm.tasks.task_family import held_out
from swarm.train.metric_table import set_of

#: Held-out prompts are answered at this temperature, whatever a run trains at.
EVAL_TEMPERATURE = 1.0

#: Seeds of evaluation draws; the same in every run.
EVAL_SEEDS = ("evaluation",)

#: Answers of one evaluation of a set, at most: as many as rollouts of a batch.
MOST_ANSWERS = 2**20

#: Prompts of a set, at most, as of `evaluation.prompts`.
MOST_PROMPTS = 2**16


@dataclass(frozen=True)
class Ready:
    """Problems to evaluate on, with the task that asks and judges them. `title` is empty for the
    held-out prompts of a run without sets; `reward` is what judges, where that can be chosen."""

    title: str
    task: Task
    problems: Sequence[Problem]
    k: int = 1
    temperature: float = EVAL_TEMPERATURE
    digest: str = ""
    reward: str = ""

    @property
    def seed_parts(self) -> tuple[int | str, ...]:
        """Seeds that depend on the set's name alone: one set more changes no other's draws."""
        return (*EVAL_SEEDS, self.title) if self.title else EVAL_SEEDS

    @property
    def notes(self) -> tuple[str, ...]:
        """How the rows of a set of their own are read."""
        return tuple(f"{self.title}: {note}" for note in self.task.notes) if self.title else ()


def load_training(config: TrainConfig) -> Task:
    """The task that a run trains on. Where sets of their own are evaluated on, and its held-out
    prompts are not, all rows of the user's train. Raises BadTask."""
    sets = config.evaluation.sets
    use: Use = "train" if sets and all(each.ref != HELD_OUT_REF for each in sets) else "both"
    return load(config.task, use)


def load_sets(config: TrainConfig, task: Task) -> tuple[Ready, ...]:
    """What this config evaluates on, the first set first; `task` is that of `load_training`.

    Raises BadTask, naming the set, for one that cannot be used or judged, that has fewer prompts
    than it is asked for, whose files are no longer those of its digest, or that shares prompts with
    the training rows.
    """
    if not config.evaluation.sets:
        return (Ready("", task, task.evaluation(config.evaluation.prompts)),)
    ready: list[Ready] = []
    for index, each in enumerate(config.evaluation.sets):
        at = f"evaluation.sets.{index}"
        _refuse_kind(at, each, config.task)
        try:
            found = _ready(each, config, task)
        except Refusal as error:
            raise _of_set(at, each, error) from error
        _refuse_sizes(at, each, len(found.problems))
        if each.ref != HELD_OUT_REF:
            _refuse_overlap(at, each, task, found.problems)
        ready.append(found)
    return tuple(ready)


def with_digests(config: TrainConfig, sets: Sequence[Ready]) -> TrainConfig:
    """The config whose sets say all that was left open: their names, how many prompts they have,
    what judges them, the digests of their files. Runs that train on other rewards are then judged
    alike."""
    if not config.evaluation.sets:
        return config
    filled = [
        each.model_copy(
            update={
                "name": each.title,
                "digest": ready.digest,
                "prompts": len(ready.problems),
                "reward": ready.reward,
            }
        )
        for each, ready in zip(config.evaluation.sets, sets, strict=True)
    ]
    evaluation = config.evaluation.model_copy(update={"sets": tuple(filled)})
    return config.model_copy(update={"evaluation": evaluation})


def answers_of_sets(config: TrainConfig) -> int:
    """Answers of one evaluation: prompts times k, over the sets. A set that does not say how many
    prompts it has counts as `evaluation.prompts`."""
    prompts, sets = config.evaluation.prompts, config.evaluation.sets
    return sum((each.prompts or prompts) * each.k for each in sets) if sets else prompts


def check_sets(
    sets: Sequence[Ready],
    trained: Task,
    tokenizer: Any,
    config: TrainConfig,
    limit: Limit = NO_LIMIT,
) -> None:
    """Raise Refusal for a set that a model with this tokenizer cannot be asked."""
    plain = TrainConfig()  # nothing of a set is supervised or ordered
    unsupervised = config.model_copy(
        update={"warmup": plain.warmup, "data": plain.data, "algorithm": plain.algorithm}
    )
    for index, each in enumerate(sets):
        if each.task is trained:
            continue
        try:
            each.task.check(tokenizer, unsupervised, limit)
        except Refusal as error:
            at = f"evaluation.sets.{index}"
            raise _of_set(at, config.evaluation.sets[index], error) from error


def judged_as(config: TrainConfig, metric: str = "eval/acc") -> TaskSettings:
    """The task whose right answers a metric counts: of its set, else of the first."""
    sets, named = config.evaluation.sets, set_of(metric)
    found = next((each for each in sets if each.title == named), next(iter(sets), None))
    if found is None:
        return config.task
    if found.ref == HELD_OUT_REF:
        reward = found.reward or config.task.reward
        return config.task.model_copy(update={"reward": reward})
    return _settings(found, config.task)


def _ready(each: EvalSet, config: TrainConfig, trained: Task) -> Ready:
    asked = each.prompts or config.evaluation.prompts
    if each.ref == HELD_OUT_REF:
        return _held_out(each, config.task, trained, asked)
    settings = _settings(each, config.task)
    task = load(settings, "eval")
    if isinstance(task, BuiltIn) and each.prompts is None:
        problems = list[Problem](held_out(task.family, asked, task.levels))
    elif isinstance(task, OwnTask) and each.prompts is None:
        problems = list(task.held_out)
    else:
        problems = task.evaluation(asked)
    return Ready(each.title, task, problems, each.k, each.temperature, task.digest, settings.reward)


def _held_out(each: EvalSet, task: TaskSettings, trained: Task, asked: int) -> Ready:
    """The training task's own held-out prompts; of rows, what judges them can be chosen."""
    reward = each.reward or (task.reward if is_rows(task.ref) else "")
    asking = trained
    if reward not in ("", task.reward):
        asking = load(task.model_copy(update={"reward": reward, "digest": ""}))
    problems = asking.evaluation(asked)
    return Ready(each.title, asking, problems, each.k, each.temperature, "", reward)


def is_rows(ref: str) -> bool:
    """Whether a ref names rows alone, whose judge is chosen by `reward`."""
    own = own_ref(ref)
    return own is not None and own.function is None


def _settings(each: EvalSet, task: TaskSettings) -> TaskSettings:
    """A set as a task of its own. The template is the model's, and not asked of families."""
    reward = each.reward
    if not reward:
        reward = task.reward if offers(each.ref, task.reward) else rewards(each.ref)[0]
    return TaskSettings(
        ref=each.ref,
        reward=reward,
        args=each.args,
        columns=each.columns,
        split=each.split,
        digest=each.digest,
        template=task.template if is_own(each.ref) else {},
        time_limit=task.time_limit,
    )


def _refuse_kind(at: str, each: EvalSet, task: TaskSettings) -> None:
    """Raise BadTask for what is no set, and for a judge that cannot be chosen."""
    if each.ref == MIXTURE:
        problem = "it is a mixture, and a set is of one source"
        raise BadTask(f"{each.title}: {problem}", "name each source as a set", f"{at}.ref")
    if each.ref == HELD_OUT_REF and each.reward and not is_rows(task.ref):
        problem = f"{task.ref} judges its prompts itself"
        raise BadTask(f"{each.title}: {problem}", "leave it out", f"{at}.reward")


def _refuse_sizes(at: str, each: EvalSet, found: int) -> None:
    """Raise BadTask for more prompts than there are, and for more answers than fit."""
    if each.prompts is not None and found < each.prompts:
        problem = f"it has {found} prompts, not {each.prompts}"
        raise BadTask(f"{each.title}: {problem}", "ask for fewer", f"{at}.prompts")
    if found > MOST_PROMPTS:
        problem = f"it has {found:,} prompts, and an evaluation takes at most {MOST_PROMPTS:,}"
        raise BadTask(f"{each.title}: {problem}", "say how many of them", f"{at}.prompts")
    if found * each.k > MOST_ANSWERS:
        problem = f"{each.k} answers to each of {found:,} prompts are more than {MOST_ANSWERS:,}"
        step = "ask for a smaller k or fewer prompts"
        raise BadTask(f"{each.title}: {problem}", step, f"{at}.k")


def _refuse_overlap(at: str, each: EvalSet, trained: Task, problems: Sequence[Problem]) -> None:
    """Raise BadTask where evaluation prompts are among the training rows, but for form, white space
    and case."""
    for source, rows in _rows(trained):
        found = overlap(rows, problems)
        if found.normalised:
            of_source = f" of {source}" if source else ""
            pairs = ", ".join(
                f"its row {evaluated} is training row {row}{of_source}"
                for evaluated, row in found.examples
            )
            raise BadTask(
                f"{each.title}: {found.normalised} of its {len(problems)} prompts are trained on "
                f"({found.exact} word for word: {pairs})",
                "take them out of one of the two",
                at,
            )


def _rows(task: Task, source: str = "") -> Iterator[tuple[str, Sequence[Problem]]]:
    """The rows that a task can draw, by source in a mixture; a family makes its own, apart from
    those it holds out."""
    if isinstance(task, OwnTask):
        yield source, task.train
    elif isinstance(task, Mixture):
        for name, inner in task.sources.items():
            if task.weights[name] > 0:
                yield from _rows(inner, name)


def _of_set(at: str, each: EvalSet, error: Refusal) -> BadTask:
    """What is wrong with a set as a task, where the user set it."""
    part = error.field.rpartition(".")[2] if error.field.startswith("evaluation.") else error.field
    part = part.removeprefix("task").removeprefix(".")
    if part.partition(".")[0] in EvalSet.model_fields:
        where = f"{at}.{part}"
    else:
        where = error.field if part else at
    own = "|".join(EvalSet.model_fields)
    step = re.sub(rf"\btask\.(?=(?:{own})\b)", f"{at}.", error.next_step)
    return BadTask(f"{each.title}: {error.problem}", step, where)
