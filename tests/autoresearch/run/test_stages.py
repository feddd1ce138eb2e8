"""Single stages: what each writes, which comes next, and that running one again changes nothing."""

from pathlib import Path
from typing import Any

import pytest
from support.contexts import entered, holding_study
from support.plans import plan_for

from autoresearch.execute.observer import Silent
from autoresearch.run import stages
from autoresearch.study.home import Home
from autoresearch.study.plan import Plan
from swarm.errors import Refusal


class Shown(Silent):
    """Keeps the plans that it is shown."""

    def __init__(self) -> None:
        self.plans: list[Plan] = []

    def plan(self, plan: Plan) -> None:
        self.plans.append(plan)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def plan() -> Plan:
    return plan_for(profile="smoke")


def broken(plan: Plan) -> Plan:
    """A draft with a problem: its hypothesis is on a metric that does not exist."""
    hypotheses = tuple(h.model_copy(update={"metric": "eval/x"}) for h in plan.hypotheses)
    return plan.model_copy(update={"hypotheses": hypotheses})


def events(context: Any, kind: str) -> list[str]:
    return [e["detail"]["text"] for e in context.facts().events if e["kind"] == kind]


def test_planning_stages_lead_to_the_freeze_and_say_everything_once(home: Home, plan: Plan) -> None:
    with holding_study(home, entered(home, plan)) as context:
        for _ in range(2):
            stage = "scope"
            passed = []
            while stage != "freeze":
                passed.append(stage)
                stage = getattr(stages, stage)(context)
            assert passed == ["scope", "recall", "hypothesise", "design", "lint"]
        (scope,) = events(context, "scope")
        assert plan.question in scope
        assert len(events(context, "hypothesis")) == len(plan.hypotheses)
        (arms,) = events(context, "design")
        assert all(arm.id in arms for arm in plan.arms)
        assert context.plan() == plan


def test_a_sound_draft_is_shown_as_it_is(home: Home, plan: Plan) -> None:
    shown = Shown()
    with holding_study(home, entered(home, plan), shown) as context:
        assert stages.lint(context) == "freeze"
    assert shown.plans == [plan]


def test_a_draft_with_problems_goes_back_and_is_made_anew(home: Home, plan: Plan) -> None:
    with holding_study(home, entered(home, broken(plan))) as context:
        assert stages.lint(context) == "design"
        (said,) = events(context, "lint")
        assert "eval/x" in said
        assert stages.design(context) == "lint"
        assert context.plan().hypotheses == plan.hypotheses
        assert stages.lint(context) == "freeze"


def test_a_draft_that_stays_broken_is_refused_in_the_end(home: Home, plan: Plan) -> None:
    with holding_study(home, entered(home, broken(plan))) as context:
        for _ in range(stages.LINT_ROUNDS):
            assert stages.lint(context) == "design"
        with pytest.raises(Refusal, match=r"plan: .*eval/x"):
            stages.lint(context)


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


def test_findings_of_other_studies_on_the_same_factors_are_recalled(home: Home, plan: Plan) -> None:
    (factor,) = (f.name for f in plan.treatments)
    earlier = entered(home, plan, seed=1)
    with holding_study(home, earlier) as context:
        for name, text in ((factor, "it helps"), ("group_size", f"{factor} is no part of it")):
            context.ledger.add_finding(earlier, name, f"{name}: {text}", {"factors": [name]})
    with holding_study(home, entered(home, plan, seed=2)) as context:
        assert stages.recall(context) == "hypothesise"
        assert events(context, "recall") == [f"known from {earlier}: {factor}: it helps"]


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
