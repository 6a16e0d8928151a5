"""Noisy marginals: columns as short lists of codes, and the only way to count combinations of them.

* `Domain` says which codes each column has; `Counts` are the exact marginals of a table, `ArrayCounts` those of one in
  memory, `EngineCounts` those of one in an engine. They are private.
* `Meter` adds noise to them at a price, and is all that a method sees; `Noisy` is what it measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy

if TYPE_CHECKING:
    from discreet.marginals.counts import ArrayCounts as ArrayCounts
    from discreet.marginals.counts import Counts as Counts
    from discreet.marginals.domain import Domain as Domain
    from discreet.marginals.engine import EngineCounts as EngineCounts
    from discreet.marginals.meter import Meter as Meter
    from discreet.marginals.meter import Noisy as Noisy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "counts": ("ArrayCounts", "Counts"),
        "domain": ("Domain",),
        "engine": ("EngineCounts",),
        "meter": ("Meter", "Noisy"),
    },
)
