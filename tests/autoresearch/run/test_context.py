"""What a stage is given of its study."""

from pathlib import Path

import pytest
from support.contexts import entered, holding_study
from support.plans import small_plan, trial_spec

from autoresearch.execute.observer import Observer
from autoresearch.study.home import Home


class Notes(Observer):
    def __init__(self) -> None:
        self.said: list[str] = []

    def note(self, text: str) -> None:
        self.said.append(text)


def test_the_plan_is_registered_only_after_the_freeze(tmp_path: Path) -> None:
    home, plan = Home(tmp_path), small_plan()
    with holding_study(home, entered(home, plan)) as context:
        assert context.plan() == plan
        with pytest.raises(RuntimeError, match="not registered yet"):
            context.registered()
        digest = context.ledger.register(context.study, plan)
        assert context.registered() == (plan, digest)


def test_a_note_is_said_once_however_often_its_stage_runs(tmp_path: Path) -> None:
    home, notes = Home(tmp_path), Notes()
    study = entered(home, small_plan())
    for _ in range(2):
        with holding_study(home, study, notes) as context:
            context.note("tuned", "optim.lr = 0.001")
    with holding_study(home, study, notes) as context:
        context.note("tuned", "optim.lr = 0.002")
        kinds = [(e["kind"], e["detail"]["text"]) for e in context.facts().events]
    assert notes.said == ["optim.lr = 0.001", "optim.lr = 0.002"]
    assert kinds == [("tuned", "optim.lr = 0.001"), ("tuned", "optim.lr = 0.002")]


def test_trials_that_have_ended_are_not_run_again(tmp_path: Path) -> None:
    """There is no cluster here: a trial that were run would fail."""
    home = Home(tmp_path)
    with holding_study(home, entered(home, small_plan())) as context:
        spec = trial_spec(1, study=context.study)
        context.ledger.insert_trials([spec])
        attempt = context.ledger.start_attempt(context.study, spec.id)
        context.ledger.end_attempt(context.study, spec.id, attempt, "failed")
        assert [t.status for t in context.run([spec]).facts.trials] == ["failed"]
