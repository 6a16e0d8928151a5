"""Synthetic commuters: rows of origin and destination that look like the private ones and are nobody's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.core.exact import Number, as_written
from discreet.data.schema import Schema
from discreet.errors import GIVEN, InputError, Phrase, kind_of
from discreet.flows.commuting.land import Land, land_of
from discreet.flows.commuting.plan import CELLS, SIZES, CommutePlan, Method
from discreet.flows.commuting.prior import Prior
from discreet.flows.commuting.profile import PROFILE, profile_attributes
from discreet.flows.commuting.release import CommuteRelease
from discreet.ledger.budget import Allotment
from discreet.ledger.door import Answer
from discreet.marginals.domain import Attribute, Domain
from discreet.marginals.engine import LARGEST
from discreet.query.aggregate import count
from discreet.query.ask import Ask, Checked, Form, option, read_file
from discreet.query.forms import AMOUNT, CONDITION, FLAG, KEY, KEYS, PLACES, REAL, TEXT
from discreet.query.key import Key, keys_under
from discreet.query.predicate import Predicate
from discreet.query.price import Price
from discreet.query.question import Query

__all__ = ["REFUSAL", "CheckedCommute", "CommuteAsk"]

REFUSAL = Fraction(1, 10**5)
"""How likely a destination may be refused if the prior is an accepted one, unless said otherwise."""
_LEAST = 2**20  # sizes that are measured may turn out to be so large, at least


def _clusters(value: Any) -> Any:
    return value if isinstance(value, int) else PLACES.settle(value)


CLUSTERS = Form(
    int | dict[str, Any],
    settle=_clusters,
    parse=lambda text: int(text) if text.strip().isdecimal() else PLACES.parse(text),
    load=lambda text: int(text) if text.isdecimal() else read_file(PLACES.parse)(text),
)


@frozen(eq=False)
class CommuteAsk(Ask):
    """Made-up rows of origin and destination, of places that are public."""

    kind: ClassVar[str] = "commute"
    prices: ClassVar[tuple[str, ...]] = ("epsilon", "rho", "share", "within")

    origin: Key = option(KEY, help="Column of the place a row comes from: its values are public", names_columns=True)
    destination: Key = option(KEY, help="Column of the place it goes to", names_columns=True)
    coordinates: Mapping[Any, tuple[float, float]] = option(
        PLACES, help="Where every place is: a CSV file of place,x,y (or place,latitude,longitude with degrees)"
    )
    degrees: bool = option(FLAG, False, help="Coordinates are latitude and longitude; distances are kilometres")
    sizes: Mapping[Any, int] | None = option(
        PLACES, None, help="Public numbers of rows of every destination: a CSV file of place,number; else measured"
    )
    clusters: int | Mapping[Any, Any] | None = option(
        CLUSTERS, None, help="Method classic: how many cells origins share, or a CSV file of place,cell"
    )
    near: float | None = option(REAL, None, help="Method classic: origins so near a destination share no cell")
    farthest: float | None = option(REAL, None, help="Largest distance of a commute in the release")
    where: str | Predicate | None = option(CONDITION, None, help="Which rows of the data count")
    profile: tuple[Key, ...] = option(
        KEYS, (), help="Columns that the workers of each destination are counted by: age, earnings, industry"
    )
    method: Method = option(
        TEXT, "modern", help="modern (noisy counts) or classic (urns)", choices=get_args(Method), late=True
    )
    prior: Prior | None = option(
        TEXT, None, help="Method classic: " + ", ".join(get_args(Prior)), choices=get_args(Prior), late=True
    )
    delta: Number | None = option(AMOUNT, None, help="Method classic, for a prior that takes one", late=True)
    refusal: Number = option(AMOUNT, REFUSAL, help="Method classic: how likely a destination may be refused", late=True)

    def checked(self, schema: Schema) -> CheckedCommute:
        """The same, read against a schema."""
        keys = keys_under(schema, origin=self.origin, destination=self.destination)
        query = Query().group_by(*keys).agg(count=count())
        question = (query if self.where is None else query.where(self.where)).checked(schema)
        question.groups(schema)  # refused where they are too many
        between = [_attribute(key, schema) for key in question.keys]
        starts, ends = (attribute.labels for attribute in between)
        profile = profile_attributes(self.profile, schema, [one.name for one in between], len(ends))
        domain = Domain((*between, *profile))
        if len(starts) * len(ends) > LARGEST:
            raise InputError(
                "origin",
                Phrase(f"{len(starts):,} x {len(ends):,} cells"),
                f"such that there are at most {LARGEST:,} cells",
            )
        land = land_of(
            starts,
            ends,
            self.coordinates,
            degrees=self.degrees,
            clusters=self.clusters,
            near=self.near,
            farthest=self.farthest,
        )
        if self.method not in get_args(Method):
            raise InputError("method", self.method, among=get_args(Method))
        if self.method == "modern" and (self.delta is not None or self.prior is not None):
            field = "delta" if self.prior is None else "prior"
            raise InputError(field, self.prior or self.delta, "left out unless the method is classic")
        return CheckedCommute(
            schema,
            question,
            domain,
            land,
            _sizes(self.sizes, tuple(ends)),
            self.method,
            self.prior,
            self.delta,
            self.refusal,
        )


@dataclass(frozen=True)
class CheckedCommute(Checked[CommuteRelease]):
    """Commuters to be made up: where they may come from and go to is known."""

    schema: Schema
    question: Query
    domain: Domain
    land: Land
    sizes: NDArray[np.int64] | None
    method: Method
    prior: Prior | None
    delta: Number | None
    refusal: Number

    def priced(self, allotment: Allotment, price: Price | None) -> CommutePlan:
        """The plan at a price, if its noise and its urns can be made."""
        if allotment.kind == "plan":
            raise InputError("allotment", allotment.name, "a pure or zcdp allotment")
        if price is not None and self.method == "classic":
            if price.way == "within":
                raise InputError(
                    "within", float(price.amount), "left out unless the method is modern: draws have no half-width"
                )
            return _payable(self.plan(allotment, price), price)
        plan: CommutePlan = super().priced(allotment, price)
        return plan if price is None else _payable(plan, price)

    def plan(self, allotment: Allotment, price: Price) -> CommutePlan:
        """The whole release at a price."""
        currency, amount = price.spent(allotment)
        question, domain, land, sizes = self.question, self.domain, self.land, self.sizes
        if self.method == "modern":
            way: Literal["epsilon", "rho"] = "rho" if currency == "rho" else "epsilon"
            return CommutePlan(question, self.schema, domain, land, allotment, self.method, way, amount, sizes=sizes)
        chosen = self.prior if self.prior is not None else "accepted" if self.delta is None else "probabilistic"
        chance = _chance(chosen, allotment, currency, self.delta, self.refusal)
        return CommutePlan(
            question, self.schema, domain, land, allotment, self.method, "epsilon", amount, chosen, chance, sizes
        )

    def read(self, answer: Answer, cost: str, remaining: str) -> CommuteRelease:
        """The commuters that an answer holds."""
        return CommuteRelease.read(answer, cost, remaining)


def _attribute(key: Key, schema: Schema) -> Attribute:
    """Places as codes. A row without an origin or a destination is none of a commuter, and left out."""
    labels = tuple(label for label in key.labels(schema) if label is not None)
    if key.edges is None:
        key = Key(key.column, values=labels).checked(schema)
    return Attribute(key.column, key, labels, ordered=False, missing=False)


def _sizes(sizes: Mapping[Any, int] | None, destinations: tuple[Any, ...]) -> NDArray[np.int64] | None:
    if sizes is None:
        return None
    if not isinstance(sizes, Mapping):
        raise InputError("sizes", kind_of(sizes), "a public number of rows for every destination")
    known = {str(place): size for place, size in sizes.items()}
    if missing := [str(place) for place in destinations if str(place) not in known]:
        raise InputError("sizes", missing[0], "a size for every destination", f"Add it ({len(missing):,} missing).")
    found = [known[str(place)] for place in destinations]
    for place, size in zip(destinations, found, strict=True):
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or not 0 <= size <= 2**31:
            raise InputError("sizes", (str(place), size), "whole numbers from 0 to 2**31")
    return np.array(found, dtype=np.int64)


def _payable(plan: CommutePlan, price: Price) -> CommutePlan:
    """The plan, if its noise and its urns can be made: what cannot be is refused before anything is spent."""
    try:
        if plan.method == "modern" or plan.sizes is None:
            plan.noise(plan.part(SIZES))
            plan.noise(plan.part(CELLS))
        if plan.profile:
            plan.noise(PROFILE / len(plan.profile))
        sizes, least = plan.sizes, _LEAST
        if plan.method == "classic" and plan.largest < (least if sizes is None else int(sizes.max())):
            raise InputError("size", plan.largest, "larger at this price: a destination has more workers")
    except InputError as problem:  # what a person wrote is the price, not a scale
        allowed = f"another amount: at this one {problem.field} would have to be {problem.allowed}"
        raise InputError(price.way, float(price.amount), allowed) from None
    return plan


def _chance(prior: str, allotment: Allotment, currency: str, delta: Number | None, refusal: Number) -> Fraction:
    """The delta or the chance of refusal that a prior is made for."""
    if prior not in get_args(Prior):
        raise InputError("prior", prior, among=get_args(Prior))
    if currency == "rho":
        hint = "Give epsilon, from which its zCDP cost follows; or use the modern method, which spends rho better."
        raise InputError("rho", GIVEN, "left out for the classic method", hint)
    if prior in ("pure", "accepted"):
        if delta is not None:
            raise InputError("delta", delta, f"left out where the prior is {prior}")
        chance = as_written(refusal, "refusal")
        if not 0 < chance <= Fraction(1, 10):
            raise InputError("refusal", refusal, "more than 0 and at most 0.1")
        return chance
    if delta is None:
        raise InputError("delta", None, f"given, such as 1e-6, where the prior is {prior}")
    chance = as_written(delta, "delta")
    if not 0 < chance < 1:
        raise InputError("delta", delta, "more than 0 and less than 1", "Choose it well below 1 / (number of rows).")
    if allotment.kind == "pure":
        hint = "Use a budget with a delta, or prior='accepted'."
        raise InputError("allotment", allotment.name, f"a zcdp allotment: a prior that is {prior} takes a delta", hint)
    return chance
