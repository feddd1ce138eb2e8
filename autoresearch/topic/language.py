"""Whether a topic is English, the one language that topics are read in.

Scripts and function words decide: names, numbers, code and Greek letters are neutral.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from autoresearch.topic.aliases import find_mentions
from autoresearch.topic.words import STOP, number, numbers_plainly, words
from swarm.errors import Refusal

#: Words that carry a sentence in other languages and are none in English, and those that English
#: text may hold too (`de facto`, `die`).
_FOREIGN_TEXT = """
der das ist und oder nicht welche welcher welches wie mit für hilft besser als eine einen einer
bei auf von zu zum zur auch gegen vergleiche vergleich zwischen macht est les une des dans avec
pour sur quelle quel ou et améliore mieux que ça contre entre faut du el los las una para qué
cuál mejor mejora por comparar tasa frente il gli che di quale meglio della sono migliora
confronta tra dello uma com qual melhor não em entre taxa een het wat welke beter helpt voor
tegen czy jest lepszy lepsze jaki porównaj niż hur är bättre än och eller och vad på ile için mi
daha iyi ve veya với so hơn và hay
"""
_FOREIGN = frozenset(_FOREIGN_TEXT.split())
_SHARED = frozenset({"die", "la", "le", "de", "es", "con", "van", "del", "como", "da", "al", "av"})
#: Function words that are English and of no other language here.
_ENGLISH_TEXT = "in is are the of at with vs versus on sweep between why who best"
_NOT_ENGLISH_TEXT = "a me no so as do per et al se was an i over ,"
_ENGLISH = (STOP | frozenset(_ENGLISH_TEXT.split())) - frozenset(_NOT_ENGLISH_TEXT.split())
_ET_AL = re.compile(r"\bet\s+al\b", re.IGNORECASE)
#: Parts of the letters, and of the words, that mark a topic as written in another script or with
#: the accents of another language.
_OTHER_SCRIPT, _ACCENTED = 0.2, 1 / 3


def refuse_other_language(topic: str) -> None:
    """Raise Refusal for a topic that is not English; the next step is what of it can be read."""
    if not is_english(topic):
        raise Refusal("topic", "it is not in English", f"ask in English: {in_english(topic)}")


def is_english(topic: str) -> bool:
    """Whether a topic can be read as English."""
    topic = _ET_AL.sub(" ", topic)
    letters = [letter for letter in topic if letter.isalpha()]
    other = [letter for letter in letters if _script(letter) not in ("LATIN", "GREEK", "MICRO")]
    if len(other) > 1 and len(other) > _OTHER_SCRIPT * len(letters):
        return False
    said = re.findall(r"[^\W\d_]+", topic.lower())
    foreign = sum(word in _FOREIGN for word in said)
    weak = sum(word in _SHARED for word in said)
    english = sum(word in _ENGLISH for word in said)
    accented = sum(not word.isascii() and _script(word[-1]) == "LATIN" for word in said)
    if said and accented > _ACCENTED * len(said):
        return False
    if not english:
        return not (foreign or weak)
    return 2 * foreign + weak < 2 or 2 * foreign + weak <= 2 * english


def in_english(topic: str) -> str:
    """What of a topic can be read, as an English one in quotes: names, settings and numbers."""
    latin = "".join(
        c if not c.isalpha() or _script(c) in ("LATIN", "GREEK") else " " for c in topic
    )
    said = words(numbers_plainly(latin))
    mentions = find_mentions(said)
    presets = [m.alias.level for m in mentions if m.alias.factor == "algorithm"]
    names = list(dict.fromkeys(str(preset).upper() for preset in presets))
    settings = [m for m in mentions if m.alias.factor not in ("", "algorithm")]
    levels = " vs ".join(dict.fromkeys(_levels(said)))
    under = f" in {names[0]}" if len(names) == 1 else ""
    if settings:
        name = " ".join(settings[0].alias.words)
        return f"'{name} {levels}{under}'" if levels else f"'does {name} matter{under}?'"
    if len(names) > 1:
        return f"'{' vs '.join(names)}'"
    if levels:
        return f"'SETTING {levels}{under}', as in 'group size 4 vs 16{under}'"
    return f"'is group size 4 better than 16{under}?'"


def _levels(said: list[str]) -> Iterator[str]:
    """Numbers that are not counted in words of another language: `mit 5 Seeds`, `10 Schritte`."""
    for word, after in pairwise([*said, ","]):
        counted = after not in (",", "vs", "in", "and", "or") and number(after) is None
        if number(word) is not None and (not counted or after in _FOREIGN or len(after) < 3):
            yield word


def _script(letter: str) -> str:
    return unicodedata.name(letter, "?").partition(" ")[0]
