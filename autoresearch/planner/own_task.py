"""A study on the user's own rows and reward: what its plan sets, and that the files stay."""

from collections.abc import Collection
from dataclasses import dataclass

from autoresearch.study.errors import BadInput
from autoresearch.study.plan import Plan
from swarm.config import JsonValue, TaskSettings, TrainConfig
from swarm.models import tiny

_PROMPTS = "evaluation.prompts"


@dataclass(frozen=True)
class OwnTask:
    """TrainConfig paths that the files fix, and notes for the plan."""

    settings: dict[str, JsonValue]
    notes: tuple[str, ...]


def own_task(ref: str, train: TrainConfig, chosen: Collection[str]) -> OwnTask:
    """Load the files once, before anything is registered; their digest enters the plan.

    `chosen` are the paths that the user sets. Runs the user's code. Raises BadInput naming the
    file and the row for files that no trial could use.
    """
    from swarm import tasks

    reward = tasks.rewards(ref)[0]
    if "task.reward" in chosen:
        reward = train.task.reward
    try:
        task = tasks.load(TaskSettings(ref=ref, reward=reward, args=train.task.args))
    except ValueError as error:
        raise _bad_input(error) from None
    asked = train.evaluation.prompts
    held_out = len(task.evaluation(asked))
    settings: dict[str, JsonValue] = {"task.digest": task.digest, "task.reward": reward}
    notes = [f"the task is the user's own; sha256 {task.digest[:12]} is part of the plan"]
    if held_out < asked:
        settings[_PROMPTS] = held_out
        notes.append(f"{held_out} held-out prompts are all there are; {asked} were planned")
    return OwnTask(settings, tuple(notes))


def require_usable(plan: Plan) -> None:
    """Raise BadInput when the user's files are no longer those that the plan was made with, or
    when they hold what some arm cannot ask of `tiny`. Other models are asked by their trials."""
    from swarm import tasks

    for ref in filter(tasks.is_own, plan.tasks):
        configs = [plan.train_config(arm.id, ref, 0, {}) for arm in plan.arms]
        try:
            task = tasks.load(configs[0].task)
            if plan.model == tiny.NAME:
                from swarm.models.tokenizer import build_tokenizer

                for config in configs:
                    task.check(build_tokenizer(), config)
        except ValueError as error:
            raise _bad_input(error) from None


def _bad_input(error: ValueError) -> BadInput:
    from swarm.tasks import BadTask

    if isinstance(error, BadTask):
        field = "task" if error.field == "task.ref" else error.field
        return BadInput(field, error.problem, error.next_step)
    return BadInput("task", str(error), "give another value")
