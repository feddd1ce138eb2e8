"""From facts to the folder of a report.

report.md             what a person reads
claims.json           every number of it, with the query that recomputes it
preregistration.json  the frozen plan as it was hashed: its sha256 is the registration
figures/              NAME.png beside NAME.csv, the data it is drawn from
"""

import os
import shutil
from pathlib import Path

from autoresearch.analysis.claims import ClaimSet, claims_of
from autoresearch.analysis.evidence import Evidence, Readings
from autoresearch.report.figure_data import tables
from autoresearch.report.figures import draw
from autoresearch.report.render import render
from autoresearch.study.facts import StudyFacts
from autoresearch.study.home import Home
from autoresearch.study.plan import Plan
from swarm.config.base import canonical_json

REPORT, CLAIMS, PREREGISTRATION = "report.md", "claims.json", "preregistration.json"


def build(facts: StudyFacts, home: Home, readings: Readings | None = None) -> Path:
    """Write a study's report and return its folder; an earlier report is replaced as a whole.

    Raises ValueError for a study without a plan. A reader never sees a part of a report.
    """
    evidence = Evidence(facts, readings)
    claims = claims_of(evidence)
    target = home.report(facts.study)
    fresh = target.with_name(f".{target.name}.{os.getpid()}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        figures = fresh / "figures"
        figures.mkdir(parents=True)
        for name, text in texts(evidence, claims).items():
            (fresh / name).write_text(text, encoding="utf-8")
        for name, data in tables(evidence, claims).items():
            draw(name, data, figures / f"{name}.png", [arm.id for arm in claims.plan.arms])
        # Folders cannot be swapped in one step.
        old = target.with_name(f".{target.name}.{os.getpid()}.old")
        if target.exists():
            target.rename(old)
        fresh.rename(target)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return target


def texts(evidence: Evidence, claims: ClaimSet) -> dict[str, str]:
    """Every file of a report that is recomputed byte for byte: all but the PNGs."""
    data = {f"figures/{name}.csv": text for name, text in tables(evidence, claims).items()}
    return {
        REPORT: render(claims),
        CLAIMS: claims.to_json(),
        PREREGISTRATION: hashed_text(claims.plan),
        **data,
    }


def hashed_text(plan: Plan) -> str:
    """The text whose sha256 is `plan.digest()`."""
    return canonical_json(plan.model_dump(mode="json"))
