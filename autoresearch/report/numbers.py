"""The one rounding rule, and the units it knows."""

import math

RULE = (
    "Shares and p-values have three decimals, other measurements three significant digits; "
    "counts and settings are exact. Rounding starts from the value in `claims.json`."
)


def show(value: float | int | str, unit: str, *, signed: bool = False) -> str:
    """A claim's value as the report prints it.

    Units: `share` in [0, 1], `p`, `percent` (0.95 prints as 95%), `s` (prints as s, min or h),
    `exact` (exact), `setting` and `name` (exact, as code), `digest` (as code, its first 12
    digits), anything else a quantity or plain text.
    """
    if unit in ("name", "setting"):
        return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"
    if unit == "digest":
        return f"`{str(value)[:12]}…`"
    if isinstance(value, str):
        return value
    if unit == "exact":
        return f"{value:g}" if isinstance(value, float) else str(value)
    if not math.isfinite(value):
        return "not finite"
    if unit == "s":
        return _duration(value)
    if unit == "p" and value < 0.001:
        return "below 0.001"
    if unit == "percent":
        return f"{_significant(100 * value, trim=True)}%"
    if isinstance(value, int):
        text = f"{abs(value):,}"
    else:
        text = f"{abs(value):.3f}" if unit in ("share", "p") else _significant(abs(value))
    if value < 0:
        return f"−{text}"
    return f"+{text}" if signed and value else text


def _significant(value: float, *, trim: bool = False) -> str:
    """Three significant digits of a value of at least 0."""
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(value))
    if exponent < -4 or exponent > 8:
        mantissa, power = f"{value:.2e}".split("e")
        return f"{mantissa}e{int(power)}"
    rounded = round(value, 2 - exponent)
    decimals = max(0, 2 - math.floor(math.log10(rounded)))
    text = f"{rounded:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if trim and "." in text else text


def _duration(seconds: float) -> str:
    """Seconds below two minutes, minutes below an hour, else hours."""
    if seconds < 120:
        return f"{_significant(seconds, trim=True)} s"
    if seconds < 3600:
        return f"{_significant(seconds / 60, trim=True)} min"
    return f"{_significant(seconds / 3600, trim=True)} h"
