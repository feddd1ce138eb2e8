"""The report's sections on what came out, what went wrong and what it cost."""

from collections.abc import Iterable, Mapping

from autoresearch.analysis.claim_list import curve_metrics
from autoresearch.analysis.claims import Claim, ClaimSet
from autoresearch.analysis.scores import EVAL, metrics_of
from autoresearch.report.figures import BAND
from autoresearch.report.markdown import figure, table

PHASES = (("pilot", "pilot"), ("tuning", "tuning"), ("confirm", "confirmation"), ("all", "**all**"))
UNKNOWN = "–"


def results(claims: ClaimSet, by_id: Mapping[str, Claim]) -> str:
    """Verdicts, arms, curves, secondary metrics, pilot and tuning."""
    parts = ["## Results", _verdicts(claims, by_id), _arms(claims, by_id)]
    if any(name.startswith("curve.") for name in by_id):
        parts.append(_curves(claims, by_id))
    parts += [_secondary(claims, by_id), _pilot(by_id), _tuning(by_id)]
    return "\n\n".join(part for part in parts if part)


def troubles(claims: ClaimSet, by_id: Mapping[str, Claim]) -> str:
    """Trials that did not simply finish, retries, alarms and deviations."""
    parts = [
        "## What went wrong",
        "Of {{c.trials.all}} trials {{c.trials.all.finished}} finished, {{c.trials.all.diverged}}"
        " diverged and {{c.trials.all.failed}} failed. Of {{c.attempts}} attempts"
        " {{c.attempts.failed}} failed and {{c.attempts.lost}} were lost with their process; there"
        " were {{c.attempts.retries}} retries.",
    ]
    trials = list(dict.fromkeys(n.split(".")[1] for n in by_id if n.startswith("trial.")))
    if trials:
        parts.append(
            table(
                ("trial", "phase", "arm", "task", "seed", "ended", "attempts", "causes"),
                [
                    (
                        f"`{trial}`",
                        *(
                            f"{{{{c.trial.{trial}.{key}}}}}"
                            for key in ("phase", "arm", "task", "seed", "status", "attempts")
                        ),
                        f"{{{{c.trial.{trial}.causes}}}}",
                    )
                    for trial in trials
                ],
                numeric=(4, 6),
            )
        )
    alarms = {n.split(".")[1]: c.query.args for n, c in by_id.items() if n.startswith("alarm.")}
    if alarms:
        rows = [
            (
                *(f"{args[key]}" for key in ("alarm", "phase")),
                f"`{args['arm']}`",
                *(f"{{{{c.alarm.{index}.{key}}}}}" for key in ("trials", "step", "cause")),
            )
            for index, args in alarms.items()
        ]
        head = ("alarm", "phase", "arm", "trials", "earliest step", "likely cause")
        parts.append(table(head, rows, numeric=(3, 4)))
    else:
        parts.append("No alarm was raised.")
    deviations = [f"- {{{{c.{name}}}}}" for name in by_id if name.startswith("deviation.")]
    if deviations:
        parts += ["**Deviations from the plan:**", "\n".join(deviations)]
    else:
        parts.append("There was no deviation from the plan.")
    return "\n\n".join(parts)


def cost(claims: ClaimSet, by_id: Mapping[str, Claim]) -> str:
    """Trials, time and tokens."""
    rows = [
        (
            name,
            *(
                f"{{{{c.trials.{phase}{key}}}}}"
                for key in ("", ".finished", ".diverged", ".failed")
            ),
            f"{{{{c.cost.{phase}.seconds}}}}",
        )
        for phase, name in PHASES
        if by_id[f"trials.{phase}"].value
    ]
    head = ("phase", "trials", "finished", "diverged", "failed", "core time of all attempts")
    sentences = []
    if "cost.wall_seconds" in by_id:
        sentences.append(
            "From the start of the study to the end of its last trial {{c.cost.wall_seconds}}"
            " passed; no trial ran in {{c.cost.outside}} of that time."
        )
    if "cost.trial_seconds" in by_id:
        sentences.append("A finished attempt took {{c.cost.trial_seconds}} on average.")
    sentences.append(
        "Sampled: {{c.cost.tokens/completion}} tokens from {{c.cost.tokens/prompt}} prompt tokens;"
        " trained on: {{c.cost.tokens/trained}}."
    )
    return "\n\n".join(("## Cost", table(head, rows, numeric=range(1, 6)), " ".join(sentences)))


def _verdicts(claims: ClaimSet, by_id: Mapping[str, Claim]) -> str:
    rows = []
    for h in claims.plan.hypotheses:
        effect = f"{h.id}.effect"
        rows.append(
            (
                f"**{{{{c.{h.id}.id}}}}**",
                f"**{{{{v.{h.id}}}}}**",
                f"{{{{c.{h.id}.metric}}}}",
                _cell(effect, by_id),
                f"{{{{ci.{effect}}}}}" if effect in by_id else UNKNOWN,
                _cell(f"{h.id}.p", by_id),
                _cell(f"{h.id}.p_equivalence", by_id),
                f"{{{{c.{h.id}.n.arm}}}} / {{{{c.{h.id}.n.versus}}}}",
            )
        )
    head = (
        "",
        "verdict",
        "metric",
        "effect",
        "{{c.rule.confidence}} interval",
        "p, no effect",
        "p, equivalence",
        "n, arm / versus",
    )
    note = "p-values are over all looks and adjusted by Holm over the hypotheses."
    return f"{table(head, rows, numeric=range(3, 8))}\n\n{note}"


def _arms(claims: ClaimSet, by_id: Mapping[str, Claim]) -> str:
    plan = claims.plan
    parts = []
    for metric in metrics_of(plan):
        names = [(f"`{arm.id}`", f"arm.{metric}.{arm.id}", arm.id) for arm in plan.arms]
        if len(plan.tasks) > 1:
            names = [
                pair
                for arm in plan.arms
                for pair in (
                    (f"`{arm.id}`, mean over tasks", f"arm.{metric}.{arm.id}", arm.id),
                    *(
                        (f"`{arm.id}` on `{task}`", f"task.{metric}.{arm.id}.{task}", arm.id)
                        for task in plan.tasks
                    ),
                )
            ]
        head: tuple[str, ...] = (
            f"`{metric}`",
            "n",
            "mean",
            "{{c.rule.arm_confidence}} interval",
            "SD over seeds",
        )
        rows: list[tuple[str, ...]] = [(name, *_mean_cells(at, by_id)) for name, at, _ in names]
        starts = [f"curve.{metric}.{arm}.0" for _, _, arm in names]
        if len(plan.tasks) == 1 and all(start in by_id for start in starts):
            head = (*head, "before training")
            rows = [(*row, f"{{{{c.{s}}}}}") for row, s in zip(rows, starts, strict=True)]
        parts.append(table(head, rows, numeric=range(1, len(head))))
    if any(name.startswith("score.") for name in by_id):
        caption = (
            "Scores by seed. An open marker is a run (× if it diverged), a filled one the mean over"
            " seeds with its {{c.rule.arm_confidence}} t interval; n counts the seeds scored, of"
            " {{c.rule.look}} an arm."
        )
        parts.append(figure("scores", "Scores by seed", caption))
    return "\n\n".join(parts)


def _curves(claims: ClaimSet, by_id: Mapping[str, Claim]) -> str:
    caption = (
        "Learning curves by step and by training time. Thick lines: mean over seeds at each"
        f" evaluation. Band: {BAND}. Thin lines: single runs; where a run diverged it ends at ×"
        " and enters the mean with the floor from then on. n counts seeds."
    )
    parts = [figure("curves", "Learning curves", caption)]
    for metric in curve_metrics(claims.plan):
        steps = sorted(
            {
                int(str(claim.query.args["step"]))
                for name, claim in by_id.items()
                if name.startswith(f"curve.{metric}.")
            }
        )
        rows = [
            (f"`{arm.id}`", *(_cell(f"curve.{metric}.{arm.id}.{step}", by_id) for step in steps))
            for arm in claims.plan.arms
        ]
        head = (f"`{metric}` at step", *map(str, steps))
        parts.append(table(head, rows, numeric=range(1, len(head))))
    return "\n\n".join(parts)


def _secondary(claims: ClaimSet, by_id: Mapping[str, Claim]) -> str:
    plan = claims.plan
    metrics = [m for m in plan.metrics if any(f"final.{m}.{a.id}" in by_id for a in plan.arms)]
    tested = [
        m for m in metrics_of(plan) if any(f"arm.{m}.{a.id}.mean" in by_id for a in plan.arms)
    ]
    parts = []
    if metrics:
        units = {
            m: next(c.unit for n, c in by_id.items() if n.startswith(f"final.{m}."))
            for m in metrics
        }
        head = (
            "at the end of training",
            *(f"`{m}`" + (f", {units[m]}" if units[m] else "") for m in metrics),
        )
        rows = [
            (f"`{arm.id}`", *(_cell(f"final.{metric}.{arm.id}", by_id) for metric in metrics))
            for arm in plan.arms
        ]
        parts.append(table(head, rows, numeric=range(1, len(head))))
        parts.append(
            "*Means over finished runs and the score's window. These metrics have no hypothesis:"
            " they describe, and decide nothing.*"
        )
    if any(not metric.startswith(EVAL) for metric in (*metrics, *tested)):
        counts = ", ".join(f"{{{{c.trials.{arm.id}.finished}}}}" for arm in plan.arms)
        caption = (
            "Training metrics by step. Mean over an arm's finished runs, no smoothing; n, in the"
            f" order of the arms: {counts}."
        )
        parts.append(figure("dynamics", "Training metrics", caption))
    return "\n\n".join(parts)


def _pilot(by_id: Mapping[str, Claim]) -> str:
    if "pilot.sd" not in by_id:
        return ""
    return (
        "**Pilot.** {{n.pilot.sd}} runs of equal settings scored {{c.pilot.mean}} on average, with"
        " a standard deviation of {{c.pilot.sd}}: the noise floor of this study."
    )


def _tuning(by_id: Mapping[str, Claim]) -> str:
    labels = [
        str(claim.query.args["label"])
        for claim in by_id.values()
        if claim.query.name == "sizing.candidate_value"
    ]
    if "tuning.choice" not in by_id:
        return ""
    rows = [
        (
            f"{{{{c.tuning.{label}.value}}}}",
            _cell(f"tuning.{label}.score", by_id),
            f"{{{{n.tuning.{label}.score}}}}" if f"tuning.{label}.score" in by_id else UNKNOWN,
        )
        for label in labels
    ]
    head = ("{{c.tuning.path}}", "mean score over arms", "runs")
    note = "**Tuning.** Confirmation uses {{c.tuning.choice}}."
    return f"{note}\n\n{table(head, rows, numeric=(0, 1, 2))}"


def _mean_cells(at: str, by_id: Mapping[str, Claim]) -> Iterable[str]:
    mean = f"{at}.mean"
    if mean not in by_id:
        return UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN
    return f"{{{{n.{mean}}}}}", f"{{{{c.{mean}}}}}", f"{{{{ci.{mean}}}}}", _cell(f"{at}.sd", by_id)


def _cell(name: str, by_id: Mapping[str, Claim]) -> str:
    return f"{{{{c.{name}}}}}" if name in by_id else UNKNOWN
