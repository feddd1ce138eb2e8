from collections.abc import Mapping

import pytest

from autoresearch.analysis.claims import Claim, Query
from autoresearch.report.claims_in_text import NarrativeError, check, fill, literal

EFFECT = Query(name="outcomes.effect", args={"hypothesis": "H1"})
OTHER = Query(name="accounts.rule")


@pytest.fixture
def claims() -> Mapping[str, Claim]:
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
        Claim(id="cause", kind="accounting", value="a|b\n<c> {{c.x}}", query=OTHER),
    ]
    return {claim.id: claim for claim in found}


def test_references_are_filled(claims: Mapping[str, Claim]) -> None:
    text = "{{v.H1}}: {{dir.H1}} by {{ c.H1.effect }} {{ci.H1.effect}}, n = {{n.H1.effect}}"
    filled = "supported: higher by +0.104 [−0.010, +0.200], n = 5"
    assert fill(text, claims) == filled


def test_texts_are_escaped_for_tables_and_not_filled_again(claims: Mapping[str, Claim]) -> None:
    assert fill("{{c.cause}}", claims) == "a\\|b &lt;c> {{c.x}}"
    assert fill("{{raw.cause}}", claims) == "a|b <c> {{c.x}}"


@pytest.mark.parametrize(
    "text",
    [
        "{{c.H2.effect}}",
        "{{c.H1}}",
        "{{v.H9}}",
        "{{n.H1.verdict}}",
        "{{mean.H1.effect}}",
        "{{c.H1.effect}",
        "{{ H1.effect }}",
        "{{c.}}",
        "{{}}",
    ],
)
def test_an_unknown_or_malformed_reference_is_an_error(
    text: str, claims: Mapping[str, Claim]
) -> None:
    with pytest.raises(NarrativeError):
        fill(text, claims)


@pytest.mark.parametrize(
    "text",
    [
        "Accuracy rose to 0.7.",
        "It took 3 seeds.",
        "The arm `clip-0.28` was best.",
        "See [this](https://example.org/2).",
        "٣ seeds",
        "½ of the runs",
        "x² grows",
        "{{c.H1.effect}} over 5 seeds",
    ],
)
def test_a_bare_numeral_is_an_error(text: str, claims: Mapping[str, Claim]) -> None:
    with pytest.raises(NarrativeError, match="numeral"):
        check(text, claims)


@pytest.mark.parametrize("word", ["twice", "half", "three", "Three", "halved", "tenfold", "dozen"])
@pytest.mark.parametrize("frame", ["{} of the tokens", "needs ({})", "**{}**, no more"])
def test_a_number_word_is_an_error(word: str, frame: str, claims: Mapping[str, Claim]) -> None:
    with pytest.raises(NarrativeError, match="number word"):
        check(frame.format(word), claims)


@pytest.mark.parametrize("word", ["doubling", "thirds", "seventeen", "percent", "forty-two", "one"])
def test_so_are_its_relatives(word: str, claims: Mapping[str, Claim]) -> None:
    with pytest.raises(NarrativeError, match="number word"):
        check(f"This arm needs {word}.", claims)


@pytest.mark.parametrize("word", ["higher", "improves", "Better", "outperformed", "reduced"])
def test_a_direction_of_its_own_is_an_error(word: str, claims: Mapping[str, Claim]) -> None:
    with pytest.raises(NarrativeError, match="direction"):
        check(f"The treatment is {word}.", claims)


def test_words_that_only_contain_a_number_word_are_fine(claims: Mapping[str, Claim]) -> None:
    check("None of the tenants often behalves; attention is all, {{dir.H1}}.", claims)


def test_text_of_the_plan_is_never_a_reference(claims: Mapping[str, Claim]) -> None:
    hostile = literal("what of {{c.H1.effect}} | <b>?")
    assert "|" not in hostile.replace("\\|", "")
    assert "+0.104" not in fill(hostile, claims)
