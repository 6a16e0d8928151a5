"""Who goes where, and when: counts of origin, destination and time window that agree with their sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import attrs
from attrs import frozen

from discreet.core.exact import Number, as_written
from discreet.data.column import Timestamp
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.flows.mobility.layout import CELLS, DESTINATIONS, ORIGINS, WINDOWS, ZONES, Layout
from discreet.flows.mobility.plan import MobilityPlan, plan_mobility
from discreet.flows.mobility.windows import DayWindows, day_windows
from discreet.ledger.budget import Allotment
from discreet.ledger.door import Answer
from discreet.query.aggregate import count
from discreet.query.ask import Ask, Checked, option
from discreet.query.forms import CONDITION, KEY, PLACES, TEXT, WEIGHTS
from discreet.query.key import Key, keys_under
from discreet.query.predicate import Predicate
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.release import Tables, tables

__all__ = ["MOST_CELLS", "SHARES", "CheckedFlows", "FlowsAsk"]

MOST_CELLS = 2_500_000
"""Cells of a release: 30,000 pairs of places in 48 half hours, and some more."""

SHARES: Mapping[str, int] = {CELLS: 30, ORIGINS: 25, DESTINATIONS: 25, ZONES: 10, WINDOWS: 10}
"""How the price is shared where cells are mostly empty, in parts: fixed beforehand, never fitted to the table."""


def _window_from(value: Any, schema: Schema) -> Key:
    """A key from JSON; a column of timestamps as it is, since `every` may say what its windows are."""
    name = value.get("column") if isinstance(value, Mapping) and len(value) == 1 else value
    if isinstance(name, str) and isinstance(schema.columns.get(name), Timestamp):
        return Key(name)
    found: Key = KEY.read(value, schema)
    return found


WINDOW = attrs.evolve(KEY, read=_window_from)


@frozen(eq=False)
class FlowsAsk(Ask):
    """Rows counted by origin, destination and time window, with all their sums, as whole numbers that agree."""

    kind: ClassVar[str] = "flows"

    origin: Key = option(KEY, help="Column of the place a row comes from: its values are public", names_columns=True)
    destination: Key = option(KEY, help="Column of the place it goes to", names_columns=True)
    window: Key | None = option(WINDOW, None, help="Column of the time window: day/month, say", names_columns=True)
    zones: Mapping[Any, str] | None = option(
        PLACES, None, help="Zone of every place: a CSV file of place,zone. Then pairs of zones are measured too"
    )
    where: str | Predicate | None = option(CONDITION, None, help="Which rows of the data count")
    every: str | None = option(
        TEXT, None, help="Where the window is a column of timestamps: length of the windows of the day, such as 30min"
    )
    shares: Mapping[str, Number] | None = option(
        WEIGHTS,
        None,
        help="Fixed shares of the price, whatever cells hold: cells=30,origins=25,destinations=25",
        late=True,
    )

    def checked(self, schema: Schema) -> CheckedFlows:
        """The same, read against a schema."""
        day = None if self.every is None else day_windows(self.window, self.every, schema)
        window = self.window if day is None else day.key
        keys = keys_under(schema, origin=self.origin, destination=self.destination, window=window)
        query = Query().group_by(*keys).agg(count=count())
        query = query if self.where is None else query.where(self.where)
        question = (query if day is None else query.where(day.condition(schema))).checked(schema, MOST_CELLS)
        question.groups(schema)  # refused where they are too many
        here, there, *when = (key.title for key in question.keys)
        if self.zones is not None and when and when[0] in (f"{here}_zone", f"{there}_zone"):
            allowed = f"another column: with zones, {when[0]} is a column of the tables"
            raise InputError("window", when[0], allowed, "Give the column another name.")
        layout, names = _layout(question, schema, self.zones)
        shares = _shares(self.shares, zoned=bool(names))
        return CheckedFlows(schema, question, layout, names, shares, staged=self.shares is None, day=day)


@dataclass(frozen=True)
class CheckedFlows(Checked[Tables]):
    """Flows to be released: their places and windows are known."""

    schema: Schema
    question: Query
    layout: Layout
    zones: tuple[str, ...]
    shares: Mapping[str, Fraction]
    staged: bool
    day: DayWindows | None = None

    def plan(self, allotment: Allotment, price: Price) -> MobilityPlan:
        """All tables together at a price."""
        asked = (self.question, self.schema, allotment, price, self.layout, self.zones, self.shares)
        return plan_mobility(*asked, staged=self.staged, day=self.day)

    def read(self, answer: Answer, cost: str, remaining: str) -> Tables:
        """The tables that an answer holds."""
        return tables(answer, cost, remaining)


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
        raise InputError("zones", strange[0], "given for declared origins and destinations")
    if None in places and None not in given:
        field, key = next(
            (name, key)
            for name, key, labels in zip(
                ("origin", "destination"), question.keys, (origins, destinations), strict=False
            )
            if None in labels
        )
        hint = "Declare it with nullable = false: rows without a place are then left out."
        raise InputError(field, key.column, "a column without missing values where zones are given", hint)
    if missing := [place for place in places if place not in given]:
        hint = f"Add it to zones ({len(missing):,} missing)."
        raise InputError("zones", missing[0], "a zone for every origin and destination", hint)
    if odd := [zone for zone in given.values() if not isinstance(zone, str) or not zone.isprintable() or not zone]:
        raise InputError("zones", odd[0], "named by text")
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
        raise InputError("shares", min(unknown), "given for tables of the release", hint, among=known)
    parts = {}
    for name in known:
        parts[name] = as_written((shares or {}).get(name, SHARES[name]), f"shares.{name}")
        if parts[name] <= 0:
            raise InputError(f"shares.{name}", parts[name], "more than zero")
    return {name: part / sum(parts.values()) for name, part in parts.items()}
