"""Exact draws from a Dirichlet-multinomial law: an urn of whole balls, drawn from and topped up, in integers only.

Draw a ball, put it back with one more of its colour, draw again. How often each colour was drawn after m draws has the
Dirichlet-multinomial law of the urn's first contents. A prior that is no whole number is one in smaller units.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.errors import InputError, Phrase
from discreet.noise.bits import SystemBits, words

__all__ = ["LARGEST", "below_each", "draw", "subset"]

Whole = NDArray[np.int64]

LARGEST = 2**62
"""What an urn may hold at the end, in the small units its prior is counted in."""


def draw(weights: Whole, draws: int, unit: int = 1, *, bits: Bits | None = None) -> Whole:
    """How often each colour comes up in `draws` draws from an urn that holds `weights[i] / unit` of colour i.

    Guarantee
        The counts have exactly the Dirichlet-multinomial law with parameters `weights / unit`. Proof:
        docs/proofs/commute.md.

    >>> draw(np.array([0, 7, 0]), 5).tolist()
    [0, 5, 0]
    """
    held = _contents(weights)
    if draws < 0 or unit < 1:
        raise InputError("draws", (draws, unit), "zero or more, from an urn in units of 1 or more")
    if draws == 0:
        return np.zeros(len(held), dtype=np.int64)
    start = sum(int(weight) for weight in held)
    if start == 0:
        raise InputError("weights", Phrase("zero everywhere"), "above zero somewhere")
    if start + draws * unit > LARGEST:
        raise InputError("weights", start, f"at most {LARGEST:,} together with all draws", "Use a coarser unit.")
    source = bits if bits is not None else SystemBits()
    # The t-th draw takes one of start + t units: one of the first, or one that an earlier draw put in.
    taken = below_each(start + unit * np.arange(draws, dtype=np.int64), source)
    first = taken < start
    colours = np.zeros(draws, dtype=np.int64)
    colours[first] = np.searchsorted(np.cumsum(held), taken[first], side="right")
    # A draw that took what an earlier one put in has the colour of that one, which may itself be a copy: ways are
    # halved until every draw points at one from the first contents.
    points = np.where(first, np.arange(draws), (taken - start) // unit)
    while not first[points].all():
        points = points[points]
    return np.bincount(colours[points], minlength=len(held)).astype(np.int64)


def below_each(bounds: Whole, bits: Bits) -> Whole:
    """For every bound (1 to 2**62) a whole number from 0 up to it, each as likely as the others."""
    out = np.empty(len(bounds), dtype=np.int64)
    waiting = np.arange(len(bounds))
    limits = bounds.astype(np.uint64)
    whole = np.uint64(2**63)
    while len(waiting):
        limit = limits[waiting]
        drawn = words(bits, len(waiting)) >> np.uint64(1)
        kept = drawn < whole - whole % limit  # the largest multiple of the bound: what is above would favour the small
        out[waiting[kept]] = (drawn[kept] % limit[kept]).astype(np.int64)
        waiting = waiting[~kept]
    return out


def subset(counts: Whole, size: int, *, bits: Bits | None = None) -> Whole:
    """How many of each kind are among `size` of them, every choice of so many as likely as any other.

    >>> subset(np.array([3, 0, 2]), 5).tolist()
    [3, 0, 2]
    """
    held = _contents(counts)
    total = int(held.sum())
    if not 0 <= size <= total:
        raise InputError("size", size, f"from 0 to {total:,}")
    if size == total:
        return held.copy()
    if size == 0:
        return np.zeros_like(held)
    source = bits if bits is not None else SystemBits()
    kinds = np.repeat(np.arange(len(held)), held)
    while True:
        marks = words(source, total)
        order = np.argpartition(marks, size)
        # The smallest marks win. A tie for the last place has no fair winner: draw all again.
        if marks[order[:size]].max() < marks[order[size]]:
            return np.bincount(kinds[order[:size]], minlength=len(held)).astype(np.int64)


def _contents(weights: Whole) -> Whole:
    held = np.asarray(weights)
    if held.ndim != 1 or held.dtype.kind not in "iu" or len(held) == 0 or int(held.min()) < 0:
        raise InputError(
            "weights", Phrase(f"{held.dtype} of shape {held.shape}"), "a list of whole numbers, none negative"
        )
    return held.astype(np.int64)
