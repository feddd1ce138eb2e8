"""Lengths of time, as they are typed and as they are shown."""

import math
import re
from collections.abc import Mapping

from swarm.errors import Refusal

_UNITS: Mapping[str, float] = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)([smhd])")


def parse_duration(text: str, field: str) -> float:
    """Seconds in `90s`, `45m`, `2h`, `1d` or a run of these (`1h30m`). Raises Refusal."""
    compact = text.strip().lower().replace(" ", "")
    spans = _SPAN.findall(compact)
    seconds = sum(float(number) * _UNITS[unit] for number, unit in spans)
    typed = "".join(number + unit for number, unit in spans)
    if not spans or typed != compact or not 0 < seconds < math.inf:
        raise Refusal(
            field, f"{text!r} is not a length of time", "write it as 90s, 45m, 2h, 1h30m or 3d"
        )
    return seconds


def duration(seconds: float) -> str:
    """`45 s`, `8 min`, `2 h 05 min`, `1 d 3 h`."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 36:
        return f"{hours} h {minutes:02d} min"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h"
