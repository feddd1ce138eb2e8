"""The report's sections on what was registered before the first trial."""

from collections.abc import Mapping

from autoresearch.analysis.claims import Claim, ClaimSet
from autoresearch.analysis.scores import metrics_of
from autoresearch.report.claims_in_text import literal
from autoresearch.report.markdown import table
from autoresearch.study.plan import Factor, Plan

TESTS = {"welch": "Welch's t test", "paired": "the paired t test over shared seeds"}
DIRECTIONS = {"greater": "above", "less": "below", "different": "differs from"}
MODELS = {
    "tiny": "character-level, frozen with the program",
    "smollm2-135m-instruct": "real weights, dequantised from Q4_1: not the hub's",
}
GROUPS = {
    "training": (
        "steps",
        "batch.rollouts",
        "batch.group_size",
        "batch.epochs",
        "batch.minibatches",
    ),
    "optimizer": ("optim.lr", "optim.schedule", "warmup.steps", "max_staleness"),
    "advantage": ("algorithm.name", "algorithm.baseline", "algorithm.scale"),
    "loss": (
        "algorithm.aggregation",
        "algorithm.clip_low",
        "algorithm.clip_high",
        "algorithm.kl_coef",
        "algorithm.entropy_coef",
    ),
    "policy": ("policy.kind", "policy.rank", "policy.alpha"),
    "sampling": ("sampling.temperature", "sampling.max_tokens"),
    "evaluation": ("evaluation.prompts", "evaluation.every"),
}
"""Rows of the table of settings."""


def preregistration(claims: ClaimSet, by_id: Mapping[str, Claim]) -> str:
    """The hypotheses, the rules and the hash that binds them."""
    times = (
        "The plan was frozen at {{c.registered_at}}"
        if "registered_at" in by_id
        else ("The plan has not been registered")
    )
    if "first_trial_at" in by_id:
        times += "; the first trial started at {{c.first_trial_at}}"
    hypotheses = table(
        ("", "claim", "metric", "prediction", "smallest effect of interest"),
        [
            (
                f"**{{{{c.{h.id}.id}}}}**",
                literal(h.statement) + (f" ({literal(h.source)})" if h.source else ""),
                f"{{{{c.{h.id}.metric}}}}",
                f"{{{{c.{h.id}.arm}}}} {DIRECTIONS[h.direction]} {{{{c.{h.id}.versus}}}}",
                f"{{{{c.{h.id}.min_effect}}}}",
            )
            for h in claims.plan.hypotheses
        ],
        numeric=(4,),
    )
    parts = [
        "## Preregistration",
        f"{times}. Its sha256 is what `sha256sum preregistration.json` prints:",
        f"```\n{claims.registration or 'none'}\n```",
        hypotheses,
        "\n".join(f"- {rule}" for rule in _rules(claims.plan, by_id)),
    ]
    return "\n\n".join(parts)


def design(claims: ClaimSet, by_id: Mapping[str, Claim]) -> str:
    """Arms, tasks, model, seeds and settings."""
    plan = claims.plan
    factors = plan.treatments
    model = _model(plan, by_id)
    seeds = [
        f"{name} {{{{c.seeds.{phase}}}}}"
        for phase, name in (("pilot", "pilot"), ("tuning", "tuning"), ("confirm", "confirmation"))
        if by_id[f"seeds.{phase}"].n
    ]
    return "\n\n".join(
        (
            "## Design",
            table(
                ("arm", *(f"{literal(f.name)}" for f in factors), "sets"),
                [
                    (
                        f"`{arm.id}`",
                        *(_level(f, arm.levels[f.name]) for f in factors),
                        ", ".join(
                            f"`{path}={value}`"
                            for f in factors
                            for path, value in f.assign(arm.levels[f.name]).items()
                        )
                        or "nothing: a replicate",
                    )
                    for arm in plan.arms
                ],
            ),
            f"**Model** `{literal(plan.model)}` ({model}). **Tasks** "
            + ", ".join(f"`{literal(task)}`" for task in plan.tasks)
            + ". **Seeds**, none of which serves two phases: "
            + "; ".join(seeds)
            + ".",
            table(("settings", "of every trial, unless marked"), _settings(plan, by_id)),
            *_notes(by_id),
        )
    )


def _model(plan: Plan, by_id: Mapping[str, Claim]) -> str:
    """Where the weights came from, as the study recorded it: `tiny` was not always frozen."""
    recorded = by_id.get("fingerprint.model")
    if plan.model == "tiny" and recorded is not None and "built here" in str(recorded.value):
        return "character-level, built here by a seeded recipe"
    return MODELS.get(plan.model, "given by the user")


def _notes(by_id: Mapping[str, Claim]) -> list[str]:
    """What the planner noted, as one list."""
    notes = [f"- {{{{c.{name}}}}}" for name in by_id if name.startswith("note.")]
    return ["\n".join(["Noted when the plan was made:", "", *notes])] if notes else []


def _rules(plan: Plan, by_id: Mapping[str, Claim]) -> list[str]:
    rules = [_score_rule(plan)]
    rules.append(
        "**Diverged and failed trials.** A diverged trial scores {{c.rule.floor}} and is never"
        " dropped. A failed trial has no score, and a hypothesis that lacks a registered seed is"
        " not decided."
    )
    rules.append(
        f"**Test.** {TESTS[plan.decision.test]}, two-sided, with an overall α of"
        " {{c.rule.alpha}}"
        " held by Holm over the hypotheses and over all looks; equivalence by two one-sided tests"
        " against the smallest effect of interest. A look is taken after {{c.rule.looks}} seeds an"
        " arm; this report is of the look at {{c.rule.look}}."
    )
    if "tuning.path" in by_id:
        rules.append(
            "**Tuning.** {{c.tuning.candidates}} values of {{c.tuning.path}} between"
            " {{c.tuning.low}} and {{c.tuning.high}}, on seeds used for nothing else; the best mean"
            " score over all arms is used by all of them."
        )
    return rules


def _score_rule(plan: Plan) -> str:
    evals = [f"`{m}`" for m in metrics_of(plan) if m.startswith("eval/")]
    others = [f"`{m}`" for m in metrics_of(plan) if not m.startswith("eval/")]
    texts = []
    if evals:
        texts.append(
            f"A trial's score on {', '.join(evals)} is the mean of its last"
            " {{c.rule.last_evals}} evaluations, each on {{c.rule.eval_prompts}} held-out prompts,"
            " {{c.rule.eval_every}} training steps apart."
        )
    if others:
        texts.append(
            f"A trial's score on {', '.join(others)} is the mean over the training steps that its"
            " last {{c.rule.last_evals}} evaluations span, {{c.rule.eval_every}} steps each."
        )
    return "**Score.** " + " ".join(texts)


def _level(factor: Factor, level: object) -> str:
    control = " (control)" if level == factor.control else ""
    return f"`{level}`{control}"


def _settings(plan: Plan, by_id: Mapping[str, Claim]) -> list[tuple[str, str]]:
    by_arm = {p for f in plan.treatments for level in f.levels for p in f.assign(level)}
    by_task = {path for settings in plan.task_settings.values() for path in settings}
    rows = []
    for name, paths in GROUPS.items():
        shown = []
        shared = len({path.partition(".")[0] for path in paths}) == 1
        for path in paths:
            value = f"{{{{c.setting.{path}}}}}"
            if path in by_arm:
                value = "*varied by arm*"
            elif plan.tuning is not None and path == plan.tuning.path:
                value = "{{c.tuning.choice}} *(tuned)*" if "tuning.choice" in by_id else "*tuned*"
            elif path in by_task:
                value = "*set by task*"
            shown.append(f"{path.partition('.')[2] if shared else path} {value}")
        rows.append((name, " · ".join(shown)))
    return rows
