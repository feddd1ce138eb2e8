"""A topic, read whole: what each of its words, numbers and names says, and what nobody takes.

The text is said in the catalogue's words first (`dialects`), then read by one reader after another:
things (models, data, hardware), circumstances (seeds, steps, time, evaluation), paths of a config,
and last the catalogue's names with the levels that stand by them (`parse`). What is left is judged
at the end (`judge`).
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from autoresearch.topic.circumstances import Circumstances, circumstances
from autoresearch.topic.judge import (
    not_used,
    refuse_levels,
    refuse_names,
    refuse_numbers,
    refuse_outweighed,
    refuse_sides,
)
from autoresearch.topic.language import refuse_other_language
from autoresearch.topic.levels import UNITS
from autoresearch.topic.methods import refuse_absent
from autoresearch.topic.parse import ParsedTopic, parse
from autoresearch.topic.paths import PathNamed, paths_named
from autoresearch.topic.quantities import NUMBER_WORDS
from autoresearch.topic.stretches import Text
from autoresearch.topic.things import Things, things
from autoresearch.topic.translate import in_own_words
from autoresearch.topic.words import numbers_plainly, words
from swarm.errors import Refusal

_SPOKEN = "|".join(NUMBER_WORDS)
_SPOKEN_NUMBER = re.compile(
    rf"\b({_SPOKEN})(?=(?:\s*(?:,|or|vs\.?|and|to)\s*(?:{_SPOKEN}|\d+))*"
    rf"\s+(?:[a-z]+\s)?(?:{'|'.join(sorted(UNITS))}))",
    re.IGNORECASE,
)
#: Marks that end a phrase as a comma does.
_VERSUS = re.compile(
    r"\s(?:v|v\.|vs|instead\sof|rather\sthan|as\sopposed\sto|in\splace\sof|relative\sto)\s",
    re.IGNORECASE,
)
#: `1) … 2) …`, and `baseline: … treatment: …`.
_NUMBERED = re.compile(r"(?:^|\s)1\)\s.*\s2\)\s")
_NUMBER = re.compile(r"(?:^|\s)\d\)\s")
_LABELLED = re.compile(r"\btreatment\b", re.IGNORECASE)
_LABEL = re.compile(r"\b(?:baseline|control|treatment)\b\s*[:=]?", re.IGNORECASE)
#: A bracket that says what a setting is taken from: `lr in [1e-5, 1e-4]`.
_FROM_LIST = re.compile(r"\b(?:in|over|across|from)\s*(?=[\[{(])")
#: Not REINFORCE++, nor what one reinforces.
_REINFORCE = re.compile(
    r"\b(?:(?:vanilla|plain)\s)?(?:REINFORCE|[Rr]einforce)\b(?!\+\+|[-_\s]?(?:pp|plus))"
)
_BASELINE = re.compile(r"\bbaselines?\b", re.IGNORECASE)
#: `w/ TIS`, `w/o KL`, `easy->hard`.
_WITH = re.compile(r"(?:^|\s)w/(o)?(?:\s|(?=\w))", re.IGNORECASE)
_ARROW = re.compile(r"\s?(?:->|→|=>)\s?")
#: `better then 2` is `than`.
_THEN = re.compile(r"(?<=\w)\sthen\s(?=[\d.])", re.IGNORECASE)
_BREAKS = re.compile(r"[;:?!]")
#: What arms have in common whatever is asked, and the factors under which they do not.
_UNEQUAL = {
    "rollouts": ("batch_size",),
    "updates": ("updates_per_batch", "minibatches"),
}


@dataclass(frozen=True)
class Reading:
    """What a topic says. The text `left` for `parsed` is what things, circumstances and paths did
    not take; those took as many words as `taken`."""

    things: Things
    circumstances: Circumstances
    paths: tuple[PathNamed, ...]
    parsed: ParsedTopic
    left: str
    taken: int


def read(topic: str, *, own: bool = False) -> Reading:
    """Read a topic. Raises Refusal for one that is not English, and for a method, a setting or a
    value that the trainer does not have. A playbook's `own` topic may speak of anything."""
    refuse_other_language(topic)
    plain = _VERSUS.sub(" vs ", numbers_plainly(_without_labels(topic)))
    plain = _ARROW.sub(" to ", _THEN.sub(" than ", plain))
    plain = _WITH.sub(lambda m: " without " if m[1] else " with ", plain)
    text = Text(in_own_words(plain))
    paths, found = tuple(paths_named(text)), things(text)
    if not own:
        _take_reinforce(text)
        refuse_absent(text)
    course = circumstances(text)
    left = _BREAKS.sub(" , ", _FROM_LIST.sub(" ", text.left).strip(" ?!.;:"))
    left = _SPOKEN_NUMBER.sub(lambda m: str(NUMBER_WORDS[m[1].lower()]), left)
    taken = len(words(text.whole)) - len(words(text.left))
    return Reading(found, course, paths, parse(left), left, taken)


def _take_reinforce(text: Text) -> None:
    """REINFORCE beside baselines is what they are baselines of."""
    if _BASELINE.search(text.left):
        for match in list(_REINFORCE.finditer(text.left)):
            text.blank(*match.span())


def _without_labels(topic: str) -> str:
    """The topic without the numbers and labels of its list of arms."""
    if _NUMBERED.search(topic):
        topic = _NUMBER.sub(" , ", topic)
    return _LABEL.sub(" , ", topic) if _LABELLED.search(topic) else topic


def judged(
    reading: Reading, units: Collection[str] = (), *, compared: bool = False
) -> tuple[str, ...]:
    """The words of a topic that nobody took. `units` are words behind a number that a parameter of
    a playbook takes; `compared` is whether options say what is compared.

    Raises Refusal for a number, a name or a side of a comparison that nobody takes, and where what
    nobody takes outweighs the rest.
    """
    parsed = reading.parsed
    _refuse_unequal(reading.circumstances, parsed)
    refuse_levels(parsed)
    refuse_names(parsed, reading.left)
    refuse_numbers(parsed, units, [named.path for named in reading.paths])
    if not compared:
        refuse_sides(parsed)
    unused = tuple(not_used(parsed))
    refuse_outweighed(parsed, unused, reading.taken)
    return unused


def _refuse_unequal(course: Circumstances, parsed: ParsedTopic) -> None:
    """Raise Refusal where what is said to be equal follows from what is under test."""
    for what in course.equal:
        if differing := next((f for f in _UNEQUAL.get(what, ()) if f in parsed.factors), None):
            raise Refusal(
                "topic",
                f"arms that differ in {differing} cannot have equal {what}",
                "say 'at equal steps'; reports show tokens and time beside the scores",
            )
