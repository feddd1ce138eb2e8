"""A difficulty sampler: ask more of the levels whose answers are not all right or all wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

from swarm.records import Group

#: The factor by which the weight of a batch shrinks with each later batch.
KEEP = 0.9

#: Share of prompts that are spread evenly over all levels, so that each is still measured.
EXPLORE = 0.1


@dataclass
class SignalByLevel:
    """Discounted means, by level, of the variance of rewards within a group.

    Where rewards are 0 or 1 that is p (1 - p) in expectation, up to a constant: what a policy
    gradient with a group baseline scales with, largest at p = 1/2 (Bae et al. 2025,
    arXiv:2504.03380). It is a function of the batches observed, so a run that is resumed with it
    asks what it would have asked.
    """

    sums: dict[int, float] = field(default_factory=dict)
    counts: dict[int, float] = field(default_factory=dict)

    def observe(self, groups: Sequence[Group]) -> None:
        """Count a batch. Groups with fewer than two scored episodes say nothing."""
        for table in (self.sums, self.counts):
            for level in table:
                table[level] *= KEEP
        for group in groups:
            rewards = [e.reward for e in group.episodes if e.reward is not None]
            if len(rewards) > 1:
                self.sums[group.level] = self.sums.get(group.level, 0.0) + float(np.var(rewards))
                self.counts[group.level] = self.counts.get(group.level, 0.0) + 1.0

    def chances(self, levels: Sequence[int]) -> list[float]:
        """The probability of asking each of `levels`: in proportion to its signal, mixed with
        `EXPLORE` of the uniform law. A level not yet seen counts as the best one seen."""
        seen = {n: self.sums[n] / self.counts[n] for n in levels if self.counts.get(n)}
        best = max(seen.values(), default=0.0)
        signals = np.array([seen.get(level, best) for level in levels])
        total = float(signals.sum())
        uniform = np.full(len(levels), 1 / len(levels))
        mixed = (1 - EXPLORE) * signals / total + EXPLORE * uniform if total > 0 else uniform
        return [float(chance) for chance in mixed]

    def to_json(self) -> dict[str, dict[str, float]]:
        """All of it, as JSON keeps it exactly."""
        return {
            name: {str(level): value for level, value in table.items()}
            for name, table in asdict(self).items()
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Mapping[str, float]]) -> "SignalByLevel":
        tables = {name: {int(n): value for n, value in t.items()} for name, t in raw.items()}
        return cls(**tables)
