"""report.md: the template `report.md.j2`, filled with the plan and the claims of a study."""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from autoresearch.analysis import claim_ids as ids
from autoresearch.analysis.claim_list import curve_metrics
from autoresearch.analysis.claims import ClaimSet
from autoresearch.analysis.scores import EVAL, metrics_of
from autoresearch.report.claims_in_text import Known, References, in_cell, literal, quoted
from autoresearch.report.figures import BAND
from autoresearch.report.numbers import RULE
from autoresearch.study.plan import Arm


def render(claims: ClaimSet) -> str:
    """The report's text. Raises MissingClaim where it names a claim that the study lacks."""
    return fill(templates().get_template("report.md.j2"), claims)


@cache
def templates() -> Environment:
    """The templates beside this file. A name without a value is an error."""
    found = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters |= {"text": literal, "quoted": quoted, "in_cell": in_cell}
    found.tests["held_out"] = lambda metric: metric.startswith(EVAL)
    return found


def fill(template: Template, claims: ClaimSet) -> str:
    """A template with a study's claims in it."""
    plan, known = claims.plan, Known(claims.by_id())
    references, metrics = References(known), metrics_of(plan)
    finals = known.made_by("outcomes.final_mean")
    units = {str(claim.query.args["metric"]): claim.unit for claim in finals}
    scored = [m for m in metrics if any(ids.arm("mean", m, a.id) in known for a in plan.arms)]

    def assigned(arm: Arm) -> list[str]:
        levels = [factor.assign(arm.levels[factor.name]) for factor in plan.treatments]
        return [f"{path}={value}" for level in levels for path, value in level.items()]

    def before_training(metric: str) -> bool:
        known_starts = (ids.curve(metric, arm.id, 0) in known for arm in plan.arms)
        return len(plan.tasks) == 1 and all(known_starts)

    return template.render(
        claim=references.claim,
        interval=references.interval,
        n=references.n,
        code=references.code,
        narrative=references.narrative,
        known=known,
        ids=ids,
        study=claims,
        plan=plan,
        decided=list(zip(plan.hypotheses, claims.verdicts, strict=True)),
        assigned=assigned,
        varied={path for factor in plan.treatments for path in factor.paths},
        by_task={path for settings in plan.task_settings.values() for path in settings},
        metrics=metrics,
        curve_metrics=curve_metrics(plan),
        tasks=("", *plan.tasks) if len(plan.tasks) > 1 else ("",),
        before_training=before_training,
        units=units,
        shown_by_step=[m for m in (*units, *scored) if not m.startswith(EVAL)],
        band=BAND,
        rounding=RULE,
    )
