"""Which tasks a plan runs on."""

from collections.abc import Sequence
from itertools import pairwise

from autoresearch.planner.reading import Reading
from autoresearch.planner.treatments import Treatment
from autoresearch.playbook import Playbook
from autoresearch.playbook.schema import ProfileSettings
from autoresearch.playbook.suggest import did_you_mean
from autoresearch.study.errors import BadInput


def sites(
    playbook: Playbook,
    profile: ProfileSettings,
    treatments: Sequence[Treatment],
    chosen: str | None,
) -> tuple[str, ...]:
    """The chosen task; else those of the profile or playbook that every treatment can act on.

    Raises BadInput for an unknown task and for one that lacks a reward under test.
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


def spoken_task(reading: Reading) -> str | None:
    """The built-in task that a topic names: `on the sort task`."""
    from swarm.tasks import names

    pairs = pairwise(reading.words)
    return next((word for word, after in pairs if after == "task" and word in names()), None)


def check_task(name: str) -> None:
    """Raise BadInput with the nearest name for what is neither a built-in nor the user's files."""
    from swarm.tasks import is_own, names

    if name in names() or is_own(name):
        return
    if "/" in name or "." in name:
        raise BadInput("task", f"{name!r} names no task", "give data.jsonl or file.py:make")
    raise BadInput("task", f"{name!r} is unknown", did_you_mean(name, names()))


def _missing(task: str, treatments: Sequence[Treatment]) -> set[str]:
    """Rewards under test that a task does not offer."""
    from swarm.tasks import rewards

    asked = {str(level) for t in treatments if t.name == "reward_shaping" for level in t.levels}
    return asked - set(rewards(task))


def _require_rewards(task: str, treatments: Sequence[Treatment]) -> None:
    missing = _missing(task, treatments)
    if missing:
        from swarm.tasks import rewards

        raise BadInput(
            "task",
            f"{task} offers no reward {', '.join(sorted(missing))}",
            f"compare {', '.join(rewards(task))}",
        )


def _first_able(treatments: Sequence[Treatment]) -> str:
    from swarm.tasks import names

    for task in names():
        if not _missing(task, treatments):
            return task
    raise BadInput("topic", "no task offers all these rewards together", "compare fewer rewards")
