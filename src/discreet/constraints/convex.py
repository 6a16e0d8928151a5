"""Noisy numbers under a person's own convex constraints, near a person's own objective: post-processing of them alone.

Wanted is the x nearest to the noisy numbers with g(x) <= most for every convex g, linear constraints, and an objective
f within beta of a value f*: |f(x) - f*| <= beta |f*|. Functions are plain Python, f(x) of a numpy array; gradients are
given, or taken by differences.

A convex g lies above its tangents. So the projection under tangents alone is never too narrow, and is done again with
the tangent at where it ended until all constraints hold (cutting planes). That f is at most so much is such a
constraint. That it is at least so much is none: there f is replaced by a tangent, which lies below it, so that what is
found meets it; the tangent is moved to what was found, up to the window and then as long as that comes nearer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.constraints.projection import project
from discreet.constraints.system import AtMost, Between, Constraint, Equal, Measurement
from discreet.core.signature import typed
from discreet.errors import DiscreetError, InputError, Phrase, kind_of

__all__ = ["Convex", "Fit", "Window", "fit"]

Floats = NDArray[np.float64]
Function = Callable[[Floats], Any]

_ROUNDS = 200  # tangents
_TURNS = 8  # moves of the tangent from below
_CLIMBS = 60
_PARTS = (1.0, 0.5, 0.2, 0.05)  # of the way up to the window, at a time
_CLOSER = 1e-4  # a turn that gains less is the last
_DIFFERENCE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Convex:
    """`function`(x) <= `most`, for a convex function of all numbers. Its name is used in errors.

    >>> import numpy as np
    >>> disc = Convex("disc", lambda x: float(x @ x), most=25)
    >>> fit([6.0, 8.0], [disc]).values.round(3).tolist()
    [3.0, 4.0]
    """

    name: str
    function: Function
    most: float = 0.0
    gradient: Function | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise InputError("constraint.name", self.name, "text: errors use it as a name")
        for field, function in (("function", self.function), ("gradient", self.gradient)):
            if not callable(function) and (function is not None or field == "function"):
                raise InputError(f"{self.name}.{field}", kind_of(function), "a function of the numbers")
        number = isinstance(self.most, (int, float)) and not isinstance(self.most, bool)
        if not number or not abs(self.most) < 1e300:
            raise InputError(f"{self.name}.most", self.most, "a finite number")

    def value(self, x: Floats) -> float:
        """The function at x."""
        try:
            found = float(self.function(x.copy()))
        except Exception as problem:
            given = Phrase("something else" if isinstance(problem, TypeError | ValueError) else kind_of(problem))
            raise InputError(f"{self.name}.function", given, "a function that gives a number") from None
        if math.isnan(found):
            raise InputError(f"{self.name}.function", Phrase("NaN"), "a function that gives a number")
        return found

    def slope(self, x: Floats) -> Floats:
        """Its gradient at x: the one given, or by differences."""
        if self.gradient is not None:
            found = np.asarray(self.gradient(x.copy()), dtype=float)
            if found.shape != x.shape or not np.isfinite(found).all():
                given = Phrase(f"an array of shape {found.shape}")
                raise InputError(f"{self.name}.gradient", given, f"a function that gives {len(x)} finite numbers")
            return found
        steps = _DIFFERENCE * np.maximum(1.0, np.abs(x))
        found = np.empty(len(x))
        for place, step in enumerate(steps):
            ahead, behind = x.copy(), x.copy()
            ahead[place] += step
            behind[place] -= step
            found[place] = (self.value(ahead) - self.value(behind)) / (2 * step)
        return found

    def tangent(self, x: Floats, height: float) -> AtMost:
        """That the tangent at x is at most `most`."""
        slope = self.slope(x)
        return AtMost(self.name, [slope], [self.most - height + float(slope @ x)])


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """An objective that is to stay within `beta` (a part) of `optimum`."""

    objective: Convex
    optimum: float
    beta: float

    def __post_init__(self) -> None:
        if not isinstance(self.objective, Convex):
            raise InputError("objective", kind_of(self.objective), "a Convex function: Convex(name, function)")
        for field, least in (("optimum", -math.inf), ("beta", 0.0)):
            value = getattr(self, field)
            number = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300
            if not number or value < least:
                raise InputError(field, value, "a finite number" + (", zero or more" if least == 0 else ""))

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the most that it may be."""
        room = self.beta * abs(self.optimum)
        return self.optimum - room, self.optimum + room


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Numbers that meet the constraints, as near to the noisy ones as was found.

    `violation` is the most by which a constraint is missed. `within` says whether the objective is in its window, to
    the tolerance; `nearest` whether nothing nearer meets all constraints: the problem was convex, and was solved.
    """

    values: Floats
    objective: float | None
    violation: float
    within: bool
    nearest: bool
    rounds: int


@typed
def fit(
    noisy: ArrayLike,
    constraints: Sequence[Convex | Constraint] = (),
    *,
    window: Window | None = None,
    weight: ArrayLike | None = None,
    tolerance: float = 1e-6,
) -> Fit:
    """The numbers nearest to noisy ones that meet linear and convex constraints, with an objective in its window.

    `weight` is how much the squared miss of each counts. Constraints that contradict each other are an `InputError`.

    Guarantee
        A function of its arguments, which hold noisy and public numbers only: whatever the noisy numbers cost, the
        answer costs nothing more. Where `nearest`, and the truth c meets the constraints, |x - c| <= |noisy - c|; for
        any set that holds c, convex or not, the point nearest to the noisy numbers has |x - c| <= 2 |noisy - c|.
        Proof: docs/proofs/constraints.md.
    """
    values = Measurement("noisy", None, noisy, weight=weight).values
    if window is not None and not isinstance(window, Window):
        raise InputError("window", kind_of(window), "a Window: Window(objective, optimum, beta)")
    if not isinstance(constraints, (list, tuple)):
        raise InputError("constraints", kind_of(constraints), "a list of Convex, Equal, AtMost or Between")
    for one in constraints:
        if not isinstance(one, (Convex, Equal, AtMost, Between)):
            raise InputError("constraints", kind_of(one), "Convex, Equal, AtMost or Between")
    if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float)) or not 0 < tolerance < 1:
        raise InputError("tolerance", tolerance, "more than zero and less than 1")
    search = _Search(values, tuple(constraints), weight, tolerance)
    if window is None:
        x = search.nearest()
        return Fit(x, None, search.violation(x), True, True, search.rounds)
    objective = window.objective
    low, high = window.ends
    scale = max(1.0, abs(window.optimum))
    search.convex = (*search.convex, Convex(objective.name, objective.function, high, objective.gradient))
    x = search.nearest()
    reached = objective.value(x)
    if reached >= low - tolerance * scale:
        return Fit(x, reached, search.violation(x), True, True, search.rounds)
    best = search.risen(objective, x, low, tolerance * scale)
    if best is None:
        return Fit(x, reached, search.violation(x), False, False, search.rounds)
    for _ in range(_TURNS):
        found = search.above(objective, best, low)
        if found is None or search.far(found) > search.far(best) * (1 - _CLOSER):
            break
        best = found
    reached = objective.value(best)
    within = low - tolerance * scale <= reached <= high + tolerance * scale
    return Fit(best, reached, search.violation(best), within, False, search.rounds)


class _Search:
    """Projections under linear constraints and the tangents found so far."""

    def __init__(
        self, noisy: Floats, constraints: tuple[Convex | Constraint, ...], weight: ArrayLike | None, tolerance: float
    ) -> None:
        self.measured = Measurement("noisy", None, noisy, weight=weight)
        self.linear = [one for one in constraints if not isinstance(one, Convex)]
        self.convex = tuple(one for one in constraints if isinstance(one, Convex))
        self.tangents: list[AtMost] = []
        self.tolerance, self.rounds = tolerance, 0

    def nearest(self, *more: AtMost) -> Floats:
        """The nearest numbers that meet all constraints, and tangents from below."""
        for _ in range(_ROUNDS):
            self.rounds += 1
            x = project([self.measured], [*self.linear, *self.tangents, *more], solver="clarabel").values
            x = np.asarray(x, dtype=float)
            missed = [(one, one.value(x)) for one in self.convex]
            fresh = [one.tangent(x, height) for one, height in missed if height > one.most + self._room(one)]
            if not fresh:
                return x
            self.tangents += fresh
        return x

    def above(self, objective: Convex, x: Floats, low: float) -> Floats | None:
        """The nearest numbers at which the objective's tangent at x is at least `low`; None if there are none."""
        slope = objective.slope(x)
        if not slope.any():
            return None
        limit = AtMost("objective", [-slope], [objective.value(x) - low - float(slope @ x)])
        try:
            return self.nearest(limit)
        except DiscreetError:  # a contradiction, or so near to one that the solver cannot tell
            return None

    def risen(self, objective: Convex, x: Floats, low: float, room: float) -> Floats | None:
        """Numbers at which the objective is at least `low`, reached from x by tangents; None where that fails.

        A tangent says too little far from where it touches: it is asked for a part of the way where the whole
        would lead beyond what is allowed.
        """
        for _ in range(_CLIMBS):
            height = objective.value(x)
            if height >= low - room:
                return x
            tries = (self.above(objective, x, height + part * (low - height)) for part in _PARTS)
            found = next((one for one in tries if one is not None and objective.value(one) > height + room / 2), None)
            if found is None:
                return None
            x = found
        return None

    def far(self, x: Floats) -> float:
        """How far from the noisy numbers."""
        return float((self.measured.weight * (x - self.measured.values) ** 2).sum())

    def violation(self, x: Floats) -> float:
        """How far the worst constraint is missed."""
        from discreet.constraints.system import stack

        missed = [one.value(x) - one.most for one in self.convex]
        return max([0.0, stack(self.linear, len(x)).violation(x), *missed])

    def _room(self, one: Convex) -> float:
        return self.tolerance * max(1.0, abs(one.most))
