"""The next step after a name that nobody knows."""

import difflib
from collections.abc import Iterable

_CUTOFF = 0.6


def closest(word: str, known: Iterable[str], cutoff: float = _CUTOFF) -> list[str]:
    """The known name that is spelled most like `word`, if it is at least `cutoff` alike."""
    return difflib.get_close_matches(word, sorted(known), n=1, cutoff=cutoff)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean X?`, or all known names where none is near."""
    names = list(known)
    near = closest(word, names)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(names)}"
