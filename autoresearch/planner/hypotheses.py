"""A playbook's hypotheses, filled for the arms of a plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autoresearch.planner.treatments import Treatment
from autoresearch.playbook import Playbook
from autoresearch.playbook.schema import PlaybookHypothesis, Primary
from autoresearch.study.metrics import METRICS, Metric
from autoresearch.study.plan import Arm, Hypothesis
from swarm.config.base import JsonValue
from swarm.errors import Refusal, did_you_mean


@dataclass(frozen=True)
class Measure:
    """The metric of a plan and, in its unit: the smallest effect of interest, a guess of the SD
    over seeds, the score of a diverged run."""

    metric: Metric
    min_effect: float
    prior_sd: float
    floor: float


def measure(playbook: Playbook, named_metric: str | None) -> Measure:
    """The playbook's primary metric, or the one that the topic names. Raises Refusal."""
    primary = playbook.primary
    metric = _metric(named_metric or primary.metric)
    if metric.name != primary.metric:
        primary = Primary(metric=metric.name)
    return Measure(
        metric,
        primary.min_effect or metric.min_effect or 0.05,
        primary.prior_sd or metric.prior_sd or 0.05,
        metric.floor if primary.floor is None else primary.floor,
    )


def fill(
    playbook: Playbook, treatments: Sequence[Treatment], arms: Sequence[Arm], asked: Measure
) -> tuple[Hypothesis, ...]:
    """The playbook's hypotheses, where the levels are those that they were written for; else one
    for each arm against the control, so that no arm is trained and never judged.

    A level that the topic claims to be better replaces the playbook's direction.
    """
    listed = playbook.hypotheses or (PlaybookHypothesis(),)
    if asked.metric.name != playbook.primary.metric or not _as_written(playbook, treatments):
        listed = (PlaybookHypothesis(),)
    pairs = _pairs(listed, treatments, arms) or _pairs((PlaybookHypothesis(),), treatments, arms)
    claimed = [t for t in treatments if t.direction]
    if claimed and len(treatments) == 1 and asked.metric.better == "up":
        spec = PlaybookHypothesis(
            statement="{metric} at {arm} is {direction} than at {versus} by at least {min_effect}.",
            direction=claimed[0].direction or "different",
        )
        pairs = _pairs((spec,), treatments, arms)
    return tuple(
        _hypothesis(f"H{i}", spec, arm, versus, treatments, asked)
        for i, (spec, arm, versus) in enumerate(pairs, start=1)
    )


def _as_written(playbook: Playbook, treatments: Sequence[Treatment]) -> bool:
    """Whether each factor has the control that the playbook names, and no level that the playbook
    does not."""
    for t in treatments:
        listed = next((each for each in playbook.factors if each.name == t.name), None)
        if listed is None:
            continue
        levels = [t.factor.check(level) for level in listed.levels or t.factor.levels]
        control = levels[0] if listed.control is None else t.factor.check(listed.control)
        if t.control != control or not set(t.levels) <= set(levels):
            return False
    return True


def _pairs(
    listed: Sequence[PlaybookHypothesis], treatments: Sequence[Treatment], arms: Sequence[Arm]
) -> list[tuple[PlaybookHypothesis, Arm, Arm]]:
    control = {t.name: t.control for t in treatments}
    found: list[tuple[PlaybookHypothesis, Arm, Arm]] = []
    for spec in listed:
        versus = _arm(arms, {**control, **spec.versus})
        if versus is None:
            continue
        if spec.arm is None:
            found += [(spec, arm, versus) for arm in arms if arm.id != versus.id]
        else:
            arm = _arm(arms, {**control, **spec.arm})
            if arm is not None and arm.id != versus.id:
                found.append((spec, arm, versus))
    return found


def _arm(arms: Sequence[Arm], levels: Mapping[str, JsonValue]) -> Arm | None:
    return next((arm for arm in arms if dict(arm.levels) == dict(levels)), None)


def _hypothesis(
    name: str,
    spec: PlaybookHypothesis,
    arm: Arm,
    versus: Arm,
    treatments: Sequence[Treatment],
    asked: Measure,
) -> Hypothesis:
    measured = _metric(spec.metric) if spec.metric else asked.metric
    effect = spec.min_effect
    if effect is None:
        effect = asked.min_effect if measured == asked.metric else measured.min_effect or 0.05
    words = {
        "arm": describe(arm, treatments),
        "versus": describe(versus, treatments),
        "metric": f"{measured.title} ({measured.name})",
        "min_effect": f"{effect:g}",
        "direction": "higher" if spec.direction == "greater" else "lower",
    }
    statement = spec.statement
    for key, text in words.items():
        statement = statement.replace(f"{{{key}}}", text)
    return Hypothesis(
        id=name,
        statement=statement[:1].upper() + statement[1:],
        metric=measured.name,
        arm=arm.id,
        versus=versus.id,
        direction=spec.direction,
        min_effect=effect,
        source=spec.source or _sources(treatments),
    )


def describe(arm: Arm, treatments: Sequence[Treatment]) -> str:
    """An arm in words: `group_size 16, kl_coef 0.1`."""
    return ", ".join(f"{t.name} {text(arm.levels[t.name])}" for t in treatments)


def text(level: JsonValue) -> str:
    """A level as a reader writes it."""
    return f"{level:g}" if isinstance(level, float) else str(level)


def _sources(treatments: Sequence[Treatment]) -> str:
    return ", ".join(dict.fromkeys(t.factor.source for t in treatments))


def _metric(name: str) -> Metric:
    """The metric of this name. Raises Refusal with the nearest known name."""
    if name not in METRICS:
        raise Refusal("metric", f"{name!r} is logged by no trial", did_you_mean(name, METRICS))
    return METRICS[name]
