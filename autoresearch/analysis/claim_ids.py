"""The ids of claims, as the list of claims and the report build them.

Fixed ids, such as `pilot.sd`, are written out where they are used.
"""

from collections.abc import Iterable


def under(kind: str, *names: object) -> str:
    """The id of a claim of one kind, or on one hypothesis, about what is named."""
    return ".".join((kind, *map(str, names)))


def named(kind: str, ids: Iterable[str]) -> list[str]:
    """The names in the ids of one kind, in their order: the inverse of `under`."""
    return [name.removeprefix(f"{kind}.") for name in ids if name.startswith(f"{kind}.")]


def groups(kind: str, ids: Iterable[str]) -> list[str]:
    """The first part of the names in the ids of one kind, each once."""
    return list(dict.fromkeys(name.partition(".")[0] for name in named(kind, ids)))


def arm(statistic: str, metric: str, arm: str, task: str = "") -> str:
    """`mean` or `sd` of an arm's scores, on one task where it is named."""
    at = ("task", metric, arm, task) if task else ("arm", metric, arm)
    return under(*at, statistic)


def curve(metric: str, arm: str, step: int) -> str:
    """An arm's mean at one step."""
    return under("curve", metric, arm, step)
