"""The tuning phase: which candidate values ran, how they scored, and what runs next."""

from collections.abc import Callable, Sequence
from typing import Any

from autoresearch.analysis.evidence import Evidence
from autoresearch.analysis.scores import by_candidate, primary_metric
from autoresearch.design import tuning as search
from autoresearch.run import trials
from autoresearch.study.plan import Plan, Tuning
from autoresearch.study.trial import TrialSpec
from swarm.config.paths import setting

#: Runs trials to their end and returns the evidence.
Run = Callable[[Sequence[TrialSpec]], Evidence]


def tune(study: str, registration: str, plan: Plan, rule: Tuning, run: Run) -> dict[str, Any]:
    """Run the candidates and return the `tuning` record: {"path", "value", "candidates"}.

    The first candidates do not depend on scores, so they run side by side; each later one is
    asked for once all earlier ones have scored. Running it again asks for the same values. Where
    no candidate could be scored, the plan's own value stays.
    """
    candidates: list[dict[str, Any]] = []
    told: list[tuple[float, float | None]] = []
    at_once = rule.candidates if rule.sampler == "grid" else min(search.START, rule.candidates)
    while len(told) < rule.candidates:
        asked = list(told)
        for _ in range(1 if told else at_once):
            asked.append((search.candidates(rule, plan.seeds.tuning[0], asked), None))
        new = {f"candidate-{i + 1}": asked[i][0] for i in range(len(told), len(asked))}
        evidence = run(
            [
                spec
                for label, value in new.items()
                for spec in trials.tuning(study, registration, plan, rule.path, value, label)
            ]
        )
        pooled = by_candidate(evidence.scores("tuning", primary_metric(plan)))
        for label, value in new.items():
            candidates.append({"label": label, "value": value, "score": pooled[label]})
            told.append((value, pooled[label]))
    scored = any(score is not None for _, score in told)
    chosen = search.best(told) if scored else setting(plan.train, rule.path)
    return {"path": rule.path, "value": chosen, "candidates": candidates}
