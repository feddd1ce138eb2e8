"""What a plan can detect, before the pilot has measured the noise."""

from dataclasses import dataclass

from autoresearch.planner.hypotheses import Question
from autoresearch.study.plan import Plan


@dataclass(frozen=True)
class Sensitivity:
    """At the last look: power for the smallest effect of interest, and the smallest effect found
    with the planned power (in the metric's unit)."""

    power: float
    detectable: float


def sensitivity(plan: Plan, asked: Question) -> Sensitivity:
    """Sensitivity under the guessed SD over seeds, at the level of Holm's first step."""
    from autoresearch.design.looks import nominal_alpha
    from autoresearch.design.power import detectable_effect, power

    decision = plan.decision
    alpha = nominal_alpha(decision.alpha, decision.looks) / len(plan.hypotheses)
    n, sd, test = decision.looks[-1], asked.prior_sd, decision.test
    return Sensitivity(
        power(asked.min_effect, sd, n, alpha=alpha, test=test),
        detectable_effect(sd, n, alpha=alpha, power=decision.power, test=test),
    )
