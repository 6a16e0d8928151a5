"""Who goes where: flows that agree with their sums, and synthetic commuters.

`mobility` counts trips by origin, destination and time window (`FlowsAsk`, `MobilityPlan`); `commuting` makes rows of
people who live in one region and work in another (`CommuteAsk`, `CommutePlan`, `CommuteRelease`). Names load on first
use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy

if TYPE_CHECKING:
    from discreet.flows.commuting.ask import CommuteAsk as CommuteAsk
    from discreet.flows.commuting.lodes import read_lodes as read_lodes
    from discreet.flows.commuting.plan import CommutePlan as CommutePlan
    from discreet.flows.commuting.release import CommuteRelease as CommuteRelease
    from discreet.flows.mobility.ask import FlowsAsk as FlowsAsk
    from discreet.flows.mobility.picture import draw_flows as draw_flows
    from discreet.flows.mobility.plan import MobilityPlan as MobilityPlan

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "commuting.ask": ("CommuteAsk",),
        "commuting.lodes": ("read_lodes",),
        "commuting.plan": ("CommutePlan",),
        "commuting.release": ("CommuteRelease",),
        "mobility.ask": ("FlowsAsk",),
        "mobility.picture": ("draw_flows",),
        "mobility.plan": ("MobilityPlan",),
    },
)
