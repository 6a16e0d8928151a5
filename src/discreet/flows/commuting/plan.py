"""A priced release of synthetic commuters: counts in the engine, then urns or noisy counts, under one charge."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.compose import compose
from discreet.accounting.group import group
from discreet.accounting.words import readable
from discreet.core.digest import digest_of
from discreet.core.exact import exp_down, exp_up, round_up
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.loss import ZCDP, Approx, Loss, Pure
from discreet.core.mechanism import Bits
from discreet.core.note import Note
from discreet.core.packing import pack, unpack
from discreet.core.progress import notify
from discreet.core.sensitivity import Sensitivity
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError
from discreet.flows.commuting.estimate import flows_of
from discreet.flows.commuting.land import Land
from discreet.flows.commuting.prior import UNIT, Prior, largest_size
from discreet.flows.commuting.profile import PROFILE, profile_notes, write_profiles
from discreet.flows.commuting.urns import Urns
from discreet.ledger.budget import Allotment
from discreet.marginals.counts import Counts
from discreet.marginals.domain import Attribute, Domain
from discreet.marginals.engine import EngineCounts, moved_by
from discreet.marginals.meter import Meter, Noisy
from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.inputs import read_confidence
from discreet.mechanisms.record import noise_to
from discreet.query.compatibility import columns_read
from discreet.query.notes import cell_notes
from discreet.query.plan import noise_name
from discreet.query.question import Query
from discreet.query.table_plan import TablePlan

__all__ = ["CELLS", "SIZES", "CommutePlan", "Method", "row_price"]

Method = Literal["modern", "classic"]
Whole = NDArray[np.int64]

_BOTH, _FROM, _TO = (0, 1), (0,), (1,)
CELLS, SIZES = Fraction(38, 40), Fraction(1, 40)
"""The parts of the price that noisy cells, and each kind of noisy totals, get. Tuned on made-up flows."""
_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class CommutePlan(TablePlan):
    """Synthetic commuters of a table. Nothing is read and nothing is spent by making one.

    Guarantee
        Method modern: noisy counts of all cells, of origins, (unless public) of destinations and of profiles cost
        `price` together, and the rest sees nothing else. Method classic: the draws cost what `Urns` says, for as many
        moves as one unit makes, beside noisy profiles, and noisy sizes of destinations unless those are public.
        Proof: docs/proofs/commute.md.
    """

    kind: ClassVar[str] = "commute"
    version: ClassVar[int] = 2
    question: Query
    schema: Schema
    domain: Domain
    land: Land
    allotment: Allotment
    method: Method
    currency: Literal["epsilon", "rho"]
    price: Fraction
    prior: Prior | None = None
    chance: Fraction = Fraction(0)
    sizes: Whole | None = None

    @property
    def moved(self) -> Sensitivity:
        """How far one unit moves the counts: `moved.l1` workers come or go."""
        return moved_by(self.schema.unit)

    @property
    def urns(self) -> Urns:
        """The draws of the classic method, private for one worker who comes or goes."""
        if self.prior is None:
            raise InputError("method", self.method, "classic: the modern one has no urns")
        moves = self.moved.l1
        epsilon = self.price * self.part(Fraction(1) if self.sizes is not None else 1 - SIZES) / moves
        return Urns(self.prior, epsilon, row_price(self.prior, epsilon, self.chance, moves))

    @property
    def cost(self) -> Loss:
        """The price of everything together."""
        if self.method == "modern":
            return Pure(self.price) if self.currency == "epsilon" else ZCDP(self.price)
        measured = [] if self.sizes is not None else [Pure(self.price * self.part(SIZES))]
        measured += [Pure(self.price * part) for _, _, part in self._profiles()]
        return compose([*measured, group(self.one, self.moved.l1)])

    @property
    def one(self) -> Loss:
        """What the draws cost one worker who comes or goes."""
        urns = self.urns
        if urns.prior in ("pure", "accepted"):
            return Pure(urns.epsilon)
        delta = urns.chance
        if self.sizes is not None:  # then it is known how little is missed
            worst = max((urns.missed(size, cells) for size, cells in self.urn_sizes()), default=0.0)
            delta = min(delta, round_up(Fraction(worst), 10**30))
        return Approx(urns.epsilon, delta)

    @property
    def mechanism(self) -> str:
        """What is drawn or added, in words."""
        if self.method == "modern":
            noises = [self.noise(self.part(part)) for part in (CELLS, SIZES)]
            noises += [self.noise(part) for _, _, part in self._profiles()]
            return "; ".join(dict.fromkeys(map(noise_name, noises))) + "; then made to agree"
        noises = [] if self.sizes is not None else [self.noise(self.part(SIZES))]
        noises += [self.noise(part) for _, _, part in self._profiles()]
        first = "".join(f"{name}; " for name in dict.fromkeys(map(noise_name, noises)))
        return f"{first}Dirichlet-multinomial draws, {self.prior} prior"

    @property
    def query(self) -> dict[str, Any]:
        """The question as plain values, for the record."""
        profile = {"profile": [one.key.to_dict() for one in self.profile]} if self.profile else {}
        return {"commute": self.question.to_dict(), "method": self.method, "prior": self.prior, **profile}

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        zones = self.land.zones
        content = {
            "schema": self.schema.to_dict(),
            "query": self.query,
            "price": [self.currency, str(self.price), str(self.chance)],
            "sizes": None if self.sizes is None else self.sizes.tolist(),
            "distances": hashlib.sha256(self.land.distances.astype("<f8").tobytes()).hexdigest(),
            "zones": None if zones is None else zones.tolist(),
            "limits": [self.land.near, self.land.farthest],
        }
        return digest_of(content)

    @property
    def columns(self) -> list[str]:
        """The columns of the data it reads."""
        profiled = Query().group_by(*(one.key for one in self.profile))
        return list(dict.fromkeys([*columns_read(self.question, self.schema), *columns_read(profiled, self.schema)]))

    def explained(self) -> Explanation:
        """What there is to know before it is paid."""
        return _explained(self)

    @property
    def notes(self) -> list[Note]:
        """What is left out of the rows that are made up from."""
        keys = [attribute.key for attribute in self.domain.attributes[:2]]
        cells = math.prod(self.domain.sizes)
        of = f" ({', '.join(['origin', 'destination', *(one.name for one in self.profile)])})"
        notes = cell_notes(self.schema, keys, self.question.condition, cells=cells, of=of)
        return [*notes, *profile_notes(self.profile, self.schema)]

    def urn_sizes(self) -> Iterator[tuple[int, int]]:
        """Workers and cells (nobody's too) of the urn of every destination that has workers: if sizes are public."""
        if self.sizes is not None:
            for destination, size in enumerate(self.sizes.tolist()):
                if size:
                    yield size, int(self.land.cells(destination).max()) + 2

    @property
    def largest(self) -> int:
        """The most workers that the urn of a destination can have."""
        return largest_size(self.land.origins + 1, self.urns.epsilon)

    def priors(self) -> list[float]:
        """The prior of each cell in the urn of every destination that has workers: if sizes are public."""
        return [self.urns.units(size, cells) / UNIT for size, cells in self.urn_sizes()]

    def noise(self, part: Fraction) -> Laplace | Gaussian:
        """The noise on what gets this part of the price."""
        amount = self.price * part
        if self.currency == "epsilon":
            return Laplace.for_epsilon(amount, self.moved)
        return Gaussian.for_rho(amount, self.moved)

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Count in the engine; draw, or add noise. Called by the one door only."""
        notify("counting in the engine")
        return self.draw(EngineCounts(self.domain, self.schema, data, bits, self.question.condition), bits)

    def draw(self, counts: Counts, bits: Bits) -> dict[str, Any]:
        """What is drawn from exact counts: noisy marginals, or the rows of every urn."""
        counts.prepare([_BOTH, *(axes for _, axes, _ in self._profiles())])
        notify("drawing")
        meter = Meter(counts, self.moved, self.currency, self.price, bits)
        if self.method == "modern":
            asked = [*self._shares(), *self._profiles()]
            return {name: pack(meter.measure(axes, self.price * part).values) for name, axes, part in asked}
        sizes = self.sizes
        if sizes is None:
            sizes = np.clip(meter.measure(_TO, self.price * self.part(SIZES)).values, 0, self.largest)
        flows, refused, draws = self.urns.flows(counts.marginal(_BOTH), sizes, self.land, bits)
        many = [len(one) for one in draws]
        seen = {name: pack(meter.measure(axes, self.price * part).values) for name, axes, part in self._profiles()}
        return {"flows": pack(flows), "refused": refused, "draws": pack(np.concatenate(draws)), "cells": many, **seen}

    def publish(self, measured: Mapping[str, Any], *, confidence: float | None = None) -> dict[str, Any]:
        """Rows from every origin to every destination: as they were drawn, or made of noisy counts."""
        sure = _CONFIDENCE if confidence is None else float(read_confidence(confidence))
        flows = unpack(measured["flows"]) if "flows" in measured else self.flows_from(measured)
        return {
            "commute": {
                "names": [key.column for key in self.question.keys],
                "places": [[str(label) for label in attribute.labels] for attribute in self.domain.attributes[:2]],
                "flows": None if "flows" in measured else pack(flows),
                "metres": pack(np.rint(self.land.distances * 1000)),
                "refused": measured.get("refused", []),
                "method": self.method,
                "intervals": {"confidence": sure, **self._laws()},
                **self._profiled(measured, flows),
                **({} if self.land.points is None else {"points": self.land.points.to_dict()}),
            },
            "notes": [note.to_dict() for note in self.notes],
        }

    def _profiled(self, measured: Mapping[str, Any], flows: Whole) -> dict[str, Any]:
        """The profiles, made to agree with the workers of each destination."""
        if not self.profile:
            return {}
        noisy = [unpack(measured[name]) for name, _, _ in self._profiles()]
        return {"profile": write_profiles(self.profile, noisy, flows.sum(axis=0))}

    def flows_from(self, measured: Mapping[str, Any]) -> Whole:
        """The flows that noisy counts of method modern are made into."""
        found = {name: Noisy(axes, unpack(measured[name]), self.noise(part)) for name, axes, part in self._shares()}
        return flows_of(found["cells"], found["origins"], found.get("ends"), self.sizes, self.land)

    def _laws(self) -> dict[str, Any]:
        """The laws of what was measured, for a record: what intervals follow from."""
        profile = {"profile": noise_to(self.noise(PROFILE / len(self.profile)))} if self.profile else {}
        if self.method == "modern":
            return {"noise": {name: noise_to(self.noise(part)) for name, _, part in self._shares()}, **profile}
        urns, land = self.urns, self.land
        return {
            **profile,
            "urns": {"prior": urns.prior, "epsilon": str(urns.epsilon), "chance": str(urns.chance)},
            "cells": pack(np.stack([land.cells(one) for one in range(land.destinations)], axis=1)),
            "sizes": None if self.sizes is not None else noise_to(self.noise(self.part(SIZES))),
        }

    def _shares(self) -> list[tuple[str, tuple[int, ...], Fraction]]:
        """What method modern measures: its name, its columns, and its part of the price."""
        origins = ("origins", _FROM, self.part(SIZES))
        if self.sizes is not None:
            return [("cells", _BOTH, self.part(CELLS + SIZES)), origins]
        return [("cells", _BOTH, self.part(CELLS)), origins, ("ends", _TO, self.part(SIZES))]

    def _profiles(self) -> list[tuple[str, tuple[int, ...], Fraction]]:
        """The profiles that are measured, likewise: destinations by each characteristic."""
        many = len(self.profile)
        return [(f"profile {place}", (1, 2 + place), PROFILE / many) for place in range(many)]

    @property
    def profile(self) -> tuple[Attribute, ...]:
        """The characteristics that destinations are counted by."""
        return self.domain.attributes[2:]

    def part(self, share: Fraction) -> Fraction:
        """The part of the price that a share of what profiles leave is."""
        return share * (1 - PROFILE) if self.profile else share


def row_price(prior: Prior, epsilon: Fraction, chance: Fraction, moves: int) -> Fraction:
    """The chance that is left for one move so that so many of them together keep `chance` as their delta.

    A chance of refusal is no delta and stays what it is.
    """
    if moves == 1 or prior in ("pure", "accepted"):
        return chance
    return chance * (exp_down(epsilon) - 1) / (exp_up(moves * epsilon) - 1)


def _explained(plan: CommutePlan) -> Explanation:
    """What there is to know before it is paid."""
    land = plan.land
    sizes = "measured, and made to agree" if plan.sizes is None else "public, and preserved"
    steps, notes = ([], _near()) if plan.method == "modern" else _classic(plan)
    if land.farthest is not None:
        notes.append(f"Rows from farther than {land.farthest:g} are assigned to nearer origins.")
    notes += [note.text for note in plan.notes]
    return Explanation(
        title=f"Plan for synthetic commuters of {plan.dataset!r}",
        unit=str(plan.schema.unit),
        shape=(
            f"Releases rows from {land.origins:,} origins to {land.destinations:,} destinations; sizes are {sizes}.",
        ),
        errors=tuple(_errors(plan)),
        confidence=_CONFIDENCE,
        steps=tuple(steps),
        notes=tuple(notes),
        facts={"method": plan.method, "origins": land.origins, "destinations": land.destinations},
    )


def _errors(plan: CommutePlan) -> list[Accuracy]:
    """The errors of what is measured."""
    if plan.method == "modern":
        parts = {"cells": CELLS if plan.sizes is None else CELLS + SIZES, "origins": SIZES}
        parts |= {"destinations": SIZES} if plan.sizes is None else {}
    else:
        parts = {"sizes": SIZES} if plan.sizes is None else {}
    parts = {name: plan.part(share) for name, share in parts.items()}
    parts |= {f"{one.name} by destination": PROFILE / len(plan.profile) for one in plan.profile}
    errors = []
    for name, part in parts.items():
        noise = plan.noise(part)
        errors.append(Accuracy(name, noise_name(noise), noise.error(_CONFIDENCE), share=float(part)))
    return errors


def _near() -> list[str]:
    return [
        "These are the errors of what is measured. In mostly empty tables the actual errors of cells are far smaller."
    ]


def _classic(plan: CommutePlan) -> tuple[list[str], list[str]]:
    """The draws of the classic method, and what to know of its prior."""
    urns, one = plan.urns, plan.one
    steps = [f"Draws from an urn for each destination, {urns.prior} prior, epsilon {readable(urns.epsilon)} a row."]
    notes = []
    if isinstance(one, Approx):
        steps.append(f"The cost is (epsilon, delta)-differential privacy with delta {readable(one.delta)} a row.")
    if urns.prior == "probabilistic":
        notes.append(
            f"It was made for probabilistic differential privacy at delta {readable(urns.chance)}, which "
            "later processing need not keep. The cost says what it does keep."
        )
    if urns.prior == "accepted":
        steps.append(f"Each destination is refused with a chance of at most {readable(urns.chance)}.")
    if priors := plan.priors():
        steps.append(f"Prior: {min(priors):,.3g} to {max(priors):,.3g} made-up workers in each cell of an urn.")
    return steps, notes
