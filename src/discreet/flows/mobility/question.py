"""Who goes where, and when: counts of origin, destination and time window that agree with their sums.

flows = mobility(curator, origin="from", destination="to", window="hour", zones={"Harbour": "east", ...})
offer = flows.plan(epsilon=0.5)
print(offer)                       # cost, and the error of every table; nothing is spent
answer = offer.release()           # {"cells": ..., "origins": ..., "destinations": ..., "zones": ..., ...}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.core.exact import Number, as_written
from discreet.core.release import Release
from discreet.core.typed import typed
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.flows.mobility.flows import CELLS, DESTINATIONS, ORIGINS, WINDOWS, ZONES, Layout
from discreet.flows.mobility.plan import MobilityPlan, plan_mobility
from discreet.query.aggregate import count
from discreet.query.key import Key
from discreet.query.offer import Offer
from discreet.query.predicate import Predicate
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.tables import tables
from discreet.query.within import plan_within

if TYPE_CHECKING:
    from discreet.query.curator import Curator

__all__ = ["SHARES", "MobilityQuestion", "mobility"]

SHARES: Mapping[str, int] = {CELLS: 30, ORIGINS: 25, DESTINATIONS: 25, ZONES: 10, WINDOWS: 10}
"""How the price is shared, in parts: fixed beforehand, never fitted to the table at hand."""


@typed
def mobility(
    curator: Curator,
    *,
    origin: str | Key,
    destination: str | Key,
    window: str | Key | None = None,
    zones: Mapping[Any, str] | None = None,
    where: str | Predicate | None = None,
) -> MobilityQuestion:
    """Rows counted by origin, destination and time window, with all their sums, as whole numbers that agree.

    Origins, destinations and windows are public: declared categories, whole numbers or `bins(...)`. `zones` puts every
    origin and destination in a zone; then pairs of zones are measured too. `where` keeps some rows.
    """
    keys = [origin, destination, *([] if window is None else [window])]
    query = Query().group_by(*keys).agg(count=count())
    if where is not None:
        query = query.where(where)
    question = query.checked(curator.schema)
    question.groups(curator.schema)  # discovered keys have no list of places
    here, there, *when = (key.column for key in question.keys)
    if zones is not None and when and when[0] in (f"{here}_zone", f"{there}_zone"):
        allowed = f"another column: with zones, {when[0]} is a column of the tables"
        raise InputError("window", when[0], allowed, "Give the column another name.")
    layout, names = _layout(question, curator.schema, zones)
    return MobilityQuestion(curator, question, layout, names)


@dataclass(frozen=True, slots=True)
class MobilityQuestion:
    """A question about flows, checked. Nothing happens until it is planned and released."""

    curator: Curator
    question: Query
    layout: Layout
    zone_names: tuple[str, ...]

    def plan(
        self,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        share: Number | None = None,
        within: Number | None = None,
        confidence: float = 0.95,
        shares: Mapping[str, Number] | None = None,
        allotment: str | None = None,
    ) -> Offer[dict[str, Release]]:
        """Price all tables together.

        `shares` says in what proportion the price is spent on cells, origins, destinations, zones and windows (30, 25,
        25, 10 and 10 unless given): more for one means less noise there and more elsewhere.
        """
        price = Price.read(epsilon=epsilon, rho=rho, share=share, within=within, confidence=confidence)
        schema = self.curator.schema
        parts = _shares(shares, zoned=bool(self.zone_names))
        part = self.curator.allotment(allotment)

        def planned(paid: Price) -> MobilityPlan:
            return plan_mobility(self.question, schema, part, paid, self.layout, self.zone_names, parts)

        return Offer(self.curator, plan_within(price, part, planned), tables)


def _layout(question: Query, schema: Schema, zones: Mapping[Any, str] | None) -> tuple[Layout, tuple[str, ...]]:
    """Windows, origins and destinations by number, and the zones they are in."""
    origins, destinations, *rest = (key.labels(schema) for key in question.keys)
    windows = len(rest[0]) if rest else 1
    if zones is None:
        return Layout(windows, (0,) * len(origins), (0,) * len(destinations)), ()
    if not isinstance(zones, Mapping) or not zones:
        raise InputError("zones", zones, "a zone for every origin and destination: {place: zone}")
    places = {_label(label): None for label in (*origins, *destinations)}
    given = {_label(place): zone for place, zone in zones.items()}
    if strange := [place for place in given if place not in places]:
        raise InputError("zones", strange[0], "places that are declared origins or destinations")
    if missing := [place for place in places if place not in given]:
        hint = f"Add it to zones ({len(missing):,} missing)."
        if None in missing:
            hint = "None is where a place is missing: declare the column with nullable=False to leave such rows out."
        raise InputError("zones", missing[0], "a zone for every origin and destination", hint)
    if odd := [zone for zone in given.values() if not isinstance(zone, str) or not zone.isprintable() or not zone]:
        raise InputError("zones", odd[0], "names of zones, as text")
    names = tuple(dict.fromkeys(given[place] for place in places))
    number_of = {name: place for place, name in enumerate(names)}
    inside = [tuple(number_of[given[_label(label)]] for label in labels) for labels in (origins, destinations)]
    return Layout(windows, inside[0], inside[1]), names


def _label(label: Any) -> Any:
    """Places as people write them: a whole number and its text are one place."""
    return None if label is None else str(label)


def _shares(shares: Mapping[str, Number] | None, *, zoned: bool) -> dict[str, Fraction]:
    known = [name for name in SHARES if zoned or name != ZONES]
    if unknown := set(shares or {}) - set(known):
        hint = "Without zones there are no pairs of zones." if ZONES in unknown else ""
        raise InputError("shares", min(unknown), "only " + ", ".join(known), hint)
    parts = {}
    for name in known:
        parts[name] = as_written((shares or {}).get(name, SHARES[name]), f"shares.{name}")
        if parts[name] <= 0:
            raise InputError(f"shares.{name}", str(parts[name]), "more than zero")
    return {name: part / sum(parts.values()) for name, part in parts.items()}
