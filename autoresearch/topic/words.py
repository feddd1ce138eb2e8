"""Topics and names as words: lower case, one spelling, no plurals, numbers kept whole."""

import re
import unicodedata
from collections.abc import Mapping, Sequence

_LETTERS: Mapping[str, str] = {
    "ε": " epsilon ",
    "ϵ": " epsilon ",
    "β": " beta ",
    "σ": " sigma ",
    "α": " alpha ",
    "μ": " mu ",
    "η": " lr ",
    "×": " x ",
    "−": "-",
    "–": "-",
    "—": " ",
    "/": ",",
    "’": "'",
}
_WORD = re.compile(
    r"10\^[-+]?\d+"  # 10^-4
    r"|(?:(?<![^\s=(:,])-)?"  # a minus sign, not a hyphen
    r"(?:\d+\.\d+|\.\d+|\d+)(?:e[-+]?\d+|k|%)?(?![a-z0-9])"  # 16, .2, 1e-3, 1k, 5%
    r"|[a-z]+\+\+"  # reinforce++
    r"|[^\W_]+(?:'[a-z]+)?"
    r"|,"
)
_NUMBER = re.compile(r"10\^([-+]?\d+)|(-?(?:\d+\.\d+|\.\d+|\d+)(?:e[-+]?\d+)?)([k%]?)")
_TIMES, _BY = {"": 1, "k": 1000, "%": 1}, {"": 1, "k": 1, "%": 100}
_DOTS = re.compile(r"(?<=\d)\s?(?:\.{2,}|…)\s?(?=[\d.])")
_POWER = re.compile(r"(?<![\w.^])([2-9])(?:\^|\*\*)(\d{1,2})(?![\w.])")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_SUPERSCRIPT = re.compile(r"(?<=10)[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_TIMES_TEN = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s?[x×*·]\s?10\^?([-+−]?\d+)(?![\w.])")
_THOUSANDS = re.compile(
    r"(?<![\w.,])[1-9],\d00(?![\w.,]\d)|(?<![\w.,])[1248],(?:024|048|096|192)\b"
)
_TENS = {
    word: 10 * (at + 2)
    for at, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
    )
}
_ONES = {
    word: at + 1
    for at, word in enumerate(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    )
}
#: `twenty five` and `thirty`, which people write for numbers of steps and seeds.
_SPOKEN_TENS = re.compile(rf"\b({'|'.join(_TENS)})(?:[-\s]({'|'.join(_ONES)}))?\b", re.IGNORECASE)
_PERCENT = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s%")
_SPELLING = re.compile(r"(?<=[a-z]{4})i[sz](?:ation|e|er|ed|es|ing)$")

_STOP_TEXT = """
a about after all am an and any are as at be been before being best better between both but by can
choice choose compare compared comparing could different do does doing effect effects far fewer
fixed for from get given give good has have having help helps hold holding how i if impact improve
in influence instead into is it its just large larger less long make makes many matter matters me
more most much my need needed needs no not of on one only optimal or our over pick right same set
setting should show small smaller so than that the their them there these they this to too under up
use used useful using value values versus vs want was we well what when where whether which while
who why will with without work works worse worth would x you your beat beats outperform outperforms
until till whichever during while against equal really actually also enough final
et al per se please
"""
#: Function words and words that any question may hold: they carry no subject.
STOP = frozenset([*_STOP_TEXT.split(), ","])


def words(text: str) -> list[str]:
    """The words, numbers and commas of a text, in order, each in its canonical form."""
    return [canonical(word) for word in _WORD.findall(_plain(text).lower())]


def spelled(text: str) -> list[str]:
    """The same words as the user wrote them: as many as `words` finds."""
    plain = _plain(text)
    lowered = plain.lower()
    source = plain if len(plain) == len(lowered) else lowered
    return [source[found.start() : found.end()] for found in _WORD.finditer(lowered)]


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text)
    for letter, plain in _LETTERS.items():
        text = text.replace(letter, plain)
    return text


def numbers_plainly(text: str) -> str:
    """The text with its numbers as programs write them: `3 x 10^-4` and `3·10⁻⁴` are 3e-4, `1,024`
    is 1024, `2^4` is
    16. A list without spaces (`64,128,256`) stays a list."""
    text = _DOTS.sub(" to ", text)
    text = _SPOKEN_TENS.sub(_ten, text)
    text = _SUPERSCRIPT.sub(lambda m: "^" + m[0].translate(_RAISED), text)
    text = _TIMES_TEN.sub(lambda m: f"{m[1]}e{m[2].replace('−', '-')}", text)
    text = _POWER.sub(lambda m: str(int(m[1]) ** int(m[2])), text)
    text = _THOUSANDS.sub(lambda m: m[0].replace(",", ""), text)
    return _PERCENT.sub(r"\1%", text)


def _ten(match: re.Match[str]) -> str:
    return str(_TENS[match[1].lower()] + _ONES.get((match[2] or "").lower(), 0))


def canonical(word: str) -> str:
    """One form for British and American spelling, singular and plural."""
    word = word.removesuffix("'s")
    if word in STOP or number(word) is not None:
        return word
    word = _SPELLING.sub("iz", word)
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "as")):
        return word[:-1]
    return word


def is_subject(word: str) -> bool:
    """Whether a word can say what a topic is about: neither a function word nor a number."""
    return word not in STOP and number(word) is None


def number(word: str) -> int | float | None:
    """The number that a word stands for: whole as int, `1k` as 1000, `1%` as 0.01; None for
    other words."""
    match = _NUMBER.fullmatch(word)
    if match is None:
        return None
    power, plain, unit = match.groups()
    value = 10.0 ** int(power) if power else float(plain) * _TIMES[unit] / _BY[unit]
    return int(value) if value.is_integer() and not power else value


def find(needle: Sequence[str], haystack: Sequence[str]) -> int | None:
    """Where `needle` stands in `haystack` as a run of words, or None."""
    width = len(needle)
    for start in range(len(haystack) - width + 1):
        if width and list(haystack[start : start + width]) == list(needle):
            return start
    return None
