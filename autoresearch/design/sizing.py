"""How many seeds the confirmation uses, by a registered rule from the pilot's spread, and what a
plan can detect.

Under `smoke` and `quick` the looks are fixed by the plan and this only says what they can detect.
Under `full` it takes the fewest registered looks that have the planned power for the smallest
effect of interest.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autoresearch.design.looks import nominal_alpha
from autoresearch.design.power import detectable_effect, power
from autoresearch.study.plan import Plan


class Underpowered(Exception):
    """No registered look has the planned power, and the plan is not registered as exploratory."""


def size(plan: Plan, sd: float | None) -> dict[str, Any]:
    """The `size` record: {"n", "looks", "sd", "detectable"}; n counts seeds an arm.

    `sd` is the standard deviation between the pilot's seeds, None where fewer than two scored;
    `detectable` the smallest effect that a test at the last look finds with the planned power,
    None where `sd` is None or zero. Raises Underpowered.
    """
    looks = plan.decision.looks
    if plan.profile == "full" and not plan.decision.exploratory and sd:
        looks = _enough(plan, sd)
    return {
        "n": looks[-1],
        "looks": list(looks),
        "sd": sd,
        "detectable": _detectable(plan, sd, looks) if sd else None,
    }


@dataclass(frozen=True)
class Sensitivity:
    """At the last look: power for the smallest effect of interest, and the smallest effect found
    with the planned power (in the metric's unit)."""

    power: float
    detectable: float


def sensitivity(plan: Plan, min_effect: float, prior_sd: float) -> Sensitivity:
    """What a plan can detect before the pilot has measured the noise: under the guessed SD over
    seeds, at the level of Holm's first step."""
    rules, alpha = plan.decision, _alpha(plan, plan.decision.looks)
    n, test = rules.looks[-1], rules.test
    return Sensitivity(
        power(min_effect, prior_sd, n, alpha=alpha, test=test),
        detectable_effect(prior_sd, n, alpha=alpha, power=rules.power, test=test),
    )


def _enough(plan: Plan, sd: float) -> tuple[int, ...]:
    """The shortest prefix of the registered looks that has the planned power at its last look."""
    effect = min(h.min_effect for h in plan.hypotheses)
    rules, reached = plan.decision, 0.0
    for count in range(1, len(rules.looks) + 1):
        looks = rules.looks[:count]
        spread, alpha = _spread(plan, sd), _alpha(plan, looks)
        reached = power(effect, spread, looks[-1], alpha=alpha, test=rules.test)
        if reached >= rules.power:
            return looks
    raise Underpowered(
        f"{rules.looks[-1]} seeds an arm find an effect of {effect:g} with power {reached:.2f}, "
        f"{rules.power:g} is asked for (SD between seeds {sd:.3f}); "
        "start the study again with a larger min_effect or more looks in its playbook"
    )


def _detectable(plan: Plan, sd: float, looks: Sequence[int]) -> float:
    rules, alpha = plan.decision, _alpha(plan, looks)
    spread = _spread(plan, sd)
    return detectable_effect(spread, looks[-1], alpha=alpha, power=rules.power, test=rules.test)


def _spread(plan: Plan, sd: float) -> float:
    """The spread that the registered test works against, from that between seeds of one arm.

    A paired test works on differences between arms; that their seeds correlate is not assumed.
    """
    return sd * math.sqrt(2) if plan.decision.test == "paired" else sd


def _alpha(plan: Plan, looks: Sequence[int]) -> float:
    """The level of one test: corrected for looks, and for hypotheses as at Holm's first step."""
    return nominal_alpha(plan.decision.alpha, looks) / len(plan.hypotheses)
