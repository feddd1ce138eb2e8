"""What the report says was registered before the first trial."""

from dataclasses import replace
from pathlib import Path

import pytest
from support.synthetic_study import CONTROL, TREATMENT, Shape, make_study

from autoresearch.analysis.claims import ClaimSet, compute
from autoresearch.report.design import design, preregistration
from autoresearch.study.facts import StudyFacts
from autoresearch.study.home import Home


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> StudyFacts:
    return make_study(Home(tmp_path_factory.mktemp("design")), Shape(length_hypothesis=True))


@pytest.fixture(scope="module")
def claims(facts: StudyFacts) -> ClaimSet:
    return compute(facts)


def test_each_hypothesis_is_a_row_with_its_prediction(claims: ClaimSet) -> None:
    text = preregistration(claims, claims.by_id())
    rows = [line for line in text.splitlines() if line.startswith("| **{{c.H")]
    assert len(rows) == 2
    assert "{{c.H1.arm}} above {{c.H1.versus}}" in rows[0]
    assert "(arXiv:2503.20783)" in rows[0]
    assert "{{c.H2.arm}} below {{c.H2.versus}}" in rows[1]


def test_the_hash_stands_alone_and_the_times_are_claims(claims: ClaimSet) -> None:
    text = preregistration(claims, claims.by_id())
    assert f"```\n{claims.registration}\n```" in text
    assert "{{c.registered_at}}; the first trial started at {{c.first_trial_at}}" in text


def test_a_plan_that_was_never_registered_says_so(facts: StudyFacts) -> None:
    claims = compute(replace(facts, registration=None, registered_at=None, trials=(), events=()))
    text = preregistration(claims, claims.by_id())
    assert "The plan has not been registered." in text
    assert "```\nnone\n```" in text


def test_rules_follow_the_plan(claims: ClaimSet, tmp_path: Path) -> None:
    text = preregistration(claims, claims.by_id())
    assert "Welch's t test" in text
    assert "**Tuning.**" in text
    assert "`completions/mean_length_wrong` is the mean over the training steps" in text
    plan = claims.plan.model_copy(
        update={
            "tuning": None,
            "decision": claims.plan.decision.model_copy(update={"test": "paired"}),
        }
    )
    by_id = {name: c for name, c in claims.by_id().items() if not name.startswith("tuning.")}
    other = preregistration(claims.model_copy(update={"plan": plan}), by_id)
    assert "the paired t test over shared seeds" in other
    assert "**Tuning.**" not in other


def test_arms_name_what_they_set_and_which_is_the_control(claims: ClaimSet) -> None:
    text = design(claims, claims.by_id())
    assert f"| `{CONTROL}` | `group` (control) | `algorithm.scale=group_std` |" in text
    assert f"| `{TREATMENT}` | `none` | `algorithm.scale=none` |" in text


def test_settings_are_marked_where_they_are_not_those_of_every_trial(claims: ClaimSet) -> None:
    text = design(claims, claims.by_id())
    assert "scale *varied by arm*" in text
    assert "lr {{c.tuning.choice}} *(tuned)*" in text
    assert "rollouts {{c.setting.batch.rollouts}}" in text


def test_phases_without_seeds_are_not_mentioned(claims: ClaimSet) -> None:
    text = design(claims, claims.by_id())
    assert "pilot {{c.seeds.pilot}}; tuning {{c.seeds.tuning}}; confirmation" in text
    none = {**claims.by_id()}
    none["seeds.tuning"] = none["seeds.tuning"].model_copy(update={"n": 0})
    assert "tuning {{c.seeds" not in design(claims, none)
