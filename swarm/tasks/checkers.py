"""Answers compared with a row's as numbers, as letters of a choice, as mathematics."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

from swarm.tasks.layouts import MARKED
from swarm.tasks.math_check import same_mathematics
from swarm.tasks.own_rows import Row
from swarm.tasks.task import Score

# A policy may write a blank or a digit a hundred thousand times: each pattern takes time in
# proportion to the text, so what repeats is possessive where two such parts can meet.

#: Characters of a number; one that is longer is no answer, and takes long to read.
_LONGEST = 400

#: Groups of three digits with their commas, more than an answer may have.
_GROUPS = rf"(?:,\d{{3}}){{1,{_LONGEST // 3}}}+"

#: A number in prose: sign, thousands in groups of three, decimals, an exponent, or a fraction of
#: whole numbers. A hyphen behind a digit, letter or bracket is a minus between two numbers.
_NUMBER = re.compile(
    rf"(?:(?<![\w)\]}}.])[-+])?[$€£]?(?:\d{{1,3}}{_GROUPS}(?![\d,])|\d+)(?:\.\d+)?"
    r"(?:[eE][-+]?\d{1,3}(?!\w))?(?:/\d+(?![\d/.]))?|(?:(?<![\w)\]}.])[-+])?[$€£]?\.\d+"
)

_FRACTION = re.compile(r"\\[dt]?frac\s*\{\s*(-?\d+)\s*\}\s*\{\s*(-?\d+)\s*\}")

_LETTERS = "A-E"
#: A small letter counts where it ends a sentence or the text: "the answer is a dog" chooses none.
_SAID = re.compile(
    rf"(?i:answer\s*+(?:is|:|=)?\s*+:?\s*+[*_`(\[{{$]*+)(?:([{_LETTERS}])\b|([a-e])(?=[)\]*_`}}$.]|\s*\Z))"
)
_ALONE = re.compile(rf"[\s*_`(\[{{$]*([{_LETTERS}])[\s*_`)\]}}$.:]*", re.IGNORECASE)
_LEADS = re.compile(rf"\s*\(?([{_LETTERS}])[).:](?:\s|$)")
_BRACKETED = re.compile(rf"\(([{_LETTERS}])\)")
#: A letter that stands alone; not the article of "A dog", nor the A of "vitamin A is".
_STANDING = re.compile(rf"(?<![\w'])([{_LETTERS}])(?![\w']|\s+[a-z])")


@dataclass(frozen=True)
class Checker:
    """A judge that compares with the row's `answer`. `unusable` says what keeps it from comparing
    with an answer, and `counts` which completions are right."""

    same: Callable[[str, str], bool]
    unusable: Callable[[str], str]
    counts: str

    def __call__(self, row: Row, completions: Sequence[str]) -> list[Score]:
        right = [self.same(row.answer, text) for text in completions]
        return [Score(float(same), same) for same in right]


def last_number(text: str) -> Fraction | None:
    """The number that a text ends on: the last of its last `\\boxed{…}`, else of what follows the
    last `####`, else of all of it. Units, currency and per cent signs are set aside."""
    found = _NUMBER.findall(_written_out(_ending(text)))
    return _value(found[-1]) if found else None


def chosen_letter(text: str) -> str | None:
    """The letter A to E that a text chooses: in its last `\\boxed{…}`, behind its last "answer",
    alone, at its beginning as `B)`, in its last brackets, or the last that stands by itself."""
    boxed = _boxed(text)
    part = text if boxed is None else boxed
    if alone := _ALONE.fullmatch(part):
        return alone[1].upper()
    if said := _SAID.findall(part):
        return "".join(said[-1]).upper()
    if leads := _LEADS.match(part):
        return leads[1]
    found = _BRACKETED.findall(part) or _STANDING.findall(part)
    return found[-1] if found else None


def _same_number(answer: str, completion: str) -> bool:
    right, given = last_number(answer), last_number(completion)
    return right is not None and right == given


def _no_number(answer: str) -> str:
    found = {_value(each) for each in _NUMBER.findall(_written_out(_ending(answer)))}
    if len(found) == 1 and None not in found:
        return ""
    return f"holds {len(found)} numbers" if len(found) > 1 else "holds no number"


def _same_letter(answer: str, completion: str) -> bool:
    return chosen_letter(answer) == chosen_letter(completion)


def _no_letter(answer: str) -> str:
    return "" if _ALONE.fullmatch(answer) else "is no letter A to E"


def _ending(text: str) -> str:
    """The part of a text that says its result."""
    boxed = _boxed(text)
    if boxed is not None:
        return boxed
    marked = MARKED.search(text)
    return marked[1] if marked else text


def _boxed(text: str) -> str | None:
    """What the last `\\boxed{…}` holds, brackets within it counted; None without one."""
    start = text.rfind("\\boxed{")
    if start < 0:
        return None
    first = start + len("\\boxed{")
    depth = 1
    for place in range(first, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if not depth:
            return text[first:place]
    return None


def _written_out(text: str) -> str:
    """The text with what LaTeX writes into numbers taken out."""
    text = _FRACTION.sub(r"\1/\2", text)
    for written, plain in (("\\$", "$"), ("{,}", ","), ("\\,", ""), ("\\!", ""), ("\u2212", "-")):
        text = text.replace(written, plain)
    return text


def _value(number: str) -> Fraction | None:
    if len(number) > _LONGEST:
        return None
    top, slash, bottom = re.sub(r"[$€£,]", "", number).partition("/")
    if slash and not int(bottom):
        return None
    return Fraction(Decimal(top)) / (Fraction(int(bottom)) if slash else 1)


#: The checkers by name, besides `exact`.
CHECKERS: Mapping[str, Checker] = MappingProxyType(
    {
        "number": Checker(
            _same_number, _no_number, "answers whose last number equals the row's `answer`"
        ),
        "choice": Checker(
            _same_letter, _no_letter, "answers that choose the letter of the row's `answer`"
        ),
        "math": Checker(
            same_mathematics,
            lambda answer: "",
            "answers that math-verify finds equal to the row's `answer`",
        ),
    }
)
