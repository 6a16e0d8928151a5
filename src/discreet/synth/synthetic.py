"""What a method of synthesis hands back."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.marginals.counts import Bins
from discreet.marginals.meter import Noisy
from discreet.synth.sample import Codes

__all__ = ["Synthetic"]


@dataclass(frozen=True, slots=True, eq=False)
class Synthetic:
    """Rows of codes, and everything measured on the way to them.

    `total` is how many rows the private table is estimated to have. `measured` are the noisy marginals; if `bins` are
    given, those from place `fine` on are of codes merged into them. `notes` say what the method did, for people.
    """

    codes: Codes
    total: float
    measured: tuple[Noisy, ...]
    bins: Bins | None = None
    fine: int = 0
    notes: tuple[str, ...] = ()
