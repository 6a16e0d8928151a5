"""Synthetic commuters: rows of origin and destination that look like the private ones and are nobody's.

question = commute(curator, origin="home", destination="work", coordinates={"Mitte": (52.52, 13.40), ...}, degrees=True)
offer = question.plan(epsilon=1)
print(offer)                       # cost, noise or priors; nothing is spent
answer = offer.release()           # rows, flows, mean distances, a picture
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, as_written
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.flows.commuting.land import Land, land_of
from discreet.flows.commuting.plan import CELLS, SIZES, CommutePlan, Method
from discreet.flows.commuting.prior import Prior
from discreet.flows.commuting.released import CommuteRelease
from discreet.ledger.budget import Allotment
from discreet.marginals.domain import Attribute, Domain
from discreet.marginals.engine import LARGEST
from discreet.query.aggregate import count
from discreet.query.key import Key
from discreet.query.offer import Offer
from discreet.query.predicate import Predicate
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.within import plan_within

if TYPE_CHECKING:
    from discreet.query.curator import Curator

__all__ = ["REFUSAL", "CommuteQuestion", "commute"]

REFUSAL = Fraction(1, 10**5)
"""How likely a destination may be refused if the prior is an accepted one, unless said otherwise."""
_LEAST = 2**20  # sizes that are measured may turn out to be so large, at least


def commute(
    curator: Curator,
    *,
    origin: str | Key,
    destination: str | Key,
    coordinates: Mapping[Any, tuple[float, float]],
    degrees: bool = False,
    sizes: Mapping[Any, int] | None = None,
    clusters: int | Mapping[Any, Any] | None = None,
    near: float | None = None,
    farthest: float | None = None,
    where: str | Predicate | None = None,
) -> CommuteQuestion:
    """Rows to be made up that have an origin and a destination, of places that are public.

    `coordinates` has a pair of numbers for every place: x and y in one unit, or latitude and longitude in `degrees`
    (then distances are kilometres). `sizes` are public numbers of rows for every destination; without them they are
    measured. For the classic method origins may share a cell: `clusters` of them, by where they are or as given, except
    `near` a destination. Beyond `farthest` from a destination nobody is said to come from.
    """
    query = Query().group_by(origin, destination).agg(count=count())
    if where is not None:
        query = query.where(where)
    question = query.checked(curator.schema)
    question.groups(curator.schema)  # discovered keys have no list of places
    domain = Domain(tuple(_attribute(key, curator.schema) for key in question.keys))
    starts, ends = (attribute.labels for attribute in domain.attributes)
    if len(starts) * len(ends) > LARGEST:
        raise InputError("origin", f"{len(starts):,} x {len(ends):,} cells", f"at most {LARGEST:,} cells")
    land = land_of(starts, ends, coordinates, degrees=degrees, clusters=clusters, near=near, farthest=farthest)
    return CommuteQuestion(curator, question, domain, land, _sizes(sizes, ends))


@dataclass(frozen=True, slots=True)
class CommuteQuestion:
    """Commuters to be made up, described. Nothing happens until it is planned and released."""

    curator: Curator
    question: Query
    domain: Domain
    land: Land
    sizes: NDArray[np.int64] | None

    def plan(
        self,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        share: Number | None = None,
        within: Number | None = None,
        method: Method = "modern",
        prior: Prior | None = None,
        delta: Number | None = None,
        refusal: Number = REFUSAL,
        allotment: str | None = None,
    ) -> Offer[CommuteRelease]:
        """Price the whole release.

        Method modern: noisy counts that are made to agree. Method classic: draws from urns, with a `prior` that is
        pure, probabilistic or approximate (both take a `delta`) or accepted (unless said otherwise, if there is no
        delta), which refuses a destination with a chance of at most `refusal`.
        """
        price = Price.read(epsilon=epsilon, rho=rho, share=share, within=within)
        part = self.curator.allotment(allotment)
        if part.kind == "plan":
            raise InputError("allotment", part.name, "a pure or zcdp allotment")
        if method not in get_args(Method):
            raise InputError("method", method, "modern or classic")
        schema = self.curator.schema
        if method == "modern":
            if delta is not None or prior is not None:
                raise InputError("delta" if prior is None else "prior", prior or delta, "for the classic method only")

            def planned(paid: Price) -> CommutePlan:
                currency, amount = paid.spent(part)
                way: Literal["epsilon", "rho"] = "rho" if currency == "rho" else "epsilon"
                return CommutePlan(
                    self.question, schema, self.domain, self.land, part, method, way, amount, sizes=self.sizes
                )

            return Offer(self.curator, _payable(plan_within(price, part, planned), price), CommuteRelease.read)
        if price.way == "within":
            raise InputError("within", float(price.amount), "for the modern method only: draws have no half-width")
        currency, amount = price.spent(part)
        chosen = prior if prior is not None else "accepted" if delta is None else "probabilistic"
        chance = _chance(chosen, part, currency, delta, refusal)
        plan = CommutePlan(
            self.question, schema, self.domain, self.land, part, method, "epsilon", amount, chosen, chance, self.sizes
        )
        return Offer(self.curator, _payable(plan, price), CommuteRelease.read)


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
        raise InputError("sizes", type(sizes).__name__, "a public number of rows for every destination")
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
            plan.noise(SIZES)
            plan.noise(CELLS)
        sizes, least = plan.sizes, _LEAST
        if plan.method == "classic" and plan.largest < (least if sizes is None else int(sizes.max())):
            raise InputError("size", plan.largest, "more workers than a destination can have at this price")
    except InputError as problem:  # what a person wrote is the price, not a scale
        allowed = f"another one: at this price no release is made ({problem.field}: {problem.allowed})"
        raise InputError(price.way, float(price.amount), allowed) from None
    return plan


def _chance(prior: str, allotment: Allotment, currency: str, delta: Number | None, refusal: Number) -> Fraction:
    """The delta or the chance of refusal that a prior is made for."""
    if prior not in get_args(Prior):
        raise InputError("prior", prior, "pure, probabilistic, approximate or accepted")
    if currency == "rho":
        hint = "Its zCDP cost follows; or use the modern method, which spends rho better."
        raise InputError("rho", "the price", "epsilon for the classic method", hint)
    if prior in ("pure", "accepted"):
        if delta is not None:
            raise InputError("delta", str(delta), f"absent: a prior that is {prior} misses nothing")
        chance = as_written(refusal, "refusal")
        if not 0 < chance <= Fraction(1, 10):
            raise InputError("refusal", refusal, "more than 0 and at most 0.1")
        return chance
    if delta is None:
        raise InputError("delta", None, f"given, such as 1e-6: a prior that is {prior} misses something")
    chance = as_written(delta, "delta")
    if not 0 < chance < 1:
        raise InputError("delta", delta, "more than 0 and less than 1", "Choose it well below 1 / (number of rows).")
    if allotment.kind == "pure":
        hint = "Use a budget with a delta, or prior='accepted'."
        raise InputError("allotment", allotment.name, f"a zcdp one: a prior that is {prior} takes a delta", hint)
    return chance
