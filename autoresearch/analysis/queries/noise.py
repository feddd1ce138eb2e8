"""The queries behind claims on noise, power and tuning: what the study could have seen.

Each public function is a query. It answers one question from the evidence.
"""

from dataclasses import replace

from autoresearch.analysis.evidence import Answer, Evidence, mean
from autoresearch.analysis.scores import by_candidate, by_seed, primary_metric
from autoresearch.analysis.statistics import pooled_sd
from autoresearch.design.power import detectable_effect, seeds_needed
from autoresearch.design.tuning import best
from swarm.config.paths import setting

MOST_SEEDS = 200
"""Seeds an arm beyond which no study is proposed."""


def pilot_mean(evidence: Evidence) -> Answer:
    """Mean pilot score on the primary metric."""
    values = [value for arm in _pilot(evidence) for value in arm]
    return Answer(mean(values) if values else None, len(values), runs=evidence.runs("pilot"))


def pilot_sd(evidence: Evidence) -> Answer:
    """Standard deviation between pilot seeds, within arms, on the primary metric."""
    arms = _pilot(evidence)
    return Answer(pooled_sd(arms), sum(map(len, arms)), runs=evidence.runs("pilot"))


def seed_sd(evidence: Evidence, *, hypothesis: str) -> Answer:
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
    runs = evidence.runs("confirm", arm=(claim.arm, claim.versus))
    return Answer(pooled_sd(arms), min(map(len, arms)), runs=runs)


def detectable(evidence: Evidence, *, hypothesis: str) -> Answer:
    """The true effect that this look shows with the registered power, at the spread it saw."""
    spread, rules = seed_sd(evidence, hypothesis=hypothesis), evidence.plan.decision
    if spread.value is None or spread.n is None or spread.n < 2:
        return Answer(None)
    found = detectable_effect(
        float(spread.value), spread.n, alpha=evidence.level, power=rules.power, test=rules.test
    )
    return replace(spread, value=found)


def needed(evidence: Evidence, *, hypothesis: str) -> Answer:
    """Seeds an arm that show min_effect with the registered power; unknown above MOST_SEEDS."""
    spread, rules = seed_sd(evidence, hypothesis=hypothesis), evidence.plan.decision
    if spread.value is None:
        return Answer(None)
    found = seeds_needed(
        evidence.hypothesis(hypothesis).min_effect,
        float(spread.value),
        alpha=evidence.level,
        power=rules.power,
        most=MOST_SEEDS,
        test=rules.test,
    )
    return replace(spread, value=found)


def candidate_value(evidence: Evidence, *, label: str) -> Answer:
    """The nuisance value that a tuning candidate stands for. Raises KeyError if it never ran."""
    return Answer(_values(evidence)[label], runs=evidence.runs("tuning", label=[label]))


def candidate_score(evidence: Evidence, *, label: str) -> Answer:
    """A candidate's mean score, pooled over arms, tasks and tuning seeds; n counts its runs."""
    runs = evidence.runs("tuning", label=[label])
    return Answer(_scores(evidence)[label], len(runs), runs=runs)


def tuning_choice(evidence: Evidence) -> Answer:
    """The best candidate's nuisance value: what confirmation uses."""
    values = _values(evidence)
    told = [(values[label], score) for label, score in _scores(evidence).items()]
    scored = any(score is not None for _, score in told)
    return Answer(best(told) if scored else None, runs=evidence.runs("tuning"))


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
