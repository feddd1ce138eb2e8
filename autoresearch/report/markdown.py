"""Tables and figures in Markdown."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[int] = ()) -> str:
    """A table; columns in `numeric` are aligned to the right."""
    rule = ["--:" if i in numeric else ":--" for i in range(len(head))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *rows))


def figure(name: str, alt: str, caption: str) -> str:
    """A figure of `figures/` with its caption and a link to its data."""
    return f"![{alt}](figures/{name}.png)\n\n*{caption} Data: [{name}.csv](figures/{name}.csv).*"
