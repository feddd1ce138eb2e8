"""A topic's text as its readers share it: each takes the stretches that it understands.

Readers see the text in the user's own spelling. What one has taken is blank to those after it, so
that a digit inside a name is never read as a level.
"""

import re
from collections.abc import Iterator


class Text:
    """A topic. `left` is what nobody has taken yet; it is as long as `whole`, so that places in one
    are places in the other."""

    def __init__(self, whole: str) -> None:
        self.whole = whole
        self.left = whole

    def take(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """Each match in what is left, in order, taken before the next is looked for."""
        while match := pattern.search(self.left):
            start, end = match.span()
            if start == end:
                return
            self.blank(start, end)
            yield match

    def blank(self, start: int, end: int) -> None:
        """Take what stands between two places."""
        self.left = self.left[:start] + " " * (end - start) + self.left[end:]

    def before(self, match: re.Match[str]) -> str:
        """The user's words before a match."""
        return self.whole[: match.start()]


def phrase(words: str, *, case: bool = False) -> re.Pattern[str]:
    """A verbose pattern between the ends of words, in any case unless `case`. Spaces of the topic
    are written as `\\s`."""
    flags = re.VERBOSE if case else re.VERBOSE | re.IGNORECASE
    return re.compile(rf"(?<![\w.-])(?:{words})(?!\w|\.\d)", flags)
