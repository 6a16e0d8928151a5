"""A priced release of the loads of a grid: noise on every load, then loads the grid can feed at about the same cost."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.accounting.compose import compose
from discreet.core.decimal_steps import to_steps
from discreet.core.digest import text_of
from discreet.core.exact import Number, as_written
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.loss import Loss, Pure
from discreet.core.mechanism import Bits
from discreet.core.note import Note
from discreet.core.packing import pack, unpack
from discreet.core.release import number, percent
from discreet.core.sensitivity import Sensitivity
from discreet.core.sensitivity import steps as whole_steps
from discreet.core.unit import Metric
from discreet.core.wire import Json, canonical
from discreet.errors import InputError, Phrase
from discreet.ledger.budget import Allotment, Charge
from discreet.mechanisms import Laplace
from discreet.mechanisms.record import noise_to
from discreet.power.cost import digit_notes, read_costs
from discreet.power.grid import Grid
from discreet.power.loads import Exact
from discreet.power.planes import PARTS, Planes, planes_near
from discreet.power.repair import Repair, RepairedLoads, Steps
from discreet.power.schema import unit_of
from discreet.query.plan import noise_name
from discreet.query.table_plan import at_confidence

__all__ = ["LoadPlan", "plan_loads"]

_ROOM = 1 << 60  # heights beyond this are clamped: far from any cost, and within what noise is added to
_DEARER = 1.5  # prices up to this many times those of the anchor are told apart, unless a highest price is declared
_LONGEST = 10**9  # steps in a load
_SHOWN = 3  # declared costs that a plan repeats


@dataclass(frozen=True, slots=True, eq=False)
class LoadPlan:
    """How the loads of a grid will be released, and its price. Nothing is read and nothing is spent by making one.

    Guarantee
        Whatever `measure` returns is epsilon-differentially private, with epsilon the whole price, for neighbours that
        differ in one load by at most `alpha` MW, at every one of the `times`; the grid and a declared cost are public.
        Loads that are k steps apart in sum are indistinguishable up to epsilon * k / (shift * times).
        Proof: docs/proofs/power.md.
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
    declared: tuple[Fraction, ...] | None  # one for each time; None where the cost is measured
    price: float
    confidence: float
    repair: Repair = field(repr=False)
    times: int = 1

    @property
    def unit(self) -> Metric:
        """What is protected."""
        return unit_of(self.alpha, self.times)

    @property
    def shift(self) -> int:
        """How many steps a load can move between neighbours: alpha in steps, rounded up, for loads as written."""
        return whole_steps(self.alpha, self.step)

    @property
    def moved(self) -> Sensitivity:
        """How far neighbours move the integers: one load, at every time."""
        return Sensitivity(each=self.shift, outputs=self.times)

    @property
    def noise(self) -> Laplace:
        """What is added to every load, at every time."""
        return Laplace.for_epsilon(self.loads_epsilon, self.moved)

    @property
    def cost(self) -> Loss:
        """The price of the whole release: the loads, and the cost where it is measured.

        One load moves one of the integers at every time. The noise of the costs depends on what was released before,
        so that part is the claim, not a law.
        """
        loads = self.noise.loss(self.moved)
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
        costs = None if self.declared is None else ", ".join(f"{float(cost):.12g}" for cost in self.declared)
        times: dict[str, Json] = {} if self.times == 1 else {"times": self.times}
        return {
            **times,
            "loads": self.grid.loads,
            "grid": self.grid.digest,
            "alpha_mw": str(self.alpha),
            "step_mw": str(self.step),
            "beta": str(self.beta),
            "highest_mw": str(self.most * self.step),
            "original_cost": "measured" if costs is None else f"declared public: {costs}",
        }

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        content: dict[str, Json] = {
            "dataset": self.dataset,
            "query": self.query,
            "declared": str(None) if self.declared is None else ", ".join(map(str, self.declared)),
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
            costs = ", ".join(number(float(cost)) for cost in self.declared[:_SHOWN])
            more = f" and so on, {self.times:,} in all" if self.times > _SHOWN else ""
            cost = f"Original cost: {costs}{more}, declared public by the custodian, not paid for."
        else:
            cost = (
                f"Original cost: measured with epsilon = {float(self.cost_epsilon or 0):g}{self._at_each}, "
                f"+-{number(self.cost_error())} at most ({sure})."
            )
        when = "" if self.times == 1 else f" at {self.times:,} times"
        highest = f"{float(self.most * self.step):,.6g} MW in steps of {float(self.step):g}"
        return Explanation(
            title=f"Plan for {self.dataset!r}",
            unit=str(self.unit),
            shape=(f"Releases {self.grid.loads:,} loads{when}, 0 to {highest}. Public: all else about the grid.",),
            errors=(Accuracy("mw", self.mechanism, self.load_error()),),
            confidence=self.confidence,
            steps=(
                f"On average a load is off by {number(typical)} MW before the repair.",
                cost,
                "Repair: the nearest loads found that the grid can feed (DC) at a cost within "
                f"{percent(float(self.beta))} of it.",
            ),
            notes=digit_notes(self.declared or ()),
            facts={"loads": self.grid.loads} if self.times == 1 else {"loads": self.grid.loads, "times": self.times},
        )

    @property
    def _at_each(self) -> str:
        return "" if self.times == 1 else f", a part of {self.times:,} for each time"

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
        parts = Laplace.for_epsilon(self.cost_epsilon / self.times, self.shift * PARTS).error(self.confidence)
        return float(parts * self.price / PARTS * float(self.step))

    def measure(self, data: Exact, bits: Bits) -> dict[str, Any]:
        """Round, add noise, measure the cost if asked to. Called by the one door only."""
        exact = to_steps(data, self.step, self.most)
        noisy = self.noise.release(exact, bits=bits)
        if self.declared is not None:
            return {"noisy": pack(noisy), "cost": None}
        near = [planes_near(self.repair, seen, self.noise.scale, self.price, bits) for seen in self._by_time(noisy)]
        costs = [self.height(drawn, planes, bits) for drawn, planes in zip(self._by_time(exact), near, strict=True)]
        return {"noisy": pack(noisy), "cost": costs[0] if self.times == 1 else costs}

    def _by_time(self, steps: Steps) -> Steps:
        """One row for each time."""
        return steps.reshape(self.times, self.grid.loads)

    def publish(
        self, measured: Mapping[str, Any], *, beta: Number | None = None, confidence: float | None = None
    ) -> dict[str, Any]:
        """The table and the report; repaired to be within another `beta` of the cost, if one is given."""
        near = self.beta if beta is None else _share(beta)
        plan = replace(at_confidence(self, confidence), beta=near)
        found = measured["cost"] if self.times > 1 else [measured["cost"]]
        costs = [float(cost) for cost in (self.declared if self.declared is not None else found)]
        return plan.table(unpack(measured["noisy"]), costs)

    def height(self, exact: Steps, planes: Planes, bits: Bits) -> float:
        """The cost at one time, with noise. The planes were made from released numbers, so they are fixed here."""
        if self.cost_epsilon is None:
            raise InputError("cost", Phrase("a declared cost"), "measured")
        height = max(-_ROOM, min(_ROOM, planes.height(exact)))
        noise = Laplace.for_epsilon(self.cost_epsilon / self.times, self.shift * planes.steepest)
        found = int(noise.release([height], bits=bits)[0]) * planes.money
        return min(max(found, self.repair.cheapest), self.repair.dearest)

    def table(self, noisy: Steps, references: Sequence[float]) -> dict[str, Any]:
        """The table and the report, from noisy and public numbers alone: `references` are the costs of the times."""
        beta, half = float(self.beta), self.noise.error(self.confidence)
        found = [
            self.repair.near(seen, reference, beta)
            for seen, reference in zip(self._by_time(noisy), references, strict=True)
        ]
        steps = np.concatenate([one.steps for one in found])
        low = np.minimum(np.clip(noisy - half, 0, self.most), steps)
        high = np.maximum(np.clip(noisy + half, 0, self.most), steps)
        when = {} if self.times == 1 else {"time": np.repeat(np.arange(1, self.times + 1), self.grid.loads).tolist()}
        reports = [self._report(one, reference) for one, reference in zip(found, references, strict=True)]
        return {
            "columns": {
                "load": list(self.grid.load_names) * self.times,
                "bus": [self.grid.bus_names[bus] for bus in self.grid.load_bus] * self.times,
                **when,
                "mw": _megawatts(steps, self.step),
                "mw_lower": _megawatts(low, self.step),
                "mw_upper": _megawatts(high, self.step),
            },
            "keys": ["load", "bus", *when],
            "outputs": ["mw"],
            "confidence": self.confidence,
            "notes": [self._bounds().to_dict()],
            "noisy": _megawatts(noisy, self.step),
            **({} if self.times == 1 else {"noise": noise_to(self.noise)}),
            "report": reports[0] if self.times == 1 else _together(reports),
        }

    def _report(self, found: RepairedLoads, reference: float) -> dict[str, Any]:
        """What the repair made of the loads at one time."""
        return {
            "cost": found.cost,
            "reference": reference,
            "reference_is": "measured" if self.declared is None else "declared public",
            "gap": abs(found.cost - reference) / reference if reference > 0 else None,
            "within": found.way == "window" or abs(found.cost - reference) <= float(self.beta) * reference,
            "way": found.way,
            "rounds": found.rounds,
            "step": float(self.step),
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
    times: int = 1,
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
    declared = None if cost == "measured" else read_costs(cost, repair, times)
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
        times=times,
    )
    try:
        _ = plan.noise
        if paid is not None:
            Laplace.for_epsilon(paid / times, plan.shift * PARTS)
    except InputError as problem:  # the scale is not what a person wrote: name what is
        hint = "A larger step or epsilon, or a smaller alpha, needs noise of a smaller scale."
        raise InputError("step", step, f"such that the scale of the noise is {problem.allowed}", hint) from None
    return plan


def _together(reports: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The reports of all times, under what is true of all of them: sums of costs, the largest gap."""
    gaps = [report["gap"] for report in reports]
    ways = [report["way"] for report in reports]
    return {
        **reports[0],
        "cost": sum(report["cost"] for report in reports),
        "reference": sum(report["reference"] for report in reports),
        "gap": None if None in gaps else max(gaps),
        "within": all(report["within"] for report in reports),
        "way": next(way for way in ("anchor", "nearest", "window") if way in ways),
        "rounds": sum(report["rounds"] for report in reports),
        "times": list(reports),
    }


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
