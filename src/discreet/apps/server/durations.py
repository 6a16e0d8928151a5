"""Lengths of time as people write them: a number of seconds, or 10m, 1h30m, 500ms; 90d and 12w for what lasts longer.

>>> read_duration("10m"), read_duration("1h30m"), read_duration("2.5"), read_duration(30)
(600.0, 5400.0, 2.5, 30.0)
"""

from __future__ import annotations

import math
import re
from datetime import timedelta

from discreet.errors import InputError

__all__ = ["read_duration", "read_lifetime"]

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|w)")
_WHOLE = re.compile(r"\d{1,5}\s*[mhdw]")
_LONGEST = timedelta(days=36525)


def read_duration(value: object) -> float:
    """The seconds of a duration; `ValueError` for what is none."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        seconds = float(value)
    elif isinstance(value, str):
        text = value.replace(" ", "").lower()
        parts = _PART.findall(text)
        whole = bool(parts) and "".join(number + unit for number, unit in parts) == text
        seconds = sum(float(number) * _UNITS[unit] for number, unit in parts) if whole else float(text)
    else:
        raise ValueError
    if not math.isfinite(seconds) or not 0 <= seconds < 1e11:
        raise ValueError
    return seconds


def read_lifetime(text: str, field: str, *, nothing: bool = False) -> timedelta:
    """How long a token lasts: a whole number of one unit; `InputError` for another text. With `nothing` it may be 0.

    >>> read_lifetime("90d", "--expires")
    datetime.timedelta(days=90)
    """
    if nothing and text.strip() == "0":
        return timedelta(0)
    written = text.strip().lower()
    lasts = timedelta(seconds=read_duration(written)) if _WHOLE.fullmatch(written) else None
    if lasts is None or lasts > _LONGEST or (not lasts and not nothing):
        least = "0 or " if nothing else ""
        raise InputError(field, text, f"{least}a whole number of minutes, hours, days or weeks: 30m, 24h, 90d, 12w")
    return lasts
