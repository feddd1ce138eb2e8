"""Contrasts of two arms by t statistics: effects, intervals, superiority and equivalence.

With few seeds, t statistics keep their level where percentile bootstraps do not: simulated type I
error at 5 seeds an arm is 3 to 4 % for Welch and 11 % for the bootstrap.

Without spread there is no t statistic. Where an arm has fewer than 2 scores, or where all scores
of both arms (all differences, for a paired test) are equal, a contrast claims nothing: its
interval is unbounded and every p-value is 1, even if the means differ. Seeds that all give the
same score are saturated, all diverged, or are not independent replications. None of these
measures the noise that a difference, or an equivalence, would have to exceed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

ROUNDING = 1e-9
"""Scores within this share of their size are equal: what averaging over tasks can add."""


@dataclass(frozen=True)
class Contrast:
    """The difference `mean(a) - mean(b)`, in the unit of the scores, and what is known of it.

    `low` and `high` bound it with confidence 1 - alpha. `se` is infinite where the spread is
    unknown (see the module).
    """

    effect: float
    low: float
    high: float
    se: float
    df: float
    n: tuple[int, int]

    def p_above(self, bound: float) -> float:
        """One-sided p against the null "the effect is at most `bound`"."""
        return self._upper_tail(self.effect - bound)

    def p_below(self, bound: float) -> float:
        """One-sided p against the null "the effect is at least `bound`"."""
        return self._upper_tail(bound - self.effect)

    @property
    def p_two_sided(self) -> float:
        """Two-sided p for an effect other than 0."""
        return min(1.0, 2 * min(self.p_above(0.0), self.p_below(0.0)))

    def _upper_tail(self, distance: float) -> float:
        from scipy.special import stdtr

        if math.isinf(self.se):
            return 1.0
        return float(stdtr(self.df, -distance / self.se))


def mean_interval(values: Sequence[float], alpha: float) -> tuple[float, float, float]:
    """The mean and the bounds of its t interval with confidence 1 - alpha.

    Unbounded where the spread is unknown. Raises ValueError for no values.
    """
    scores = _array(values)
    mean, variance, n = float(scores.mean()), _variance(scores), len(scores)
    if not variance:
        return mean, -math.inf, math.inf
    half = _t_quantile(alpha, n - 1) * math.sqrt(variance / n)
    return mean, mean - half, mean + half


def contrast(
    a: Sequence[float],
    b: Sequence[float],
    *,
    test: Literal["welch", "paired"] = "welch",
    alpha: float = 0.05,
) -> Contrast:
    """The contrast of arm `a` against arm `b`.

    `welch` takes the arms as independent, with variances of their own (Welch, Biometrika 1947);
    on seeds that the arms share it is conservative if these raise or lower both arms together.
    `paired` takes `a[i]` and `b[i]` as one seed's scores. Raises ValueError for an empty arm, a
    score that is not finite, and paired arms of unequal length.
    """
    x, y = _array(a), _array(b)
    n = (len(x), len(y))
    if test == "paired":
        if n[0] != n[1]:
            raise ValueError(f"paired arms have {n[0]} and {n[1]} scores")
        difference = _variance(x - y, scale=float(np.abs([x, y]).max()))
        se, df = math.sqrt((difference or 0.0) / n[0]), float(n[0] - 1)
    else:
        se, df = _welch(x, y)
    effect = float(x.mean() - y.mean())
    if not se > 0:
        return Contrast(effect, -math.inf, math.inf, math.inf, 0.0, n)
    half = _t_quantile(alpha, df) * se
    return Contrast(effect, effect - half, effect + half, se, df, n)


def tost(
    a: Sequence[float],
    b: Sequence[float],
    delta: float,
    *,
    test: Literal["welch", "paired"] = "welch",
) -> float:
    """The p-value of two one-sided tests for an effect within (-delta, delta).

    It is below alpha exactly where the interval with confidence 1 - 2 alpha lies within these
    bounds (Schuirmann, J. Pharmacokinet. Biopharm. 1987). Raises ValueError as `contrast` does,
    and for a delta that is not above 0.
    """
    if not delta > 0:
        raise ValueError(f"delta {delta} is not above 0")
    shown = contrast(a, b, test=test)
    return max(shown.p_above(-delta), shown.p_below(delta))


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given (Holm, Scand. J. Stat. 1979).

    Equal to statsmodels' `multipletests`, which runs a full garbage collection at every call.
    """
    order = np.argsort(ps)
    stepped = np.asarray(ps, dtype=float)[order] * np.arange(len(ps), 0, -1)
    adjusted = np.empty(len(ps))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(stepped))
    return [float(p) for p in adjusted]


def pooled_sd(arms: Sequence[Sequence[float]]) -> float | None:
    """The standard deviation between seeds within arms, pooled by degrees of freedom.

    None where it is unknown: no arm has 2 scores, or none has any spread.
    """
    pairs = [(len(arm) - 1, _variance(_array(arm))) for arm in arms if len(arm) > 1]
    freedom = sum(df for df, _ in pairs)
    squares = sum(df * variance for df, variance in pairs if variance)
    return math.sqrt(squares / freedom) if squares else None


def _welch(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """The standard error of the difference, 0 if unknown, and Satterthwaite's df."""
    variances = (_variance(x), _variance(y))
    if variances[0] is None or variances[1] is None:
        return 0.0, 0.0
    u, v = variances[0] / len(x), variances[1] / len(y)
    if not u + v:
        return 0.0, 0.0
    # Shares of the squared error, so that tiny variances do not underflow when squared.
    share = u / (u + v)
    df = 1 / (share**2 / (len(x) - 1) + (1 - share) ** 2 / (len(y) - 1))
    return math.sqrt(u + v), df


def _variance(scores: np.ndarray, scale: float | None = None) -> float | None:
    """The sample variance: None for fewer than 2 scores, 0 where they differ by rounding alone."""
    if len(scores) < 2:
        return None
    size = float(np.abs(scores).max()) if scale is None else scale
    return float(scores.var(ddof=1)) if float(np.ptp(scores)) > ROUNDING * size else 0.0


def _t_quantile(alpha: float, df: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(df, 1 - alpha / 2))


def _array(values: Sequence[float]) -> np.ndarray:
    scores = np.asarray(values, dtype=float)
    if not len(scores):
        raise ValueError("an arm has no scores")
    if not np.isfinite(scores).all():
        raise ValueError("a score is not finite")
    return scores
