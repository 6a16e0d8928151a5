"""Reports added up: what an estimate needs to know of a million of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError

__all__ = ["Tally"]


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Of `n` reports: the sum over them, for each category, of its score (`first`) and of the score squared (`second`).

    The score of a category is 1 where a report supports it and 0 where not (then `second` is `first`), or a sign.
    Sums of tallies are tallies of all the reports, so that parts may be counted anywhere and added.
    """

    mechanism: str
    n: int
    first: NDArray[np.int64]
    second: NDArray[np.int64]

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if other.mechanism != self.mechanism:
            hint = "Reports of another survey, or with another epsilon, have another law."
            raise InputError("tally", other.mechanism, f"a tally of the mechanism {self.mechanism}", hint)
        first = self.first + other.first
        plain = self.first is self.second and other.first is other.second
        return Tally(self.mechanism, self.n + other.n, first, first if plain else self.second + other.second)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Tally)
            and (self.mechanism, self.n) == (other.mechanism, other.n)
            and np.array_equal(self.first, other.first)
            and np.array_equal(self.second, other.second)
        )

    __hash__ = None  # type: ignore[assignment]
