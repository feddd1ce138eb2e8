"""Which factors a plan tests, at which levels, against which control."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from autoresearch.catalogue import CatalogueFactor, PathFactor, factor
from autoresearch.planner.recipe import ModelRecipe
from autoresearch.playbook import Playbook
from autoresearch.playbook.schema import PlaybookFactor
from autoresearch.study.intent import AskedFactor, Intent
from autoresearch.study.plan import Direction
from swarm.config.base import JsonValue
from swarm.errors import Refusal

#: A full factorial of more factors takes too many arms.
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


def select(playbook: Playbook, intent: Intent, recipe: ModelRecipe) -> tuple[Treatment, ...]:
    """The treatments of a playbook as an intent fills them.

    The playbook's own factors, without those held fixed, are under test unless the intent names
    others. Raises Refusal where neither names one, for more than two, and for a level outside its
    factor's range.
    """
    own = {f.name: f for f in playbook.factors if f.name not in intent.held}
    names = [asked.name for asked in intent.factors]
    if own and own.keys() >= set(names):
        return tuple(_from_playbook(listed, intent, recipe) for listed in own.values())
    if not names:
        raise Refusal("topic", f"playbook {playbook.id} needs a factor", "name one in the topic")
    if len(names) > MOST_FACTORS:
        raise Refusal(
            "topic",
            f"it names {len(names)} factors ({', '.join(names)})",
            f"ask about {MOST_FACTORS} at a time",
        )
    crowded = len(names) > 1
    chosen = tuple(_from_catalogue(asked, recipe, crowded=crowded) for asked in intent.factors)
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


def _from_playbook(listed: PlaybookFactor, intent: Intent, recipe: ModelRecipe) -> Treatment:
    """A playbook's factor; levels that the intent names replace the playbook's."""
    known = recipe.factor(factor(listed.name))
    usual_here = recipe.levels(listed.name)
    levels = usual_here or listed.levels or known.levels
    control = usual_here[0] if usual_here else listed.control
    if control is None:
        control = levels[0] if isinstance(known, PathFactor) else known.control
    usual = Treatment(known, tuple(map(known.check, levels)), _control(known, levels, control))
    asked = intent.factor(listed.name)
    return _as_asked(usual, asked) if asked else usual


def _from_catalogue(asked: AskedFactor, recipe: ModelRecipe, *, crowded: bool) -> Treatment:
    known = recipe.factor(factor(asked.name))
    if isinstance(known, PathFactor):
        return _of_path(known, asked)
    usual = recipe.levels(asked.name)
    if usual:
        return _as_asked(Treatment(known, usual[:2] if crowded else usual, usual[0]), asked)
    levels = known.pair if crowded else known.levels
    return _as_asked(Treatment(known, levels, known.control), asked)


def _of_path(known: PathFactor, asked: AskedFactor) -> Treatment:
    """A path at the levels that are asked for; one level is compared with the config's default."""
    levels = tuple(map(known.check, asked.levels))
    levels = levels if len(levels) > 1 else tuple(dict.fromkeys((*known.levels, *levels)))
    if len(levels) < 2:
        raise Refusal(
            "factor", f"{known.name} needs two levels", f"write --factor {known.name}=LEVEL,LEVEL"
        )
    control = levels[0] if asked.control is None else asked.control
    return Treatment(known, levels, control, asked.direction)


def _as_asked(usual: Treatment, asked: AskedFactor) -> Treatment:
    """A treatment at the levels that are asked for; one level is compared with the control."""
    levels = tuple(map(usual.factor.check, asked.levels))
    if not levels or levels == (usual.control,):
        return usual
    if len(levels) == 1:
        return replace(usual, levels=(usual.control, *levels))
    control = asked.control
    if control is None:
        control = _control(usual.factor, levels, usual.control)
    return replace(usual, levels=levels, control=control, direction=asked.direction)


def _control(
    known: CatalogueFactor, levels: Sequence[JsonValue], preferred: JsonValue
) -> JsonValue:
    """The first of: the preferred control, the catalogue's, the first level."""
    for level in (preferred, known.control):
        if level in levels:
            return level
    return levels[0]
