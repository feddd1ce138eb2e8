"""What is wrong with a playbook file: its text, its names, and the plans that it makes."""

import re
from collections.abc import Iterator
from pathlib import Path

from autoresearch.design.cost import REFERENCE_CORES, study_seconds
from autoresearch.design.sizing import sensitivity
from autoresearch.planner.compose import compose
from autoresearch.planner.costing import TOLERANCE
from autoresearch.planner.hypotheses import measure
from autoresearch.planner.lint import review
from autoresearch.planner.repairs import NeedsRepair
from autoresearch.playbook import Library, MalformedPlaybook, Playbook, Problem
from autoresearch.playbook.document import read
from autoresearch.playbook.names import placed, references
from autoresearch.playbook.validate import validate
from autoresearch.study.intent import AskedFactor, Intent
from autoresearch.study.plan import Plan, Profile
from swarm.errors import Refusal

#: What fills a playbook that leaves its factors to the topic.
_SAMPLE = "learning_rate"


def lint(path: Path, library: Library | None = None) -> list[Problem]:
    """Every problem of a playbook file with its line, in line order; empty when clean.

    Names are checked before plans are made, so that one slip is reported once.
    """
    library = library or Library.locate(path.resolve().parent.parent)
    try:
        document = read(path)
        playbook = validate(document, library.merged(document))
    except MalformedPlaybook as error:
        return error.problems
    found = [*references(playbook)]
    if not found and not playbook.abstract:
        found = [*_plans(playbook)]
    return placed(document, found)


def own_plan(playbook: Playbook, profile: Profile) -> Plan:
    """The plan of a playbook's own question. Raises Refusal as `compose` does."""
    sample = () if playbook.factors else (AskedFactor(name=_SAMPLE),)
    topic = playbook.question or playbook.title
    intent = Intent(topic=topic, playbook=playbook.id, profile=profile, factors=sample)
    while True:
        try:
            return compose(playbook, intent)
        except NeedsRepair as needed:
            intent = intent.repaired(needed.repair)


def _plans(playbook: Playbook) -> Iterator[Problem]:
    """Problems of the plan that each profile makes of the playbook's own question."""
    if not playbook.profiles:
        yield Problem("PB204", "there is no profile", at=("profiles",))
    for profile in playbook.profiles:
        try:
            plan = own_plan(playbook, profile)
        except Refusal as error:
            text = f"makes no {profile} plan: {error.field}: {error.problem}; {error.next_step}"
            yield Problem(_code(error), text, at=("factors",))
            continue
        yield from review(plan)
        yield from _promises(playbook, plan)


def _promises(playbook: Playbook, plan: Plan) -> Iterator[Problem]:
    """Time above what the profile promises; power below what the full profile is for."""
    minutes = playbook.profiles[plan.profile].minutes
    seconds = study_seconds(plan, REFERENCE_CORES)
    if minutes and seconds > 60 * minutes * TOLERANCE:
        text = f"{plan.profile} takes about {seconds / 60:.0f} min on two cores, not {minutes:g}"
        yield Problem("PB303", text, "warning", at=("profiles", plan.profile))
    if plan.profile == "full":
        asked = measure(playbook, None)
        able = sensitivity(plan, asked.min_effect, asked.prior_sd)
        if able.power < plan.decision.power:
            text = (
                f"{plan.decision.looks[-1]} seeds an arm have power {able.power:.2f} at min_effect "
                f"if the SD is prior_sd; they detect {able.detectable:.2g}"
            )
            yield Problem("PB304", text, "warning", at=("primary",))


def _code(error: Refusal) -> str:
    """The code inside a planner's message, or that of a plan that cannot be made."""
    match = re.match(r"PB\d{3}", error.problem)
    return match[0] if match else "PB209"
