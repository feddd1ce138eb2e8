"""What a plan costs, and how much tuning its profile has time for."""

from collections.abc import Sequence

from autoresearch.design.cost import (
    REFERENCE_CORES,
    evaluation_share,
    longest_trial,
    machine_cores,
    study_seconds,
)
from autoresearch.design.sizing import Sensitivity, sensitivity
from autoresearch.planner.hypotheses import Measure
from autoresearch.planner.notes import OVERRUN, POWER
from autoresearch.playbook.schema import ProfileSettings
from autoresearch.study.durations import duration
from autoresearch.study.plan import Budget, Plan
from swarm.errors import Refusal

#: A study may take this many times its estimate, and this long at least, before it is cut off.
BUDGET_MARGIN, LEAST_BUDGET = 4.0, 1800.0
TRIAL_MARGIN, LEAST_TRIAL = 6.0, 300.0
FEWEST_CANDIDATES = 2
#: How far an estimate may exceed the minutes that a profile promises.
TOLERANCE = 1.1


def fit(plan: Plan, minutes: float | None) -> tuple[Plan, list[str]]:
    """The plan with as many tuned values as `minutes` on two cores allow; a note if fewer."""
    if minutes is None or plan.tuning is None:
        return plan, []
    wanted = plan.tuning.candidates
    for candidates in range(wanted, FEWEST_CANDIDATES - 1, -1):
        tuning = plan.tuning.model_copy(update={"candidates": candidates})
        tried = plan.model_copy(update={"tuning": tuning})
        margin = TOLERANCE if candidates == FEWEST_CANDIDATES else 1.0
        if study_seconds(tried, REFERENCE_CORES) <= 60 * minutes * margin:
            fewer = f"{candidates} tuned values instead of {wanted}, to keep {plan.profile} short"
            return tried, [fewer] if candidates < wanted else []
    untuned = plan.model_copy(
        update={
            "tuning": None,
            "factors": tuple(f for f in plan.factors if f.role != "nuisance"),
            "seeds": plan.seeds.model_copy(update={"tuning": ()}),
        }
    )
    kept = f"{plan.tuning.path} stays at the base recipe's value"
    return untuned, [f"no tuning, to keep {plan.profile} short with {len(plan.arms)} arms: {kept}"]


def costed(
    plan: Plan,
    profile: ProfileSettings,
    asked: Measure,
    notes: Sequence[str],
    budget: float | None,
) -> Plan:
    """The plan with its estimate, limits, power and notes. Raises Refusal above the budget."""
    seconds, trial = study_seconds(plan, machine_cores()), longest_trial(plan)
    if budget is not None and seconds > budget:
        raise Refusal(
            "budget",
            f"the plan takes about {duration(seconds)}, the budget is {duration(budget)}",
            _cheaper(plan),
        )
    able = sensitivity(plan, asked.min_effect, asked.prior_sd)
    found = list(notes)
    promised = study_seconds(plan, REFERENCE_CORES)
    if profile.minutes and promised > 60 * profile.minutes * TOLERANCE:
        found.append(
            OVERRUN.format(
                arms=len(plan.arms),
                time=duration(promised),
                minutes=profile.minutes,
                profile=plan.profile,
            )
        )
    found.append(_power_note(plan, asked, able))
    return plan.model_copy(
        update={
            "budget": Budget(
                seconds=budget or max(LEAST_BUDGET, BUDGET_MARGIN * seconds),
                trial_seconds=max(LEAST_TRIAL, TRIAL_MARGIN * trial),
            ),
            "decision": plan.decision.model_copy(
                update={"exploratory": plan.profile != "full" and able.power < plan.decision.power}
            ),
            "estimated_seconds": round(seconds, 1),
            "estimated_trial_seconds": round(trial, 1),
            "notes": tuple(dict.fromkeys(found)),
        }
    )


def _cheaper(plan: Plan) -> str:
    """What would take less time: where most of it goes to evaluation, less of that."""
    share = evaluation_share(plan.train_config(plan.arms[0].id, plan.tasks[0], 0, {}))
    if share <= 1 / 2:
        return "raise --budget, take a smaller --profile, or name fewer levels"
    less = "a smaller k or fewer prompts" if plan.train.evaluation.sets else "fewer prompts"
    return f"evaluate with {less}, which takes {share:.0%} of it, or raise --budget"


def _power_note(plan: Plan, asked: Measure, able: Sensitivity) -> str:
    return POWER.format(
        seeds=plan.decision.looks[-1],
        effect=able.detectable,
        metric=asked.metric.name,
        power=plan.decision.power,
        sd=asked.prior_sd,
        least=asked.min_effect,
    )
