"""How far an objective moves where one number does: what a custodian declares, held against public points."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.constraints.convex import Convex
from discreet.constraints.quadratic import Quadratic
from discreet.core.decimal_steps import to_steps
from discreet.errors import InputError, Phrase

if TYPE_CHECKING:
    from discreet.constraints.hidden.plan import HidePlan

__all__ = ["check_slope", "compare_digits", "compare_slope", "exact_slope", "public_points"]

_SPARE = 8  # last digits that an objective may lose beside one for each number
_TRIED = 8  # points at which a declared slope is compared with the objective's


def check_slope(plan: HidePlan, objective: Convex) -> None:
    """Refuse a slope that is too small: exactly where the objective is in closed form, at public points otherwise."""
    if not isinstance(objective, Quadratic):
        low, high = float(plan.least * plan.step), float(plan.most * plan.step)
        compare_slope(objective, plan.lipschitz or Fraction(0), len(plan.schema.names), low, high)
        compare_digits(plan, objective)
        return
    needed = exact_slope(objective, len(plan.schema.names), plan.least * plan.step, plan.most * plan.step)
    if (plan.lipschitz or 0) < needed:
        allowed = f"at least {float(needed):.6g}, how far {objective.name} moves where one number moves by one"
        hint = "Leave it out: of a linear or quadratic objective it is computed."
        raise InputError("lipschitz", float(plan.lipschitz or 0), allowed, hint)


def exact_slope(objective: Quadratic, numbers: int, low: Fraction, high: Fraction) -> Fraction:
    """How far a linear or quadratic objective moves at most, between the bounds, for each unit of one number."""
    found = objective.steepest(numbers, low, high)
    if not found:
        raise InputError("objective", objective.name, "a function that moves with the numbers")
    return found


def compare_slope(objective: Convex, slope: Fraction, numbers: int, low: float, high: float) -> None:
    """Refuse a slope that the objective exceeds at public points. That it does not proves nothing."""
    steepest = max(float(np.abs(objective.slope(x)).max()) for x in public_points(numbers, low, high))
    if steepest > float(slope) * (1 + 1e-6) + 1e-9:
        given = Phrase(f"{float(slope):g} where {objective.name} moves by {steepest:g}")
        raise InputError("lipschitz", given, "at least how far the objective moves where one number moves by one")


def compare_digits(plan: HidePlan, objective: Convex) -> None:
    """Refuse steps so small that floats lose them: the objective would jump by more than is charged for.

    Its largest value is bounded by a public one and the slope. What it computes on the way may be larger still, so
    that moves by as much as neighbours differ are tried, too: no proof of that part.
    """
    count, money = len(plan.schema.names), plan.money
    points = [
        to_steps(point.tolist(), plan.step, plan.most, plan.least)
        for point in public_points(count, float(plan.least * plan.step), float(plan.most * plan.step))
    ]
    reach = (plan.lipschitz or 0) * count * (plan.most - plan.least) * plan.step
    value = objective.value(plan.numbers(points[0]))
    largest = abs(Fraction(value if math.isfinite(value) else 1 << 1000)) + reach
    lost = (count + _SPARE) * largest / 2**52 >= money / 2
    for place, point in enumerate(points):
        moved = point.copy()
        at, way = place % count, 1 if point[place % count] + plan.shift <= plan.most else -1
        moved[at] = max(int(point[at]) + way * plan.shift, plan.least)
        lost = lost or abs(plan.height(moved) - plan.height(point)) > plan.shift + 1
    if lost:
        given = Phrase(f"{float(plan.step):g} where {objective.name} is up to {float(largest):.3g}")
        allowed = "larger: floats do not tell apart what the objective is at numbers one step apart"
        raise InputError("step", given, allowed, "Or leave constants out of the objective.")


def public_points(numbers: int, low: float, high: float) -> list[NDArray[np.float64]]:
    """Both corners of the bounds, and points between them."""
    parts = [(np.arange(numbers) * place * 0.618034 + place / _TRIED) % 1.0 for place in range(1, _TRIED - 1)]
    return [np.full(numbers, low), np.full(numbers, high), *(low + (high - low) * part for part in parts)]
