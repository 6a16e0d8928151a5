"""A total order over stored values: the same on every engine, and ties only between values that are read alike.

Whoever keeps the first rows of a person must order them by their values alone. Where an order leaves a tie, the engine
breaks it by what lies around a row, and that is other people's rows: docs/proofs/same-integers.md.
"""

from __future__ import annotations

from typing import Any

from discreet.data.dialect import as_bytes, engine_of
from discreet.data.read import identity

__all__ = ["sort_key"]

Expression = Any  # ibis expressions carry no useful static types here


def sort_key(raw: Expression) -> Expression:
    """What a stored value is ordered by: text by its bytes, all else as itself, what is missing (NaN too) first."""
    import ibis

    value, kind = identity(raw), raw.type()
    if not (kind.is_numeric() or kind.is_boolean() or kind.is_date() or kind.is_timestamp()):
        # Bytes: a rule of the column may take "a" for "A". A uuid is ordered by its text: engines store it differently.
        value = as_bytes(value if kind.is_string() else value.cast("string"), engine_of(raw))
    return ibis.asc(value, nulls_first=True)
