"""Which claims a study's report makes, in their order."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from autoresearch.analysis.evidence import Evidence
from autoresearch.analysis.queries import accounts, noise
from autoresearch.analysis.scores import EVAL, metrics_of
from autoresearch.study.metrics import unit_of
from autoresearch.study.plan import Plan
from swarm.config.base import JsonValue

SETTINGS = (
    "steps",
    "batch.rollouts",
    "batch.group_size",
    "batch.epochs",
    "batch.minibatches",
    "optim.lr",
    "optim.schedule",
    "algorithm.name",
    "algorithm.baseline",
    "algorithm.scale",
    "algorithm.aggregation",
    "algorithm.clip_low",
    "algorithm.clip_high",
    "algorithm.kl_coef",
    "algorithm.entropy_coef",
    "policy.kind",
    "policy.rank",
    "policy.alpha",
    "sampling.temperature",
    "sampling.max_tokens",
    "warmup.steps",
    "max_staleness",
    "evaluation.prompts",
    "evaluation.every",
)
"""The settings that a report prints."""

CURVE_POINTS = 5
ACCURACY = "eval/acc"
TRIAL_FIELDS = ("phase", "arm", "task", "seed", "label", "status", "attempts", "causes")


@dataclass(frozen=True)
class ClaimSpec:
    """A claim to be computed: its id, unit and query."""

    id: str
    unit: str
    query: str
    args: Mapping[str, JsonValue] = field(default_factory=dict)


def claim_list(evidence: Evidence) -> Iterator[ClaimSpec]:
    """Every claim that the report of this study makes."""
    yield from _verdicts(evidence)
    yield from _arms(evidence)
    yield from _secondary(evidence)
    yield from _curves(evidence)
    yield from _sizing(evidence)
    yield from _rules(evidence)
    yield from _problems(evidence)
    yield from _cost(evidence)
    yield from _machine(evidence)


def curve_metrics(plan: Plan) -> tuple[str, ...]:
    """The held-out metrics whose learning curves are shown: the hypotheses', and accuracy."""
    tested = [metric for metric in metrics_of(plan) if metric.startswith(EVAL)]
    return tuple(dict.fromkeys((*tested, ACCURACY)))


def curve_steps(evidence: Evidence, metric: str) -> list[int]:
    """The steps at which any confirmation run logs a metric."""
    trials = evidence.trials("confirm")
    return sorted({step for t in trials for step, _, _ in evidence.points(t, metric)})


def _verdicts(evidence: Evidence) -> Iterator[ClaimSpec]:
    for h in evidence.plan.hypotheses:
        name = {"hypothesis": h.id}
        unit = unit_of(h.metric)
        yield ClaimSpec(f"{h.id}.verdict", "", "outcomes.verdict", name)
        yield ClaimSpec(f"{h.id}.reason", "", "outcomes.reason", name)
        yield ClaimSpec(f"{h.id}.effect", unit, "outcomes.effect", name)
        yield ClaimSpec(f"{h.id}.direction", "", "outcomes.direction", name)
        yield ClaimSpec(f"{h.id}.p", "p", "outcomes.p_value", name)
        yield ClaimSpec(f"{h.id}.p_equivalence", "p", "outcomes.p_equivalence", name)
        for role, arm in (("arm", h.arm), ("versus", h.versus)):
            yield ClaimSpec(
                f"{h.id}.n.{role}", "seeds", "outcomes.seeds_scored", {**name, "arm": arm}
            )
        for key in ("id", "metric", "arm", "versus", "min_effect"):
            shown = unit if key == "min_effect" else "" if key == "id" else "name"
            yield ClaimSpec(f"{h.id}.{key}", shown, "accounts.hypothesis", {**name, "field": key})
        yield ClaimSpec(f"{h.id}.seed_sd", unit, "sizing.seed_sd", name)
        yield ClaimSpec(f"{h.id}.detectable", unit, "sizing.detectable", name)
        yield ClaimSpec(f"{h.id}.needed", "seeds", "sizing.needed", name)


def _arms(evidence: Evidence) -> Iterator[ClaimSpec]:
    plan = evidence.plan
    for metric in metrics_of(plan):
        unit = unit_of(metric)
        for arm in plan.arms:
            args = {"metric": metric, "arm": arm.id}
            yield ClaimSpec(f"arm.{metric}.{arm.id}.mean", unit, "outcomes.arm_mean", args)
            yield ClaimSpec(f"arm.{metric}.{arm.id}.sd", unit, "outcomes.arm_sd", args)
            if len(plan.tasks) > 1:
                for task in plan.tasks:
                    at, by = f"task.{metric}.{arm.id}.{task}", {**args, "task": task}
                    yield ClaimSpec(f"{at}.mean", unit, "outcomes.arm_mean", by)
                    yield ClaimSpec(f"{at}.sd", unit, "outcomes.arm_sd", by)
        for trial in evidence.trials("confirm"):
            spec = trial.spec
            yield ClaimSpec(
                f"score.{metric}.{spec.arm}.{spec.task}.{spec.seed}",
                unit,
                "outcomes.seed_score",
                {"metric": metric, "arm": spec.arm, "task": spec.task, "seed": spec.seed},
            )


def _secondary(evidence: Evidence) -> Iterator[ClaimSpec]:
    plan = evidence.plan
    for metric in plan.metrics:
        if metric not in metrics_of(plan):
            for arm in plan.arms:
                yield ClaimSpec(
                    f"final.{metric}.{arm.id}",
                    unit_of(metric),
                    "outcomes.final_mean",
                    {"metric": metric, "arm": arm.id},
                )


def _curves(evidence: Evidence) -> Iterator[ClaimSpec]:
    plan = evidence.plan
    for metric in curve_metrics(plan):
        steps = curve_steps(evidence, metric)
        last = max(0, len(steps) - 1)
        shown = [
            steps[round(i * last / (CURVE_POINTS - 1))] for i in range(CURVE_POINTS if steps else 0)
        ]
        for arm in plan.arms:
            for step in dict.fromkeys(shown):
                yield ClaimSpec(
                    f"curve.{metric}.{arm.id}.{step}",
                    unit_of(metric),
                    "outcomes.curve_mean",
                    {"metric": metric, "arm": arm.id, "step": step},
                )


def _sizing(evidence: Evidence) -> Iterator[ClaimSpec]:
    unit = unit_of(metrics_of(evidence.plan)[0])
    yield ClaimSpec("pilot.mean", unit, "sizing.pilot_mean")
    yield ClaimSpec("pilot.sd", unit, "sizing.pilot_sd")
    for label in noise.candidate_labels(evidence):
        args = {"label": label}
        yield ClaimSpec(f"tuning.{label}.value", "setting", "sizing.candidate_value", args)
        yield ClaimSpec(f"tuning.{label}.score", unit, "sizing.candidate_score", args)
    if evidence.plan.tuning is not None:
        yield ClaimSpec("tuning.choice", "setting", "sizing.tuning_choice")
        yield ClaimSpec("tuning.path", "name", "accounts.tuning_rule", {"name": "path"})
        for name in ("low", "high", "candidates"):
            yield ClaimSpec(f"tuning.{name}", "exact", "accounts.tuning_rule", {"name": name})


def _rules(evidence: Evidence) -> Iterator[ClaimSpec]:
    units = {"alpha": "exact", "power": "percent", "last_evals": "exact", "floor": "exact"}
    for name, unit in units.items():
        yield ClaimSpec(f"rule.{name}", unit, "accounts.rule", {"name": name})
    for name in ("prompts", "every"):
        at = {"path": f"evaluation.{name}"}
        yield ClaimSpec(f"rule.eval_{name}", "exact", "accounts.base_setting", at)
    yield ClaimSpec("rule.looks", "", "accounts.looks")
    yield ClaimSpec("rule.look", "seeds", "accounts.look")
    yield ClaimSpec("rule.confidence", "percent", "accounts.confidence")
    yield ClaimSpec("rule.arm_confidence", "percent", "accounts.arm_confidence")
    yield ClaimSpec("study.seed", "exact", "accounts.study_seed")
    for name in ("model", "tasks"):
        yield ClaimSpec(f"study.{name}", "name", "accounts.plan_field", {"name": name})
    yield ClaimSpec("study.command", "", "accounts.start_command")
    yield ClaimSpec("registered_at", "", "accounts.registered_at")
    yield ClaimSpec("first_trial_at", "", "accounts.first_trial_at")
    for phase in ("pilot", "tuning", "confirm"):
        yield ClaimSpec(f"seeds.{phase}", "", "accounts.seeds", {"phase": phase})
    for index, _ in enumerate(evidence.plan.notes):
        yield ClaimSpec(f"note.{index}", "", "accounts.note", {"index": index})
    for path in SETTINGS:
        yield ClaimSpec(f"setting.{path}", "setting", "accounts.base_setting", {"path": path})


def _problems(evidence: Evidence) -> Iterator[ClaimSpec]:
    for trial in accounts.troubled(evidence):
        for key in TRIAL_FIELDS:
            name = {"trial": trial.spec.id, "field": key}
            unit = {"seed": "exact", "attempts": "attempts"}.get(key, "")
            yield ClaimSpec(f"trial.{trial.spec.id}.{key}", unit, "accounts.trial", name)
    for index, (alarm, phase, arm) in enumerate(accounts.alarm_keys(evidence)):
        for key, unit in (("trials", "trials"), ("step", "exact"), ("cause", "")):
            args = {"alarm": alarm, "phase": phase, "arm": arm, "field": key}
            yield ClaimSpec(f"alarm.{index}.{key}", unit, "accounts.alarm", args)
    for index, _ in enumerate(accounts.deviations(evidence)):
        yield ClaimSpec(f"deviation.{index}", "", "accounts.deviation", {"index": index})


def _cost(evidence: Evidence) -> Iterator[ClaimSpec]:
    for phase in ("", "pilot", "tuning", "confirm"):
        at = phase or "all"
        yield ClaimSpec(f"trials.{at}", "trials", "accounts.trials", {"phase": phase})
        yield ClaimSpec(f"cost.{at}.seconds", "s", "accounts.trial_seconds", {"phase": phase})
        for status in ("finished", "diverged", "failed"):
            args = {"phase": phase, "status": status}
            yield ClaimSpec(f"trials.{at}.{status}", "trials", "accounts.trials", args)
    for arm in evidence.plan.arms:
        args = {"phase": "confirm", "status": "finished", "arm": arm.id}
        yield ClaimSpec(f"trials.{arm.id}.finished", "trials", "accounts.trials", args)
    yield ClaimSpec("attempts", "attempts", "accounts.attempts")
    for status in ("failed", "lost"):
        yield ClaimSpec(f"attempts.{status}", "attempts", "accounts.attempts", {"status": status})
    yield ClaimSpec("attempts.retries", "attempts", "accounts.retries")
    yield ClaimSpec("cost.trial_seconds", "s", "accounts.seconds_per_trial")
    yield ClaimSpec("cost.wall_seconds", "s", "accounts.wall_seconds")
    yield ClaimSpec("cost.outside", "percent", "accounts.outside_share")
    for metric in ("tokens/prompt", "tokens/completion", "tokens/trained"):
        yield ClaimSpec(f"cost.{metric}", "tokens", "accounts.tokens", {"metric": metric})


def _machine(evidence: Evidence) -> Iterator[ClaimSpec]:
    records = evidence.facts.records
    for name in records.get("fingerprint", {}):
        unit = "digest" if name.startswith(("evaluator", "trainer")) else "name"
        yield ClaimSpec(f"fingerprint.{name}", unit, "accounts.fingerprint", {"name": name})
    for name in ("command", "trials", "seconds") if "full" in records else ():
        unit = {"command": "", "trials": "trials", "seconds": "s"}[name]
        yield ClaimSpec(f"full.{name}", unit, "accounts.full_profile", {"name": name})
    for arm in evidence.plan.arms:
        yield ClaimSpec(f"adapter.{arm.id}", "", "accounts.adapter", {"arm": arm.id})
