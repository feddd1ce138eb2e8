"""Which claims a study's report makes, in their order."""

from collections.abc import Iterator, Mapping

from pydantic import Field

from autoresearch.analysis import claim_ids as ids
from autoresearch.analysis.evidence import Evidence
from autoresearch.analysis.scores import EVAL, metrics_of
from autoresearch.study.facts import ENDED
from autoresearch.study.metrics import unit_of
from autoresearch.study.plan import Plan
from swarm.config.base import JsonValue, Settings

SETTINGS = (
    "steps",
    *("batch.rollouts", "batch.group_size", "batch.epochs", "batch.minibatches"),
    *("optim.lr", "optim.schedule"),
    *("algorithm.name", "algorithm.baseline", "algorithm.scale", "algorithm.aggregation"),
    *("algorithm.clip_low", "algorithm.clip_high", "algorithm.kl_coef", "algorithm.entropy_coef"),
    *("policy.kind", "policy.rank", "policy.alpha"),
    *("sampling.temperature", "sampling.max_tokens"),
    *("warmup.steps", "max_staleness"),
    *("evaluation.prompts", "evaluation.every"),
)
"""The settings that a report prints."""

SET_FIELDS = ("name", "ref", "prompts", "k", "temperature", "reward", "digest")
"""What a report says of an evaluation set."""

CURVE_POINTS = 5
ACCURACY = "eval/acc"
TRIAL_FIELDS = ("phase", "arm", "task", "seed", "label", "status", "attempts", "causes")
TRIAL_UNITS = {"seed": "exact", "attempts": "attempts"}


class Query(Settings):
    """The name of a query and its keyword arguments."""

    name: str
    args: Mapping[str, JsonValue] = Field(default_factory=dict)


Listed = tuple[str, str, Query]
"""A claim to be computed: its id, its unit and the query that computes it."""


def claim_list(evidence: Evidence) -> Iterator[Listed]:
    """Every claim that the report of this study makes."""
    yield from _verdicts(evidence)
    yield from _arms(evidence)
    yield from _curves(evidence)
    yield from _sizing(evidence)
    yield from _rules(evidence)
    yield from _data(evidence)
    yield from _problems(evidence)
    yield from _cost(evidence)
    yield from _machine(evidence)


def curve_metrics(plan: Plan) -> tuple[str, ...]:
    """The held-out metrics whose learning curves are shown: the hypotheses', and accuracy."""
    tested = [metric for metric in metrics_of(plan) if metric.startswith(EVAL)]
    return tuple(dict.fromkeys((*tested, ACCURACY)))


def _spec(at: str, unit: str, query: str, /, **args: JsonValue) -> Listed:
    return at, unit, Query(name=query, args=args)


def _verdicts(evidence: Evidence) -> Iterator[Listed]:
    for h in evidence.plan.hypotheses:
        unit = unit_of(h.metric)
        for key, shown, query in (
            ("verdict", "", "outcomes.verdict"),
            ("reason", "", "outcomes.reason"),
            ("effect", unit, "outcomes.effect"),
            ("direction", "", "outcomes.direction"),
            ("p", "p", "outcomes.p_value"),
            ("p_equivalence", "p", "outcomes.p_equivalence"),
        ):
            yield _spec(ids.under(h.id, key), shown, query, hypothesis=h.id)
        for key, arm in (("n.arm", h.arm), ("n.versus", h.versus)):
            at = ids.under(h.id, key)
            yield _spec(at, "seeds", "outcomes.seeds_scored", hypothesis=h.id, arm=arm)
        for key in ("id", "metric", "arm", "versus", "min_effect"):
            at, shown = ids.under(h.id, key), {"id": "", "min_effect": unit}.get(key, "name")
            yield _spec(at, shown, "accounts.hypothesis", hypothesis=h.id, field=key)
        for key, shown in (("seed_sd", unit), ("detectable", unit), ("needed", "seeds")):
            yield _spec(ids.under(h.id, key), shown, f"sizing.{key}", hypothesis=h.id)


def _arms(evidence: Evidence) -> Iterator[Listed]:
    plan = evidence.plan
    for metric in metrics_of(plan):
        unit = unit_of(metric)
        for arm in plan.arms:
            for task in ("", *(plan.tasks if len(plan.tasks) > 1 else ())):
                args = {"metric": metric, "arm": arm.id, **({"task": task} if task else {})}
                for name in ("mean", "sd"):
                    yield _spec(ids.arm(name, **args), unit, f"outcomes.arm_{name}", **args)
        for trial in evidence.trials("confirm"):
            name, task, seed = trial.spec.arm, trial.spec.task, trial.spec.seed
            at = ids.under("score", metric, name, task, seed)
            args = {"metric": metric, "arm": name, "task": task}
            yield _spec(at, unit, "outcomes.seed_score", **args, seed=seed)
    for metric in plan.metrics:
        for arm in plan.arms if metric not in metrics_of(plan) else ():
            at = ids.under("final", metric, arm.id)
            yield _spec(at, unit_of(metric), "outcomes.final_mean", metric=metric, arm=arm.id)


def _curves(evidence: Evidence) -> Iterator[Listed]:
    plan = evidence.plan
    for metric in curve_metrics(plan):
        steps, unit = evidence.steps(metric), unit_of(metric)
        last = len(steps) - 1
        shown = [round(i * last / (CURVE_POINTS - 1)) for i in range(CURVE_POINTS)]
        for arm in plan.arms:
            for step in dict.fromkeys(steps[index] for index in shown if steps):
                at = ids.curve(metric, arm.id, step)
                yield _spec(at, unit, "outcomes.curve_mean", metric=metric, arm=arm.id, step=step)


def _sizing(evidence: Evidence) -> Iterator[Listed]:
    unit = unit_of(metrics_of(evidence.plan)[0])
    yield _spec("pilot.mean", unit, "sizing.pilot_mean")
    yield _spec("pilot.sd", unit, "sizing.pilot_sd")
    for label in dict.fromkeys(trial.spec.label for trial in evidence.trials("tuning")):
        for key, shown in (("value", "setting"), ("score", unit)):
            at = ids.under("tuning", label, key)
            yield _spec(at, shown, f"sizing.candidate_{key}", label=label)
    if evidence.plan.tuning is not None:
        yield _spec("tuning.choice", "setting", "sizing.tuning_choice")
        for name in ("path", "low", "high", "candidates"):
            shown = "name" if name == "path" else "exact"
            yield _spec(ids.under("tuning", name), shown, "accounts.tuning_rule", name=name)


def _rules(evidence: Evidence) -> Iterator[Listed]:
    units = {"alpha": "exact", "power": "percent", "last_evals": "exact", "floor": "exact"}
    for name, unit in units.items():
        yield _spec(ids.under("rule", name), unit, "accounts.rule", name=name)
    for name in ("prompts", "every"):
        path = f"evaluation.{name}"
        yield _spec(ids.under("rule", f"eval_{name}"), "exact", "accounts.base_setting", path=path)
    yield _spec("rule.looks", "", "accounts.looks")
    yield _spec("rule.look", "seeds", "accounts.look")
    yield _spec("rule.confidence", "percent", "accounts.confidence")
    yield _spec("rule.arm_confidence", "percent", "accounts.arm_confidence")
    yield _spec("study.seed", "exact", "accounts.study_seed")
    for name in ("model", "tasks"):
        yield _spec(ids.under("study", name), "name", "accounts.plan_field", name=name)
    yield _spec("study.command", "", "accounts.start_command")
    yield _spec("registered_at", "", "accounts.registered_at")
    yield _spec("first_trial_at", "", "accounts.first_trial_at")
    for phase in ("pilot", "tuning", "confirm"):
        yield _spec(ids.under("seeds", phase), "", "accounts.seeds", phase=phase)
    for index, _ in enumerate(evidence.plan.notes):
        yield _spec(ids.under("note", index), "", "accounts.note", index=index)
    for path in SETTINGS:
        yield _spec(ids.under("setting", path), "setting", "accounts.base_setting", path=path)


def _data(evidence: Evidence) -> Iterator[Listed]:
    """The user's own data, by their hashes, and the sets that are evaluated on."""
    plan = evidence.plan
    for index, task in enumerate(plan.tasks):
        digests = {plan.train_config(arm.id, task, 0, {}).task.digest for arm in plan.arms}
        for arm in plan.arms if digests != {""} else ():
            args = {"task": task, **({"arm": arm.id} if len(digests) > 1 else {})}
            at = ids.under("data", index, *([arm.id] if len(digests) > 1 else []))
            yield _spec(at, "name", "accounts.training_data", **args)
            if len(digests) == 1:
                break
    for index, each in enumerate(plan.train.evaluation.sets):
        for field in SET_FIELDS:
            if getattr(each, field) not in ("", None):
                unit = {"name": "name", "ref": "name", "digest": "name", "reward": "name"}
                at = ids.under("set", index, field)
                shown = unit.get(field, "exact")
                yield _spec(at, shown, "accounts.evaluation_set", index=index, field=field)


def _problems(evidence: Evidence) -> Iterator[Listed]:
    for trial in evidence.facts.trials:
        smooth = trial.status == "finished" and len(trial.attempts) == 1
        for key in TRIAL_FIELDS if trial.status in ENDED and not smooth else ():
            at, unit = ids.under("trial", trial.spec.id, key), TRIAL_UNITS.get(key, "")
            yield _spec(at, unit, "accounts.trial", trial=trial.spec.id, field=key)
    for index, (alarm, phase, arm) in enumerate(evidence.alarms):
        args = {"alarm": alarm, "phase": phase, "arm": arm}
        for key, unit in (("trials", "trials"), ("step", "exact"), ("cause", "")):
            yield _spec(ids.under("alarm", index, key), unit, "accounts.alarm", **args, field=key)
    for index, _ in enumerate(evidence.events("deviation")):
        yield _spec(ids.under("deviation", index), "", "accounts.deviation", index=index)


def _cost(evidence: Evidence) -> Iterator[Listed]:
    query = "accounts.trials"
    for phase in ("", "pilot", "tuning", "confirm"):
        at = phase or "all"
        yield _spec(ids.under("trials", at), "trials", query, phase=phase)
        yield _spec(ids.under("cost", at, "seconds"), "s", "accounts.trial_seconds", phase=phase)
        for status in ("finished", "diverged", "failed"):
            name = ids.under("trials", at, status)
            yield _spec(name, "trials", query, phase=phase, status=status)
    for arm in evidence.plan.arms:
        args = {"phase": "confirm", "status": "finished", "arm": arm.id}
        yield _spec(ids.under("trials", arm.id, "finished"), "trials", query, **args)
    yield _spec("attempts", "attempts", "accounts.attempts")
    for status in ("failed", "lost"):
        yield _spec(ids.under("attempts", status), "attempts", "accounts.attempts", status=status)
    yield _spec("attempts.retries", "attempts", "accounts.retries")
    yield _spec("cost.trial_seconds", "s", "accounts.seconds_per_trial")
    yield _spec("cost.wall_seconds", "s", "accounts.wall_seconds")
    yield _spec("cost.outside", "percent", "accounts.outside_share")
    for metric in ("tokens/prompt", "tokens/completion", "tokens/trained"):
        yield _spec(ids.under("cost", metric), "tokens", "accounts.tokens", metric=metric)


def _machine(evidence: Evidence) -> Iterator[Listed]:
    records = evidence.facts.records
    for name in records.get("fingerprint", {}):
        unit = "digest" if name.startswith(("evaluator", "trainer")) else "name"
        yield _spec(ids.under("fingerprint", name), unit, "accounts.fingerprint", name=name)
    units = {"command": "", "trials": "trials", "seconds": "s"} if "full" in records else {}
    for name, unit in units.items():
        yield _spec(ids.under("full", name), unit, "accounts.full_profile", name=name)
    for arm in evidence.plan.arms:
        yield _spec(ids.under("adapter", arm.id), "", "accounts.adapter", arm=arm.id)
