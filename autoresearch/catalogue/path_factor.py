"""A factor that the catalogue need not know: any path of a TrainConfig, `task.args` included."""

from dataclasses import dataclass

from autoresearch.catalogue.factor import CatalogueFactor, Kind
from swarm.config.base import JsonValue
from swarm.config.checked import check_path, check_value
from swarm.config.parts import BOUNDS
from swarm.config.paths import FREE, setting
from swarm.config.train import TrainConfig
from swarm.errors import Refusal

#: Paths that no arm may differ in, and what to do instead.
_NOT_UNDER_TEST = {
    "seed": "seeds are the plan's own; say how many: 'with 10 seeds'",
    "model.ref": "give one model by --model, and start a study for each",
    "task.ref": "give one task by --task; a mixture's weights can be under test",
    "task.digest": "it follows from the files",
    "policy.start_digest": "it follows from policy.start",
    "device": "it changes where a run is computed, not what is learned",
    "checkpoint_every": "it changes nothing that is learned",
    **dict.fromkeys(BOUNDS, "it bounds waits and changes nothing that is learned"),
}
_MEASURES = "evaluation."
#: What lies below is there for the sources of a mixture alone.
_SOURCES = "task.sources."


@dataclass(frozen=True)
class PathFactor(CatalogueFactor):
    """A factor of one path, whose levels are whatever the path can hold. What the catalogue knows
    of the same path (traps, requirements, expectations) holds for it too."""

    @property
    def kind(self) -> Kind:
        default = _default(self.name)
        if isinstance(default, bool) or not isinstance(default, int | float):
            return "choice"
        return "int" if isinstance(default, int) else "float"

    def check(self, level: JsonValue) -> JsonValue:
        """The level in the path's own type. Raises Refusal for what the path cannot hold."""
        check_value(self.name, level, f"factor {self.name}")
        if isinstance(level, int) and not isinstance(level, bool) and self.kind == "float":
            return float(level)
        return level

    @property
    def allowed(self) -> str:
        return f"give values that {self.name} can hold"


def path_factor(path: str, known: CatalogueFactor | None) -> PathFactor:
    """The factor of a path; `known` is the catalogue's of the same path, if it has one.

    Raises Refusal for a path that no config has, with the nearest one, and for one in which arms
    must not differ.
    """
    check_path(path, "factor")
    instead = _NOT_UNDER_TEST.get(path)
    if path.startswith(_MEASURES):
        instead = "all arms are measured alike; fix it with --set"
    if instead:
        raise Refusal("factor", f"{path} cannot be under test", instead)
    default = _default(path)
    return PathFactor(
        name=path,
        title=known.title if known else path,
        sets=(path,),
        levels=() if default is None else (default,),
        aliases="",
        expected=known.expected if known else "",
        source=known.source if known else "",
        traps=known.traps if known else (),
        requires=known.requires if known else (),
    )


def _default(path: str) -> JsonValue:
    """The value of a config that does not say; None where only a config that says has the path."""
    return None if path.startswith((*FREE, _SOURCES)) else setting(TrainConfig(), path)
