"""What a number of seeds can detect: the power of the two-sided t tests that decide a study.

`sd` is the standard deviation between seeds of one arm for `welch`, and of the seed-wise
differences for `paired`. Pass `nominal_alpha` of the looks as `alpha` and the last look as `n` for
a study with looks: its power is at least that, for it may also stop earlier.

Welch's test is computed exactly for two arms of equal size and spread. Its statistic is then
Student's noncentral t with 2n - 2 degrees of freedom; only its critical value varies with the
share B of one arm in the summed variances, B ~ Beta((n - 1)/2, (n - 1)/2), independently of the
statistic. At n = 3 and one SD of effect this is .12, where the pooled formula promises .16.
"""

from typing import Any, Literal

import numpy as np

NODES = 64
"""Quadrature nodes over the share of one arm in the summed variances."""


def power(
    effect: float, sd: float, n: int, *, alpha: float, test: Literal["welch", "paired"] = "welch"
) -> float:
    """The chance that a true `effect` gives a two-sided p below `alpha` with `n` seeds an arm.

    0 for fewer than 2 seeds. Raises ValueError unless `sd` is above 0: a spread of zero says that
    the noise is unknown, not that it is absent.
    """
    _require_spread(sd)
    return _reject_chance(abs(effect) / sd, n, alpha, test)


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
    (alpha, 1).
    """
    from scipy.optimize import brentq

    _require_spread(sd)
    if not alpha < power < 1:
        raise ValueError(f"power {power} is not between alpha {alpha} and 1")
    if n < 2:
        return float("inf")
    most = 1.0
    while _reject_chance(most, n, alpha, test) < power:
        most *= 2
    return sd * float(brentq(lambda d: _reject_chance(d, n, alpha, test) - power, 0.0, most))


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
        if _reject_chance(abs(effect) / sd, n, alpha, test) >= power:
            return n
    return None


def _reject_chance(d: float, n: int, alpha: float, test: str) -> float:
    """Power at a standardised effect `d`."""
    from scipy.special import nctdtr, stdtrit

    if n < 2:
        return 0.0
    if test == "paired":
        df, shift = n - 1, d * np.sqrt(n)
        critical, weight = np.array([stdtrit(df, 1 - alpha / 2)]), np.ones(1)
    else:
        df, shift = 2 * n - 2, d * np.sqrt(n / 2)
        welch_df, weight = _welch_df(n)
        critical = stdtrit(welch_df, 1 - alpha / 2)
    reject = nctdtr(df, shift, -critical) + 1 - nctdtr(df, shift, critical)
    return float(min(1.0, weight @ reject))


def _welch_df(n: int) -> tuple[Any, Any]:
    """Welch-Satterthwaite degrees of freedom over their distribution, and weights that sum to 1."""
    from scipy.special import betaincinv

    x, weight = np.polynomial.legendre.leggauss(NODES)
    share = betaincinv((n - 1) / 2, (n - 1) / 2, (x + 1) / 2)
    return (n - 1) / (share**2 + (1 - share) ** 2), weight / 2


def _require_spread(sd: float) -> None:
    if not sd > 0:
        raise ValueError(f"sd {sd} is not above 0")
