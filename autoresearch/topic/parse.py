"""What a topic says: factors and levels under test, what is held fixed, and which metric.

Numbers go to the factor they stand by. Nothing is guessed here: what the topic does not say stays
empty.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from autoresearch.catalogue import FACTORS
from autoresearch.study.plan import Direction
from autoresearch.topic.aliases import Alias, Mention, find_mentions
from autoresearch.topic.words import STOP, canonical, is_subject, number, words
from swarm.config.base import JsonValue
from swarm.errors import Refusal

_CUES = frozenset({"with", "at", "under", "using", "for", "given", "when", "fixed"})
#: Before a factor without levels it means the level other than the control: `under staleness`.
_PRESENT = "under"
_COMPARE = frozenset({"than", "against", "over", "beat", "beats", "outperform", "outperforms"})
_LIST = frozenset({",", "vs", "versus", "and", "or", "than", "to", "against", "over"})
#: Words that numbers may stand behind besides names, numbers and function words.
_BEFORE = STOP | frozenset({"sweep", "grid", "range", "value", "ablation", "level"})
_ARTICLES = frozenset({"a", "an", "the", "of"})
_CONTRAST = (
    _LIST | _COMPARE | {"between", "compare", "compared", "comparing", "comparison", "match"}
)
_GREATER = frozenset({"better", "beat", "beats", "outperform", "outperforms"})

#: Words after a number that is not a level of any factor: `5 seeds`.
UNITS = frozenset(
    words(
        """
        seeds steps cores hours minutes seconds days tasks runs rollouts gpus cpus tokens samples
        prompts updates epochs studies papers percent times models completions
        """
    )
)

#: Names of algorithms that the trainer has no preset for, and what to ask instead.
UNSUPPORTED: Mapping[str, str] = {
    "reinforce": "ask for the baseline instead: 'no baseline against a group baseline'",
}


@dataclass(frozen=True)
class Named:
    """A factor that the topic names. `levels` are those it gives, in its order.

    `control` is the level that the topic compares against, if it says so, and `direction` what it
    asks about the other level. `words` is the factor in the topic's own words.
    """

    factor: str
    levels: tuple[JsonValue, ...] = ()
    control: JsonValue = None
    direction: Direction | None = None
    words: str = ""


@dataclass(frozen=True)
class ParsedTopic:
    """A topic, read.

    `fixed` are factors held at one level, `algorithm` a preset named alone, `metric_span` the words
    that name the metric (from, up to), `covered` the places of all words that name something,
    `numbers` those of numbers that are levels, `unknown` the subject words that name nothing.
    """

    words: tuple[str, ...]
    treatments: tuple[Named, ...] = ()
    fixed: tuple[Named, ...] = ()
    metric: str | None = None
    metric_span: tuple[int, int] = (0, 0)
    algorithm: str | None = None
    covered: frozenset[int] = frozenset()
    numbers: frozenset[int] = frozenset()
    unsupported: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def covered_words(self) -> frozenset[str]:
        return frozenset(self.words[place] for place in self.covered)

    @property
    def factors(self) -> tuple[str, ...]:
        return tuple(named.factor for named in self.treatments)


def parse(topic: str) -> ParsedTopic:
    """Read a topic. Raises Refusal for a level outside its factor's range."""
    text = tuple(words(topic))
    mentions = find_mentions(text)
    strong = _strong(text, mentions)
    numbers = _numbers(text, mentions, strong)
    treatments: list[Named] = []
    fixed: list[Named] = []
    for name in strong:
        named, held = _named(name, text, mentions, numbers)
        (fixed if held and len(strong) > 1 else treatments).append(named)
    if fixed and not treatments:
        treatments, fixed = fixed, []
    presets = [m.alias.level for m in mentions if m.alias.factor == "algorithm"]
    metric = next((m for m in mentions if m.alias.metric), None)
    covered = {i for m in mentions for i in range(m.start, m.end)}
    unknown = [w for i, w in enumerate(text) if i not in covered and is_subject(w)]
    return ParsedTopic(
        words=text,
        treatments=tuple(treatments),
        fixed=tuple(fixed),
        metric=metric.alias.metric if metric else None,
        metric_span=(metric.start, metric.end) if metric else (0, 0),
        algorithm=str(presets[0]) if presets and "algorithm" not in strong else None,
        covered=frozenset(covered),
        numbers=frozenset(numbers),
        unsupported=tuple(w for w in unknown if w in UNSUPPORTED),
        unknown=tuple(unknown),
    )


def _strong(text: Sequence[str], mentions: Iterable[Mention]) -> list[str]:
    """Factors that the topic names for sure: by a name of theirs, or by levels it compares."""
    by_factor: dict[str, list[Alias]] = {}
    for mention in mentions:
        if mention.alias.factor:
            by_factor.setdefault(mention.alias.factor, []).append(mention.alias)
    compares = bool(_CONTRAST & set(text))
    sure = [
        name
        for name, aliases in by_factor.items()
        if any(not a.weak for a in aliases) or (compares and len({a.level for a in aliases}) > 1)
    ]
    numbered = {
        m.alias.factor for m in mentions if number(" ".join(text[m.end : m.end + 1])) is not None
    }
    bare = {n for n in sure if all(a.level is None for a in by_factor[n])} - numbered
    return [n for n in sure if not (n in bare and set(FACTORS[n].yields_to) & set(sure))]


def _numbers(
    text: Sequence[str], mentions: Sequence[Mention], strong: Sequence[str]
) -> dict[int, str]:
    """The factor of each number that is a level, by the number's place."""
    numeric = [
        m
        for m in mentions
        if m.alias.factor in strong and FACTORS[m.alias.factor].kind in ("int", "float")
    ]
    covered = {i for m in mentions for i in range(m.start, m.end)}
    found: dict[int, str] = {}
    for place, word in enumerate(text):
        if number(word) is None or place in covered or not numeric:
            continue
        before = text[place - 1] if place else "is"
        if not (place - 1 in covered or before in _BEFORE or number(before) is not None):
            continue
        owner = _owner(text, numeric, covered, place)
        if owner:
            found[place] = owner
    return found


def _owner(
    text: Sequence[str], numeric: Sequence[Mention], covered: set[int], place: int
) -> str | None:
    """Which factor the number at `place` belongs to: by its unit, else by its neighbours."""
    after = text[place + 1] if place + 1 < len(text) else ""
    if place + 1 not in covered and after in UNITS:
        counted = [m for m in numeric if after in _units(m.alias.factor)]
        return min(counted, key=lambda m: abs(m.start - place)).alias.factor if counted else None
    earlier = [m for m in numeric if m.end <= place]
    later = [m for m in numeric if m.start > place]
    if earlier and later and later[0].start == place + 1:
        before = text[place - 1]
        if before not in _LIST and number(before) is None and earlier[-1].end != place:
            return later[0].alias.factor
    if earlier:
        return earlier[-1].alias.factor
    between = text[place + 1 : later[0].start]
    joined = all(w in STOP or w in UNITS or number(w) is not None for w in between)
    return later[0].alias.factor if joined else None


@cache
def _units(factor: str) -> frozenset[str]:
    return frozenset(canonical(unit) for unit in FACTORS[factor].units)


def _named(
    name: str, text: Sequence[str], mentions: Sequence[Mention], numbers: Mapping[int, str]
) -> tuple[Named, bool]:
    """What is said of one factor, and whether a cue (`with group size 4`) holds it fixed."""
    known = FACTORS[name]
    mine = [m for m in mentions if m.alias.factor == name]
    given: list[tuple[int, JsonValue]] = [
        *((m.start, m.alias.level) for m in mine if m.alias.level is not None),
        *((place, number(text[place])) for place, owner in numbers.items() if owner == name),
    ]
    given.sort(key=lambda pair: pair[0])
    levels = tuple(dict.fromkeys(known.check(level) for _, level in given))
    own = {i for m in mine for i in range(m.start, m.end)}
    first = min([m.start for m in mine] + [place for place, _ in given])
    before = _word_before(text, first, own)
    if not levels and before == _PRESENT:
        levels = tuple(level for level in known.pair if level != known.control)
    control, direction = None, None
    for place, level in given:
        if len(levels) > 1 and _word_before(text, place, own) in _COMPARE:
            control, direction = known.check(level), _direction(text)
    held = len(levels) == 1 and before in _CUES
    return Named(name, levels, control, direction, " ".join(mine[0].alias.words)), held


def _word_before(text: Sequence[str], place: int, own: set[int]) -> str:
    """The word before a place, over articles and the factor's own name; empty at the start."""
    place -= 1
    while place >= 0 and (place in own or text[place] in _ARTICLES):
        place -= 1
    return text[place] if place >= 0 else ""


def _direction(text: Sequence[str]) -> Direction | None:
    if "worse" in text:
        return "less"
    return "greater" if _GREATER & set(text) else None


def refuse_unsupported(parsed: ParsedTopic) -> None:
    """Raise Refusal where the topic is about an algorithm that the trainer does not have."""
    if parsed.unsupported and (not parsed.treatments or parsed.factors == ("algorithm",)):
        name = parsed.unsupported[0]
        raise Refusal("topic", f"the trainer has no preset for {name.upper()}", UNSUPPORTED[name])
