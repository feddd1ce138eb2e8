"""The queries behind accounting claims: the registered rules, what ran, and what it cost.

Each public function is a query. It answers one question from the ledger's facts; only token counts
need run folders.
"""

import math
import shlex
from collections.abc import Iterable
from datetime import UTC, datetime

from autoresearch.analysis.evidence import Answer, Evidence, mean, run_of
from autoresearch.design.seeds import BLOCK
from autoresearch.study.facts import AttemptFacts, TrialFacts, busy_seconds
from swarm.config.paths import setting
from swarm.disk.folder import ADAPTER


def rule(evidence: Evidence, *, name: str) -> Answer:
    """A field of the registered decision rules."""
    return Answer(_plain(getattr(evidence.plan.decision, name)))


def hypothesis(evidence: Evidence, *, hypothesis: str, field: str) -> Answer:
    """A field of a registered hypothesis."""
    return Answer(_plain(getattr(evidence.hypothesis(hypothesis), field)))


def plan_field(evidence: Evidence, *, name: str) -> Answer:
    """A field of the registered plan."""
    return Answer(_plain(getattr(evidence.plan, name)))


def note(evidence: Evidence, *, index: int) -> Answer:
    """What the planner noted with the plan, counted from 0."""
    return Answer(evidence.plan.notes[index])


def base_setting(evidence: Evidence, *, path: str) -> Answer:
    """A setting that all trials share unless a factor, a task or tuning sets it."""
    return Answer(_plain(setting(evidence.plan.train, path)))


def training_data(evidence: Evidence, *, task: str, arm: str = "") -> Answer:
    """The sha256 of the user's own data that a task trains on, of one arm where they differ."""
    arms = evidence.plan.arms
    config = evidence.plan.train_config(arm or arms[0].id, task, 0, {})
    return Answer(config.task.digest)


def evaluation_set(evidence: Evidence, *, index: int, field: str) -> Answer:
    """A field of a registered evaluation set, counted from 0."""
    return Answer(_plain(getattr(evidence.plan.train.evaluation.sets[index], field)))


def tuning_rule(evidence: Evidence, *, name: str) -> Answer:
    """A field of the registered tuning. Raises AttributeError for a plan without tuning."""
    return Answer(_plain(getattr(evidence.plan.tuning, name)))


def confidence(evidence: Evidence) -> Answer:
    """Confidence of the interval of an effect at one look."""
    return Answer(1 - evidence.level)


def arm_confidence(evidence: Evidence) -> Answer:
    """Confidence of the interval of an arm's mean."""
    return Answer(1 - evidence.plan.decision.alpha)


def looks(evidence: Evidence) -> Answer:
    """Seeds an arm at each look that the study may take."""
    return Answer(_listed(evidence.looks))


def look(evidence: Evidence) -> Answer:
    """Seeds an arm at the last look taken."""
    return Answer(evidence.look)


def seeds(evidence: Evidence, *, phase: str) -> Answer:
    """The registered seeds of a phase; of confirmation, those that the last look uses."""
    used = evidence.seeds if phase == "confirm" else getattr(evidence.plan.seeds, phase)
    return Answer(_listed(used), n=len(used))


def study_seed(evidence: Evidence) -> Answer:
    """The seed from which all seeds of the study follow (see `design.seeds`)."""
    return Answer(evidence.plan.seeds.confirm[0] // BLOCK)


def start_command(evidence: Evidence) -> Answer:
    """The command that started the study; what the plan says of it, where none is recorded."""
    plan, started = evidence.plan, evidence.facts.records.get("start")
    if started is not None:
        return Answer(str(started["command"]))
    return Answer(
        f"autoresearch start {shlex.quote(plan.topic)} --playbook {plan.playbook}"
        f" --profile {plan.profile} --seed {study_seed(evidence).value}"
    )


def registered_at(evidence: Evidence) -> Answer:
    """When the plan was frozen, in UTC."""
    return Answer(_utc(evidence.facts.registered_at))


def first_trial_at(evidence: Evidence) -> Answer:
    """When the first attempt of any trial started, in UTC."""
    started = [a.started_at for _, a in _attempts(evidence) if a.started_at]
    return Answer(_utc(min(started, default=None)))


def trials(evidence: Evidence, *, phase: str = "", status: str = "", arm: str = "") -> Answer:
    """How many trials there are, of one phase, status or arm where these are named."""
    count = sum(
        phase in ("", trial.spec.phase)
        and status in ("", trial.status)
        and arm in ("", trial.spec.arm)
        for trial in evidence.facts.trials
    )
    return Answer(count)


def attempts(evidence: Evidence, *, status: str = "") -> Answer:
    """How many attempts were made, of one status where it is named."""
    return Answer(sum(status in ("", attempt.status) for _, attempt in _attempts(evidence)))


def retries(evidence: Evidence) -> Answer:
    """Attempts beyond each trial's first."""
    return Answer(sum(max(0, len(trial.attempts) - 1) for trial in evidence.facts.trials))


def trial(evidence: Evidence, *, trial: str, field: str) -> Answer:
    """A field of one trial: of its spec, or `status`, `causes` or `attempts`."""
    facts = {t.spec.id: t for t in evidence.facts.trials}[trial]
    more = {"status": facts.status, "causes": _causes(facts), "attempts": len(facts.attempts)}
    value = more[field] if field in more else getattr(facts.spec, field)
    return Answer(_plain(value), runs=(run_of(facts),))


def deviation(evidence: Evidence, *, index: int) -> Answer:
    """How the study departed from its plan: the text of one deviation, counted from 0."""
    return Answer(str(evidence.events("deviation")[index]["text"]))


def alarm(evidence: Evidence, *, alarm: str, phase: str, arm: str, field: str) -> Answer:
    """What one kind of alarm says of a phase and arm; n counts its trials.

    `trials` is how many raised it, `step` the earliest step at which one did, `cause` what the
    first of them said.
    """
    rows = evidence.alarms[alarm, phase, arm]
    values = {
        "trials": len({row["trial"] for row in rows}),
        "step": min(row["step"] for row in rows),
        "cause": rows[0]["cause"],
    }
    return Answer(_plain(values[field]), n=values["trials"])


def trial_seconds(evidence: Evidence, *, phase: str = "") -> Answer:
    """Seconds that attempts held their core, lost and failed ones included; n counts attempts."""
    spent = [a.seconds for t, a in _attempts(evidence) if phase in ("", t.spec.phase)]
    return Answer(math.fsum(spent), n=len(spent))


def seconds_per_trial(evidence: Evidence) -> Answer:
    """Mean seconds of the attempts that finished; n counts them."""
    spent = [a.seconds for _, a in _attempts(evidence) if a.status == "finished"]
    return Answer(mean(spent) if spent else None, n=len(spent))


def wall_seconds(evidence: Evidence) -> Answer:
    """From the study's creation to the end of its last attempt, pauses included."""
    ends = [a.started_at + a.seconds for _, a in _attempts(evidence) if a.started_at]
    return Answer(max(ends) - evidence.facts.created_at if ends else None)


def outside_share(evidence: Evidence) -> Answer:
    """The share of `wall_seconds` in which no attempt ran."""
    wall = wall_seconds(evidence).value
    if wall is None or not float(wall) > 0:
        return Answer(None)
    busy = busy_seconds(evidence.facts.trials, since=0.0)
    return Answer(max(0.0, 1 - busy / float(wall)))


def tokens(evidence: Evidence, *, metric: str) -> Answer:
    """The sum of a token metric over all steps of all runs that finished or diverged."""
    counted = [t for t in evidence.facts.trials if t.status in ("finished", "diverged")]
    total = math.fsum(v for t in counted for _, _, v in evidence.points(t, metric))
    return Answer(round(total), n=len(counted), runs=tuple(map(run_of, counted)))


def adapter(evidence: Evidence, *, arm: str) -> Answer:
    """Where in the study's folder the adapter of an arm's first finished run lies."""
    for found in evidence.trials("confirm"):
        if found.spec.arm == arm and found.status == "finished" and found.folder is not None:
            path = "/".join((*found.folder.parts[-3:], ADAPTER))
            return Answer(path, runs=(run_of(found),))
    return Answer(None)


def fingerprint(evidence: Evidence, *, name: str) -> Answer:
    """One entry of the machine fingerprint."""
    return Answer(_plain(evidence.facts.records["fingerprint"][name]))


def full_profile(evidence: Evidence, *, name: str) -> Answer:
    """What the `full` profile of this topic takes: `command`, `trials` or `seconds`."""
    return Answer(_plain(evidence.facts.records["full"][name]))


def _causes(trial: TrialFacts) -> str:
    """Why attempts failed, diverged or were lost; those with the same cause together."""
    found: dict[tuple[str, str], list[str]] = {}
    for attempt in trial.attempts:
        if attempt.status not in ("finished", "running"):
            key = (attempt.status, attempt.cause or "no cause recorded")
            found.setdefault(key, []).append(str(attempt.number))
    return "; ".join(
        f"attempt {', '.join(numbers)} {status}: {cause}"
        for (status, cause), numbers in found.items()
    )


def _attempts(evidence: Evidence) -> Iterable[tuple[TrialFacts, AttemptFacts]]:
    return ((trial, attempt) for trial in evidence.facts.trials for attempt in trial.attempts)


def _utc(at: float | None) -> str | None:
    """A Unix time as the report shows it."""
    return None if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S UTC}"


def _listed(values: Iterable[object]) -> str:
    return ", ".join(map(str, values))


def _plain(value: object) -> float | int | str:
    """A value as a claim holds it: flags, lists and None as text."""
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, tuple):
        return _listed(value)
    return value if isinstance(value, float | int) else str(value)
