"""How a template prints claims."""

import pytest
from jinja2 import Environment, StrictUndefined, TemplateSyntaxError, UndefinedError

from autoresearch.analysis.claim_list import Query
from autoresearch.analysis.claims import Claim
from autoresearch.report.claims_in_text import Known, MissingClaim, References, literal, quoted
from autoresearch.report.narrative import NarrativeError

EFFECT = Query(name="outcomes.effect", args={"hypothesis": "H1"})
OTHER = Query(name="accounts.rule")


@pytest.fixture
def known() -> Known:
    found = [
        Claim(
            id="H1.effect",
            kind="outcome",
            value=0.1043,
            unit="share",
            n=5,
            interval=(-0.01, 0.2),
            query=EFFECT,
        ),
        Claim(id="H1.verdict", kind="outcome", value="supported", query=OTHER),
        Claim(id="H1.direction", kind="outcome", value="higher", query=OTHER),
        Claim(id="cause", kind="accounting", value="a|b\n<c> {{ claim('H1.p') }}", query=OTHER),
    ]
    return Known({claim.id: claim for claim in found})


def fill(source: str, known: Known) -> str:
    r = References(known)
    given = {"claim": r.claim, "interval": r.interval, "n": r.n, "code": r.code}
    template = Environment(undefined=StrictUndefined).from_string(source)
    return template.render(**given, narrative=r.narrative, known=known)


def in_narrative(text: str) -> str:
    return "{% call narrative() %}" + text + "{% endcall %}"


def test_claims_are_printed_by_their_ids(known: Known) -> None:
    text = (
        "{{ claim('H1.verdict') }}: {{ claim('H1.direction') }} by {{ claim('H1.effect') }}"
        " {{ interval('H1.effect') }}, n = {{ n('H1.effect') }}"
    )
    filled = "supported: higher by +0.104 [−0.010, +0.200], n = 5"
    assert fill(text, known) == filled
    assert fill(in_narrative(text.replace("n =", "by")), known) == filled.replace("n =", "by")


def test_texts_are_escaped_for_tables_and_not_filled_again(known: Known) -> None:
    assert fill("{{ claim('cause') }}", known) == "a\\|b &lt;c> {{ claim('H1.p') }}"
    assert fill("{{ code('cause') }}", known) == "a|b <c> {{ claim('H1.p') }}"


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("{{ claim('H2.effect') }}", "H2.effect"),
        ("{{ claim('H1') }}", "H1"),
        ("{{ claim('') }}", ""),
        ("{{ interval('H9.effect') }}", "H9.effect"),
        ("{{ code('H9.effect') }}", "H9.effect"),
        ("{{ n('H1.verdict') }}", "H1.verdict"),
        ("{% if known['H9.p'].value > 0 %}{% endif %}", "H9.p"),
    ],
)
@pytest.mark.parametrize("frame", ["{}", in_narrative("{}")])
def test_a_claim_that_is_not_there_is_an_error_that_names_it(
    frame: str, text: str, missing: str, known: Known
) -> None:
    with pytest.raises(MissingClaim, match=f"'{missing}'") as caught:
        fill(frame.replace("{}", text, 1), known)
    assert caught.value.claim == missing


def test_whether_there_is_a_claim_may_be_asked(known: Known) -> None:
    assert "H1.effect" in known
    assert "H2.effect" not in known
    assert [claim.id for claim in known.made_by("outcomes.effect")] == ["H1.effect"]
    assert known.made_by("outcomes.p_value") == []


@pytest.mark.parametrize("text", ["{{ mean('H1.effect') }}", "{{ H1.effect }}", "{{ claim(x) }}"])
def test_a_name_that_a_template_is_not_given_is_an_error(text: str, known: Known) -> None:
    with pytest.raises(UndefinedError):
        fill(text, known)


@pytest.mark.parametrize("text", ["{{ claim('H1.effect') }", "{{}}", "{% if %}"])
def test_a_malformed_template_is_an_error(text: str, known: Known) -> None:
    with pytest.raises(TemplateSyntaxError):
        fill(text, known)


@pytest.mark.parametrize(
    "text",
    [
        "{{ claim('H1.effect') }} over 5 seeds",
        "{{ known['H1.effect'].n }} seeds",
        "{{ known['H1.effect'].value }}",
        "{{ known['H1.direction'].value }}",
        "{{ 'three' }} seeds",
        "{% if 'H1.effect' in known %}better{% endif %}",
        "{{ claim('H1.effect')|length }}",
    ],
)
def test_a_narrative_says_numbers_and_directions_by_claims_alone(text: str, known: Known) -> None:
    assert fill(text, known)
    with pytest.raises(NarrativeError):
        fill(in_narrative(text), known)


def test_text_of_the_plan_is_never_a_reference(known: Known) -> None:
    hostile = literal("what of {{c.H1.effect}} |\n <b>?")
    assert hostile == "what of &#123;&#123;c.H1.effect}} \\| &lt;b>?"
    assert fill(hostile, known) == hostile


def test_names_are_listed_as_code() -> None:
    assert quoted(["a", "b"]) == "`a`, `b`"
    assert quoted([]) == ""
