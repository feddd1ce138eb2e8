"""What a topic says: factors and levels under test, what is held fixed, and which metric.

Numbers go to the factor they stand by. Nothing is guessed here: what the topic does not say stays
empty.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from autoresearch.catalogue import FACTORS
from autoresearch.study.plan import Direction
from autoresearch.topic.aliases import Alias, Mention, find_mentions
from autoresearch.topic.levels import LIST, Spoken, as_level, left_out, number_owners, spoken_levels
from autoresearch.topic.words import number, spelled, words
from swarm.config.base import JsonValue

_CUES = frozenset({"with", "at", "under", "using", "for", "given", "when", "fixed"})
#: Before a factor without levels it means the level other than the control: `under staleness`.
_PRESENT = "under"
_COMPARE = frozenset({"than", "against", "over", "beat", "beats", "outperform", "outperforms"})
_ARTICLES = frozenset({"a", "an", "the", "of"})
_CONTRAST = LIST | _COMPARE | {"between", "compare", "compared", "comparing", "comparison", "match"}
_JOINS = frozenset({",", "and"})
_NOISE = "replicate"
_QUESTION = frozenset({"does", "do", "is", "should", "would", "can", "effect"})
#: Behind a level they say that it is not taken: `dynamic sampling off`.
_OFF = frozenset({"off", "disabled"})
_REWARDS = "reward_shaping"
_GREATER = frozenset({"better", "beat", "beats", "outperform", "outperforms"})
#: `with or without KL`: both are asked about.
_BOTH = frozenset({"or", "and", "vs", "versus"})


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
    `numbers` those of numbers that are levels, `claims` the factor of each word that names one or
    is a level of it, `levels` the places where one is said. `spelled` are the words as the user
    wrote them.
    """

    words: tuple[str, ...]
    spelled: tuple[str, ...] = field(default=(), compare=False)
    treatments: tuple[Named, ...] = ()
    fixed: tuple[Named, ...] = ()
    metric: str | None = None
    metric_span: tuple[int, int] = (0, 0)
    algorithm: str | None = None
    covered: frozenset[int] = frozenset()
    numbers: frozenset[int] = frozenset()
    claims: Mapping[int, str] = field(default_factory=dict)
    levels: frozenset[int] = frozenset()

    @property
    def covered_words(self) -> frozenset[str]:
        return frozenset(self.words[place] for place in self.covered)

    @property
    def factors(self) -> tuple[str, ...]:
        return tuple(named.factor for named in self.treatments)


def parse(topic: str) -> ParsedTopic:
    """Read a topic. Raises Refusal for a level outside its factor's range."""
    text = tuple(words(topic))
    mentions, owners = _without_owners(find_mentions(text), spelled(topic))
    strong = _strong(text, mentions)
    if len(strong) > 1 and not _is_of_noise(text, mentions):  # else it is no second factor
        strong = [name for name in strong if name != _NOISE]
        mentions = [m for m in mentions if m.alias.factor != _NOISE]
    numbers = number_owners(text, mentions, strong)
    spoken = [level for name in strong for level in spoken_levels(text, mentions, numbers, name)]
    spoken += [level for name in strong for level in left_out(text, mentions, name)]
    said = [_said(name, text, mentions, numbers, spoken) for name in strong]
    treatments, fixed = _divided(said)
    presets = [m.alias.level for m in mentions if m.alias.factor == "algorithm"]
    of_rewards = {"reward/mean"} if _REWARDS in strong else set()  # `as the training reward`
    metric = next(
        (m for m in mentions if m.alias.metric and m.alias.metric not in of_rewards), None
    )
    meant = owners + [m for m in mentions if _is_meant(m, strong, presets)]
    spans = [*((m.start, m.end) for m in meant), *((s.start, s.end) for s in spoken)]
    covered = {place for start, end in spans for place in range(start, end)}
    return ParsedTopic(
        words=text,
        spelled=tuple(spelled(topic)),
        treatments=tuple(treatments),
        fixed=tuple(fixed),
        metric=metric.alias.metric if metric else None,
        metric_span=(metric.start, metric.end) if metric else (0, 0),
        algorithm=str(presets[0]) if presets and "algorithm" not in strong else None,
        covered=frozenset(covered),
        numbers=frozenset(numbers),
        claims=_claims(mentions, spoken, numbers, strong),
        levels=frozenset(
            {*numbers, *(s.start for s in spoken)}
            | {m.start for m in mentions if m.alias.level is not None}
        ),
    )


def _without_owners(
    mentions: Sequence[Mention], said: Sequence[str]
) -> tuple[list[Mention], list[Mention]]:
    """The names in a topic, and those that only say whose another is: `DAPO's dynamic sampling`."""
    starts = {m.start for m in mentions}
    owners = [
        m
        for m in mentions
        if m.alias.factor == "algorithm"
        and said[m.end - 1].lower().endswith("'s")
        and m.end in starts
    ]
    return [m for m in mentions if m not in owners], owners


def _is_meant(mention: Mention, strong: Collection[str], presets: Collection[JsonValue]) -> bool:
    """Whether a name counts: a weak one only beside others of its factor. A critic is PPO's own."""
    alias = mention.alias
    own = alias.level == "value" and "ppo" in presets
    return not alias.weak or alias.factor in {*strong, "algorithm"} or own


def _claims(
    mentions: Iterable[Mention],
    spoken: Iterable[Spoken],
    numbers: Mapping[int, str],
    strong: Collection[str],
) -> Mapping[int, str]:
    """The factor that each word names or is a level of; of weak names, only what counts."""
    found = {
        place: m.alias.factor
        for m in mentions
        for place in range(m.start, m.end)
        if m.alias.factor in strong or m.alias.factor == "algorithm"
    }
    found |= {place: s.factor for s in spoken for place in range(s.start, s.end)}
    return MappingProxyType({**found, **numbers})


def _divided(said: Sequence["_Said"]) -> tuple[list[Named], list[Named]]:
    """What is under test, and what is held at one level: behind a cue (`with group size 4`), or
    where something else has several levels or none and this has one."""
    said = _cued_on(sorted(said, key=lambda each: each.first))
    said = _one_asked(said)
    several = [each for each in said if len(each.named.levels) > 1]
    said = [_on(each) if several and each.cued and not each.named.levels else each for each in said]
    open_ = [each for each in said if len(each.named.levels) != 1]
    compared = any(len(each.named.levels) > 1 for each in open_)

    def held(each: _Said) -> bool:
        one = len(each.named.levels) == 1 and not each.both
        return one and (each.cued or compared or (each.listed and bool(open_)))

    fixed = [each.named for each in said if held(each) and len(said) > 1]
    treatments = [each.without_control() for each in said if each.named not in fixed]
    return (treatments, fixed) if treatments else (fixed, [])


def _is_of_noise(text: Sequence[str], mentions: Sequence[Mention]) -> bool:
    """`how much does the seed matter with group size 4`: noise is asked about, the rest is held."""
    first = min((m.start for m in mentions if m.alias.factor == _NOISE), default=len(text))
    others = [m.start for m in mentions if m.alias.factor not in ("", "algorithm", _NOISE)]
    return bool(others) and all(
        place > first and _CUES & set(text[first:place]) for place in others
    )


def _one_asked(said: Sequence["_Said"]) -> list["_Said"]:
    """`lr 1e-3, bs 128, G=8: does an entropy bonus of 0.01 help?`: of many that have one level, the
    last is asked about where a question begins before it."""
    many = len(said) > 2 and all(len(each.named.levels) == 1 for each in said)
    if not many or not said[-1].asked or any(each.asked for each in said[:-1]):
        return list(said)
    return [*(replace(each, cued=True) for each in said[:-1]), said[-1]]


def _on(said: "_Said") -> "_Said":
    """`GRPO vs RLOO with a curriculum`: a factor without a level is held at the one that acts."""
    known = FACTORS[said.named.factor]
    acts = tuple(level for level in known.pair if level != known.control)
    return replace(said, named=replace(said.named, levels=acts))


def _strong(text: Sequence[str], mentions: Iterable[Mention]) -> list[str]:
    """Factors that the topic names for sure: by a name of theirs, or by levels it compares."""
    by_factor: dict[str, list[Alias]] = {}
    for mention in mentions:
        if mention.alias.factor:
            by_factor.setdefault(mention.alias.factor, []).append(mention.alias)
    compares = bool(_CONTRAST & set(text)) or set(by_factor) == {"algorithm"}
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


@dataclass(frozen=True)
class _Said:
    """What is said of one factor, from its `first` word on, and how: behind a cue, behind a comma
    or an `and`, `with and without`, in a question."""

    named: Named
    first: int
    cued: bool
    listed: bool
    both: bool
    asked: bool = False

    def without_control(self) -> Named:
        """`with or without KL` asks about the usual levels, not about one."""
        return replace(self.named, levels=()) if self.both else self.named


def _said(
    name: str,
    text: Sequence[str],
    mentions: Sequence[Mention],
    numbers: Mapping[int, str],
    spoken: Sequence[Spoken],
) -> _Said:
    known = FACTORS[name]
    mine = [m for m in mentions if m.alias.factor == name]
    negated = {s.start for s in spoken if s.factor == name and text[s.start] in _OFF}
    given: list[tuple[int, JsonValue]] = [
        *(
            (m.start, m.alias.level)
            for m in mine
            if m.alias.level is not None and m.end not in negated
        ),
        *((s.start, s.level) for s in spoken if s.factor == name),
        *((place, number(text[place])) for place, owner in numbers.items() if owner == name),
    ]
    if given:
        given += [(m.start, level) for m in mine if (level := as_level(m, text)) is not None]
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
    both = len(levels) == 1 and first > 1 and text[first - 2] == "with" and before in _BOTH
    both = both or (
        len(levels) == 1
        and "with" in text[max(first - 3, 0) : first]
        and "without" in text[first - 1 : first]
    )
    named = Named(name, levels, control, direction, " ".join(mine[0].alias.words))
    asked = bool(_QUESTION & set(text[:first]))
    return _Said(named, first, before in _CUES, before in _JOINS, both, asked)


def _cued_on(said: Sequence[_Said]) -> list[_Said]:
    """A cue holds for all that it joins: `with group size 8 and lr 2e-5`."""
    found: list[_Said] = []
    for each in said:
        joined = each.listed and bool(found) and found[-1].cued
        found.append(replace(each, cued=each.cued or joined))
    return found


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
