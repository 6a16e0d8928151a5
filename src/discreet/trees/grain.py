"""Sums far larger than counts, in units that methods are made for.

Methods read a number's size against one, and tabulate the law of its noise. Noise in sums of incomes is in the
millions: so methods are given such sums in units far below the noise, round numbers where they fit (`unit_for`), and
what they publish is a multiple of the unit. Bounds and public totals that are none hold all the same: where published
numbers do not meet them they are moved as little as can be (`refined`). The unit follows from declared bounds and the
price alone, and only noisy numbers are read: post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.note import Note
from discreet.core.release import number
from discreet.errors import InputError
from discreet.mechanisms import Gaussian, Laplace
from discreet.trees.estimate import Ends, Estimate
from discreet.trees.intervals.each import beyond, bounds_of, known_bounds
from discreet.trees.measurement import Level, Measurement, Noise
from discreet.trees.rules import NO_BOUND, Rules
from discreet.trees.topdown import topdown
from discreet.trees.topdown.crossing import Known, check_together
from discreet.trees.tree import Hierarchy

__all__ = [
    "coarse_measurement",
    "coarse_noise",
    "coarse_rules",
    "coarse_values",
    "refined",
    "rounding_notes",
    "rules_in_steps",
    "step_for",
    "unit_for",
]

Array = NDArray[np.int64]

_FINE = 32  # units that the smallest deviation of the noise has at least: rounding adds 1/12288 to its variance
_DIGITS = 256  # the law of coarse noise is written to this part of a unit: samplers are quick with short fractions


def unit_for(step: Fraction, deviation: float) -> Fraction:
    """The unit of published numbers, for a lattice of such steps and noise of at least such a deviation, in steps.

    The largest power of ten of which the deviation holds 32 or more; of steps below or above one, a power of two.

    >>> [str(unit_for(Fraction(1, 4), deviation)) for deviation in (3, 200, 1e6)]
    ['1/4', '1', '1000']
    """
    most = Fraction(deviation) * step / _FINE
    tens = [Fraction(10) ** k for k in range(19)]
    twos = [step * 2**k for k in range(61) if step > 1 or step * 2**k <= 1]  # no power of ten may fit a large step
    return max((unit for unit in (*tens, *twos) if unit <= most and (unit / step).denominator == 1), default=step)


def step_for(step: Fraction, unit: Fraction) -> Fraction:
    """What noisy numbers are recorded in: whole numbers where the unit is at least one, else steps of the lattice."""
    return Fraction(1) if step < 1 <= unit else step


def rounding_notes(unit: Fraction, grain: int) -> list[Note]:
    """What is to be said of sums that were rounded after noise was added."""
    if grain == 1:
        return []
    return [Note("rounding", f"Sums are published as multiples of {number(float(unit))}, far below their noise.", ())]


def rules_in_steps(rules: Rules, step: Fraction) -> Rules:
    """Rules about published numbers as rules about whole numbers of steps: bounds of those that lie within."""
    if step == 1:
        return rules
    below = {name: _steps(values, step, math.ceil) for name, values in rules.lower.items()}
    above = {name: _steps(values, step, math.floor) for name, values in rules.upper.items()}
    totals: dict[str, Any] = {}
    for name, values in rules.totals.items():
        for value in np.ravel(np.asarray(values)).tolist():
            if value >= 0 and (Fraction(value) / step).denominator != 1:
                allowed = f"a multiple of {number(float(step))}, the step in which values so large are summed"
                raise InputError(f"rules.totals.{name}", value, allowed)
        totals[name] = _steps(values, step, int)
    return replace(rules, lower=below, upper=above, totals=totals)


def _steps(values: Any, step: Fraction, round_: Callable[[Fraction], int]) -> Any:
    """Whole numbers of steps; what stands for no number and for no bound stays."""
    given = np.asarray(values)
    if given.dtype.kind not in "iuf" or not np.isfinite(given).all():
        return values  # which is said where rules are read
    flat = [
        int(one) if one < 0 or one >= NO_BOUND else min(round_(Fraction(one) / step), NO_BOUND)
        for one in given.ravel().tolist()
    ]
    return np.array(flat, np.int64).reshape(given.shape)


def coarse_values(noisy: Any, grain: int) -> Any:
    """Noisy whole numbers of steps as whole numbers of units of `grain` steps, the nearest."""
    return noisy if grain == 1 or noisy is None else (noisy + grain // 2) // grain


def coarse_noise(noise: Noise, grain: int) -> Noise:
    """The law of the noise in units of `grain` steps: as wide, in few digits."""
    if grain == 1:
        return noise
    match noise:
        case Laplace(scale=scale):
            return Laplace(_short(scale / grain))
        case Gaussian(sigma=sigma):
            return Gaussian(_short(sigma / grain))


def _short(scale: Fraction) -> Fraction:
    return max(Fraction(round(scale * _DIGITS), _DIGITS), Fraction(1, _DIGITS))


def coarse_measurement(measured: Measurement, grain: int) -> Measurement:
    """The same in units of `grain` steps."""
    if grain == 1:
        return measured
    levels = [
        Level(
            coarse_values(level.counts, grain),
            level.noise and coarse_noise(level.noise, grain),
            coarse_values(level.totals, grain),
            level.totals_noise and coarse_noise(level.totals_noise, grain),
            tuple(
                replace(one, values=coarse_values(one.values, grain), noise=coarse_noise(one.noise, grain))
                for one in level.margins
            ),
        )
        for level in measured.levels
    ]
    return replace(measured, levels=tuple(levels))


def coarse_rules(rules: Rules, tree: Hierarchy, cells: int, grain: int) -> Rules:
    """Rules in units of `grain` steps, none of them tighter than it was; totals are the nearest that add up.

    Where these meet no bounds, which may happen to many totals of one region, they are left out: `refined` keeps them.
    """
    if grain == 1 or not (rules.lower or rules.upper or rules.totals):
        return rules
    bounds = rules.bounds(tree, cells)
    lower = {name: level // grain for name, level in zip(tree.names, bounds.lower, strict=True)}
    upper = {
        name: np.where(level >= NO_BOUND, NO_BOUND, -(-level // grain))
        for name, level in zip(tree.names, bounds.upper, strict=True)
    }
    near = replace(rules, lower=lower, upper=upper, totals=_coarse_totals(tree, bounds.totals, grain))
    try:
        check_together(tree, near.bounds(tree, cells))
    except InputError:
        return replace(near, totals={})
    return near


def _coarse_totals(tree: Hierarchy, totals: tuple[Array | None, ...], grain: int) -> dict[str, Any]:
    """Public totals in units: the sum of those of its parts where all of them are public, else the nearest."""
    found: dict[str, Any] = {}
    below: Array | None = None
    for level in range(tree.depth - 1, -1, -1):
        here = totals[level]
        own = np.full(tree.sizes[level], -1, np.int64) if here is None else here
        near = np.where(own >= 0, coarse_values(own, grain), -1)
        if below is not None:
            whole = tree.add(level, (below < 0).astype(np.int64)) == 0
            near = np.where(whole, tree.add(level, below), near)
        if here is not None:
            found[tree.names[level]] = np.where(own >= 0, near, -1)
        below = near
    return found


def refined(estimate: Estimate, measured: Measurement, rules: Rules, grain: int) -> Estimate:
    """What was estimated in units of `grain` steps, in steps, with bounds and public totals as they are."""
    if grain == 1:
        return estimate
    tree = measured.tree
    counts = tuple(level * grain for level in estimate.counts)
    known = known_bounds(measured, rules)
    if not _met(counts, known):
        # Whole numbers from the root down, with what is given at the leaves as if it had been measured.
        blank = (Level(),) * (tree.depth - 1)
        given = Measurement(tree, (*blank, Level(counts[-1], Gaussian(1))))
        counts = topdown(given, rules).counts
    typical = None if estimate.typical is None else _typical(estimate.typical, counts, known, grain)
    return replace(estimate, counts=counts, typical=typical)


def _met(counts: tuple[Array, ...], known: Known) -> bool:
    for level, numbers in enumerate(counts):
        low, high, least, most = bounds_of(known, level)
        totals = numbers.sum(axis=1)
        high, most = beyond(high), beyond(most)
        if ((numbers < low) | (numbers > high)).any() or ((totals < least) | (totals > most)).any():
            return False
    return True


def _typical(ends: Ends, counts: tuple[Array, ...], known: Known, grain: int) -> Ends:
    """Ends in steps, within what is public, that hold what is published."""
    levels = []
    for level, numbers in enumerate(counts):
        low, high, least, most = bounds_of(known, level)
        high, most, totals = beyond(high), beyond(most), numbers.sum(axis=1)
        levels.append(
            (
                np.minimum(np.clip(ends.lower[level] * grain, low, high), numbers),
                np.maximum(np.clip(ends.upper[level] * grain, low, high), numbers),
                np.minimum(np.clip(ends.total_lower[level] * grain, least, most), totals),
                np.maximum(np.clip(ends.total_upper[level] * grain, least, most), totals),
            )
        )
    return Ends.of_levels(levels)
