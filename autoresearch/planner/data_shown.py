"""The user's own data in a plan, as who approves it sees them: how many rows, and their sha256."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from autoresearch.study.plan import Plan
from swarm import tasks
from swarm.config.train import TrainConfig
from swarm.tasks.mixed import Mixture
from swarm.tasks.own import OwnTask
from swarm.train.eval_sets import load_training


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
    return (len(task.train), len(task.held_out)) if isinstance(task, OwnTask) else (0, 0)
