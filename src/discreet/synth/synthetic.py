"""What a method of synthesis returns: rows of codes, and everything measured on the way to them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.errors import InputError
from discreet.marginals.counts import Bins
from discreet.marginals.meter import Noisy
from discreet.mechanisms import Gaussian, Laplace
from discreet.noise.replay import Replay, key_of
from discreet.synth.compression import Compression
from discreet.synth.model import Model
from discreet.synth.sample import Codes

__all__ = ["MOST_ROWS", "Synthetic", "check_rows", "cut_note", "draw_synthetic", "mean_noise", "read_rows", "row_count"]

MOST_ROWS = 5_000_000
"""How many rows a synthetic table may have: more would say no more, since every count can be scaled up."""


@dataclass(frozen=True, slots=True, eq=False)
class Synthetic:
    """Rows of codes, and everything measured on the way to them.

    `total` is how many rows the private table is estimated to have. `measured` are the noisy marginals; if `bins` are
    given, those from place `fine` on are of codes merged into them. `notes` say what the method did, for people.
    """

    codes: Codes
    total: float
    measured: tuple[Noisy, ...]
    bins: Bins | None = None
    fine: int = 0
    notes: tuple[str, ...] = ()


def read_rows(rows: int | None) -> int | None:
    """How many rows are wanted; None: about as many as the private table has."""
    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or rows < 0):
        raise InputError("rows", rows, "a whole number, 0 or more")
    return rows


def check_rows(rows: int | None) -> None:
    """Refuse a number of rows that no synthetic table has."""
    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= MOST_ROWS):
        hint = "More rows say no more: every count can be scaled up."
        raise InputError("rows", rows, f"a whole number from 1 to {MOST_ROWS:,}", hint)


def row_count(rows: int | None, total: float) -> int:
    """How many rows to make: as asked, else as many as there seem to be. Noise may make that anything: within bounds.

    >>> row_count(None, 1e12), row_count(None, -3.0), row_count(7, 1e12)
    (5000000, 0, 7)
    """
    if rows is not None:
        return rows
    return min(max(round(total), 0), MOST_ROWS) if math.isfinite(total) else 0


def cut_note(made: int, total: float) -> str | None:
    """What is said where noise, or a very large table, had more rows than are made.

    >>> cut_note(5_000_000, 7e6), cut_note(300, 300.0)
    ('at most 5,000,000 rows are made', None)
    """
    return f"at most {MOST_ROWS:,} rows are made" if made == MOST_ROWS < total else None


def draw_synthetic(
    method: str,
    model: Model,
    rows: int | None,
    measured: Sequence[Noisy],
    notes: Sequence[str],
    compressed: Compression | None = None,
    fine: int = 0,
) -> Synthetic:
    """Rows of a model, in codes again if it is one of bins. They follow from the model: no new randomness.

    `fine` is the place from which on what was measured is of bins.
    """
    bits = Replay(key_of(list(model.potentials.values()), method))
    codes = model.rows(row_count(rows, model.total), bits)
    if compressed is None:
        return Synthetic(codes, model.total, tuple(measured), notes=tuple(notes))
    codes = compressed.expand(codes, bits)
    return Synthetic(codes, model.total, tuple(measured), compressed.bins, fine, tuple(notes))


def mean_noise(noise: Laplace | Gaussian) -> float:
    """What noise adds to a count on average, its sign left out: so much of an L1 distance is noise, in each cell."""
    deviation = math.sqrt(noise.variance)
    return deviation * (math.sqrt(2 / math.pi) if isinstance(noise, Gaussian) else math.sqrt(1 / 2))
