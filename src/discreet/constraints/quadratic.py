"""Linear and quadratic functions of numbers, in closed form: how far they move between bounds is computed exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.constraints.convex import Convex, Floats
from discreet.core.exact import Number, as_written
from discreet.errors import InputError, Phrase

__all__ = ["Quadratic"]

_LARGEST = 10**100


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Quadratic(Convex):
    """The sum of `weights` x + `squares` x^2 over all numbers, and a constant: linear where there are no squares.

    Both are one number for all, or one for each; squares are zero or more, so that it is convex. As a constraint it is
    at most `most`.

    >>> losses = Quadratic("losses", squares="0.01")
    >>> losses.steepest(2, Fraction(0), Fraction(100))
    Fraction(2, 1)
    >>> losses.exact([Fraction(3), Fraction(4)])
    Fraction(1, 4)
    """

    weights: tuple[Fraction, ...] = (Fraction(0),)
    squares: tuple[Fraction, ...] = (Fraction(0),)
    constant: Fraction = Fraction(0)

    def __init__(
        self,
        name: str,
        weights: Number | Sequence[Number] = 0,
        squares: Number | Sequence[Number] = 0,
        *,
        constant: Number = 0,
        most: float = 0.0,
    ) -> None:
        linear, square = _numbers(weights, f"{name}.weights"), _numbers(squares, f"{name}.squares")
        if min(square) < 0:
            raise InputError(f"{name}.squares", float(min(square)), "zero or more: a function that is convex")
        (added,) = _numbers(constant, f"{name}.constant")
        w, q, c = np.array(linear, dtype=float), np.array(square, dtype=float), float(added)

        def function(x: Floats) -> float:
            return float((w * x + q * x * x).sum()) + c

        def gradient(x: Floats) -> Floats:
            return np.broadcast_to(w + 2 * q * x, x.shape)

        Convex.__init__(self, name, function, most, gradient)
        for field, value in (("weights", linear), ("squares", square), ("constant", added)):
            object.__setattr__(self, field, value)

    def check(self, count: int) -> None:
        """Refuse weights that are not one for all, or one for each of so many numbers."""
        for field in ("weights", "squares"):
            many = len(getattr(self, field))
            if many not in (1, count):
                raise InputError(f"{self.name}.{field}", Phrase(f"{many} numbers"), f"one number, or {count}")

    def exact(self, numbers: Sequence[Fraction]) -> Fraction:
        """Its value, without rounding."""
        pairs = self._pairs(len(numbers))
        return sum((w * x + q * x * x for (w, q), x in zip(pairs, numbers, strict=True)), start=self.constant)

    def steepest(self, count: int, low: Fraction, high: Fraction) -> Fraction:
        """The most that it moves, for each unit that one of so many numbers moves between two bounds.

        Guarantee
            For numbers between the bounds that differ in one of them by h, its values differ by at most this times h,
            exactly; and no smaller number will do. Proof: docs/proofs/constraints.md.
        """
        return max(abs(w + 2 * q * end) for w, q in self._pairs(count) for end in (low, high))

    def to_dict(self) -> dict[str, Any]:
        """Plain values that decide it."""
        found = {"weights": [str(one) for one in self.weights], "squares": [str(one) for one in self.squares]}
        return {"name": self.name, **found, "constant": str(self.constant)}

    def _pairs(self, count: int) -> list[tuple[Fraction, Fraction]]:
        linear, square = (
            part * count if len(part) == 1 and count > 1 else part for part in (self.weights, self.squares)
        )
        return list(zip(linear, square, strict=True))


def _numbers(value: Any, field: str) -> tuple[Fraction, ...]:
    """One number, or one for each, as written."""
    listed = value if isinstance(value, (list, tuple, np.ndarray)) else (value,)
    found = tuple(as_written(one.item() if isinstance(one, np.generic) else one, field) for one in listed)
    if not found or max(abs(one) for one in found) > _LARGEST:
        raise InputError(field, Phrase("no number, or one too large"), "one number, or one for each")
    return found
