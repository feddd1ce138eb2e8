"""What a run is evaluated on: the task's held-out prompts, or sets of their own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from swarm.config.parts import EvalSet, TaskSettings
from swarm.config.train import TrainConfig
from swarm.errors import BadTask, Refusal
from swarm.policy.base_model import Base
from swarm.tasks import Problem, Task, is_own, load
from swarm.tasks.likeness import overlap
from swarm.tasks.mixture import Mixture
from swarm.tasks.own import OwnTask, Use
from swarm.tasks.refs import OWN_REWARD, own_ref

#: The ref of the training task's own held-out prompts.
HELD_OUT = "held-out"

#: Runs are evaluated at this temperature, whatever they train at.
EVAL_TEMPERATURE = 1.0

#: Seeds of evaluation draws; the same in every run.
EVAL_SEEDS = ("evaluation",)


@dataclass(frozen=True)
class Ready:
    """Problems to evaluate on, with the task that asks and judges them. `title` is empty for the
    held-out prompts of a run without sets."""

    title: str
    task: Task
    problems: Sequence[Problem]
    k: int = 1
    temperature: float = EVAL_TEMPERATURE
    digest: str = ""

    @property
    def seed_parts(self) -> tuple[int | str, ...]:
        """Seeds that depend on the set's name alone: one set more changes no other's draws."""
        return (*EVAL_SEEDS, self.title) if self.title else EVAL_SEEDS


def load_training(config: TrainConfig) -> Task:
    """The task that a run trains on. Where sets of their own are evaluated on, and its held-out
    prompts are not, all rows of the user's train. Raises BadTask."""
    sets = config.evaluation.sets
    use: Use = "train" if sets and all(each.ref != HELD_OUT for each in sets) else "both"
    return load(config.task, use)


def load_sets(config: TrainConfig, task: Task) -> tuple[Ready, ...]:
    """What this config evaluates on, the first set first; `task` is that of `load_training`.

    Raises BadTask, naming the set, for one that cannot be used, that has fewer prompts than it is
    asked for, whose files are no longer those of its digest, or that shares prompts with the
    training rows.
    """
    if not config.evaluation.sets:
        return (Ready("", task, task.evaluation(config.evaluation.prompts)),)
    ready: list[Ready] = []
    for index, each in enumerate(config.evaluation.sets):
        try:
            found = _ready(each, config, task)
            if each.ref != HELD_OUT:
                _refuse_overlap(task, found.problems)
        except Refusal as error:
            raise _of_set(index, each, error) from error
        if found.title in [other.title for other in ready]:
            problem = f"two sets are called {found.title}"
            raise BadTask(problem, "give one another name", f"evaluation.sets.{index}.name")
        ready.append(found)
    return tuple(ready)


def with_digests(config: TrainConfig, sets: Sequence[Ready]) -> TrainConfig:
    """The config whose sets hold the digests of their files and how many prompts they have."""
    if not config.evaluation.sets:
        return config
    filled = [
        each.model_copy(update={"digest": ready.digest, "prompts": len(ready.problems)})
        for each, ready in zip(config.evaluation.sets, sets, strict=True)
    ]
    evaluation = config.evaluation.model_copy(update={"sets": tuple(filled)})
    return config.model_copy(update={"evaluation": evaluation})


def check_sets(sets: Sequence[Ready], trained: Task, base: Base, config: TrainConfig) -> None:
    """Raise Refusal for a set that this model cannot be asked."""
    plain = TrainConfig()  # nothing of a set is supervised or ordered
    unsupervised = config.model_copy(
        update={"warmup": plain.warmup, "data": plain.data, "algorithm": plain.algorithm}
    )
    for each in sets:
        if each.task is not trained:
            each.task.check(base.tokenizer, unsupervised, base.limit)


def _ready(each: EvalSet, config: TrainConfig, trained: Task) -> Ready:
    if each.ref == HELD_OUT:
        problems = trained.evaluation(each.prompts or config.evaluation.prompts)
        task = trained
    else:
        task = load(_settings(each, config.task), "eval")
        problems = task.evaluation(each.prompts or config.evaluation.prompts)
        if isinstance(task, OwnTask) and each.prompts is None:
            problems = list(task.held_out)
    if each.prompts is not None and len(problems) < each.prompts:
        raise BadTask(f"it has {len(problems)} prompts, not {each.prompts}", "ask for fewer")
    digest = "" if task is trained else task.digest
    return Ready(each.title, task, problems, each.k, each.temperature, digest)


def _settings(each: EvalSet, task: TaskSettings) -> TaskSettings:
    """A set as a task of its own. The template is the model's, and not asked of families."""
    own = own_ref(each.ref)
    reward = each.reward or (OWN_REWARD if own and own.function else task.reward)
    if not each.reward and task.reward == OWN_REWARD and not (own and own.function):
        reward = "exact"
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


def _refuse_overlap(trained: Task, problems: Sequence[Problem]) -> None:
    """Raise BadTask where evaluation prompts are among the training rows, but for form, white space
    and case."""
    found = overlap(_rows(trained), problems)
    if not found.normalised:
        return
    pairs = ", ".join(f"{evaluated} = {row}" for evaluated, row in found.examples)
    raise BadTask(
        f"{found.normalised} of its {len(problems)} prompts are trained on ({found.exact} word for "
        f"word; rows {pairs})",
        "take them out of one of the two",
    )


def _rows(task: Task) -> Iterator[Problem]:
    """The rows that a task can draw; a family makes its own, apart from those it holds out."""
    if isinstance(task, OwnTask):
        yield from task.train
    elif isinstance(task, Mixture):
        for name, source in task.sources.items():
            if task.weights[name] > 0:
                yield from _rows(source)


def _of_set(index: int, each: EvalSet, error: Refusal) -> BadTask:
    field = f"evaluation.sets.{index}"
    if error.field.startswith("task."):
        field += f".{error.field.removeprefix('task.')}"
    return BadTask(f"{each.title}: {error.problem}", error.next_step, field)
