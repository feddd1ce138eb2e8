"""The tuning phase: which candidate values ran, how they scored, and what runs next."""

from collections.abc import Callable, Sequence
from typing import Any

from autoresearch.analysis.evidence import Evidence
from autoresearch.analysis.scores import by_candidate, primary_metric
from autoresearch.design import tuning as search
from autoresearch.run import trials
from autoresearch.study.plan import Plan, TrialSpec, Tuning
from swarm.config.paths import setting

#: Runs trials to their end and returns the evidence.
Run = Callable[[Sequence[TrialSpec]], Evidence]


def tune(study: str, registration: str, plan: Plan, rule: Tuning, run: Run) -> dict[str, Any]:
    """Run the candidates and return the `tuning` record: {"path", "value", "candidates"}.

    The first candidates do not depend on scores, so they run side by side; each later one is
    asked for once all earlier ones have scored. Running it again asks for the same values. Where
    no candidate could be scored, the plan's own value stays.
    """
    told: list[tuple[float, float | None]] = []
    at_once = rule.candidates if rule.sampler == "grid" else min(search.START, rule.candidates)
    while len(told) < rule.candidates:
        values = [value for value, _ in told]
        for _ in range(at_once if not told else 1):
            unscored = [(value, None) for value in values[len(told) :]]
            values.append(search.candidates(rule, plan.seeds.tuning[0], [*told, *unscored]))
        new = list(enumerate(values))[len(told) :]
        evidence = run(
            [
                spec
                for index, value in new
                for spec in trials.tuning(
                    study, registration, plan, rule.path, value, _label(index)
                )
            ]
        )
        pooled = by_candidate(evidence.scores("tuning", primary_metric(plan)))
        told += [(value, pooled[_label(index)]) for index, value in new]
    scored = any(score is not None for _, score in told)
    return {
        "path": rule.path,
        "value": search.best(told) if scored else setting(plan.train, rule.path),
        "candidates": [
            {"label": _label(index), "value": value, "score": score}
            for index, (value, score) in enumerate(told)
        ],
    }


def _label(index: int) -> str:
    return f"candidate-{index + 1}"
