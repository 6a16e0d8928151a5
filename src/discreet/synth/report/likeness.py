"""How alike one column is in two tables, by its values: distances, values that many rows share, rounding.

Shares of values are of all rows, missing ones included; distances and rounding are about the values that are there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.data.instant import DAY
from discreet.synth.junction import Floats
from discreet.synth.report.values import Values, local_seconds

__all__ = ["Atom", "Likeness", "Rounding", "atoms_of", "chance_gap", "kolmogorov_smirnov", "likeness_of", "wasserstein"]

LEAST = 0.01
"""The share of rows from which on a single value is looked at, in one table or the other."""
MOST = 60
"""How many such values of a column are looked at."""
_NEAR, _DIGITS = 1e-9, 1e-14  # how near to a step a value lies on it, in steps; of large numbers, the digits they have
_SURE = 1.63  # the 1% point of the Kolmogorov-Smirnov statistic, in units of its scale
_SPREAD = 20  # whole numbers from the least to the greatest: fewer have no use for steps


@dataclass(frozen=True, slots=True)
class Atom:
    """A single value, and what share of all rows has exactly it."""

    value: float
    text: str
    real: float
    synthetic: float

    @property
    def gap(self) -> float:
        """How far the shares are apart."""
        return abs(self.real - self.synthetic)


@dataclass(frozen=True, slots=True)
class Rounding:
    """The share of the values that lie on a step: whole numbers, hundredths, full minutes."""

    step: str
    real: float
    synthetic: float

    @property
    def gap(self) -> float:
        """How far the shares are apart."""
        return abs(self.real - self.synthetic)


@dataclass(frozen=True, slots=True)
class Likeness:
    """One column in real and in synthetic rows.

    `ks` is the largest gap between the two distribution functions, `wasserstein` the area between them, in the unit of
    the column; `deviations` is that area in standard deviations of the real values. `tv` is the total variation
    distance of a column of names. `negative` is the share of values below zero, of the time between two columns.
    `farthest` says where the distribution functions are farthest apart, and what share of the values is at most that.
    """

    name: str
    kind: str
    derived: bool
    missing: tuple[float, float]
    atoms: tuple[Atom, ...]
    roundings: tuple[Rounding, ...] = ()
    ks: float | None = None
    wasserstein: float | None = None
    deviations: float | None = None
    tv: float | None = None
    negative: tuple[float, float] | None = None
    farthest: tuple[str, float, float] | None = None


def likeness_of(values: Values) -> Likeness:
    """Everything that is compared of one column."""
    real, synthetic = values.known
    atoms = atoms_of(values)
    plain = Likeness(values.name, values.kind, values.derived, values.missing, atoms)
    if not values.ordered:
        shares = [_shares(side, len(values.labels)) for side in (values.real, values.synthetic)]
        tv = float(np.abs(shares[0] - shares[1]).sum() / 2)
        return Likeness(plain.name, plain.kind, plain.derived, plain.missing, atoms, tv=tv)
    if len(real) == 0 or len(synthetic) == 0:
        return plain
    distance, spread = wasserstein(real, synthetic), float(real.std())
    point, first, second = _farthest(real, synthetic)
    below = (float((real < 0).mean()), float((synthetic < 0).mean()))
    return Likeness(
        plain.name,
        plain.kind,
        plain.derived,
        plain.missing,
        atoms,
        _roundings(values, real, synthetic),
        abs(first - second),
        distance,
        distance / spread if spread > 0 else None,
        negative=below if values.kind in ("days", "seconds") else None,
        farthest=(values.brief(point), first, second),
    )


def kolmogorov_smirnov(first: Floats, second: Floats) -> float:
    """The largest gap between the distribution functions of two samples, each in rising order.

    >>> kolmogorov_smirnov(np.array([0.0, 0.0, 1.0, 2.0]), np.array([0.5, 1.0, 1.5, 2.0]))
    0.5
    """
    _, below, other = _farthest(first, second)
    return abs(below - other)


def _farthest(first: Floats, second: Floats) -> tuple[float, float, float]:
    """Where the distribution functions of two samples are farthest apart, and both there."""
    points = np.concatenate([first, second])
    both = _below(first, points), _below(second, points)
    place = int(np.argmax(np.abs(both[0] - both[1])))
    return float(points[place]), float(both[0][place]), float(both[1][place])


def wasserstein(first: Floats, second: Floats) -> float:
    """The area between the distribution functions of two samples, each in rising order.

    >>> wasserstein(np.array([0.0, 1.0]), np.array([3.0, 4.0]))
    3.0
    """
    points = np.sort(np.concatenate([first, second]))
    gaps = _below(first, points[:-1]) - _below(second, points[:-1])
    return float((np.abs(gaps) * np.diff(points)).sum())


def _below(sample: Floats, points: Floats) -> Floats:
    """What part of a sample is at most as large as each point."""
    return np.asarray(np.searchsorted(sample, points, side="right") / len(sample))


def chance_gap(real: int, synthetic: int) -> float:
    """The Kolmogorov-Smirnov distance that two samples of one law exceed in 1 of 100 cases.

    >>> round(chance_gap(1000, 1000), 3)
    0.073
    """
    return _SURE * math.sqrt(1 / max(real, 1) + 1 / max(synthetic, 1))


def atoms_of(values: Values, least: float = LEAST, most: int = MOST) -> tuple[Atom, ...]:
    """The values that many rows share, in one table or the other: those whose shares differ most come first."""
    counted = []
    for side in (values.real, values.synthetic):
        single, many = np.unique(side[~np.isnan(side)], return_counts=True)
        counted.append((single, many / max(len(side), 1), many > 1))
    heavy = np.unique(np.concatenate([single[(shares >= least) & often] for single, shares, often in counted]))
    real, synthetic = (_share_of(heavy, single, shares) for single, shares, _ in counted)
    pairs = zip(heavy.tolist(), real.tolist(), synthetic.tolist(), strict=True)
    atoms = [Atom(value, values.text(value), first, second) for value, first, second in pairs]
    heaviest = sorted(atoms, key=lambda atom: (-max(atom.real, atom.synthetic), atom.value))[:most]
    return tuple(sorted(heaviest, key=lambda atom: (-round(atom.gap, 9), -atom.real, atom.value)))


def _share_of(points: Floats, single: Floats, shares: Floats) -> Floats:
    """The shares of some values, 0 where there is none."""
    if len(single) == 0:
        return np.zeros(len(points))
    places = np.minimum(np.searchsorted(single, points), len(single) - 1)
    return np.where(single[places] == points, shares[places], 0.0)


def _shares(side: Floats, size: int) -> Floats:
    """The share of every name and, last, of rows without one."""
    codes = np.where(np.isnan(side), size, side).astype(np.int64)
    return np.asarray(np.bincount(codes, minlength=size + 1) / max(len(side), 1), dtype=np.float64)


def _roundings(values: Values, real: Floats, synthetic: Floats) -> tuple[Rounding, ...]:
    """The share of values on every step that a column of its kind may have, the coarsest first."""
    found = []
    for step, lies_on in _steps(values, real):
        found.append(Rounding(step, float(lies_on(real).mean()), float(lies_on(synthetic).mean())))
    return tuple(found)


_Test = Callable[[Floats], NDArray[np.bool_]]


def _steps(values: Values, real: Floats) -> list[tuple[str, _Test]]:
    match values.kind:
        case "number":
            return [("whole numbers", _on(1)), ("tenths", _on(10)), ("hundredths", _on(100))]
        case "whole" if not values.derived and real[-1] - real[0] > _SPREAD:
            return [("tens", _on(1 / 10)), ("fives", _on(1 / 5))]
        case "instant":

            def clocks(test: _Test) -> _Test:
                return lambda side: test(local_seconds(side, values.timezone))

            return [
                ("midnight", clocks(_on(1 / DAY))),
                ("full hours", clocks(_on(1 / 3600))),
                ("full minutes", clocks(_on(1 / 60))),
            ]
        case "seconds":
            return [("full minutes", _on(1 / 60))]
        case _:
            return []


def _on(per_unit: float) -> _Test:
    """Whether values lie on the steps of which there are so many in one unit."""

    def test(side: Floats) -> NDArray[np.bool_]:
        steps = side * per_unit
        return np.abs(steps - np.round(steps)) <= np.maximum(_NEAR, _DIGITS * np.abs(steps))

    return test
