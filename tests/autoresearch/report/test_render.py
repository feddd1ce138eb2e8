import re
from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_study import CONTROL, TREATMENT, Shape, make_study

from autoresearch.analysis.claims import ClaimSet, compute
from autoresearch.report.narrative import Narrative, write
from autoresearch.report.references import NarrativeError, interval, value
from autoresearch.report.render import render
from autoresearch.study.paths import Home

NUMBER = re.compile(r"[+−]?\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?")


@pytest.fixture(scope="module")
def claims(tmp_path_factory: pytest.TempPathFactory) -> ClaimSet:
    home = Home(tmp_path_factory.mktemp("render"))
    return compute(make_study(home, Shape(length_hypothesis=True)))


def claims_of(home: Path, shape: Shape) -> ClaimSet:
    return compute(make_study(Home(home), shape))


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


def test_a_quick_report_opens_with_what_it_can_detect(claims: ClaimSet) -> None:
    abstract = render(claims).split("## Abstract\n\n")[1]
    assert abstract.startswith("**What this study can detect.**")
    assert "--profile full" in abstract.split("**H1")[0]
    assert "41 trials and about 1.5 h" in abstract.split("**H1")[0]


def test_a_smoke_report_opens_by_saying_so(tmp_path: Path) -> None:
    claims = claims_of(tmp_path, Shape(profile="smoke", failed=(), diverged=(), lost=()))
    abstract = render(claims).split("## Abstract\n\n")[1]
    assert abstract.startswith("**This is a smoke study: it decides nothing.**")
    assert {v.verdict for v in claims.verdicts} == {"inconclusive"}


def test_a_full_report_opens_with_the_verdict(tmp_path: Path) -> None:
    claims = claims_of(tmp_path, Shape(profile="full", failed=()))
    abstract = render(claims).split("## Abstract\n\n")[1]
    assert abstract.startswith("**H1: supported.** `eval/acc` was higher with `adv_std-none`")


def test_the_abstract_gives_effect_interval_and_n(tmp_path: Path) -> None:
    claims = claims_of(tmp_path, Shape(failed=()))
    effect = claims.by_id()["H1.effect"]
    sentence = f"the effect is {value(effect)} (95% interval {interval(effect)}, 5 against 5 seeds)"
    assert sentence in render(claims)


@pytest.mark.parametrize(
    ("gains", "seed_sd", "verdict"),
    [
        ({CONTROL: 0.3, TREATMENT: 0.42}, 0.006, "supported"),
        ({CONTROL: 0.42, TREATMENT: 0.3}, 0.006, "refuted"),
        ({CONTROL: 0.3, TREATMENT: 0.3}, 0.006, "equivalent"),
        ({CONTROL: 0.3, TREATMENT: 0.32}, 0.03, "inconclusive"),
    ],
)
def test_every_verdict_has_its_words(
    gains: dict[str, float], seed_sd: float, verdict: str, tmp_path: Path
) -> None:
    claims = claims_of(tmp_path, Shape(gains=gains, failed=(), seed_sd=seed_sd))
    assert claims.verdicts[0].verdict == verdict
    text = render(claims)
    assert f"**H1: {verdict}.**" in text
    assert ("was higher with `adv_std-none`" in text) == (verdict == "supported")
    assert ("was lower with `adv_std-none`" in text) == (verdict == "refuted")


def test_failures_causes_and_adapters_are_told(claims: ClaimSet) -> None:
    text = render(claims)
    assert "RuntimeError: the worker was killed (out of memory)" in text
    assert "loss was NaN at step 33" in text
    assert "attempt 1 lost: driver ended" in text
    assert "| zero-spread | pilot | `adv_std-group` | 1 | 21 | no reward spread in many" in text
    assert "- the budget of 600 s was raised to 900 s" in text
    assert "/1/adapter`](../../runs/adv-std-7c1e/attempts/" in text


def test_a_hypothesis_on_entropy_is_shown_with_accuracy_curves(tmp_path: Path) -> None:
    claims = claims_of(tmp_path, Shape(metric="policy/entropy", failed=()))
    text = render(claims)
    assert claims.by_id()["H1.effect"].unit == "nats per token"
    assert "(figures/curves.png)" in text
    assert "| `eval/acc` at step | 0 |" in text
    assert "**Score.** A trial's score on `policy/entropy` is the mean over the training" in text


def test_a_narrative_may_only_refer(claims: ClaimSet) -> None:
    words = write(claims)
    own = replace(words, verdicts="The effect is {{c.H1.effect}}.")
    assert "The effect is +0.1" in render(claims, own)
    for wrong in ("It is +0.104.", "It needs half the steps.", "{{c.H9.effect}}"):
        with pytest.raises(NarrativeError):
            render(claims, replace(words, verdicts=wrong))
    with pytest.raises(NarrativeError):
        render(claims, Narrative("", "", limits=("Two seeds are few, three are better.",)))


def test_hostile_plan_text_is_text(tmp_path: Path) -> None:
    facts = make_study(Home(tmp_path), Shape(failed=()))
    assert facts.plan is not None
    question = "does {{c.H1.effect}} | <script> matter?"
    plan = facts.plan.model_copy(update={"question": question})
    hostile = replace(facts, plan=plan, registration=plan.digest(), topic="a `{{x` b")
    title = render(compute(hostile)).splitlines()[0]
    assert title == "# does &#123;&#123;c.H1.effect}} \\| &lt;script> matter?"
