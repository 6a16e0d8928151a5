"""A priced release of the loads of a grid: noise on every load, then loads the grid can feed at about the same cost."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.accounting.compose import compose
from discreet.core.digest import text_of
from discreet.core.exact import Number, as_written
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.loss import Loss, Pure
from discreet.core.mechanism import Bits
from discreet.core.note import Note
from discreet.core.packing import pack, unpack
from discreet.core.release import number, percent
from discreet.core.sensitivity import steps as whole_steps
from discreet.core.unit import Metric
from discreet.core.wire import Json, canonical
from discreet.errors import InputError, Phrase
from discreet.ledger.budget import Allotment, Charge
from discreet.mechanisms import Laplace
from discreet.power.grid import Grid
from discreet.power.loads import Exact, to_steps
from discreet.power.planes import PARTS, Planes, planes_near
from discreet.power.repair import Repair, Steps
from discreet.power.schema import unit_of
from discreet.query.plan import noise_name
from discreet.query.table_plan import at_confidence

__all__ = ["LoadPlan", "plan_loads"]

_ROOM = 1 << 60  # heights beyond this are clamped: far from any cost, and within what noise is added to
_DEARER = 1.5  # prices up to this many times those of the anchor are told apart, unless a highest price is declared
_LONGEST = 10**9  # steps in a load
_PLAIN = 4  # digits of a cost that is public anyway
_DIGITS = 17


@dataclass(frozen=True, slots=True, eq=False)
class LoadPlan:
    """How the loads of a grid will be released, and its price. Nothing is read and nothing is spent by making one.

    Guarantee
        Whatever `measure` returns is epsilon-differentially private, with epsilon the whole price, for neighbours that
        differ in one load by at most `alpha` MW; the grid and a declared cost are public. Loads that are k steps apart
        in sum are indistinguishable up to epsilon * k / shift. Proof: docs/proofs/power.md.
    """

    kind: ClassVar[str] = "loads"
    version: ClassVar[int] = 1
    grid: Grid
    dataset: str
    allotment: Allotment
    alpha: Fraction
    step: Fraction
    beta: Fraction
    most: int
    loads_epsilon: Fraction
    cost_epsilon: Fraction | None  # None where the cost is declared
    declared: Fraction | None  # None where the cost is measured
    price: float
    confidence: float
    repair: Repair = field(repr=False)

    @property
    def unit(self) -> Metric:
        """What is protected."""
        return unit_of(self.alpha)

    @property
    def shift(self) -> int:
        """How many steps a load can move between neighbours: alpha in steps, rounded up, for loads as written."""
        return whole_steps(self.alpha, self.step)

    @property
    def noise(self) -> Laplace:
        """What is added to every load."""
        return Laplace.for_epsilon(self.loads_epsilon, self.shift)

    @property
    def cost(self) -> Loss:
        """The price of the whole release: the loads, and the cost where it is measured.

        One load moves one of the integers. The noise of the cost depends on what was released before, so that part is
        the claim, not a law.
        """
        loads = self.noise.loss(self.shift)
        return loads if self.cost_epsilon is None else compose([loads, Pure(self.cost_epsilon)])

    @property
    def charge(self) -> Charge:
        """The price in the currency of the allotment."""
        return self.allotment.price(self.cost)

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words."""
        loads = f"{noise_name(self.noise)}, on steps of {float(self.step):g} MW"
        if self.cost_epsilon is None:
            return loads
        return f"{loads}; discrete Laplace on the cost, epsilon {float(self.cost_epsilon):g}"

    @property
    def query(self) -> dict[str, Json]:
        """The question as plain values, for the record."""
        return {
            "loads": self.grid.loads,
            "grid": self.grid.digest,
            "alpha_mw": str(self.alpha),
            "step_mw": str(self.step),
            "beta": str(self.beta),
            "highest_mw": str(self.most * self.step),
            "original_cost": "measured" if self.declared is None else f"declared public: {float(self.declared):.12g}",
        }

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        content: dict[str, Json] = {
            "dataset": self.dataset,
            "query": self.query,
            "declared": str(self.declared),
            "epsilons": [str(self.loads_epsilon), str(self.cost_epsilon)],
            "price": text_of(self.price),
            "confidence": self.confidence,
        }
        return hashlib.sha256(canonical(content).encode()).hexdigest()

    @property
    def columns(self) -> list[str]:
        """Loads are no table: there is nothing to check before they are read."""
        return []

    def explained(self) -> Explanation:
        """What there is to know before it is paid, and what is taken for public."""
        sure, typical = percent(self.confidence), self.noise.expected_l1() * float(self.step)
        if self.declared is not None:
            cost = f"Original cost: {number(float(self.declared))}, declared public by the custodian, not paid for."
        else:
            cost = (
                f"Original cost: measured with epsilon = {float(self.cost_epsilon or 0):g}, "
                f"+-{number(self.cost_error())} at most ({sure})."
            )
        highest = f"{float(self.most * self.step):,.6g} MW in steps of {float(self.step):g}"
        return Explanation(
            title=f"Plan for {self.dataset!r}",
            unit=str(self.unit),
            shape=(f"Releases {self.grid.loads:,} loads, 0 to {highest}. Public: all else about the grid.",),
            errors=(Accuracy("mw", self.mechanism, self.load_error()),),
            confidence=self.confidence,
            steps=(
                f"On average a load is off by {number(typical)} MW before the repair.",
                cost,
                "Repair: the nearest loads found that the grid can feed (DC) at a cost within "
                f"{percent(float(self.beta))} of it.",
            ),
            notes=() if self.declared is None or _digits(self.declared) <= _PLAIN else (_many_digits(self.declared),),
            facts={"loads": self.grid.loads},
        )

    def _bounds(self) -> Note:
        """The same whatever the loads are: that one was moved must not be told."""
        highest, step = (f"{float(one):.12g}" for one in (self.most * self.step, self.step))
        text = (
            f"Loads outside 0..{highest} MW go to the nearer end and are rounded to multiples of {step}; text that is "
            "no number counts as 0."
        )
        return Note("bounds", text, ("mw",))

    def load_error(self) -> float:
        """MW that the noise on one load stays within, at the plan's confidence."""
        return float(self.noise.error(self.confidence) * self.step)

    def cost_error(self) -> float | None:
        """The most that noise moves a measured cost, at the plan's confidence; None where the cost is declared."""
        if self.cost_epsilon is None:
            return None
        parts = Laplace.for_epsilon(self.cost_epsilon, self.shift * PARTS).error(self.confidence)
        return float(parts * self.price / PARTS * float(self.step))

    def measure(self, data: Exact, bits: Bits) -> dict[str, Any]:
        """Round, add noise, measure the cost if asked to. Called by the one door only."""
        exact = to_steps(data, self.step, self.most)
        noisy = self.noise.release(exact, bits=bits)
        reference = None
        if self.declared is None:
            reference = self.height(exact, planes_near(self.repair, noisy, self.noise.scale, self.price, bits), bits)
        return {"noisy": pack(noisy), "cost": reference}

    def publish(
        self, measured: Mapping[str, Any], *, beta: Number | None = None, confidence: float | None = None
    ) -> dict[str, Any]:
        """The table and the report; repaired to be within another `beta` of the cost, if one is given."""
        near = self.beta if beta is None else _share(beta)
        plan = replace(at_confidence(self, confidence), beta=near)
        cost = float(self.declared) if self.declared is not None else measured["cost"]
        return plan.table(unpack(measured["noisy"]), cost)

    def height(self, exact: Steps, planes: Planes, bits: Bits) -> float:
        """The cost with noise. The planes were made from released numbers, so they are fixed here."""
        if self.cost_epsilon is None:
            raise InputError("cost", Phrase("a declared cost"), "measured")
        height = max(-_ROOM, min(_ROOM, planes.height(exact)))
        noise = Laplace.for_epsilon(self.cost_epsilon, self.shift * planes.steepest)
        found = int(noise.release([height], bits=bits)[0]) * planes.money
        return min(max(found, self.repair.cheapest), self.repair.dearest)

    def table(self, noisy: Steps, reference: float) -> dict[str, Any]:
        """The table and the report, from noisy and public numbers alone."""
        found = self.repair.near(noisy, reference, float(self.beta))
        step, half = float(self.step), self.noise.error(self.confidence)
        low = np.minimum(np.clip(noisy - half, 0, self.most), found.steps)
        high = np.maximum(np.clip(noisy + half, 0, self.most), found.steps)
        return {
            "columns": {
                "load": list(self.grid.load_names),
                "bus": [self.grid.bus_names[bus] for bus in self.grid.load_bus],
                "mw": _megawatts(found.steps, self.step),
                "mw_lower": _megawatts(low, self.step),
                "mw_upper": _megawatts(high, self.step),
            },
            "keys": ["load", "bus"],
            "outputs": ["mw"],
            "confidence": self.confidence,
            "notes": [self._bounds().to_dict()],
            "noisy": _megawatts(noisy, self.step),
            "report": {
                "cost": found.cost,
                "reference": reference,
                "reference_is": "measured" if self.declared is None else "declared public",
                "gap": abs(found.cost - reference) / reference if reference > 0 else None,
                "within": found.way == "window" or abs(found.cost - reference) <= float(self.beta) * reference,
                "way": found.way,
                "rounds": found.rounds,
                "step": step,
            },
        }


def plan_loads(
    grid: Grid,
    dataset: str,
    allotment: Allotment,
    *,
    alpha: Number,
    epsilon: Fraction,
    beta: Number,
    cost: Number | str,
    step: Number,
    highest: Number | None,
    highest_price: Number | None,
    cost_share: Number,
    confidence: float,
) -> LoadPlan:
    """Read what is asked and price it. Every error comes from here, before anything is read or spent."""
    apart, fine, within = _positive(alpha, "alpha"), _positive(step, "step"), _share(beta)
    if not isinstance(confidence, float) or not 0 < confidence < 1:
        raise InputError("confidence", confidence, "strictly between 0 and 1, such as 0.95")
    top = _positive(highest, "highest") if highest is not None else as_written(round(grid.capacity, 6), "highest")
    most = int(top / fine)
    if not 1 <= most <= _LONGEST:
        raise InputError("step", step, f"a length that fits 1 to {_LONGEST:,} times into the highest load")
    if apart > top:
        raise InputError("alpha", alpha, f"at most {float(top):g} MW, the highest load there can be")
    share = as_written(cost_share, "cost_share")
    if not 0 < share < 1:
        raise InputError("cost_share", cost_share, "a share of the price, strictly between 0 and 1")
    repair = Repair(grid, float(fine), np.full(grid.loads, most, dtype=np.int64))
    declared = None if cost == "measured" else _declared(cost, repair)
    price = float(_positive(highest_price, "highest_price")) if highest_price is not None else _usual(repair)
    paid = epsilon * share if declared is None else None
    plan = LoadPlan(
        grid=grid,
        dataset=dataset,
        allotment=allotment,
        alpha=apart,
        step=fine,
        beta=within,
        most=most,
        loads_epsilon=epsilon - (paid or 0),
        cost_epsilon=paid,
        declared=declared,
        price=price,
        confidence=confidence,
        repair=repair,
    )
    try:
        _ = plan.noise
        if paid is not None:
            Laplace.for_epsilon(paid, plan.shift * PARTS)
    except InputError as problem:  # the scale is not what a person wrote: name what is
        hint = "A larger step or epsilon, or a smaller alpha, needs noise of a smaller scale."
        raise InputError("step", step, f"such that the scale of the noise is {problem.allowed}", hint) from None
    return plan


def _declared(cost: Number | str, repair: Repair) -> Fraction:
    """A cost a custodian declares public. It must be one that some loads can have."""
    hint = "Give the public cost as a number, or 'measured' to pay for it from the budget."
    try:
        number = as_written(cost, "cost")
    except InputError:
        raise InputError("cost", cost, "a number or 'measured'", hint) from None
    if not max(0.0, repair.cheapest) <= number <= repair.dearest or number <= 0:
        ends = f"{max(0.0, repair.cheapest):.6g} to {repair.dearest:.6g}"
        raise InputError("cost", cost, f"from {ends}, what feeding loads can cost in this grid", hint)
    return number


def _digits(number: Fraction) -> int:
    """How many significant digits a number is written with; so many at least where they do not end.

    >>> _digits(Fraction("7640")), _digits(Fraction("7642.59"))
    (3, 6)
    """
    scaled = number
    for _ in range(_DIGITS):
        if scaled.denominator == 1:
            break
        scaled *= 10
    return len(str(int(scaled)).rstrip("0"))


def _many_digits(cost: Fraction) -> str:
    many = _digits(cost)
    least = "at least " if many >= _DIGITS else ""
    return (
        f"The declared cost has {least}{many} digits. If it was computed from these loads, every digit tells about "
        f"them, and none is paid for. A figure that is public anyway seldom has more than {_PLAIN}: declare it "
        'rounded, or say "measured".'
    )


def _usual(repair: Repair) -> float:
    """A price that few loads exceed, from public numbers alone."""
    usual = float(np.abs(repair.anchor_flow.prices).max())
    return _DEARER * usual if usual > 0 else max(1.0, repair.grid.highest_price)


def _share(beta: Number) -> Fraction:
    found = _positive(beta, "beta")
    if found >= 1:
        raise InputError("beta", beta, "a share below 1, such as 0.01 for one per cent")
    return found


def _positive(value: Number, field: str) -> Fraction:
    number = as_written(value, field)
    if number <= 0:
        raise InputError(field, value, "more than zero")
    return number


def _megawatts(steps: Steps, step: Fraction) -> list[float]:
    return [float(int(count) * step) for count in steps]
