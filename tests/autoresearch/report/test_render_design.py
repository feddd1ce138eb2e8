"""What the report says was registered before the first trial."""

from dataclasses import replace

import pytest
from support.synthetic_study import CONTROL, TREATMENT, Shape, compute, make_study

from autoresearch.analysis.claims import ClaimSet
from autoresearch.report.claims_in_text import value
from autoresearch.report.render import render
from autoresearch.study.facts import StudyFacts
from autoresearch.study.home import Home
from autoresearch.study.plan import Factor


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> StudyFacts:
    return make_study(Home(tmp_path_factory.mktemp("design")), Shape(length_hypothesis=True))


@pytest.fixture(scope="module")
def claims(facts: StudyFacts) -> ClaimSet:
    return compute(facts)


def preregistration(claims: ClaimSet) -> str:
    return render(claims).split("## Preregistration\n")[1].split("\n## ")[0]


def design(claims: ClaimSet) -> str:
    return render(claims).split("## Design\n")[1].split("\n## ")[0]


def changed(claims: ClaimSet, name: str, **values: object) -> ClaimSet:
    rows = (c.model_copy(update=values) if c.id == name else c for c in claims.claims)
    return claims.model_copy(update={"claims": tuple(rows)})


def shown(claims: ClaimSet, name: str) -> str:
    return value(claims.by_id()[name])


def test_each_hypothesis_is_a_row_with_its_prediction(claims: ClaimSet) -> None:
    rows = [line for line in preregistration(claims).splitlines() if line.startswith("| **H")]
    assert len(rows) == 2
    assert f"| `{TREATMENT}` above `{CONTROL}` | 0.030 |" in rows[0]
    assert "(arXiv:2503.20783)" in rows[0]
    assert f"| `{TREATMENT}` below `{CONTROL}` | 0.500 |" in rows[1]
    assert "()" not in rows[1]


def test_the_smallest_effect_stands_to_the_right(claims: ClaimSet) -> None:
    rule = "| :-- | :-- | :-- | :-- | --: |"
    assert f"| smallest effect of interest |\n{rule}\n| **H1** |" in preregistration(claims)


def test_the_hash_stands_alone_and_the_times_are_claims(claims: ClaimSet) -> None:
    text = preregistration(claims)
    assert f"```\n{claims.registration}\n```" in text
    first = shown(claims, "first_trial_at")
    assert f"{shown(claims, 'registered_at')}; the first trial started at {first}. " in text
    later = changed(claims, "first_trial_at", value="some time later")
    assert "; the first trial started at some time later. " in preregistration(later)


def test_a_plan_that_was_never_registered_says_so(facts: StudyFacts) -> None:
    claims = compute(replace(facts, registration=None, registered_at=None, trials=(), events=()))
    text = preregistration(claims)
    assert "The plan has not been registered." in text
    assert "```\nnone\n```" in text


def test_rules_follow_the_plan(claims: ClaimSet) -> None:
    text = preregistration(claims)
    assert "Welch's t test" in text
    assert "**Tuning.**" in text
    assert "`completions/mean_length_wrong` is the mean over the training steps" in text
    plan = claims.plan.model_copy(
        update={
            "tuning": None,
            "decision": claims.plan.decision.model_copy(update={"test": "paired"}),
        }
    )
    rows = tuple(c for c in claims.claims if not c.id.startswith("tuning."))
    other = preregistration(claims.model_copy(update={"plan": plan, "claims": rows}))
    assert "the paired t test over shared seeds" in other
    assert "**Tuning.**" not in other


def test_arms_name_what_they_set_and_which_is_the_control(claims: ClaimSet) -> None:
    text = design(claims)
    assert f"| `{CONTROL}` | `group` (control) | `algorithm.scale=group_std` |" in text
    assert f"| `{TREATMENT}` | `none` | `algorithm.scale=none` |" in text


def test_a_replicate_sets_nothing(claims: ClaimSet) -> None:
    copies = Factor(name="adv_std", role="treatment", levels=("group", "none"), control="group")
    plan = claims.plan.model_copy(update={"factors": (copies,)})
    text = design(claims.model_copy(update={"plan": plan}))
    assert f"| `{TREATMENT}` | `none` | nothing: a replicate |" in text


def test_settings_are_marked_where_they_are_not_those_of_every_trial(claims: ClaimSet) -> None:
    text = design(changed(claims, "setting.batch.rollouts", value=4321))
    assert "scale *varied by arm*" in text
    assert f"lr {shown(claims, 'tuning.choice')} *(tuned)*" in text
    assert "batch.rollouts `4321` · " in text
    settings = {"reverse": {"sampling.max_tokens": 9}}
    plan = claims.plan.model_copy(update={"task_settings": settings})
    by_task = design(claims.model_copy(update={"plan": plan}))
    assert "| sampling | temperature `1` · max_tokens *set by task* |" in by_task


def test_phases_without_seeds_are_not_mentioned(claims: ClaimSet) -> None:
    seeds = shown(claims, "seeds.tuning")
    assert f"pilot {shown(claims, 'seeds.pilot')}; tuning {seeds}; confirmation" in design(claims)
    assert "tuning " not in design(changed(claims, "seeds.tuning", n=0)).split("**Seeds**")[1][:60]


@pytest.mark.parametrize(
    ("recorded", "origin"),
    [
        ("tiny, character-level Llama, built here by a seeded recipe", "built here by a seeded"),
        ("tiny, character-level Llama, frozen with the program", "frozen with the program"),
    ],
)
def test_where_tiny_comes_from_is_what_the_study_recorded(
    recorded: str, origin: str, claims: ClaimSet
) -> None:
    text = design(changed(claims, "fingerprint.model", value=recorded))
    assert f"**Model** `tiny` (character-level, {origin}" in text


def test_other_models_are_told_apart(claims: ClaimSet) -> None:
    for ref, origin in (("smollm2-135m-instruct", "real weights, "), ("/my/model", "given by the")):
        plan = claims.plan.model_copy(update={"model": ref})
        text = design(claims.model_copy(update={"plan": plan}))
        assert f"**Model** `{ref}` ({origin}" in text
