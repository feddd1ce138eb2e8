"""The report's text: a function of its claims."""

import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from support.synthetic_study import Shape, claims_of, compute, make_study

from autoresearch.analysis.claims import ClaimSet
from autoresearch.report.claims_in_text import MissingClaim, interval, value
from autoresearch.report.render import render
from autoresearch.study.home import Home

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "reports" / "example"
NUMBER = re.compile(r"[+−]?\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?")


def test_the_text_is_a_function_of_claims_json_alone(claims: ClaimSet) -> None:
    assert render(ClaimSet.from_json(claims.to_json())) == render(claims)


def test_every_number_is_shown_by_some_claim(claims: ClaimSet) -> None:
    plan = claims.plan
    text = render(claims)
    known = [claims.study, claims.topic, str(claims.registration), plan.question, "sha256"]
    known += [text for h in plan.hypotheses for text in (h.statement, h.source, h.id)]
    known += ["±1 standard error", *plan.notes]
    for part in sorted(known, key=len, reverse=True):
        text = text.replace(part, "")
    shown = " ".join(
        part
        for claim in claims.claims
        for part in (
            value(claim),
            str(claim.value),
            interval(claim),
            str(claim.n),
            claim.id,
            *map(str, claim.query.args.values()),
        )
    )
    allowed = set(NUMBER.findall(shown))
    assert set(NUMBER.findall(text)) - allowed == set()


def test_a_changed_claim_changes_the_text(claims: ClaimSet) -> None:
    before = render(claims)
    unseen = []
    for index, claim in enumerate(claims.claims):
        if isinstance(claim.value, int | float):
            moved = claim.model_copy(update={"value": claim.value * 3 + 1})
            rows = (*claims.claims[:index], moved, *claims.claims[index + 1 :])
            if render(claims.model_copy(update={"claims": rows})) == before:
                unseen.append(claim.id)
    # Single seeds are in the figures and their data; the learning rate shown is the tuned one.
    unseen = [name for name in unseen if not name.startswith("score.")]
    assert unseen == ["setting.optim.lr"]


def test_sections_stand_in_their_order(claims: ClaimSet) -> None:
    heads = re.findall(r"^## (.*)$", render(claims), re.MULTILINE)
    assert heads == [
        "Abstract",
        "Preregistration",
        "Design",
        "Results",
        "What went wrong",
        "Cost",
        "Limits",
        "How to reproduce",
    ]


def test_the_abstract_gives_effect_interval_and_n(tmp_path: Path) -> None:
    claims = claims_of(tmp_path, Shape(failed=()))
    effect = claims.by_id()["H1.effect"]
    sentence = f"the effect is {value(effect)} (95% interval {interval(effect)}, 5 against 5 seeds)"
    assert sentence in render(claims)


def test_hostile_plan_text_is_text(tmp_path: Path) -> None:
    facts = make_study(Home(tmp_path), Shape(failed=()))
    assert facts.plan is not None
    question = "does {{c.H1.effect}} | <script> matter?"
    plan = facts.plan.model_copy(update={"question": question})
    hostile = replace(facts, plan=plan, registration=plan.digest(), topic="a `{{x` b")
    title = render(compute(hostile)).splitlines()[0]
    assert title == "# does &#123;&#123;c.H1.effect}} \\| &lt;script> matter?"


@pytest.mark.parametrize("name", ["rule.alpha", "H2.min_effect", "trials.all", "seeds.pilot"])
def test_a_claim_that_is_not_there_is_an_error_that_names_it(name: str, claims: ClaimSet) -> None:
    rows = tuple(claim for claim in claims.claims if not claim.id.startswith(name))
    less = claims.model_copy(update={"claims": rows})
    assert len(rows) < len(claims.claims)
    with pytest.raises(MissingClaim, match=name):
        render(less)


def test_what_a_finished_study_says_does_not_change_with_the_program() -> None:
    claims = ClaimSet.from_json((EXAMPLE / "claims.json").read_text(encoding="utf-8"))
    assert render(claims) == (EXAMPLE / "report.md").read_text(encoding="utf-8")


def test_the_template_travels_with_the_package() -> None:
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert "*.j2" in data["package-data"]["autoresearch.report"]
