"""What the coordinates of a vector cost together: one price, one noise, for the length that a unit moves it by."""

from __future__ import annotations

from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Unit
from discreet.mechanisms import Gaussian, Laplace
from discreet.query.measure import Coordinate, Measure, vector_sensitivity

__all__ = ["counts_once", "priced_with", "vector_moved"]


def priced_with(measure: Measure) -> Measure:
    """The measure whose price it shares: the first coordinate of its vector, or itself."""
    return measure.vector[0] if isinstance(measure, Coordinate) else measure


def counts_once(measure: Measure) -> bool:
    """Whether it has a price of its own."""
    return priced_with(measure) == measure


def vector_moved(measure: Coordinate, unit: Unit, groups: int, noise: type[Laplace | Gaussian]) -> Sensitivity:
    """How far one unit moves the whole vector of a coordinate in all groups, in the norm of the noise.

    Guarantee: noise for it on each coordinate costs, for all of them together, what it costs for this one move.
    Proof: docs/proofs/query.md.
    """
    length, added = vector_sensitivity(measure, unit, groups)
    most = length if noise is Gaussian else added
    return Sensitivity(each=most, outputs=2, total=most)  # shared by several outputs, nobody knows how
