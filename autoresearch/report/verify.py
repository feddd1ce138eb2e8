"""Does a report follow from its runs? Every difference is named.

The runs come first: each counted attempt against its seal, and its seal against the ledger. Then
the plan against its registration, and the tuned value against the tuning runs. Then everything
that the report says is computed again and compared byte for byte: claims, text, plan and the
figures' data. The PNGs are not compared, for fonts differ between machines; their data are.
"""

import json
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from autoresearch.analysis.claims import ClaimSet, claims_of
from autoresearch.analysis.evidence import Evidence, Readings, damage
from autoresearch.analysis.queries import noise
from autoresearch.report.build import CLAIMS, PREREGISTRATION, REPORT, hashed_text, texts
from autoresearch.report.render import render
from autoresearch.study.facts import StudyFacts
from autoresearch.study.home import Home

SHOWN = 60
"""Characters of a differing line that a problem quotes."""


def verify(facts: StudyFacts, home: Home, readings: Readings | None = None) -> list[str]:
    """Every problem of a study's report, one a line; empty where it follows from its runs.

    Where runs were changed, nothing can be recomputed: the text is then compared to the claims in
    the folder. `readings` save reading runs again that this process has read; their seals are
    checked all the same. Raises ValueError for a study without a plan.
    """
    folder = home.report(facts.study)
    evidence = Evidence(facts, readings)
    runs = [problem for trial in facts.trials for problem in damage(trial)]
    problems = [*runs, *_registration(evidence), *([] if runs else _tuned(evidence))]
    if not folder.is_dir():
        return [*problems, f"{folder}: there is no report; write it with `report build`"]
    expected = _from_stored(evidence, folder) if runs else texts(evidence, claims_of(evidence))
    for name, text in expected.items():
        problems += _compare(folder, name, text)
    return problems


def _registration(evidence: Evidence) -> Iterator[str]:
    facts, digest = evidence.facts, evidence.plan.digest()
    if facts.registration != digest:
        yield f"plan: its sha256 is {digest}, registered was {facts.registration}"
    started = [a.started_at for t in facts.trials for a in t.attempts if a.started_at]
    if started and facts.registered_at is not None and min(started) < facts.registered_at:
        yield "plan: registered after its first trial had started"
    for trial in facts.trials:
        if trial.spec.registration != facts.registration:
            yield f"trial {trial.spec.id}: it was made for plan {trial.spec.registration}"


def _tuned(evidence: Evidence) -> Iterator[str]:
    """Whether confirmation used the value that the tuning runs speak for."""
    record, chosen = evidence.facts.records.get("tuning"), noise.tuning_choice(evidence)
    if record is not None and chosen.value is not None and record["value"] != chosen.value:
        yield f"record tuning: {record['value']}, but the tuning runs choose {chosen.value}"


def _from_stored(evidence: Evidence, folder: Path) -> dict[str, str]:
    """What to expect where the runs were changed: the plan, and the text of the stored claims."""
    expected = {PREREGISTRATION: hashed_text(evidence.plan)}
    try:
        stored = ClaimSet.from_json((folder / CLAIMS).read_text(encoding="utf-8"))
        expected[REPORT] = render(stored)
    except (OSError, ValueError) as error:
        expected[CLAIMS] = f"claims that can be read ({type(error).__name__})\n"
    return expected


def _compare(folder: Path, name: str, expected: str) -> list[str]:
    """The places where a file differs: of claims every one, of other files the first."""
    path = folder / name
    if not path.is_file():
        return [f"{name}: missing"]
    found = path.read_bytes()
    problems = _differences(name, found, expected) if found != expected.encode() else []
    image = path.with_suffix(".png")
    if path.suffix == ".csv" and not image.is_file():
        problems.append(f"figures/{image.name}: missing")
    return problems


def _differences(name: str, found: bytes, expected: str) -> list[str]:
    here = found.decode(errors="replace").splitlines(keepends=True)
    there = expected.splitlines(keepends=True)
    differing = [
        (number, a, b)
        for number, (a, b) in enumerate(zip_longest(here, there, fillvalue=""), 1)
        if a != b
    ]
    if not differing:
        return [f"{name}: bytes that are not text"]
    if name != CLAIMS or len(here) != len(there):
        differing = differing[:1]
    return [
        f"{name} line {number}{_subject(name, b)}: {_shown(a, b)}" for number, a, b in differing
    ]


def _subject(name: str, line: str) -> str:
    """Which claim or verdict a line of claims.json holds."""
    if name != CLAIMS:
        return ""
    try:
        row = json.loads(line.rstrip().rstrip(","))
    except ValueError:
        return ""
    return f", claim {row['id']}" if "id" in row else f", verdict of {row.get('hypothesis')}"


def _shown(found: str, expected: str) -> str:
    """Both lines from a little before the place where they part."""
    part = next(
        (i for i, (a, b) in enumerate(zip_longest(found, expected)) if a != b), len(expected)
    )
    start = max(0, part - SHOWN // 2)
    a, b = (line.rstrip("\n")[start : start + SHOWN] for line in (found, expected))
    dots = "…" if start else ""
    return f"{dots}{a!r} instead of {dots}{b!r}"
