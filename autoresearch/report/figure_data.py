"""The data behind each figure, as CSV text: a pure function of claims and run folders.

    scores    metric, task, arm, seed, value, low, high, n, status    a row a seed and a row a mean
    effects   hypothesis, metric, arm, versus, effect, low, high, min_effect, verdict
    curves    metric, task, arm, seed, step, wall, value              a row an evaluation of a run
    dynamics  metric, arm, step, value, n                             a row a mean over runs

Empty cells are unknown. `wall` is training seconds so far; a row without it lies past its run's
divergence and holds the registered floor. `low` and `high` are the interval of the row's claim.
"""

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import product

from autoresearch.analysis import claim_ids
from autoresearch.analysis.claim_list import curve_metrics
from autoresearch.analysis.claims import ClaimSet
from autoresearch.analysis.evidence import Evidence, mean
from autoresearch.analysis.scores import EVAL, metrics_of

Cell = str | int | float | None
COLUMNS = {
    "scores": "metric,task,arm,seed,value,low,high,n,status",
    "effects": "hypothesis,metric,arm,versus,effect,low,high,min_effect,verdict",
    "curves": "metric,task,arm,seed,step,wall,value",
    "dynamics": "metric,arm,step,value,n",
}


def tables(evidence: Evidence, claims: ClaimSet) -> dict[str, str]:
    """Figure name -> its CSV; a figure without data is left out."""
    scores = list(_scores(evidence, claims))
    rows = {
        "scores": scores if any(status == "mean" for *_, status in scores) else [],
        "effects": list(_effects(claims)),
        "curves": list(_curves(evidence)),
        "dynamics": list(_dynamics(evidence)),
    }
    return {name: _csv(COLUMNS[name], found) for name, found in rows.items() if found}


def parse(text: str) -> list[dict[str, str]]:
    """The rows of a figure's CSV."""
    return list(csv.DictReader(io.StringIO(text)))


def _scores(evidence: Evidence, claims: ClaimSet) -> Iterator[tuple[Cell, ...]]:
    by_id, plan = claims.by_id(), evidence.plan
    for metric, task, arm in product(metrics_of(plan), plan.tasks, plan.arms):
        for score in evidence.scores("confirm", metric):
            if (score.arm, score.task) == (arm.id, task):
                n = None if score.value is None else 1
                row = (metric, task, arm.id, score.seed, score.value)
                yield *row, None, None, n, score.status
        at = claim_ids.arm("mean", metric, arm.id, task if len(plan.tasks) > 1 else "")
        if (claim := by_id.get(at)) is not None:
            low, high = claim.interval or (None, None)
            assert not isinstance(claim.value, str)
            yield metric, task, arm.id, None, claim.value, low, high, claim.n, "mean"


def _effects(claims: ClaimSet) -> Iterator[tuple[Cell, ...]]:
    for h, found in zip(claims.plan.hypotheses, claims.verdicts, strict=True):
        if found.effect is not None:
            sides = (found.effect, found.low, found.high, h.min_effect)
            yield h.id, h.metric, h.arm, h.versus, *sides, found.verdict


def _curves(evidence: Evidence) -> Iterator[tuple[Cell, ...]]:
    for metric in curve_metrics(evidence.plan):
        steps = evidence.steps(metric)
        for trial in evidence.trials("confirm"):
            spec, points = trial.spec, evidence.points(trial, metric)
            for step, wall, value in points:
                yield metric, spec.task, spec.arm, spec.seed, step, wall, value
            for step in steps:
                if not points or step > points[-1][0]:
                    floor = evidence.value_at(trial, metric, step)
                    if floor is not None:
                        yield metric, spec.task, spec.arm, spec.seed, step, None, floor


def _dynamics(evidence: Evidence) -> Iterator[tuple[Cell, ...]]:
    for metric in dict.fromkeys((*evidence.plan.metrics, *metrics_of(evidence.plan))):
        found: dict[tuple[int, str], list[float]] = {}
        if metric.startswith(EVAL):
            continue
        for trial in evidence.trials("confirm"):
            if trial.status == "finished":
                for step, _, value in evidence.points(trial, metric):
                    found.setdefault((step, trial.spec.arm), []).append(value)
        for arm in evidence.plan.arms:
            for step in sorted(step for step, at in found if at == arm.id):
                values = found[step, arm.id]
                yield metric, arm.id, step, mean(values), len(values)


def _csv(header: str, rows: Iterable[tuple[Cell, ...]]) -> str:
    out = io.StringIO()
    out.write(f"{header}\n")
    csv.writer(out, lineterminator="\n").writerows(
        [f"{cell:.9g}" if isinstance(cell, float) else cell for cell in row] for row in rows
    )
    return out.getvalue()
