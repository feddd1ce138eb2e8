"""Built-in tasks. Train and evaluation prompts are disjoint by the hash of the prompt."""

import hashlib
import inspect
from types import MappingProxyType

from swarm.tasks import base, chain, strings
from swarm.tasks.base import Problem, TaskFamily, draw, held_out, levels_of

FAMILIES: MappingProxyType[str, TaskFamily] = MappingProxyType(
    {
        family.name: family
        for family in (
            strings.Reverse(),
            strings.Sort(),
            chain.Chain(),
            strings.Order(),
        )
    }
)

__all__ = [
    "FAMILIES",
    "Problem",
    "TaskFamily",
    "code_digest",
    "draw",
    "family",
    "held_out",
    "levels_of",
    "names",
    "rewards",
]


def names() -> tuple[str, ...]:
    """The built-in task families."""
    return tuple(FAMILIES)


def family(name: str) -> TaskFamily:
    """The family of this name. Raises ValueError that lists the known ones."""
    if name not in FAMILIES:
        raise ValueError(f"task.ref {name!r} is unknown; known: {', '.join(FAMILIES)}")
    return FAMILIES[name]


def rewards(name: str) -> tuple[str, ...]:
    """The rewards that a family offers; `exact` is always among them."""
    return family(name).rewards


def code_digest() -> str:
    """sha256 of the code that makes problems and judges answers: the evaluator's identity."""
    sources = "".join(inspect.getsource(module) for module in (base, strings, chain))
    return hashlib.sha256(sources.encode()).hexdigest()
