"""A report as the description of a run in MLflow, which shows Markdown but none of our files."""

import re
from pathlib import Path

LONGEST = 8000  # characters of a run's tag in MLflow
_HEADING = re.compile(r"^(#+ )", re.MULTILINE)  # MLflow's largest headings overlap
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]*)\)")


def as_description(report: Path) -> str:
    """The report with paths for links to files, and as much of it as MLflow keeps.

    A report that is too long ends before the section that would not fit.
    """
    text = _HEADING.sub(r"##\1", _LINK.sub(_spoken, report.read_text(encoding="utf-8")))
    end = f"\n\nThe whole report, with its figures: `{report}`"
    room = LONGEST - len(end)
    if len(text) > room:
        marks = ("\n#### ", "\n\n", "")
        text = text[: next(at for mark in marks if (at := text.rfind(mark, 0, room)) > 0)]
    return text.rstrip() + end


def _spoken(link: re.Match[str]) -> str:
    image, text, target = link.groups()
    if "://" in target:
        return link[0]
    if image:
        return f"*(figure: {text}, `{target}`)*"
    return text if text.strip("`") in target else f"{text} (`{target}`)"
