"""What the report says in sentences, written from verdicts without a model.

A narrative refers to claims and holds no number and no direction of its own: `Narrative.checked`
enforces it, whoever wrote the text.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from autoresearch.analysis.claims import Claim, ClaimSet
from autoresearch.analysis.verdicts import Verdict
from autoresearch.report.claims_in_text import check
from autoresearch.study.plan import Hypothesis, Plan

SMOKE = (
    "**This is a smoke study: it decides nothing.** It runs every stage for real on very few seeds "
    "and steps, to show that the machinery works here. No number below is evidence on the question."
)
DETECTS = (
    "**What this study can detect.** At the spread between seeds that it saw, {{n.@.detectable}}"
    " seeds an arm show a true difference of {{c.@.detectable}} in {{c.@.metric}} with a"
    " chance of {{c.rule.power}}; the smallest effect of interest is {{c.@.min_effect}}."
)
DETECTS_ENOUGH = "It has the power to answer the question that was registered."
DETECTS_LITTLE = "Smaller differences that would matter can stay hidden: read it as exploratory."
DETECTS_UNKNOWN = (
    "**What this study can detect** in {{c.@.metric}} is unknown: the scores say nothing of "
    "the spread between seeds."
)
NEEDED = "At this spread, {{c.@.needed}} seeds an arm would show it with that chance."
FULL = (
    "The `full` profile of this study takes {{c.full.trials}} trials and about {{c.full.seconds}}:"
)
FULL_COMMAND = "```\n{{raw.full.command}}\n```"

# A direction is named only where it was tested: sample means differ always.
NAMED = "**{{c.@.id}}: {{v.@}}.**"
COMPARED = (
    "{{c.@.metric}} was {{dir.@}} with {{c.@.arm}} than with {{c.@.versus}}: the "
    "effect is {{c.@.effect}}"
)
MEASURED = (
    "The measured effect of {{c.@.arm}} against {{c.@.versus}} on {{c.@.metric}} is {{c.@.effect}}"
)
BOUNDED = (
    " ({{c.rule.confidence}} interval {{ci.@.effect}}, {{c.@.n.arm}} against"
    " {{c.@.n.versus}} seeds)."
)
UNBOUNDED = " ({{c.@.n.arm}} against {{c.@.n.versus}} seeds, interval unknown)."
CONCLUSIONS = {
    "supported": "The claim holds: {{c.@.reason}}.",
    "refuted": "The claim does not hold: {{c.@.reason}}.",
    "equivalent": (
        "The arms are equivalent: a difference of the smallest size of interest, "
        "{{c.@.min_effect}}, is excluded either way."
    ),
    "inconclusive": "Undecided: {{c.@.reason}}.",
    "invalid": "No conclusion may be drawn: {{c.@.reason}}.",
}

SCOPE = (
    "**Scope.** The findings are about {{c.study.model}}MODEL on {{c.study.tasks}}. "
    "Nothing here says that they carry over to larger models, other tasks or longer training."
)
TINY = ", a small character-level model built here,"
SEEDS = (
    "**Seeds.** The unit of analysis is the seed: {{c.rule.look}} an arm. Evaluation prompts are "
    "the same for all arms and seeds, so intervals do not cover the choice of prompts."
)
POWER = (
    "**Power of {{c.@.id}}.** A true effect of {{c.@.detectable}} is shown with a chance of "
    "{{c.rule.power}}, at a spread between seeds of {{c.@.seed_sd}}."
)
POWER_NEEDED = "The smallest effect of interest needs {{c.@.needed}} seeds an arm."
SHARED_TUNING = (
    "**Tuning.** {{c.tuning.path}} was tuned on scores pooled over arms, then shared by all. An "
    "arm whose own best value lies elsewhere may be at a disadvantage."
)
NO_TUNING = (
    "**Tuning.** No setting was tuned. An arm whose best learning rate lies elsewhere may be at a "
    "disadvantage."
)
NOT_VARIED = (
    "**Not varied.** Every setting in the design table that is not marked as varied was held at "
    "its value; the effect may depend on it."
)
EXACT = (
    "**Exactness.** A run repeats bit for bit only under the fingerprint below. On other versions "
    "or processors expect other curves and the same conclusions, not the same digits."
)
NO_FINGERPRINT = (
    "**Exactness.** No machine fingerprint was recorded (`exact: false`): a rerun may not repeat "
    "these curves bit for bit."
)


@dataclass(frozen=True)
class Narrative:
    """The sentences of a report, as Markdown with references; `limits` are list items."""

    opening: str
    verdicts: str
    limits: tuple[str, ...]

    def checked(self, claims: Mapping[str, Claim]) -> "Narrative":
        """This narrative. Raises NarrativeError if it says what no claim says."""
        for text in (self.opening, self.verdicts, *self.limits):
            check(text, claims)
        return self


def write(claims: ClaimSet) -> Narrative:
    """The narrative of a study, from its verdicts and what it could detect."""
    by_id = claims.by_id()
    verdicts = [
        _verdict(h, verdict, by_id)
        for h, verdict in zip(claims.plan.hypotheses, claims.verdicts, strict=True)
    ]
    return Narrative(_opening(claims.plan, by_id), "\n\n".join(verdicts), _limits(claims, by_id))


def _opening(plan: Plan, claims: Mapping[str, Claim]) -> str:
    parts = []
    if plan.profile == "smoke":
        parts.append(SMOKE)
    elif plan.profile == "quick" or plan.decision.exploratory:
        parts.append(_detects(plan.hypotheses[0], claims))
    if parts and "full.command" in claims:
        parts += [FULL, FULL_COMMAND]
    return "\n\n".join(parts)


def _detects(h: Hypothesis, claims: Mapping[str, Claim]) -> str:
    found = claims.get(f"{h.id}.detectable")
    if found is None:
        return _about(h, DETECTS_UNKNOWN)
    enough = float(found.value) <= h.min_effect
    parts = [DETECTS, DETECTS_ENOUGH if enough else DETECTS_LITTLE]
    if not enough and f"{h.id}.needed" in claims:
        parts.append(NEEDED)
    return _about(h, " ".join(parts))


def _verdict(h: Hypothesis, verdict: Verdict, claims: Mapping[str, Claim]) -> str:
    parts = [NAMED]
    if verdict.effect is not None:
        shown = verdict.verdict in ("supported", "refuted") and verdict.effect != 0
        compared = COMPARED if shown else MEASURED
        bounded = claims[f"{h.id}.effect"].interval is not None
        parts.append(compared + (BOUNDED if bounded else UNBOUNDED))
    parts.append(CONCLUSIONS[verdict.verdict])
    return _about(h, " ".join(parts))


def _limits(claims: ClaimSet, by_id: Mapping[str, Claim]) -> tuple[str, ...]:
    plan = claims.plan
    fingerprinted = any(name.startswith("fingerprint.") for name in by_id)
    tuned = "tuning.choice" in by_id
    return (
        SCOPE.replace("MODEL", TINY if plan.model == "tiny" else ""),
        SEEDS,
        *(_power(h, by_id) for h in plan.hypotheses if f"{h.id}.detectable" in by_id),
        SHARED_TUNING if tuned else NO_TUNING,
        NOT_VARIED,
        EXACT if fingerprinted else NO_FINGERPRINT,
    )


def _power(h: Hypothesis, claims: Mapping[str, Claim]) -> str:
    return _about(h, f"{POWER} {POWER_NEEDED}" if f"{h.id}.needed" in claims else POWER)


def _about(h: Hypothesis, text: str) -> str:
    """A sentence on any hypothesis, `@`, as one on this hypothesis."""
    return text.replace("@", h.id)
