"""The report's sentences, written from verdicts."""

from pathlib import Path

import pytest
from jinja2 import nodes
from support.synthetic_study import CONTROL, TREATMENT, Shape, compute, make_study

from autoresearch.analysis.claims import ClaimSet
from autoresearch.report import render as module
from autoresearch.report.narrative import NarrativeError, check
from autoresearch.report.render import fill, render, templates
from autoresearch.study.home import Home

SOURCE = Path(module.__file__).with_name("report.md.j2").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def claims(tmp_path_factory: pytest.TempPathFactory) -> ClaimSet:
    home = Home(tmp_path_factory.mktemp("render"))
    return compute(make_study(home, Shape(length_hypothesis=True)))


def claims_of(home: Path, shape: Shape) -> ClaimSet:
    return compute(make_study(Home(home), shape))


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


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("The measured effect", "In half the steps the measured effect"),
        ("Undecided", "Undecided by 0.1"),
        ("The unit of analysis", "Two seeds are few. The unit of analysis"),
        ("At the spread", "It is better. At the spread"),
    ],
)
def test_the_narrative_may_only_refer(said: str, wrong: str, claims: ClaimSet) -> None:
    source = SOURCE.replace(said, wrong)
    assert source != SOURCE
    verdicts = tuple(v.model_copy(update={"verdict": "inconclusive"}) for v in claims.verdicts)
    undecided = claims.model_copy(update={"verdicts": verdicts})
    assert fill(templates().from_string(SOURCE), undecided) == render(undecided)
    with pytest.raises(NarrativeError):
        fill(templates().from_string(source), undecided)


def test_no_branch_of_the_narrative_says_a_number_or_a_direction() -> None:
    passages = [
        call
        for call in templates().parse(SOURCE).find_all(nodes.CallBlock)
        if isinstance(call.call.node, nodes.Name) and call.call.node.name == "narrative"
    ]
    texts = [data.data for p in passages for data in p.find_all(nodes.TemplateData)]
    values = [const.value for p in passages for const in p.find_all(nodes.Const)]
    texts += [value for value in values if isinstance(value, str)]
    for said in ("smoke study", "The arms are equivalent", "No conclusion", "Exactness"):
        assert any(said in text for text in texts)
    for text in texts:
        check(text)
