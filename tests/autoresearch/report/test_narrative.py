"""What a narrative may not say by itself."""

import pytest

from autoresearch.report.narrative import NarrativeError, check


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
        "  over 5 seeds",
    ],
)
def test_a_bare_numeral_is_an_error(text: str) -> None:
    with pytest.raises(NarrativeError, match="numeral"):
        check(text)


def test_the_error_quotes_what_stands_around_the_numeral() -> None:
    with pytest.raises(NarrativeError, match="'it took all of 3 seeds'"):
        check("it took\nall of 3 seeds")


@pytest.mark.parametrize("word", ["twice", "half", "three", "Three", "halved", "tenfold", "dozen"])
@pytest.mark.parametrize("frame", ["{} of the tokens", "needs ({})", "**{}**, no more"])
def test_a_number_word_is_an_error(word: str, frame: str) -> None:
    with pytest.raises(NarrativeError, match="number word"):
        check(frame.format(word))


@pytest.mark.parametrize("word", ["doubling", "thirds", "seventeen", "percent", "forty-two", "one"])
def test_so_are_its_relatives(word: str) -> None:
    with pytest.raises(NarrativeError, match="number word"):
        check(f"This arm needs {word}.")


@pytest.mark.parametrize("word", ["higher", "improves", "Better", "outperformed", "reduced"])
def test_a_direction_of_its_own_is_an_error(word: str) -> None:
    with pytest.raises(NarrativeError, match="direction"):
        check(f"The treatment is {word}.")


def test_words_that_only_contain_a_number_word_are_fine() -> None:
    check("None of the tenants often behalves; attention is all,  .")
