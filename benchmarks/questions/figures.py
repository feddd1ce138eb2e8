"""Verdicts in sum: the last line, and the result file."""

from collections import Counter
from collections.abc import Mapping, Sequence

from benchmarks.questions.check import Verdict
from benchmarks.questions.entries import Entry

Judged = Sequence[tuple[Entry, Verdict]]


def counted(found: Judged) -> dict[str, int]:
    """Topics by outcome."""
    return dict(Counter(verdict.outcome for _, verdict in found).most_common())


def figures(judged: Mapping[str, Judged]) -> dict[str, object]:
    """What the last line says."""
    total = [each for found in judged.values() for each in found]
    counts = counted(total)
    return {
        "topics": len(total),
        "topics_right": round(counts.get("right", 0) / max(len(total), 1), 4),
        "topics_silently_wrong": counts.get("silent", 0),
        "refused_needlessly": counts.get("needless", 0),
        "crashed": counts.get("crashed", 0),
        "by_set": {name: {"topics": len(f)} | counted(f) for name, f in judged.items()},
    }


def outcomes(judged: Mapping[str, Judged]) -> dict[str, object]:
    """The result file: the figures, and each topic's outcome; topics of the blind set by number."""
    return figures(judged) | {
        name: {
            f"{number:03}" if name == "blind" else entry.topic: verdict.outcome
            for number, (entry, verdict) in enumerate(found, 1)
        }
        for name, found in judged.items()
    }
