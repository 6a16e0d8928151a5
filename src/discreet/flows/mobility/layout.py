"""What is counted of flows: windows, origins, destinations, their zones, and the sums that are measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["CELLS", "DESTINATIONS", "ORIGINS", "PILOT", "WINDOWS", "ZONES", "Layout"]

Whole = NDArray[np.int64]

CELLS, ORIGINS, DESTINATIONS, ZONES, WINDOWS = "cells", "origins", "destinations", "zones", "windows"
PILOT = "pilot"
"""The windows, measured first with a small share: whether cells are full or mostly empty is read from them."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Windows, origins and destinations, and the zone of each origin and destination (all zone 0 without zones)."""

    windows: int
    origin_zones: tuple[int, ...]
    destination_zones: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Windows, origins, destinations."""
        return self.windows, len(self.origin_zones), len(self.destination_zones)

    @property
    def zones(self) -> tuple[int, int]:
        """How many zones there are for origins and for destinations: the same list."""
        many = max(*self.origin_zones, *self.destination_zones) + 1
        return many, many

    @property
    def parts(self) -> Whole:
        """How many cells each pair of zones has; none where a zone has no origins, or no destinations."""
        found: Whole = np.multiply.outer(
            self.members(self.origin_zones).sum(axis=0), self.members(self.destination_zones).sum(axis=0)
        )
        return found

    def members(self, zones: tuple[int, ...]) -> Whole:
        """One for every place and the zone it is in, else zero."""
        found: Whole = (np.array(zones)[:, None] == np.arange(self.zones[0])).astype(np.int64)
        return found

    def sums(self, flows: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """What is measured, of an array of windows, origins and destinations: the aggregations by name."""
        pairs = self.members(self.origin_zones).T @ flows @ self.members(self.destination_zones)
        return {
            CELLS: flows,
            ORIGINS: flows.sum(axis=2),
            DESTINATIONS: flows.sum(axis=1),
            ZONES: pairs.astype(flows.dtype, copy=False),
            WINDOWS: flows.sum(axis=(1, 2)),
        }
