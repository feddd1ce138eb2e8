"""What one evaluation of a set comes to: avg@k, pass@j and the length of answers."""

import math
from collections.abc import Iterator, Sequence

from swarm.records import Group
from swarm.train.metric_table import names_of_set, passes
from swarm.train.metrics import lengths_of, mean

#: (answers that were judged, those of them that are right) of one prompt.
Judged = tuple[int, int]


def judged(groups: Sequence[Group]) -> list[Judged]:
    """The prompts with an answer that was judged, in order. The others are in no figure."""
    flags = [[e.correct for e in g.episodes if e.correct is not None] for g in groups]
    return [(len(each), sum(each)) for each in flags if each]


def shares_right(found: Sequence[Judged]) -> list[float]:
    """The share of its answers that is right, a prompt: avg@k is their mean."""
    return [right / n for n, right in found]


def pass_at(j: int, n: int, right: int) -> float:
    """The chance that one of `j` answers is right, by `n` of which `right` are: the unbiased
    estimator of Chen et al. 2021 (arXiv:2107.03374, eq. 1). Needs n >= j."""
    return 1.0 - math.comb(n - right, j) / math.comb(n, j)


def passes_at(j: int, found: Sequence[Judged]) -> list[float]:
    """`pass_at` of the prompts with at least `j` judged answers."""
    return [pass_at(j, n, right) for n, right in found if n >= j]


def figures(found: Sequence[Judged], k: int) -> Iterator[tuple[list[float], float]]:
    """For avg@k, then for each pass@j of k answers: a value in [0, 1] a prompt, and how many
    independent values one prompt gives at the most."""
    yield shares_right(found), float(k)
    for j in passes(k):
        yield passes_at(j, found), k / j


def of_set(title: str, groups: Sequence[Group], k: int) -> dict[str, float]:
    """The metrics of a set by name, a mean over its prompts each but for the length of answers, in
    tokens. Answers that were not judged count in no share."""
    *shares, length = names_of_set(title, k)
    means = [mean(values) for values, _ in figures(judged(groups), k)]
    episodes = [episode for group in groups for episode in group.episodes]
    lengths = lengths_of(episodes)["completions/mean_length"]
    return dict(zip(shares, means, strict=True)) | {length: lengths}
