"""The queries behind claims on noise, power and tuning: what the study could have seen.

Each public function answers one question from the evidence, or None where there is no answer.
"""

from autoresearch.analysis.evidence import Answer, Evidence, mean, run_of
from autoresearch.analysis.queries.outcomes import runs_compared
from autoresearch.analysis.scores import by_candidate, by_seed, primary_metric
from autoresearch.analysis.statistics import pooled_sd
from autoresearch.design.looks import nominal_alpha
from autoresearch.design.power import detectable_effect, seeds_needed
from autoresearch.design.tuning import best
from swarm.config.paths import setting

MOST_SEEDS = 200
"""Seeds an arm beyond which no study is proposed."""


def pilot_mean(evidence: Evidence) -> Answer | None:
    """Mean pilot score on the primary metric."""
    values = [value for arm in _pilot(evidence) for value in arm]
    if not values:
        return None
    return Answer(mean(values), len(values), runs=_runs(evidence, "pilot"))


def pilot_sd(evidence: Evidence) -> Answer | None:
    """Standard deviation between pilot seeds, within arms, on the primary metric."""
    arms = _pilot(evidence)
    found = pooled_sd(arms)
    if found is None:
        return None
    return Answer(found, sum(map(len, arms)), runs=_runs(evidence, "pilot"))


def seed_sd(evidence: Evidence, *, hypothesis: str) -> Answer | None:
    """The spread that a hypothesis' test works against; n is the smaller arm's.

    For `welch` the standard deviation between seeds within its arms, for `paired` that of the
    differences between the arms on one seed.
    """
    claim = evidence.hypothesis(hypothesis)
    scores = by_seed(evidence.scores("confirm", claim.metric), evidence.plan.tasks)
    a, b = scores.get(claim.arm, {}), scores.get(claim.versus, {})
    if evidence.plan.decision.test == "paired":
        arms = [[a[seed] - b[seed] for seed in a if seed in b]]
    else:
        arms = [list(a.values()), list(b.values())]
    found = pooled_sd(arms)
    if found is None:
        return None
    return Answer(found, min(map(len, arms)), runs=runs_compared(evidence, hypothesis))


def detectable(evidence: Evidence, *, hypothesis: str) -> Answer | None:
    """The true effect that this look shows with the registered power, at the spread it saw."""
    spread, rules = seed_sd(evidence, hypothesis=hypothesis), evidence.plan.decision
    if spread is None or spread.n is None or spread.n < 2:
        return None
    found = detectable_effect(
        float(spread.value), spread.n, alpha=level(evidence), power=rules.power, test=rules.test
    )
    return Answer(found, spread.n, runs=spread.runs)


def needed(evidence: Evidence, *, hypothesis: str) -> Answer | None:
    """Seeds an arm that show min_effect with the registered power; None above MOST_SEEDS."""
    spread, rules = seed_sd(evidence, hypothesis=hypothesis), evidence.plan.decision
    if spread is None:
        return None
    found = seeds_needed(
        evidence.hypothesis(hypothesis).min_effect,
        float(spread.value),
        alpha=level(evidence),
        power=rules.power,
        most=MOST_SEEDS,
        test=rules.test,
    )
    return None if found is None else Answer(found, spread.n, runs=spread.runs)


def candidate_value(evidence: Evidence, *, label: str) -> Answer:
    """The nuisance value that a tuning candidate stands for. Raises KeyError if it never ran."""
    return Answer(_values(evidence)[label], runs=_runs(evidence, "tuning", label))


def candidate_score(evidence: Evidence, *, label: str) -> Answer | None:
    """A candidate's mean score, pooled over arms, tasks and tuning seeds; n counts its runs."""
    found, runs = _scores(evidence)[label], _runs(evidence, "tuning", label)
    return None if found is None else Answer(found, len(runs), runs=runs)


def tuning_choice(evidence: Evidence) -> Answer | None:
    """The best candidate's nuisance value: what confirmation uses."""
    values, scores = _values(evidence), _scores(evidence)
    told = [(values[label], score) for label, score in scores.items()]
    if not any(score is not None for _, score in told):
        return None
    return Answer(best(told), runs=_runs(evidence, "tuning"))


def level(evidence: Evidence) -> float:
    """The two-sided level of the test at each look."""
    return nominal_alpha(evidence.plan.decision.alpha, evidence.looks)


def candidate_labels(evidence: Evidence) -> list[str]:
    """The tuning candidates in the order in which they ran."""
    return list(_values(evidence))


def _pilot(evidence: Evidence) -> list[list[float]]:
    scores = evidence.scores("pilot", primary_metric(evidence.plan))
    return [list(arm.values()) for arm in by_seed(scores, evidence.plan.tasks).values()]


def _values(evidence: Evidence) -> dict[str, float]:
    """Label -> the value that its trials' configs hold at the tuned path."""
    tuning = evidence.plan.tuning
    if tuning is None:
        return {}
    return {
        trial.spec.label: float(setting(trial.spec.config, tuning.path))  # type: ignore[arg-type]
        for trial in evidence.trials("tuning")
    }


def _scores(evidence: Evidence) -> dict[str, float | None]:
    return by_candidate(evidence.scores("tuning", primary_metric(evidence.plan)))


def _runs(evidence: Evidence, phase: str, label: str | None = None) -> tuple[str, ...]:
    return tuple(
        run_of(trial)
        for trial in evidence.trials(phase)
        if label is None or trial.spec.label == label
    )
