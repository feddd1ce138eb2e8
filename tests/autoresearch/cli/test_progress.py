"""What the live view derives from what it is told."""

from dataclasses import replace

import pytest
from support.synthetic_study import CONTROL, TREATMENT, Shape, make_plan, make_study

from autoresearch.cli.progress import CLOSING_SECONDS, StudyProgress, planned
from autoresearch.study.facts import AttemptFacts, TrialFacts
from autoresearch.study.home import Home


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def plan():
    return make_plan(Shape())


@pytest.fixture
def trials(tmp_path):
    return make_study(Home(tmp_path), Shape(failed=(), lost=(), diverged=())).trials


def as_status(trial: TrialFacts, status: str) -> TrialFacts:
    return replace(trial, status=status)


def test_planned_trials_follow_the_plan(plan):
    assert planned(plan, CONTROL) == {"pilot": 3, "tuning": 3, "confirm": 5}
    assert planned(plan, TREATMENT) == {"pilot": 0, "tuning": 3, "confirm": 5}


def test_a_finished_study_fills_every_bar(plan, trials):
    progress = StudyProgress()
    progress.plan, progress.stage = plan, "report"
    progress.trials(trials)
    for arm in progress.arms():
        assert (arm.ended, arm.fraction) == (arm.total, 1.0)
        assert arm.n == 5
        assert arm.mean == pytest.approx(0.6 if arm.arm == CONTROL else 0.72, abs=0.05)


def test_only_confirmation_scores_enter_the_estimate(plan, trials):
    progress = StudyProgress()
    progress.plan = plan
    progress.trials([t for t in trials if t.spec.phase != "confirm"])
    assert all(arm.mean is None and arm.n == 0 for arm in progress.arms())


def test_running_steps_count_as_parts_of_a_trial(plan, trials):
    progress = StudyProgress()
    progress.plan = plan
    first = trials[0]
    progress.trials([as_status(first, "running")])
    progress.step(first.spec.id, 30, 60)
    control = progress.arms()[0]
    assert control.steps == ((30, 60),)
    assert control.fraction == pytest.approx(0.5 / control.total)
    progress.trials([first])
    assert progress.arms()[0].steps == ()
    assert progress.arms()[0].fraction == pytest.approx(1 / control.total)


def test_each_change_of_status_is_reported_once(plan, trials):
    progress = StudyProgress()
    progress.plan = plan
    assert progress.trials(trials) == list(trials)
    assert progress.trials(trials) == []


def test_remaining_time_is_planned_first_and_measured_later(plan, trials):
    clock = Clock()
    progress = StudyProgress(clock)
    progress.plan, progress.stage = plan, "pilot"
    assert progress.remaining() == pytest.approx(plan.estimated_seconds)
    clock.now += 7
    assert progress.elapsed == 7
    attempt = AttemptFacts(1, trials[0].attempts[0].folder, "finished", seconds=10.0)
    ended = [replace(t, attempts=(attempt,)) for t in trials[:4]]
    progress.trials([as_status(t, "running") for t in ended[:2]])
    progress.trials(ended)
    whole = sum(arm.total for arm in progress.arms())
    assert progress.remaining() == pytest.approx((whole - 4) * 10.0 / 2 + CLOSING_SECONDS)
    progress.stage = "done"
    assert progress.remaining() == 0.0
