"""How much memory DuckDB may take; what does not fit goes to disk, to the folder of `spill`."""

from __future__ import annotations

import os
import re

from discreet.errors import InputError

__all__ = ["default_memory", "stated_memory"]

_EACH = 512  # MiB for a thread: sorting and counting 100 million rows in two of them takes no longer than in 20 GB
_LEAST = 1024
_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


def stated_memory() -> str | None:
    """What the environment says, as DuckDB reads it; None if it says nothing."""
    limit = os.environ.get("DISCREET_MEMORY", "")
    if not limit:
        return None
    if not re.fullmatch(r"[1-9]\d*(\.\d+)? ?[KMGT]i?B", limit, re.ASCII):
        raise InputError("DISCREET_MEMORY", limit, "an amount of memory, such as 4GB")
    return limit


def default_memory(own: str, threads: int) -> str:
    """Half a GiB for each thread, and one at least; never more than the engine would take itself.

    `own` is the engine's setting, in its words: four fifths of what the machine, or the container, has.
    """
    wanted = max(_LEAST, _EACH * threads)
    amount, _, unit = own.partition(" ")
    most = int(float(amount) * _UNITS[unit]) // 2**20 if unit in _UNITS else wanted
    return f"{max(1, min(wanted, most))}MiB"
