"""Choosing one nuisance value on tuning seeds, with Optuna and without its database.

Optuna's study lives in memory and is rebuilt from the told pairs before each ask, its sampler
seeded by the study's seed and their number. The next value is thus a function of the arguments: a
resumed study asks for the values that it would have asked for without the interruption.

The first candidates (all, for `grid`; a third, at least 3, for `tpe`) are the middles of equal
parts of the range, on a log scale if the tuning asks for it. So no value of the range is far from
a candidate, while random start-up points may lie side by side. TPE proposes the others.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from autoresearch.study.plan import Tuning

Told = Sequence[tuple[float, float | None]]
"""(value, pooled score), higher is better; None for a value that could not be scored."""

START = 3
"""Candidates spread evenly before TPE has anything to learn from."""

APART = 0.01
"""Candidates closer than this share of the range count as equal; with more than 25 of them, those
closer than a quarter of an even step."""


def candidates(tuning: Tuning, seed: int, told: Told) -> float:
    """The next value to try in [low, high], to 3 significant digits if the range allows it.

    It differs from every value told: where TPE asks for one again, the middle of the widest gap
    is tried instead. Raises ValueError once `told` holds `tuning.candidates` values.
    """
    if len(told) >= tuning.candidates:
        raise ValueError(f"all {tuning.candidates} candidates have been told")
    tried = [_share(tuning, value) for value, _ in told]
    for share in _spread(tuning):
        if _is_new(tuning, share, tried):
            return _value(tuning, share)
    share = _share(tuning, _ask_tpe(tuning, seed, told))
    return _value(tuning, share if _is_new(tuning, share, tried) else _widest_gap(tried))


def best(told: Told) -> float:
    """The value of the highest mean score; of equal ones the smallest.

    Raises ValueError if nothing was scored.
    """
    scores: dict[float, list[float]] = defaultdict(list)
    for value, score in told:
        if score is not None:
            scores[value].append(score)
    if not scores:
        raise ValueError("no candidate was scored")
    return min(scores, key=lambda value: (-math.fsum(scores[value]) / len(scores[value]), value))


def _spread(tuning: Tuning) -> list[float]:
    """The first candidates, evenly spread, as shares of the range."""
    count = tuning.candidates
    if tuning.sampler == "tpe":
        count = min(count, max(START, count // 3))
    return [(i + 0.5) / count for i in range(count)]


def _ask_tpe(tuning: Tuning, seed: int, told: Told) -> float:
    import numpy as np
    import optuna
    from optuna.distributions import FloatDistribution
    from optuna.trial import TrialState, create_trial

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    drawn = np.random.SeedSequence([seed, len(told)]).generate_state(1)[0]
    sampler = optuna.samplers.TPESampler(seed=int(drawn), n_startup_trials=START)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    range_ = {tuning.factor: FloatDistribution(tuning.low, tuning.high, log=tuning.log)}
    for value, score in told:
        study.add_trial(
            create_trial(
                params={tuning.factor: value},
                distributions=range_,
                value=score,
                state=TrialState.FAIL if score is None else TrialState.COMPLETE,
            )
        )
    return float(study.ask(range_).params[tuning.factor])


def _apart(tuning: Tuning) -> float:
    return min(APART, 0.25 / tuning.candidates)


def _is_new(tuning: Tuning, share: float, tried: Sequence[float]) -> bool:
    return all(abs(share - other) >= _apart(tuning) for other in tried)


def _widest_gap(tried: Sequence[float]) -> float:
    edges = sorted([0.0, *tried, 1.0])
    low, high = max(pairwise(edges), key=lambda gap: gap[1] - gap[0])
    return (low + high) / 2


def _share(tuning: Tuning, value: float) -> float:
    """Where a value lies in the range: 0 is `low`, 1 is `high`."""
    if tuning.log:
        return math.log(value / tuning.low) / math.log(tuning.high / tuning.low)
    return (value - tuning.low) / (tuning.high - tuning.low)


def _value(tuning: Tuning, share: float) -> float:
    """The value at a share of the range, rounded where that hardly moves it."""
    if tuning.log:
        exact = tuning.low * math.pow(tuning.high / tuning.low, share)
    else:
        exact = tuning.low + share * (tuning.high - tuning.low)
    exact = min(max(exact, tuning.low), tuning.high)
    short = float(f"{exact:.3g}")
    if not tuning.low <= short <= tuning.high:
        return exact
    return short if abs(_share(tuning, short) - share) < _apart(tuning) / 4 else exact
