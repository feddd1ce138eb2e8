"""Which factors a plan tests, at which levels, against which control."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from autoresearch.catalogue import CatalogueFactor, factor
from autoresearch.playbook import Playbook
from autoresearch.playbook.schema import PlaybookFactor
from autoresearch.study.plan import Direction
from autoresearch.topic.parse import Named, ParsedTopic
from swarm.config.base import JsonValue
from swarm.errors import Refusal

#: A full factorial of more factors is no quick answer to anything.
MOST_FACTORS = 2


@dataclass(frozen=True)
class Treatment:
    """A factor under test. `direction` is what the topic claims of the other level, if it does."""

    factor: CatalogueFactor
    levels: tuple[JsonValue, ...]
    control: JsonValue
    direction: Direction | None = None

    @property
    def name(self) -> str:
        return self.factor.name


def select(playbook: Playbook, parsed: ParsedTopic) -> tuple[Treatment, ...]:
    """The treatments of a playbook as a topic fills them.

    A playbook keeps its own factors where the topic names no others, but for those that the topic
    holds fixed. Raises Refusal where neither
    names one, for more than two, and for a level outside its factor's range.
    """
    held = {named.factor for named in parsed.fixed}
    own = {f.name: f for f in playbook.factors if f.name not in held}
    if own and set(parsed.factors) <= own.keys():
        return tuple(_from_playbook(listed, parsed) for listed in own.values())
    if not parsed.treatments:
        raise Refusal("topic", f"playbook {playbook.id} needs a factor", "name one in the topic")
    if len(parsed.treatments) > MOST_FACTORS:
        raise Refusal(
            "topic",
            f"it names {len(parsed.treatments)} factors ({', '.join(parsed.factors)})",
            f"ask about {MOST_FACTORS} at a time",
        )
    chosen = tuple(
        _from_topic(named, crowded=len(parsed.treatments) > 1) for named in parsed.treatments
    )
    _refuse_overlap(chosen)
    return chosen


def _refuse_overlap(treatments: Sequence[Treatment]) -> None:
    for one, other in combinations(treatments, 2):
        if both := one.factor.paths & other.factor.paths:
            raise Refusal(
                "topic",
                f"{one.name} and {other.name} both set {min(both)}",
                "ask about one of them",
            )


def _from_playbook(listed: PlaybookFactor, parsed: ParsedTopic) -> Treatment:
    """A playbook's factor; levels that the topic types replace the playbook's."""
    known = factor(listed.name)
    levels = listed.levels or known.levels
    control = known.control if listed.control is None else listed.control
    usual = Treatment(known, tuple(map(known.check, levels)), _control(known, levels, control))
    named = parsed.named(listed.name)
    return _typed(usual, named) if named else usual


def _from_topic(named: Named, *, crowded: bool) -> Treatment:
    known = factor(named.factor)
    levels = known.pair if crowded else known.levels
    return _typed(Treatment(known, levels, known.control), named)


def _typed(usual: Treatment, named: Named) -> Treatment:
    """A treatment at the levels that a topic types; one level is compared with the control."""
    levels = named.levels
    if not levels or levels == (usual.control,):
        return usual
    if len(levels) == 1:
        return replace(usual, levels=(usual.control, *levels))
    control = named.control
    if control is None:
        control = _control(usual.factor, levels, usual.control)
    return replace(usual, levels=levels, control=control, direction=named.direction)


def _control(
    known: CatalogueFactor, levels: Sequence[JsonValue], preferred: JsonValue
) -> JsonValue:
    """The first of: the preferred control, the catalogue's, the first level."""
    for level in (preferred, known.control):
        if level in levels:
            return level
    return levels[0]
