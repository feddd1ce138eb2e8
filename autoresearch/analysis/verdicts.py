"""From confirmation scores to verdicts, by the registered rules alone.

A hypothesis claims that `metric` of `arm` exceeds that of `versus` ("greater"), falls short of it
("less") or differs from it ("different"), by at least delta = `min_effect`. The effect is
mean(arm) - mean(versus). The first rule that applies gives the verdict; the table is for
"greater", "less" mirrors it:

    invalid       the study is (tampered evidence), or an arm has fewer than 2 scored seeds
    inconclusive  smoke profile; a registered seed without a score; no spread between seeds
    equivalent    the effect lies within (-delta, delta): TOST
    refuted       a negative effect is shown, or an effect of delta or more is excluded
    supported     a positive effect is shown
    inconclusive  none of these

- "Shown" is a two-sided t test against 0 with the effect on that side, so without an effect a
  directed claim is supported with chance alpha / 2 at most. "Excluded" is the same test against
  +delta: the two-sided interval ends below it. Since equivalence comes first, a claim is refuted
  where an effect of delta is excluded but one of -delta is not, and equivalent where both are. A
  positive effect too small to matter is thus equivalent, not supported.
- "different" is supported by an effect on either side. It is never refuted: to exclude an effect
  of delta on both sides is equivalence.
- Not to show a difference is not to show equivalence: that is inconclusive.

Evidence. A look at n uses the first n registered confirmation seeds of both arms and no others. A
seed's score is the mean of its scores over the plan's tasks, each of equal weight: the effect is
on these tasks, not on a population of tasks. Diverged trials count with the registered floor. A
trial that failed, or never ran, leaves its seed without a score, and may have done so because of
its arm (memory, time limits), so the scores that remain are not a random sample: they are
described, but decide nothing. The paired test uses seeds scored in both arms.

Error rates. Each p-value is first made one over all registered looks (`overall_alpha`), then
adjusted by Holm over the plan's hypotheses, and compared to alpha. This is the Bonferroni-Holm
closure of the group-sequential tests. It bounds by alpha the chance of any false "shown" in the
study, and likewise of any false "equivalent" and of any false "excluded", whenever it stops, to
the accuracy that `design.looks` gives for t tests.
Hypotheses without a test stay in the family with p = 1. Verdicts come from all data at the look,
so a boundary crossed earlier and no longer crossed does not count. The interval reported with a
hypothesis covers at all looks together with confidence 1 - alpha, for that hypothesis alone.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from autoresearch.analysis.scores import by_seed
from autoresearch.analysis.statistics import Contrast, contrast, holm, tost
from autoresearch.design.looks import nominal_alpha, overall_alpha
from autoresearch.study.plan import Hypothesis, Plan
from autoresearch.study.trial import TrialScore
from swarm.config.base import Settings

Outcome = Literal["supported", "refuted", "equivalent", "inconclusive", "invalid"]


class Verdict(Settings):
    """What a look says of one hypothesis.

    `effect` is mean(arm) - mean(versus) in the metric's unit, `low` and `high` its repeated
    interval; None where unknown. `p_adjusted` is of the test against no effect, `p_equivalent` of
    TOST; compare both to the study's alpha; None without a test. `n` counts seeds used, by arm.
    """

    hypothesis: str
    verdict: Outcome
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    p_adjusted: float | None = None
    p_equivalent: float | None = None
    n: Mapping[str, int]
    reason: str


def decide(
    plan: Plan,
    scores: Sequence[TrialScore],
    *,
    look: int,
    looks: Sequence[int],
    invalid_reason: str = "",
) -> list[Verdict]:
    """One verdict per hypothesis of the plan, in its order, by the rules above.

    `look` is the number of seeds an arm to analyse, `looks` all that the study may take. Scores of
    other phases and later seeds are left out. An `invalid_reason` makes every verdict invalid.
    Raises ValueError for an unregistered look and for two scores of one seed, task, arm and metric.
    """
    if look not in looks or look > len(plan.seeds.confirm):
        raise ValueError(f"{look} seeds an arm is not one of the looks {list(looks)}")
    confirmed = _confirmed(scores)
    level = nominal_alpha(plan.decision.alpha, looks)
    evidence = [_gather(plan, h, confirmed, look, level) for h in plan.hypotheses]
    if invalid_reason:
        return [
            Verdict(hypothesis=e.claim.id, verdict="invalid", n=e.n, reason=invalid_reason)
            for e in evidence
        ]
    tests = [_p_values(e, plan, looks) for e in evidence]
    shown = holm([p.shown for p in tests])
    equivalent = holm([p.equivalent for p in tests])
    excluded = holm([p.excluded for p in tests])
    return [
        _verdict(plan, e, _PValues(*p))
        for e, *p in zip(evidence, shown, equivalent, excluded, strict=True)
    ]


def should_stop(
    plan: Plan, verdicts: Sequence[Verdict], look: int, looks: Sequence[int]
) -> tuple[bool, str]:
    """Whether the study ends at this look, and why.

    It ends at the last look, and when no later look can change an inconclusive verdict: none is
    left, or each lacks a registered seed, which every later look needs too.
    """
    if look == looks[-1]:
        return True, "the last registered look is reached"
    by_id = {verdict.hypothesis: verdict for verdict in verdicts}
    pending = [by_id[h.id] for h in plan.hypotheses if by_id[h.id].verdict == "inconclusive"]
    if not pending:
        return True, "every hypothesis has a verdict"
    if all(min(verdict.n.values()) < look for verdict in pending):
        return True, "no later look can decide: registered seeds have no score"
    return False, f"undecided: {', '.join(verdict.hypothesis for verdict in pending)}"


@dataclass(frozen=True)
class _Evidence:
    """One hypothesis' scores at a look: by arm, and which registered seeds lack one."""

    claim: Hypothesis
    look: int
    arm: tuple[float, ...]
    versus: tuple[float, ...]
    missing: Mapping[str, int]
    contrast: Contrast | None

    @property
    def n(self) -> dict[str, int]:
        return {self.claim.arm: len(self.arm), self.claim.versus: len(self.versus)}

    @property
    def decides(self) -> bool:
        """Whether the registered tests can be made."""
        known = self.contrast is not None and math.isfinite(self.contrast.se)
        return known and not self.missing


@dataclass(frozen=True)
class _PValues:
    """The p-values of the three tests that the rules name, over all looks."""

    shown: float
    equivalent: float
    excluded: float


def _confirmed(scores: Sequence[TrialScore]) -> list[TrialScore]:
    """The scores of confirmation, one a metric, arm, task and seed."""
    found: dict[tuple[str, str, str, int], TrialScore] = {}
    for score in scores:
        if score.phase != "confirm":
            continue
        key = (score.metric, score.arm, score.task, score.seed)
        if key in found:
            raise ValueError(f"trial {score.trial} is a second score of {key}")
        found[key] = score
    return list(found.values())


def _gather(
    plan: Plan, claim: Hypothesis, scores: Sequence[TrialScore], look: int, level: float
) -> _Evidence:
    seeds = plan.seeds.confirm[:look]
    found = by_seed((s for s in scores if s.metric == claim.metric), plan.tasks)
    arm, versus = (
        {seed: found[name][seed] for seed in seeds if seed in found.get(name, {})}
        for name in (claim.arm, claim.versus)
    )
    counts = {claim.arm: look - len(arm), claim.versus: look - len(versus)}
    missing = {arm_id: count for arm_id, count in counts.items() if count}
    if plan.decision.test == "paired":
        both = [seed for seed in seeds if seed in arm and seed in versus]
        arm, versus = {s: arm[s] for s in both}, {s: versus[s] for s in both}
    a, b = tuple(arm.values()), tuple(versus.values())
    enough = min(len(a), len(b)) >= 2
    result = contrast(a, b, test=plan.decision.test, alpha=level) if enough else None
    return _Evidence(claim, look, a, b, missing, result)


def _p_values(evidence: _Evidence, plan: Plan, looks: Sequence[int]) -> _PValues:
    """One hypothesis' tests, before Holm; 1 where none can be made."""
    effect, delta = evidence.contrast, evidence.claim.min_effect
    if effect is None or not evidence.decides:
        return _PValues(1.0, 1.0, 1.0)
    beyond = {
        "greater": effect.p_below(delta),
        "less": effect.p_above(-delta),
        "different": 1.0,
    }[evidence.claim.direction]
    inside = tost(evidence.arm, evidence.versus, delta, test=plan.decision.test)
    return _PValues(
        shown=overall_alpha(effect.p_two_sided, looks),
        equivalent=overall_alpha(inside, looks, sides=1),
        excluded=overall_alpha(min(1.0, 2 * beyond), looks),
    )


def _verdict(plan: Plan, evidence: _Evidence, p: _PValues) -> Verdict:
    outcome, reason = _judge(plan, evidence, p)
    effect = evidence.contrast
    bounded = effect is not None and math.isfinite(effect.se)
    return Verdict(
        hypothesis=evidence.claim.id,
        verdict=outcome,
        effect=effect.effect if effect else None,
        low=effect.low if effect and bounded else None,
        high=effect.high if effect and bounded else None,
        p_adjusted=p.shown if evidence.decides else None,
        p_equivalent=p.equivalent if evidence.decides else None,
        n=evidence.n,
        reason=reason,
    )


def _judge(plan: Plan, evidence: _Evidence, p: _PValues) -> tuple[Outcome, str]:
    """The first rule that applies; `p` are adjusted."""
    effect, claim, alpha = evidence.contrast, evidence.claim, plan.decision.alpha
    if effect is None:
        return "invalid", f"fewer than 2 seeds to compare{_lacking(evidence)}"
    if plan.profile == "smoke":
        return "inconclusive", "the smoke profile decides nothing"
    if evidence.missing:
        return "inconclusive", f"seeds may fail because of their arm{_lacking(evidence)}"
    if not evidence.decides:
        return "inconclusive", "the scores do not vary between seeds: no measure of noise"
    if p.equivalent < alpha:
        return "equivalent", "the effect is smaller than min_effect, either way"
    sign = {"greater": 1, "less": -1, "different": math.copysign(1, effect.effect)}
    towards = sign[claim.direction]
    shown = p.shown < alpha
    if shown and towards * effect.effect < 0:
        return "refuted", "the effect has the opposite direction"
    if p.excluded < alpha:
        return "refuted", "an effect of min_effect or more is excluded"
    if not shown:
        return "inconclusive", "neither a difference nor equivalence is shown"
    surely = min(towards * effect.low, towards * effect.high) >= claim.min_effect
    extent = "of min_effect or more" if surely else "which may be smaller than min_effect"
    return "supported", f"an effect in the registered direction, {extent}"


def _lacking(evidence: _Evidence) -> str:
    return "".join(
        f"; {count} of {evidence.look} registered seeds of arm {arm} have no score"
        for arm, count in evidence.missing.items()
    )
