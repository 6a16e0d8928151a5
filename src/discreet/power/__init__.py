"""Loads of a power grid, hidden, and still loads that the grid can feed at about the same cost.

* `GridSchema` is what a custodian declares of a grid file.
* `Grid` is public: buses, branches, generators with their costs. `Loads` are private.
* `LoadsAsk` describes a release, `LoadPlan` prices it, `HiddenLoads` is what comes of it.
* `optimal_flow` is DC optimal power flow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy

if TYPE_CHECKING:
    from discreet.power.alternating import AlternatingLoads as AlternatingLoads
    from discreet.power.alternating import repair_ac as repair_ac
    from discreet.power.ask import LoadsAsk as LoadsAsk
    from discreet.power.grid import Grid as Grid
    from discreet.power.loads import Loads as Loads
    from discreet.power.opf import Flow as Flow
    from discreet.power.opf import optimal_flow as optimal_flow
    from discreet.power.plan import LoadPlan as LoadPlan
    from discreet.power.release import HiddenLoads as HiddenLoads
    from discreet.power.schema import GridSchema as GridSchema

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "alternating": ("AlternatingLoads", "repair_ac"),
        "ask": ("LoadsAsk",),
        "grid": ("Grid",),
        "loads": ("Loads",),
        "opf": ("Flow", "optimal_flow"),
        "plan": ("LoadPlan",),
        "release": ("HiddenLoads",),
        "schema": ("GridSchema",),
    },
)
