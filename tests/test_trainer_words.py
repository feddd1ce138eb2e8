"""The trainer speaks of training alone: its words are not those of who plans studies."""

import re
from pathlib import Path

SWARM = Path(__file__).parents[1] / "swarm"

RESEARCHERS = re.compile(
    r"autoresearch|trial|hypothes[ie]s|(?<![a-z])(stud(y|ies)|arms?)(?![a-z])", re.IGNORECASE
)

#: Lines that may hold such a word, and why.
ALLOWED = {
    "get it with: autoresearch model add": "the command that fetches a model",
    'os.environ.get("SWARM_CACHE") or os.environ.get("AUTORESEARCH_CACHE")': "its former name",
    "`SWARM_CACHE`, or `AUTORESEARCH_CACHE` as it was called before": "its former name",
    "else `~/.cache/autoresearch`, where models lie that were made before": "made models are found",
    'home / ".cache" / "autoresearch"': "made models are found",
    'OWN = ("swarm", "autoresearch")': "packages whose import errors are defects",
}


def test_the_trainer_has_no_words_of_the_researcher() -> None:
    found = [
        f"{path.relative_to(SWARM)}:{number}: {line.strip()}"
        for path in sorted(SWARM.rglob("*.py"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if RESEARCHERS.search(line) and not any(allowed in line for allowed in ALLOWED)
    ]
    assert found == []


def test_every_allowance_is_used() -> None:
    text = "\n".join(path.read_text() for path in SWARM.rglob("*.py"))
    assert [allowed for allowed in ALLOWED if allowed not in text] == []
