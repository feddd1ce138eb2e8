"""report.md: a pure function of the claims and a narrative.

Each section is Markdown with references to claims, filled in one pass at the end, so no number is
written here. The sections on what was planned are in `planned`, on what came out in `found`.
"""

from collections.abc import Mapping

from autoresearch.analysis.claims import Claim, ClaimSet
from autoresearch.report import design, numbers, results
from autoresearch.report.claims_in_text import fill, literal
from autoresearch.report.markdown import figure, table
from autoresearch.report.narrative import Narrative, write


def render(claims: ClaimSet, narrative: Narrative | None = None) -> str:
    """The report's text. Raises NarrativeError for a narrative that says what no claim says."""
    by_id = claims.by_id()
    words = (narrative or write(claims)).checked(by_id)
    sections = (
        _title(claims),
        _abstract(claims, words),
        design.preregistration(claims, by_id),
        design.design(claims, by_id),
        results.results(claims, by_id),
        results.troubles(claims, by_id),
        results.cost(claims, by_id),
        _limits(words),
        _reproduce(claims, by_id),
    )
    return fill("\n\n".join(sections), by_id) + "\n"


def _title(claims: ClaimSet) -> str:
    plan = claims.plan
    return (
        f"# {literal(plan.question)}\n\n"
        f"Study `{claims.study}` · profile **{plan.profile}** · playbook `{literal(plan.playbook)}`"
        f" · model `{literal(plan.model)}` · topic: “{literal(claims.topic)}”"
    )


def _abstract(claims: ClaimSet, words: Narrative) -> str:
    parts = ["## Abstract", words.opening, words.verdicts]
    shown = [v.hypothesis for v in claims.verdicts if v.effect is not None]
    if shown:
        counts = "; ".join(
            f"{{{{c.{h}.id}}}}: {{{{c.{h}.n.arm}}}} / {{{{c.{h}.n.versus}}}}" for h in shown
        )
        parts.append(
            figure(
                "effects",
                "Effects and their intervals",
                "Effects and their {{c.rule.confidence}} intervals. Shaded: smaller than the"
                f" smallest effect of interest. Seeds, arm / versus: {counts}.",
            )
        )
    return "\n\n".join(part for part in parts if part)


def _limits(words: Narrative) -> str:
    return "## Limits\n\n" + "\n".join(f"- {item}" for item in words.limits)


def _reproduce(claims: ClaimSet, by_id: Mapping[str, Claim]) -> str:
    plan = claims.plan
    prints = [name for name in by_id if name.startswith("fingerprint.")]
    adapters = [arm.id for arm in plan.arms if f"adapter.{arm.id}" in by_id]
    parts = [
        "## How to reproduce",
        "Check this report against its runs: every seal, every claim, every line, every figure's"
        " data.",
        f"```\nautoresearch report verify {claims.study}\n```",
        "Run the study again:",
        "```\n{{raw.study.command}}\n```",
        "All seeds follow from the study seed, {{c.study.seed}}; the whole plan, with every setting"
        " of every trial, is [preregistration.json](preregistration.json).",
    ]
    if prints:
        names = (name.removeprefix("fingerprint.") for name in prints)
        parts.append(
            "**Fingerprint** of the machine, its versions and the code: "
            + " · ".join(f"{name} {{{{c.fingerprint.{name}}}}}" for name in names)
            + "."
        )
    if adapters:
        parts.append(
            table(
                ("arm", f"trained adapter (PEFT) of its first run, in `runs/{claims.study}`"),
                [
                    (
                        f"`{arm}`",
                        f"[`{{{{c.adapter.{arm}}}}}`]"
                        f"(../../runs/{claims.study}/{{{{raw.adapter.{arm}}}}})",
                    )
                    for arm in adapters
                ],
            )
        )
    parts.append(
        "**Every number** above stands in [claims.json](claims.json) with its unit, its n, its"
        " interval, the query that recomputes it and the runs that it rests on. " + numbers.RULE
    )
    return "\n\n".join(parts)
