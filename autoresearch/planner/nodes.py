"""What each stage of a study does: idempotent functions of the ledger that name the next stage.

A node may run again after a crash, from its top. Whatever it writes is keyed: records are kept as
first written, trials are known by their id, ended trials are not run twice.
"""

from typing import Any

from autoresearch.analysis.evidence import EVALUATOR_CHANGED, invalid_reason
from autoresearch.analysis.scores import primary_metric, scores
from autoresearch.analysis.verdicts import Verdict, should_stop
from autoresearch.analysis.verdicts import decide as verdicts_at
from autoresearch.planner import sizing, tuning, waves
from autoresearch.planner.command import start_command
from autoresearch.planner.estimate import trials
from autoresearch.planner.fingerprint import fingerprint
from autoresearch.planner.lint import problems
from autoresearch.planner.offline import draft
from autoresearch.planner.options import StartOptions
from autoresearch.planner.work import Work
from autoresearch.study.errors import BadInput
from autoresearch.study.facts import Stage, StudyFacts
from autoresearch.study.plan import Plan
from swarm import tasks
from swarm.config import JsonValue

#: How often a draft with problems goes back to the planner.
LINT_ROUNDS = 3

#: What a plan of the same question under the full profile changes of the options.
_FULL = {"profile": "full", "budget_seconds": None}


class VerificationFailed(Exception):
    """The report does not follow from the run folders; `problems` names the places."""

    def __init__(self, problems: list[str]) -> None:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(f"the report does not verify: {problems[0]}{more}")
        self.problems = problems


def scope(work: Work) -> Stage:
    """Which question is asked: the topic's playbook or factors."""
    plan = work.plan()
    text = f"{plan.question} ({plan.planner} planner, playbook {plan.playbook})"
    work.ledger.add_event(work.study, "scope", once=text, text=text)
    return "recall"


def recall(work: Work) -> Stage:
    """What earlier studies of this home found on the same factors."""
    factors = {factor.name for factor in work.plan().treatments}
    for found in work.ledger.findings(" ".join(sorted(factors))):
        if found["study"] != work.study and factors & set(found["detail"]["factors"]):
            work.note("recall", f"known from {found['study']}: {found['text']}")
    return "hypothesise"


def hypothesise(work: Work) -> Stage:
    """The falsifiable claims."""
    for hypothesis in work.plan().hypotheses:
        text = f"{hypothesis.id}: {hypothesis.statement}"
        work.ledger.add_event(work.study, "hypothesis", once=text, text=text)
    return "design"


def design(work: Work) -> Stage:
    """Arms, seeds, tuning and looks: the draft that the study came with, or after a lint a new one.

    The user has seen that draft, so nothing else is made of it as long as it is sound.
    """
    if problems(work.plan()):
        options = _options(work)
        work.ledger.save_plan(work.study, draft(options.topic, options))
    text = f"arms {', '.join(arm.id for arm in work.plan().arms)}"
    work.ledger.add_event(work.study, "design", once=text, text=text)
    return "lint"


def lint(work: Work) -> Stage:
    """Send a draft that cannot answer its question back, a few times. Raises BadInput then."""
    plan = work.plan()
    found = problems(plan)
    if not found:
        work.observer.plan(plan)
        return "freeze"
    rounds = sum(event["kind"] == "lint" for event in work.facts().events)
    if rounds >= LINT_ROUNDS:
        raise BadInput("plan", found[0], "change the topic, the playbook or the --set values")
    work.ledger.add_event(work.study, "lint", text=found[0])
    return "design"


def freeze(work: Work) -> Stage:
    """Register the plan, and record what the numbers depend on besides it."""
    plan = work.plan()
    work.ledger.record(work.study, "fingerprint", fingerprint(plan.model))
    work.ledger.record(work.study, "start", {"command": start_command(_options(work))})
    if plan.profile != "full":
        full = _full_profile(_options(work))
        if full:
            work.ledger.record(work.study, "full", full)
    digest = work.ledger.register(work.study, plan)
    work.note("registered", f"preregistered as {digest[:12]}")
    return "pilot"


def pilot(work: Work) -> Stage:
    """A/A trials of the control arm: the spread between seeds."""
    plan, registration = work.registered()
    work.run(waves.pilot(work.study, registration, plan))
    return "size"


def size(work: Work) -> Stage:
    """How many seeds the confirmation takes, by the registered rule."""
    plan, _ = work.registered()
    found = scores(work.facts(), "pilot", [primary_metric(plan)])
    record = work.ledger.record(work.study, "size", sizing.size(plan, found))
    if record["detectable"] is not None:
        work.note(
            "size",
            f"{record['n']} seeds an arm detect an effect of {record['detectable']:.3f} "
            f"(SD {record['sd']:.3f})",
        )
    return "tune"


def tune(work: Work) -> Stage:
    """One nuisance value for all arms, on scores pooled over arms."""
    plan, registration = work.registered()
    if plan.tuning:
        chosen = tuning.tune(work.study, registration, plan, plan.tuning, work.run)
        record = work.ledger.record(work.study, "tuning", chosen)
        work.note("tuned", f"{record['path']} = {record['value']:.3g} for every arm")
    return "confirm"


def confirm(work: Work) -> Stage:
    """The trials of the next look."""
    plan, registration = work.registered()
    facts = work.facts()
    n = _looks(facts)[_looks_taken(facts)]
    work.run(waves.confirmation(work.study, registration, plan, n, _nuisance(facts)))
    return "analyse"


def analyse(work: Work) -> Stage:
    """Verdicts from the confirmation scores of this look."""
    plan, _ = work.registered()
    _note_changed_evaluator(work)
    facts = work.facts()
    rows = [verdict.model_dump(mode="json") for verdict in _verdicts(plan, facts)]
    work.ledger.save_verdicts(work.study, rows)
    return "decide"


def decide(work: Work) -> Stage:
    """The registered stopping rule: another look, or the report."""
    plan, _ = work.registered()
    facts = work.facts()
    looks, n = _looks(facts), _seeds_used(facts)
    look = looks.index(n) + 1
    stop, reason = should_stop(plan, _verdicts(plan, facts), n, looks)
    work.ledger.record(work.study, f"look-{look}", {"n": n, "stop": stop, "reason": reason})
    work.note("look", f"look {look} of {len(looks)}, {n} seeds an arm: {reason}")
    return "report" if stop else "confirm"


def report(work: Work) -> Stage:
    """Claims, figures and text."""
    from autoresearch.report import build

    build(work.facts(), work.home)
    return "verify"


def verify(work: Work) -> Stage:
    """Recompute every claim from the run folders; then the study is done and becomes findings."""
    from autoresearch.report import verify as differences

    facts = work.facts()
    found = differences(facts, work.home)
    if found:
        raise VerificationFailed(found)
    _archive(work, facts)
    work.ledger.set_status(work.study, "done")
    return "done"


def _options(work: Work) -> StartOptions:
    return StartOptions.model_validate(work.ledger.options(work.study))


def _full_profile(options: StartOptions) -> dict[str, Any]:
    """The `full` record: what the same question costs with the power its playbook asks for.

    Empty where the playbook has no such profile, or the options do not fit it.
    """
    try:
        plan = draft(options.topic, options.model_copy(update=_FULL))
    except BadInput:
        return {}
    return {
        "command": start_command(options.model_copy(update=_FULL)),
        "trials": sum(trials(plan).values()),
        "seconds": plan.estimated_seconds,
    }


def _archive(work: Work, facts: StudyFacts) -> None:
    """Keep each verdict for later studies, findable by its factors' names."""
    plan, _ = work.registered()
    factors = [factor.name for factor in plan.treatments]
    verdicts = {row["hypothesis"]: row for row in work.ledger.verdicts(work.study)}
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
        work.ledger.add_finding(work.study, hypothesis.id, text, detail)


def _nuisance(facts: StudyFacts) -> dict[str, JsonValue]:
    chosen = facts.records.get("tuning")
    return {chosen["path"]: chosen["value"]} if chosen else {}


def _looks(facts: StudyFacts) -> tuple[int, ...]:
    """Seeds an arm at each look, as sized."""
    return tuple(facts.records["size"]["looks"])


def _looks_taken(facts: StudyFacts) -> int:
    return sum(kind.startswith("look-") for kind in facts.records)


def _seeds_used(facts: StudyFacts) -> int:
    """Confirmation seeds an arm so far. A look's trials are all inserted before any is run."""
    return len({trial.spec.seed for trial in facts.of_phase("confirm")})


def _verdicts(plan: Plan, facts: StudyFacts) -> list[Verdict]:
    return verdicts_at(
        plan,
        scores(facts, "confirm"),
        look=_seeds_used(facts),
        looks=_looks(facts),
        invalid_reason=invalid_reason(facts),
    )


def _note_changed_evaluator(work: Work) -> None:
    """Record, once, that answers are judged by other code than when the plan was frozen."""
    was, now = work.facts().records["fingerprint"]["evaluator"], tasks.code_digest()
    if was != now:
        work.ledger.record(work.study, EVALUATOR_CHANGED, {"was": was, "now": now})
