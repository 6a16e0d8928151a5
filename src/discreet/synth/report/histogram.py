"""One column of two tables as a picture of its values, fine enough that a spike and a smear do not look alike.

Values that many rows share are taken out and drawn as lines of their own; the others are counted in even bins. So a
column that is 0 in most rows has a tall line at 0, and one that is spread over the values next to 0 has none, however
wide the bins are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.synth.junction import Floats
from discreet.synth.report.likeness import Atom, Likeness
from discreet.synth.report.values import Values

__all__ = ["Histogram", "Slot", "histogram_of"]

BINS = 60
"""How many bins there are at most."""
_NAMES = 10  # names that have bars of their own
_SPIKES = 24  # lines that are drawn
_LARGE = 0.25  # the share of one value or bin beside which others are too small to be seen
_TAIL = 0.01  # of the values that are no spikes, the share at either end that is drawn in the last bin


@dataclass(frozen=True, slots=True)
class Slot:
    """Values from `start` up to `end`, in words, and the shares of rows that have one of them.

    A `label` is the name of a value that has no place in an order.
    """

    start: float
    end: float
    real: float
    synthetic: float
    words: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Histogram:
    """The shares of rows in every bin and on every spike; if `beyond`, the end bins hold all that is farther out."""

    name: str
    slots: tuple[Slot, ...]
    spikes: tuple[Atom, ...]
    missing: tuple[float, float]
    ticks: tuple[tuple[float, str], ...] = ()
    beyond: bool = False

    @property
    def lopsided(self) -> bool:
        """Whether one value or bin has so many rows that the others could not be seen beside it."""
        shares = [(one.real, one.synthetic) for one in self.slots] + [(one.real, one.synthetic) for one in self.spikes]
        return max(map(max, shares)) > _LARGE


def histogram_of(values: Values, likeness: Likeness) -> Histogram | None:
    """The picture of a column; None if there is no value to draw."""
    if not values.ordered:
        return _of_names(values)
    real, synthetic = values.known
    both = np.concatenate([real, synthetic])
    if len(both) == 0:
        return None
    low, high = float(both.min()), float(both.max())
    spikes: tuple[Atom, ...] = ()
    wide = not values.discrete or high - low >= BINS
    if wide:
        heavy = sorted(likeness.atoms, key=lambda atom: -max(atom.real, atom.synthetic))[:_SPIKES]
        spikes = tuple(sorted(heavy, key=lambda atom: atom.value))
    taken = np.array([atom.value for atom in spikes])
    rest = [side[~np.isin(side, taken)] for side in (real, synthetic)]
    if wide:
        low, high = _reach(rest, taken, low, high)
    edges = _edges(values, low, high)
    sizes = (max(len(values.real), 1), max(len(values.synthetic), 1))
    shares = [_counts(side, edges) / size for side, size in zip(rest, sizes, strict=True)]
    bounds = zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    slots = tuple(
        Slot(start, end, float(shares[0][place]), float(shares[1][place]), _words(values, start, end))
        for place, (start, end) in enumerate(bounds)
    )
    beyond = bool(len(both) and (both.min() < edges[0] or both.max() > edges[-1]))
    return Histogram(values.name, slots, spikes, values.missing, _ticks(values, edges), beyond)


def _reach(rest: list[Floats], spikes: Floats, low: float, high: float) -> tuple[float, float]:
    """From where to where is drawn: all spikes, and all other values but the farthest few of either table."""
    ends = [float(end) for side in rest if len(side) for end in np.quantile(side, (_TAIL, 1 - _TAIL))]
    ends = [*ends, *spikes.tolist()] or [low, high]
    return min(ends), max(ends)


def _edges(values: Values, low: float, high: float) -> Floats:
    if values.discrete:
        low, high = math.floor(low), math.floor(high) + 1
        width = -(-(high - low) // BINS)
        many = -(-(high - low) // width)
        return np.asarray(low + width * np.arange(many + 1), dtype=np.float64)
    if high <= low:
        margin = abs(low) * 1e-6 or 1.0
        low, high = low - margin, high + margin
    return np.linspace(low, high, BINS + 1)


def _counts(side: Floats, edges: Floats) -> NDArray[np.int64]:
    places = np.clip(np.searchsorted(edges, side, side="right") - 1, 0, len(edges) - 2)
    return np.bincount(places, minlength=len(edges) - 1)


def _words(values: Values, start: float, end: float) -> str:
    last = end - 1 if values.discrete else end
    return values.text(start) if last == start else f"{values.brief(start)} to {values.brief(last)}"


def _ticks(values: Values, edges: Floats) -> tuple[tuple[float, str], ...]:
    """Where something is written below the axis; of plain numbers nothing, since round ones are found for them."""
    if values.kind in ("number", "whole"):
        return ()
    last = edges[-1] - 1 if values.discrete else edges[-1]
    chosen = [edges[0], last] if values.kind != "seconds" else [edges[0], (edges[0] + last) / 2, last]
    if values.kind == "seconds" and edges[0] < 0 < last:
        chosen = [edges[0], 0.0, last]
    return tuple((float(at), values.text(at)[:10] if values.kind == "instant" else values.text(at)) for at in chosen)


def _of_names(values: Values) -> Histogram | None:
    size = len(values.labels)
    shares = []
    for side in (values.real, values.synthetic):
        counts = np.bincount(side[~np.isnan(side)].astype(np.int64), minlength=size)
        shares.append(counts / max(len(side), 1))
    if size == 0:
        return None
    order = np.argsort(-np.maximum(shares[0], shares[1]), kind="stable") if size > _NAMES else np.arange(size)
    sets = [[one] for one in order.tolist()]
    names = [values.labels[one] for one in order]
    if size > _NAMES:
        sets = [*sets[: _NAMES - 1], order[_NAMES - 1 :].tolist()]
        names = [*names[: _NAMES - 1], f"{size - _NAMES + 1} others"]
    slots = [
        Slot(place, place + 1, float(shares[0][codes].sum()), float(shares[1][codes].sum()), name, name)
        for place, (codes, name) in enumerate(zip(sets, names, strict=True))
    ]
    return Histogram(values.name, tuple(slots), (), values.missing)
