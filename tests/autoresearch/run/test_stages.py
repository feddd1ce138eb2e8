"""Single stages: what each writes, which comes next, and that running one again changes nothing."""

from pathlib import Path
from typing import Any

import pytest
from support.contexts import entered, holding_study
from support.plans import plan_for

from autoresearch.run import stages
from autoresearch.study.home import Home
from autoresearch.study.plan import Plan


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def plan() -> Plan:
    return plan_for(profile="smoke")


def events(context: Any, kind: str) -> list[str]:
    return [e["detail"]["text"] for e in context.facts().events if e["kind"] == kind]


def test_the_freeze_registers_the_plan_and_what_its_numbers_depend_on(
    home: Home, plan: Plan
) -> None:
    with holding_study(home, entered(home, plan, seed=7)) as context:
        assert stages.freeze(context) == stages.freeze(context) == "pilot"
        facts = context.facts()
        assert facts.registration == plan.digest()
        assert facts.records["fingerprint"]["model_digest"]
        command = facts.records["start"]["command"]
        assert "--profile smoke" in command
        assert "--seed 7" in command
        full = facts.records["full"]
        assert "--profile full" in full["command"]
        assert full["trials"] > 20
        assert len(events(context, "registered")) == 1


def test_changed_evaluators_are_recorded_once(
    home: Home, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    with holding_study(home, entered(home, plan)) as context:
        stages.freeze(context)
        stages._note_changed_evaluator(context)
        assert stages.EVALUATOR_CHANGED not in context.facts().records
        monkeypatch.setattr(
            stages, "evaluators", lambda refs: {f"evaluator.{ref}": "x" for ref in refs}
        )
        stages._note_changed_evaluator(context)
        record = context.facts().records[stages.EVALUATOR_CHANGED]
        assert record["now"] == {"evaluator.reverse": "x"}
        assert len(record["was"]["evaluator.reverse"]) == 64


def test_a_report_that_does_not_verify_names_the_first_problem() -> None:
    one = stages.VerificationFailed(["report.md line 3: differs"])
    assert str(one) == "the report does not verify: report.md line 3: differs"
    two = stages.VerificationFailed(["a", "b"])
    assert str(two).endswith("a (and 1 more)")
    assert two.problems == ["a", "b"]
