"""The report's sentences, written from verdicts."""

from dataclasses import replace
from pathlib import Path

import pytest
from support.synthetic_study import CONTROL, TREATMENT, Shape, claims_of

from autoresearch.analysis.claims import ClaimSet
from autoresearch.report.claims_in_text import NarrativeError
from autoresearch.report.narrative import Narrative, write
from autoresearch.report.render import render


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


def test_a_narrative_may_only_refer(claims: ClaimSet) -> None:
    words = write(claims)
    own = replace(words, verdicts="The effect is {{c.H1.effect}}.")
    assert "The effect is +0.1" in render(claims, own)
    for wrong in ("It is +0.104.", "It needs half the steps.", "{{c.H9.effect}}"):
        with pytest.raises(NarrativeError):
            render(claims, replace(words, verdicts=wrong))
    with pytest.raises(NarrativeError):
        render(claims, Narrative("", "", limits=("Two seeds are few, three are better.",)))
