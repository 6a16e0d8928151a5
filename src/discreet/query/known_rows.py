"""The number of rows where it is public: declared, of a table whose neighbours have other rows and as many of them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.core.note import Note
from discreet.data.schema import Schema
from discreet.query.aggregate import Aggregate, Mean, Share
from discreet.query.measure import Measure, Rows
from discreet.query.question import Query

__all__ = ["NO_NOISE", "NoNoise", "is_known", "known_rows", "known_step", "row_count_note"]


@frozen
class NoNoise:
    """What is on a number that is public as it is."""

    variance: float = 0.0

    def release(self, values: NDArray[np.int64], *, bits: Bits | None = None) -> NDArray[np.int64]:
        """The same numbers."""
        return values

    def error(self, confidence: float = 0.95, outputs: int = 1) -> int:
        """How far it is off: not at all."""
        return 0


NO_NOISE = NoNoise()


def known_rows(query: Query, schema: Schema) -> int | None:
    """How many rows a question is about, where that is declared; None where it is private.

    Guarantee: it follows from the question and the declaration alone, so that dividing by it is post-processing. A
    condition or a key makes the number of rows private, and a limit on persons does. Proof: docs/proofs/query.md.
    """
    whole = query.condition is None and not query.keys and query.combinations is None
    plain = query.persons is None and schema.persons is None and query.person_limits is None
    return schema.row_count if whole and plain else None


def known_step(aggregate: Aggregate, schema: Schema, rows: int | None) -> Fraction | None:
    """By how much one step of noise moves a mean or a share of so many rows; None where that is not known."""
    if rows is None or not isinstance(aggregate, Mean | Share):
        return None
    first, weight = aggregate.measures(schema)
    return first.lattice.step / rows if is_known(weight, rows) and hasattr(first, "lattice") else None


def is_known(measure: Measure, rows: int | None) -> bool:
    """Whether a measure is the number of all rows, and public."""
    return rows is not None and measure == Rows()


def row_count_note(outputs: tuple[str, ...], rows: int) -> Note:
    """What follows if the declared number of rows is not that of the table."""
    text = (
        f"The number of rows is the declared {rows:,}, without noise: if the table has another number of rows, the "
        "answer is off accordingly."
    )
    return Note("row_count", text, outputs)
