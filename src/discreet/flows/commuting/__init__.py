"""Synthetic commuters: rows of home and work that look like the true ones, and are nobody's.

`CommuteAsk` is what is asked, `CommutePlan` its price, `CommuteRelease` the rows. They come from noisy counts and a
model of distance (`flows_of`) or from `Urns`, over a `Land` of public places. Names load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy

if TYPE_CHECKING:
    from discreet.flows.commuting.ask import CommuteAsk as CommuteAsk
    from discreet.flows.commuting.estimate import flows_of as flows_of
    from discreet.flows.commuting.land import Land as Land
    from discreet.flows.commuting.lodes import Lodes as Lodes
    from discreet.flows.commuting.lodes import read_lodes as read_lodes
    from discreet.flows.commuting.plan import CommutePlan as CommutePlan
    from discreet.flows.commuting.prior import pure_prior as pure_prior
    from discreet.flows.commuting.release import CommuteRelease as CommuteRelease
    from discreet.flows.commuting.urns import Urns as Urns

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "ask": ("CommuteAsk",),
        "estimate": ("flows_of",),
        "land": ("Land",),
        "lodes": ("Lodes", "read_lodes"),
        "plan": ("CommutePlan",),
        "prior": ("pure_prior",),
        "release": ("CommuteRelease",),
        "urns": ("Urns",),
    },
)
