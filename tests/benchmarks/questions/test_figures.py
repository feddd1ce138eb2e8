"""The last line, and what the result file shows of each set."""

from benchmarks.questions.check import Outcome, Verdict
from benchmarks.questions.entries import Entry
from benchmarks.questions.figures import Judged, figures, outcomes


def judged(*found: Outcome) -> Judged:
    return [
        (Entry(topic=f"topic {n}", answer="plan"), Verdict(outcome))
        for n, outcome in enumerate(found)
    ]


SETS = {"open": judged("right", "silent", "needless"), "blind": judged("right", "noted")}


def test_the_figures_are_those_of_all_sets() -> None:
    assert figures(SETS) == {
        "topics": 5,
        "topics_right": 0.4,
        "topics_silently_wrong": 1,
        "refused_needlessly": 1,
        "crashed": 0,
        "by_set": {
            "open": {"topics": 3, "right": 1, "silent": 1, "needless": 1},
            "blind": {"topics": 2, "right": 1, "noted": 1},
        },
    }


def test_topics_of_the_blind_set_are_not_in_the_file() -> None:
    found = outcomes(SETS)
    assert found["open"] == {"topic 0": "right", "topic 1": "silent", "topic 2": "needless"}
    assert found["blind"] == {"001": "right", "002": "noted"}
