"""What a trial's facts follow from."""

from pathlib import Path

import pytest
from support.plans import trial_spec

from autoresearch.study.facts import ENDED, AttemptFacts, StudyFacts, TrialFacts, busy_seconds

LOST = AttemptFacts(1, Path("1"), "lost", "driver ended")
FINISHED = AttemptFacts(2, Path("2"), "finished")


@pytest.mark.parametrize("status", ["pending", "running", "finished", "diverged", "failed"])
def test_the_last_attempt_counts_once_the_trial_has_ended(status) -> None:
    trial = TrialFacts(trial_spec(1), status, (LOST, FINISHED))
    assert trial.folder == (Path("2") if status in ENDED else None)
    assert trial.cause == ""
    assert TrialFacts(trial_spec(1), status, (LOST,)).cause == "driver ended"


def test_a_trial_that_never_ran_has_neither_folder_nor_cause() -> None:
    trial = TrialFacts(trial_spec(1), "pending")
    assert (trial.folder, trial.cause) == (None, "")


def test_trials_of_a_phase_keep_their_order() -> None:
    trials = tuple(
        TrialFacts(trial_spec(seed, phase=phase), "pending")
        for seed, phase in ((1, "pilot"), (3, "confirm"), (2, "confirm"))
    )
    study = StudyFacts("s", "t", "pilot", "running", 0.0, trials=trials)
    assert [t.spec.seed for t in study.of_phase("confirm")] == [3, 2]
    assert study.of_phase("tuning") == ()


def test_busy_seconds_count_overlapping_trials_once() -> None:
    def attempt(started_at: float, seconds: float) -> TrialFacts:
        tried = AttemptFacts(1, Path(), "finished", seconds=seconds, started_at=started_at)
        return TrialFacts(trial_spec(1), "finished", (tried,))

    trials = [attempt(10, 5), attempt(12, 5), attempt(30, 2), attempt(0, 3)]
    assert busy_seconds(trials, since=0) == 3 + 7 + 2
    assert busy_seconds(trials, since=13) == 4 + 2
    assert busy_seconds([], since=0) == 0
