"""What each stage of a study does: idempotent functions of the ledger that name the next stage.

A node may run again after a crash, from its top. Whatever it writes is keyed: records are kept as
first written, trials are known by their id, ended trials are not run twice.
"""

from typing import Any

from autoresearch.analysis.evidence import EVALUATOR_CHANGED
from autoresearch.analysis.scores import by_seed, primary_metric
from autoresearch.analysis.statistics import pooled_sd
from autoresearch.analysis.verdicts import should_stop
from autoresearch.design import sizing
from autoresearch.design.cost import trial_counts
from autoresearch.planner.planning import plan_study
from autoresearch.run import trials, tuning_phase
from autoresearch.run.context import StudyContext
from autoresearch.study.endings import AtTheFloor
from autoresearch.study.facts import Stage, StudyFacts
from autoresearch.study.fingerprint import study_fingerprint
from autoresearch.study.options import StartOptions, start_command
from autoresearch.watch.floor import at_the_floor
from swarm.errors import Refusal
from swarm.train.alarms import counted
from swarm.train.eval_sets import judged_as
from swarm.train.fingerprint import evaluators, judged


class VerificationFailed(Exception):
    """The report does not follow from the run folders; `problems` names the places."""

    def __init__(self, problems: list[str]) -> None:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(f"the report does not verify: {problems[0]}{more}")
        self.problems = problems


def freeze(context: StudyContext) -> Stage:
    """Register the plan, and record what the numbers depend on besides it."""
    plan = context.plan()
    context.ledger.record(context.study, "fingerprint", study_fingerprint(plan))
    options = StartOptions.model_validate(context.ledger.options(context.study))
    context.ledger.record(context.study, "start", {"command": start_command(options)})
    if plan.profile != "full" and options.plan is None and (full := _full_profile(options)):
        context.ledger.record(context.study, "full", full)
    digest = context.ledger.register(context.study, plan)
    context.note("registered", f"preregistered as {digest[:12]}")
    return "pilot"


def pilot(context: StudyContext) -> Stage:
    """A/A trials of the control arm: the spread between seeds. Raises AtTheFloor where all of them
    show that the task cannot be answered."""
    plan, registration = context.registered()
    evidence = context.run(trials.pilot(context.study, registration, plan))
    if runs := at_the_floor(evidence):
        metric = primary_metric(plan)
        judged_by = [judged_as(t.spec.config, metric) for t in evidence.trials("pilot")]
        raise AtTheFloor(runs, metric, ", ".join(dict.fromkeys(map(counted, judged_by))))
    return "size"


def size(context: StudyContext) -> Stage:
    """How many seeds the confirmation takes, by the registered rule."""
    plan, _ = context.registered()
    found = context.evidence().scores("pilot", primary_metric(plan))
    sd = pooled_sd([list(arm.values()) for arm in by_seed(found, plan.tasks).values()])
    record = context.ledger.record(context.study, "size", sizing.size(plan, sd))
    if record["detectable"] is not None:
        context.note(
            "size",
            f"{record['n']} seeds an arm detect an effect of {record['detectable']:.3f} "
            f"(SD {record['sd']:.3f})",
        )
    return "tune"


def tune(context: StudyContext) -> Stage:
    """One nuisance value for all arms, on scores pooled over arms."""
    plan, registration = context.registered()
    if plan.tuning:
        chosen = tuning_phase.tune(context.study, registration, plan, plan.tuning, context.run)
        record = context.ledger.record(context.study, "tuning", chosen)
        context.note("tuned", f"{record['path']} = {record['value']:.3g} for every arm")
    return "confirm"


def confirm(context: StudyContext) -> Stage:
    """The trials of the next look."""
    plan, registration = context.registered()
    facts = context.facts()
    taken = sum(kind.startswith("look-") for kind in facts.records)
    n = facts.records["size"]["looks"][taken]
    tuned = facts.records.get("tuning")
    nuisance = {tuned["path"]: tuned["value"]} if tuned else {}
    context.run(trials.confirmation(context.study, registration, plan, n, nuisance))
    return "look"


def look(context: StudyContext) -> Stage:
    """Verdicts from the scores so far; by the registered rule another look, or the report."""
    plan, _ = context.registered()
    _note_changed_evaluator(context)
    # A look's trials are all inserted before any is run.
    n = len({trial.spec.seed for trial in context.facts().of_phase("confirm")})
    evidence = context.evidence(look=n)
    verdicts = list(evidence.verdicts.values())
    rows = [verdict.model_dump(mode="json") for verdict in verdicts]
    context.ledger.save_verdicts(context.study, rows)
    number = evidence.looks.index(n) + 1
    stop, reason = should_stop(plan, verdicts, n, evidence.looks)
    outcome = {"n": n, "stop": stop, "reason": reason}
    context.ledger.record(context.study, f"look-{number}", outcome)
    context.note("look", f"look {number} of {len(evidence.looks)}, {n} seeds an arm: {reason}")
    return "report" if stop else "confirm"


def report(context: StudyContext) -> Stage:
    """Claims, figures and text."""
    from autoresearch.report import build

    build(context.facts(), context.home, context.readings)
    return "verify"


def verify(context: StudyContext) -> Stage:
    """Recompute every claim from the run folders; then the study is done and becomes findings."""
    from autoresearch.report import verify as differences

    facts = context.facts()
    found = differences(facts, context.home, context.readings)
    if found:
        raise VerificationFailed(found)
    _archive(context, facts)
    context.ledger.set_status(context.study, "done")
    return "done"


def _full_profile(options: StartOptions) -> dict[str, Any]:
    """The `full` record: what the same question costs with the power its playbook asks for.

    Empty where the playbook has no such profile, or the options do not fit it.
    """
    full = options.model_copy(update={"profile": "full", "budget_seconds": None})
    try:
        plan = plan_study(full).plan
    except Refusal:
        return {}
    return {
        "command": start_command(full),
        "trials": sum(trial_counts(plan).values()),
        "seconds": plan.estimated_seconds,
    }


def _archive(context: StudyContext, facts: StudyFacts) -> None:
    """Keep each verdict for later studies, findable by its factors' names."""
    plan, _ = context.registered()
    factors = [factor.name for factor in plan.treatments]
    verdicts = {row["hypothesis"]: row for row in context.ledger.verdicts(context.study)}
    for hypothesis in plan.hypotheses:
        row = verdicts[hypothesis.id]
        detail = {
            "factors": factors,
            "metric": hypothesis.metric,
            "arm": hypothesis.arm,
            "versus": hypothesis.versus,
            "tasks": list(plan.tasks),
            "model": plan.model,
            **{name: row[name] for name in ("verdict", "effect", "low", "high")},
        }
        text = f"{', '.join(factors)}: {hypothesis.statement} {row['verdict']}"
        context.ledger.add_finding(context.study, hypothesis.id, text, detail)


def _note_changed_evaluator(context: StudyContext) -> None:
    """Record, once, that answers are judged by other code than when the plan was frozen."""
    plan, recorded = context.plan(), context.facts().records["fingerprint"]
    now = evaluators(judged(plan.train, plan.tasks))
    was = {name: recorded[name] for name in now}
    if was != now:
        context.ledger.record(context.study, EVALUATOR_CHANGED, {"was": was, "now": now})
