"""Which tasks a plan runs on, what the user's own files fix, and how much data they hold."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from autoresearch.planner.treatments import Treatment
from autoresearch.playbook import Playbook
from autoresearch.playbook.schema import ProfileSettings
from autoresearch.study.plan import Plan
from swarm import tasks
from swarm.config.base import JsonValue
from swarm.config.parts import TaskSettings
from swarm.config.train import TrainConfig
from swarm.errors import Refusal, did_you_mean
from swarm.models import tiny
from swarm.tasks.mixed import Mixture
from swarm.tasks.own import OwnTask as Loaded
from swarm.train.eval_sets import load_training

_PROMPTS = "evaluation.prompts"


def tasks_for(
    playbook: Playbook,
    profile: ProfileSettings,
    treatments: Sequence[Treatment],
    chosen: str | None,
) -> tuple[str, ...]:
    """The chosen task; else those of the profile or playbook that every treatment can act on.

    Raises Refusal for an unknown task and for one that lacks a reward under test.
    """
    if chosen is not None:
        check_task(chosen)
        _require_rewards(chosen, treatments)
        return (chosen,)
    listed = profile.tasks or playbook.tasks
    for task in listed:
        check_task(task)
    needed = [t.factor.task for t in treatments if t.factor.task]
    if needed and not playbook.factors:
        listed = (needed[0],)
    able = tuple(task for task in listed if not _missing(task, treatments))
    return able or (_first_able(treatments),)


def check_task(name: str) -> None:
    """Raise Refusal with the nearest name for what is neither a built-in nor the user's files."""
    if name in tasks.names() or tasks.is_own(name):
        return
    if "/" in name or "." in name:
        raise Refusal("task", f"{name!r} names no task", "give rows (data.jsonl) or file.py:make")
    raise Refusal("task", f"{name!r} is unknown", did_you_mean(name, tasks.names()))


def _missing(task: str, treatments: Sequence[Treatment]) -> set[str]:
    """Rewards under test that a task does not offer."""
    asked = {str(level) for t in treatments if t.name == "reward_shaping" for level in t.levels}
    return asked - set(tasks.rewards(task))


def _require_rewards(task: str, treatments: Sequence[Treatment]) -> None:
    missing = _missing(task, treatments)
    if missing:
        raise Refusal(
            "task",
            f"{task} offers no reward {', '.join(sorted(missing))}",
            f"compare {', '.join(tasks.rewards(task))}",
        )


def _first_able(treatments: Sequence[Treatment]) -> str:
    for task in tasks.names():
        if not _missing(task, treatments):
            return task
    raise Refusal("topic", "no task offers all these rewards together", "compare fewer rewards")


@dataclass(frozen=True)
class OwnTask:
    """TrainConfig paths that the files fix, and notes for the plan."""

    settings: dict[str, JsonValue]
    notes: tuple[str, ...]


def own_task(ref: str, train: TrainConfig, chosen: Collection[str]) -> OwnTask:
    """Load the files once, before anything is registered; their digest enters the plan.

    `chosen` are the paths that the user sets. Runs the user's code. Raises Refusal naming the
    file and the row for files that no trial could use.
    """
    reward = tasks.rewards(ref)[0]
    if "task.reward" in chosen:
        reward = train.task.reward
    named = train.task.model_copy(update={"ref": ref, "reward": reward, "digest": ""})
    task = load_training(train.model_copy(update={"task": named}))
    asked = train.evaluation.prompts
    held_out = asked if train.evaluation.sets else len(task.evaluation(asked))
    settings: dict[str, JsonValue] = {"task.digest": task.digest, "task.reward": reward}
    notes = [
        f"the task is the user's own; sha256 {task.digest[:12]} is part of the plan",
        *task.notes,
    ]
    if held_out < asked:
        settings[_PROMPTS] = held_out
        notes.append(f"{held_out} held-out prompts are all there are; {asked} were planned")
    return OwnTask(settings, tuple(notes))


def with_own_data_by_arm(plan: Plan) -> Plan:
    """The plan with a digest for each arm of a task whose data depend on what is under test, such
    as an argument of the user's `make`. Raises Refusal as `own_task` does."""
    paths = frozenset().union(*(treatment.paths for treatment in plan.treatments))
    if not any(path.startswith("task.") for path in paths):
        return plan
    found = {}
    for ref in filter(tasks.is_own, plan.tasks):
        digests = {arm: load_training(_anew(c)).digest for arm, c in _by_arm(plan, ref)}
        if len(set(digests.values())) > 1:
            found[ref] = digests
    return plan.model_copy(update={"digests": found}) if found else plan


def require_usable(plan: Plan) -> None:
    """Raise Refusal for a task that cannot be had with its arguments, and where the user's files
    are no longer those that the plan was made with, or hold what some arm cannot ask of `tiny`.
    Other models are asked by their trials."""
    for ref in plan.tasks:
        loaded: list[tuple[TaskSettings, tasks.Task]] = []
        for _, config in _by_arm(plan, ref):
            if config.task not in [settings for settings, _ in loaded]:
                loaded.append((config.task, load_training(config)))
            task = next(task for settings, task in loaded if settings == config.task)
            if tasks.is_own(ref) and plan.model == tiny.NAME:
                from swarm.models.tokenizer import build_tokenizer

                task.check(build_tokenizer(), config)


def _by_arm(plan: Plan, ref: str) -> list[tuple[str, TrainConfig]]:
    return [(arm.id, plan.train_config(arm.id, ref, 0, {})) for arm in plan.arms]


def _anew(config: TrainConfig) -> TrainConfig:
    return config.model_copy(update={"task": config.task.model_copy(update={"digest": ""})})


@dataclass(frozen=True)
class Data:
    """What the arms `arms` (empty: all) train on in a task: so many `rows`, of which evaluations
    ask `held_out` others; `sha256` is over the files."""

    task: str
    arms: tuple[str, ...]
    rows: int
    held_out: int
    sha256: str

    def document(self) -> Mapping[str, Any]:
        return asdict(self)


def data_of(plan: Plan) -> tuple[Data, ...]:
    """The user's own rows that the plan trains on, by task and, where arms have other data, by
    arm. Loads them. Raises Refusal where they are no longer what was planned."""
    found = []
    for task in filter(tasks.is_own, plan.tasks):
        digests = plan.digests.get(task, {})
        by_digest: dict[str, list[str]] = {}
        for arm in plan.arms:
            by_digest.setdefault(digests.get(arm.id, ""), []).append(arm.id)
        for arms in by_digest.values():
            told = tuple(arms) if len(by_digest) > 1 else ()
            found.append(_of(task, told, plan.train_config(arms[0], task, 0, {})))
    return tuple(found)


def _of(task: str, arms: tuple[str, ...], config: TrainConfig) -> Data:
    loaded = load_training(config)
    rows, held_out = sizes(loaded)
    return Data(task, arms, rows, held_out, loaded.digest)


def sizes(task: tasks.Task) -> tuple[int, int]:
    """Rows that are trained on and rows that are held out, over all sources of a mixture."""
    if isinstance(task, Mixture):
        parts = [sizes(each) for each in task.sources.values()]
        return sum(rows for rows, _ in parts), sum(held for _, held in parts)
    return (len(task.train), len(task.held_out)) if isinstance(task, Loaded) else (0, 0)
