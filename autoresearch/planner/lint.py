"""What is wrong with a plan: references, design, feasibility, traps.

Codes are those of `autoresearch.playbook.problems`.
"""

from collections.abc import Iterator, Sequence

from pydantic import ValidationError

from autoresearch.catalogue import CatalogueFactor, factor
from autoresearch.playbook import Problem
from autoresearch.study.metrics import METRICS
from autoresearch.study.plan import Factor, Plan
from swarm import tasks
from swarm.config.train import TrainConfig
from swarm.errors import Refusal, did_you_mean

#: What a config says that asks for a spread in groups of one.
_GROUP_OF_ONE = "batch.group_size of 2 or more"


def problems(plan: Plan) -> list[str]:
    """The errors of a plan, one line each; empty for a plan that can be registered."""
    return [str(problem) for problem in review(plan) if problem.severity == "error"]


def require_clean(plan: Plan) -> None:
    """Raise Refusal with the first error of a plan."""
    found = problems(plan)
    if found:
        raise Refusal("plan", found[0], "change the topic, the playbook or the --set values")


def review(plan: Plan) -> list[Problem]:
    """Every problem of a plan, errors first. `at` is the place in a playbook that caused it."""
    found = [*_references(plan), *_design(plan)]
    if not found:
        found = [*_configs(plan)]
    if not found:
        found = [*_traps(plan), *_nuisances(plan), *_feasibility(plan)]
    return sorted(found, key=lambda problem: problem.severity != "error")


def _references(plan: Plan) -> Iterator[Problem]:
    for treatment in plan.treatments:
        try:
            factor(treatment.name)
        except Refusal as error:
            text = f"unknown factor: {error.problem}; {error.next_step}"
            yield Problem("PB101", text, at=("factors",))
    for metric in plan.metrics:
        if metric not in METRICS:
            step = did_you_mean(metric, METRICS)
            yield Problem("PB102", f"metrics: unknown metric {metric!r}; {step}", at=("metrics",))
    for h in plan.hypotheses:
        if h.metric not in METRICS:
            step = did_you_mean(h.metric, METRICS)
            yield Problem(
                "PB102", f"{h.id}: unknown metric {h.metric!r}; {step}", at=("hypotheses",)
            )
    for task in plan.tasks:
        if task not in tasks.names() and not tasks.is_own(task):
            step = did_you_mean(task, tasks.names())
            yield Problem("PB103", f"unknown task {task!r}; {step}", at=("tasks",))


def _design(plan: Plan) -> Iterator[Problem]:
    if not plan.treatments:
        yield Problem("PB201", "no treatment is under test", at=("factors",))
    for treatment in plan.treatments:
        known = _known(treatment)
        if known and not known.paths <= treatment.paths:
            unset = ", ".join(sorted(known.paths - treatment.paths))
            yield Problem("PB202", f"{treatment.name} sets {unset} in no arm", at=("factors",))
        if len(treatment.levels) < 2:
            yield Problem("PB202", f"{treatment.name} has one level", at=("factors",))
        if treatment.control not in treatment.levels:
            text = f"{treatment.name}: control {treatment.control!r} is not among its levels"
            yield Problem("PB202", text, at=("factors",))
    for h in plan.hypotheses:
        if h.arm == h.versus:
            yield Problem("PB203", f"{h.id} compares {h.arm} with itself", at=("hypotheses",))
    if plan.decision.looks[0] < 2 or len(plan.seeds.pilot) < 2:
        yield Problem("PB204", "an arm or the pilot has fewer than two seeds", at=("profiles",))
    if len(plan.seeds.confirm) < plan.decision.looks[-1]:
        yield Problem("PB205", "fewer confirmation seeds than the last look", at=("profiles",))
    if plan.tuning:
        yield from _tuning(plan, plan.tuning.path)
    floors = {METRICS[h.metric].floor for h in plan.hypotheses if h.metric in METRICS}
    if len(floors) > 1:
        text = "hypotheses whose diverged runs score different floors share one study"
        yield Problem("PB208", text, at=("hypotheses",))


def _known(treatment: Factor) -> CatalogueFactor | None:
    try:
        return factor(treatment.name)
    except Refusal:  # said among the references
        return None


def _tuning(plan: Plan, path: str) -> Iterator[Problem]:
    for treatment in plan.treatments:
        if path in treatment.paths:
            text = f"{path} is tuned over all arms and set by {treatment.name}: unequal tuning"
            yield Problem("PB206", text, at=("tuning",))
    primary = METRICS.get(plan.hypotheses[0].metric)
    if primary and primary.better != "up":
        text = f"{primary.name} cannot choose a value: more of it is not better"
        yield Problem("PB207", text, at=("tuning",))


def _configs(plan: Plan) -> Iterator[Problem]:
    """Arms whose training config is impossible, and rewards that a task does not offer."""
    tuned = {plan.tuning.path: plan.tuning.low} if plan.tuning else {}
    for task in plan.tasks:
        for arm in plan.arms:
            try:
                config = plan.train_config(arm.id, task, 0, tuned)
            except ValidationError as error:
                message = error.errors()[0]["msg"].removeprefix("Value error, ")
                code = "PB402" if _GROUP_OF_ONE in message else "PB106"
                yield Problem(code, f"arm {arm.id}: {message}", at=("factors",))
                continue
            if not tasks.offers(task, config.task.reward):
                text = f"arm {arm.id}: task {task} offers no reward {config.task.reward!r}"
                yield Problem("PB104", text, at=("tasks",))


def _traps(plan: Plan) -> Iterator[Problem]:
    configs = [plan.train_config(arm.id, plan.tasks[0], 0, {}) for arm in plan.arms]
    for treatment in plan.treatments:
        for need in factor(treatment.name).requires:
            if not any(need.holds(config) for config in configs):
                text = f"{treatment.name} acts in no arm: {need.reason}"
                yield Problem(need.code, text, at=("factors",))
        yield from _one_rate(treatment)
    tested = {treatment.name for treatment in plan.treatments}
    for h in plan.hypotheses:
        if "reward_shaping" in tested and h.metric in ("reward/mean", "eval/proxy"):
            text = f"{h.id}: arms with different rewards are not on one scale of {h.metric}"
            yield Problem("PB408", text, at=("primary",))
        if "temperature" in tested and h.metric == "policy/entropy":
            text = f"{h.id}: entropy follows from the rollout temperature itself"
            yield Problem("PB409", text, "warning", at=("primary",))
    yield from _few_evaluations(plan, configs)


def _nuisances(plan: Plan) -> Iterator[Problem]:
    """The nuisance factors are what is tuned."""
    tuned = [(plan.tuning.path,)] if plan.tuning else []
    if [nuisance.sets for nuisance in plan.factors if nuisance.role == "nuisance"] != tuned:
        yield Problem("PB206", "the nuisance factors are not what is tuned", at=("tuning",))


def _one_rate(treatment: Factor) -> Iterator[Problem]:
    """LoRA and full weights do not learn at one learning rate."""
    kinds = {str(treatment.assign(level).get("policy.kind")) for level in treatment.levels}
    rates = {treatment.assign(level).get("optim.lr") for level in treatment.levels}
    if kinds == {"lora", "full"} and len(rates) < 2:
        text = "LoRA and full weights share one learning rate; give each its own"
        yield Problem("PB404", text, at=("factors",))


def _few_evaluations(plan: Plan, configs: Sequence[TrainConfig]) -> Iterator[Problem]:
    """Fewer evaluations than the registered score averages."""
    config = configs[0]
    evaluations = config.steps // config.evaluation.every
    if any(h.metric.startswith("eval/") for h in plan.hypotheses) and (
        evaluations < plan.decision.last_evals
    ):
        text = (
            f"the score is the mean of the last {plan.decision.last_evals} evaluations, "
            f"but {config.steps} steps hold {evaluations} after the first step"
        )
        yield Problem("PB302", text, at=("profiles", plan.profile))


def _feasibility(plan: Plan) -> Iterator[Problem]:
    if plan.estimated_seconds > plan.budget.seconds:
        text = (
            f"about {plan.estimated_seconds:.0f} s are needed, "
            f"the budget is {plan.budget.seconds:.0f} s"
        )
        yield Problem("PB301", text, at=("profiles", plan.profile))
    if plan.estimated_trial_seconds > plan.budget.trial_seconds:
        text = (
            f"a trial takes about {plan.estimated_trial_seconds:g} s, "
            f"and is ended after {plan.budget.trial_seconds:g} s"
        )
        yield Problem("PB301", text, at=("profiles", plan.profile))
