"""The topics themselves: enough of them, no two the same, and nothing expected that cannot be."""

import pytest

from autoresearch.catalogue import FACTORS
from benchmarks.questions.entries import HERE, Entry, Study, every_set, read_entries
from swarm.config.checked import check_path

OPEN = read_entries(HERE / "open.yaml")
STUDIES = [(entry.topic, study) for entry in OPEN for study in entry.studies]


def test_there_are_enough_topics_each_once() -> None:
    sets = every_set()
    topics = [entry.topic for entries in sets.values() for entry in entries]
    assert len(set(topics)) == len(topics) >= 150
    assert len(sets["blind"]) == 50


@pytest.mark.parametrize("entry", OPEN, ids=lambda entry: entry.topic)
def test_an_answer_can_be_judged(entry: Entry) -> None:
    assert entry.names or entry.answer == "plan"
    assert entry.answer == "refuse" or all(study.factors for study in entry.studies)
    assert entry.answer != "refuse" or not entry.factors


def test_what_is_expected_exists() -> None:
    blind = [study for entry in every_set()["blind"] for study in entry.studies]
    for study in [*(study for _, study in STUDIES), *blind]:
        _check(study)


def _check(study: Study) -> None:
    for name in study.factors:
        if name not in FACTORS and name != "task.sources":
            check_path(name, "factors")
    for path in study.held:
        check_path(path, "held")
