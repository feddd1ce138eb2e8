"""A study's trials as CSV."""

import csv
import io
from dataclasses import replace

import pytest
from support.synthetic_study import CONTROL, Shape, make_study

from autoresearch.analysis.evidence import Evidence
from autoresearch.report.trials_csv import trials_csv
from autoresearch.study.facts import StudyFacts
from autoresearch.study.home import Home


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> StudyFacts:
    return make_study(Home(tmp_path_factory.mktemp("csv")), Shape(length_hypothesis=True))


def rows(facts: StudyFacts) -> dict[str, dict[str, str]]:
    return {row["trial"]: row for row in csv.DictReader(io.StringIO(trials_csv(facts)))}


def test_every_trial_has_a_row_that_says_what_it_is_and_what_it_cost(facts: StudyFacts) -> None:
    found = rows(facts)
    assert len(found) == len(facts.trials)
    for trial in facts.trials:
        row = found[trial.spec.id]
        assert (row["phase"], row["arm"], row["seed"]) == (
            trial.spec.phase,
            trial.spec.arm,
            str(trial.spec.seed),
        )
        assert (row["status"], row["cause"]) == (trial.status, trial.cause)
        assert float(row["seconds"]) == sum(a.seconds for a in trial.attempts)
        assert row["folder"] == str(trial.folder)


def test_scores_are_the_registered_ones_and_empty_where_there_is_none(facts: StudyFacts) -> None:
    found = rows(facts)
    for phase in ("pilot", "tuning", "confirm"):
        for metric in ("eval/acc", "completions/mean_length_wrong"):
            for score in Evidence(facts).scores(phase, metric):
                cell = found[score.trial][f"score:{metric}"]
                assert cell == ("" if score.value is None else str(score.value))
    (failed,) = [row for row in found.values() if row["status"] == "failed"]
    assert (failed["arm"], failed["attempts"], failed["score:eval/acc"]) == (CONTROL, "3", "")


def test_a_trial_that_has_not_ended_has_no_folder(facts: StudyFacts) -> None:
    running = replace(facts.trials[-1], status="running")
    row = rows(replace(facts, trials=(running,)))[running.spec.id]
    assert (row["folder"], row["score:eval/acc"]) == ("", "")


def test_a_study_without_a_plan_is_an_error(facts: StudyFacts) -> None:
    with pytest.raises(ValueError, match="no plan"):
        trials_csv(replace(facts, plan=None))
