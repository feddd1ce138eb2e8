"""What a number of seeds can detect: the power of the t tests that decide a study.

An effect counts as detected where the two-sided test at `alpha` rejects and the estimate has the
effect's sign, as a verdict asks; so the power at no effect is at most alpha / 2.

`sd` is the standard deviation between seeds of one arm for `welch`, and of the seed-wise
differences for `paired`. Pass `nominal_alpha` of the looks as `alpha` and the last look as `n` for
a study with looks: its power is at least that, for it may also stop earlier.

Welch's test is computed exactly for two arms of equal size and spread. Its statistic is then
Student's noncentral t with 2n - 2 degrees of freedom; only its critical value varies with the
share B of one arm in the summed variances, B ~ Beta((n - 1)/2, (n - 1)/2), independently of the
statistic. At n = 3 and one SD of effect this is .12, where the pooled formula promises .16.
"""

from functools import cache
from typing import Any, Literal

import numpy as np

NODES = 64
"""Quadrature nodes over the share of one arm in the summed variances."""


def power(
    effect: float, sd: float, n: int, *, alpha: float, test: Literal["welch", "paired"] = "welch"
) -> float:
    """The chance that `n` seeds an arm detect a true `effect` at two-sided `alpha`.

    0 for fewer than 2 seeds. Raises ValueError unless `sd` is above 0: a spread of zero says that
    the noise is unknown, not that it is absent.
    """
    _require_spread(sd)
    return _detect_chance(abs(effect) / sd, n, alpha, test)


def detectable_effect(
    sd: float,
    n: int,
    *,
    alpha: float,
    power: float,
    test: Literal["welch", "paired"] = "welch",
) -> float:
    """The smallest true effect that is detected with chance `power`, in the unit of `sd`.

    Infinite for fewer than 2 seeds. Raises ValueError as `power` does, and for a power outside
    (alpha / 2, 1).
    """
    from scipy.optimize import brentq

    _require_spread(sd)
    if not alpha / 2 < power < 1:
        raise ValueError(f"power {power} is not between alpha / 2 and 1")
    if n < 2:
        return float("inf")
    most = 1.0
    while _detect_chance(most, n, alpha, test) < power:
        most *= 2
    return sd * float(brentq(lambda d: _detect_chance(d, n, alpha, test) - power, 0.0, most))


def seeds_needed(
    effect: float,
    sd: float,
    *,
    alpha: float,
    power: float,
    most: int,
    test: Literal["welch", "paired"] = "welch",
) -> int | None:
    """The fewest seeds an arm that detect `effect` with chance `power`; None above `most`.

    Raises ValueError as `power` does.
    """
    _require_spread(sd)
    for n in range(2, most + 1):
        if _detect_chance(abs(effect) / sd, n, alpha, test) >= power:
            return n
    return None


def _detect_chance(d: float, n: int, alpha: float, test: str) -> float:
    """Power at a standardised effect `d`."""
    from scipy.special import nctdtr, ndtr, stdtrit

    if n < 2:
        return 0.0
    if test == "paired":
        df, shift = n - 1, d * np.sqrt(n)
        critical, weight = np.array([stdtrit(df, 1 - alpha / 2)]), np.ones(1)
    else:
        df, shift = 2 * n - 2, d * np.sqrt(n / 2)
        welch_df, weight = _welch_df(n)
        critical = stdtrit(welch_df, 1 - alpha / 2)
    miss = nctdtr(df, shift, critical)
    # SciPy gives NaN far in the lower tail: Abramowitz & Stegun 26.7.10 stands in there.
    far = ndtr((critical * (1 - 1 / (4 * df)) - shift) / np.sqrt(1 + critical**2 / (2 * df)))
    return float(weight @ (1 - np.where(np.isnan(miss), far, miss)))


@cache
def _welch_df(n: int) -> tuple[Any, Any]:
    """Welch-Satterthwaite degrees of freedom over their distribution, and weights that sum to 1."""
    from scipy.special import betaincinv

    x, weight = np.polynomial.legendre.leggauss(NODES)
    share = betaincinv((n - 1) / 2, (n - 1) / 2, (x + 1) / 2)
    return (n - 1) / (share**2 + (1 - share) ** 2), weight / 2


def _require_spread(sd: float) -> None:
    if not sd > 0:
        raise ValueError(f"sd {sd} is not above 0")
