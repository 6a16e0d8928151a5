"""A priced release of the loads of a grid: noise on every load, then loads the grid can feed at about the same cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.constraints.hidden.distance_plan import NO_NUMBER, ROOM, DistancePlan, Repaired, Steps
from discreet.constraints.hidden.terms import (
    check_confidence,
    check_noise,
    check_steps,
    read_part,
    read_positive,
    read_share,
)
from discreet.core.digest import text_of
from discreet.core.exact import as_written
from discreet.core.loss import Loss, Pure
from discreet.core.mechanism import Bits
from discreet.core.release import number, percent
from discreet.core.wire import Json
from discreet.errors import InputError, Phrase
from discreet.ledger.budget import Allotment
from discreet.mechanisms import Laplace
from discreet.mechanisms.record import noise_to
from discreet.power.cost import digit_notes, read_costs
from discreet.power.grid import Grid
from discreet.power.planes import PARTS, Planes, planes_near
from discreet.power.repair import Repair, RepairedLoads
from discreet.power.schema import GridSchema, PublicGrid

if TYPE_CHECKING:
    from discreet.power.ask import LoadsAsk

__all__ = ["LoadPlan", "plan_loads"]

_DEARER = 1.5  # prices up to this many times those of the anchor are told apart, unless a highest price is declared
_SHOWN = 3  # declared costs that a plan repeats


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LoadPlan(DistancePlan):
    """How the loads of a grid will be released, and its price. Nothing is read and nothing is spent by making one.

    Guarantee
        Whatever `measure` returns is epsilon-differentially private, with epsilon the whole price, for neighbours that
        differ in one load by at most `alpha` MW, at every one of the `times`; the grid and a declared cost are public.
        Loads that are k steps apart in sum are indistinguishable up to epsilon * k / (shift * times).
        Proof: docs/proofs/power.md.
    """

    kind: ClassVar[str] = "loads"
    noun: ClassVar[str] = "load"
    output: ClassVar[str] = "mw"
    aside: ClassVar[str] = "cost"
    counted_in: ClassVar[str] = " MW"
    schema: GridSchema
    grid: Grid
    declared: tuple[Fraction, ...] | None  # one for each time; None where the cost is measured
    price: float
    repair: Repair = field(repr=False)

    @property
    def optimum_noise(self) -> Laplace | None:
        """What is added to a measured cost at most, at each time, in parts of the price."""
        if self.optimum_epsilon is None:
            return None
        return Laplace.for_epsilon(self.optimum_epsilon / self.times, self.shift * PARTS)

    def optimum_loss(self) -> Loss | None:
        """What a measured cost costs: its noise depends on what was released before, so it is the claim, not a law."""
        return None if self.optimum_epsilon is None else Pure(self.optimum_epsilon)

    @property
    def optimum_mechanism(self) -> str:
        """What adds noise to a measured cost, in words."""
        if self.optimum_epsilon is None:
            return ""
        return f"discrete Laplace on the cost, epsilon {float(self.optimum_epsilon):g}"

    @property
    def query(self) -> dict[str, Json]:
        """The question as plain values, for the record."""
        costs = None if self.declared is None else ", ".join(f"{float(cost):.12g}" for cost in self.declared)
        times: dict[str, Json] = {} if self.times == 1 else {"times": self.times}
        if self.schema.clock:
            times["clock"] = list(self.schema.clock)
        return {
            **times,
            "loads": self.grid.loads,
            "grid": self.grid.digest,
            "alpha_mw": str(self.schema.alpha),
            "step_mw": str(self.step),
            "beta": str(self.beta),
            "highest_mw": str(self.most * self.step),
            "original_cost": "measured" if costs is None else f"declared public: {costs}",
        }

    @property
    def law(self) -> dict[str, Json]:
        """The declared cost, and the price that a measured one follows."""
        declared = str(None) if self.declared is None else ", ".join(map(str, self.declared))
        return {"declared": declared, "price": text_of(self.price)}

    @property
    def keys(self) -> dict[str, list[Any]]:
        """Which load it is, at which bus, and when."""
        clock = self.schema.clock or range(1, self.times + 1)
        when = {} if self.times == 1 else {"time": [one for one in clock for _ in range(self.grid.loads)]}
        buses = [self.grid.bus_names[bus] for bus in self.grid.load_bus]
        return {"load": list(self.grid.load_names) * self.times, "bus": buses * self.times, **when}

    def shape(self) -> str:
        """What is released, and what is taken for public."""
        when = "" if self.times == 1 else f" at {self.times:,} times"
        highest = f"{float(self.most * self.step):,.6g} MW in steps of {float(self.step):g}"
        return f"Releases {self.grid.loads:,} loads{when}, 0 to {highest}. Public: all else about the grid."

    @property
    def facts(self) -> dict[str, Any]:
        """How many loads there are, and at how many times."""
        return {"loads": self.grid.loads} if self.times == 1 else {"loads": self.grid.loads, "times": self.times}

    def steps_taken(self) -> list[str]:
        """What becomes of the cost, and the repair."""
        if self.declared is not None:
            costs = ", ".join(number(float(cost)) for cost in self.declared[:_SHOWN])
            more = f" and so on, {self.times:,} in all" if self.times > _SHOWN else ""
            cost = f"Original cost: {costs}{more}, declared public by the custodian, not paid for."
        else:
            each = "" if self.times == 1 else f", a part of {self.times:,} for each time"
            cost = (
                f"Original cost: measured with epsilon = {float(self.optimum_epsilon or 0):g}{each}, "
                f"+-{number(self.cost_error())} at most ({percent(self.confidence)})."
            )
        near = percent(float(self.beta))
        return [cost, f"Repair: the nearest loads found that the grid can feed (DC) at a cost within {near} of it."]

    @property
    def unread(self) -> str:
        """What becomes of text that is no number: a file may hold some."""
        return NO_NUMBER

    def remarks(self) -> tuple[str, ...]:
        """What many digits of a declared cost tell."""
        return digit_notes(self.declared or ())

    def cost_error(self) -> float | None:
        """The most that noise moves a measured cost, at the plan's confidence; None where the cost is declared."""
        if self.optimum_noise is None:
            return None
        return float(self.optimum_noise.error(self.confidence) * self.price / PARTS * float(self.step))

    def optimum(self, exact: Steps, noisy: Steps, bits: Bits) -> Any:
        """The cost of the true loads at each time, with noise; None where it is declared."""
        if self.declared is not None:
            return None
        near = [planes_near(self.repair, seen, self.noise.scale, self.price, bits) for seen in self._by_time(noisy)]
        costs = [self.height(drawn, planes, bits) for drawn, planes in zip(self._by_time(exact), near, strict=True)]
        return costs[0] if self.times == 1 else costs

    def _by_time(self, steps: Steps) -> Steps:
        """One row for each time."""
        return steps.reshape(self.times, self.grid.loads)

    def height(self, exact: Steps, planes: Planes, bits: Bits) -> float:
        """The cost at one time, with noise. The planes were made from released numbers, so they are fixed here."""
        if self.optimum_epsilon is None:
            raise InputError("cost", Phrase("a declared cost"), "measured")
        height = max(-ROOM, min(ROOM, planes.height(exact)))
        noise = Laplace.for_epsilon(self.optimum_epsilon / self.times, self.shift * planes.steepest)
        found = int(noise.release([height], bits=bits)[0]) * planes.money
        return min(max(found, self.repair.cheapest), self.repair.dearest)

    def repaired(self, noisy: Steps, measured: Any) -> Repaired:
        """Loads that the grid can feed, near the noisy ones, at about the declared or measured costs."""
        costs = self.declared if self.declared is not None else measured if self.times > 1 else [measured]
        references = [float(cost) for cost in costs]
        found = [
            self.repair.near(seen, reference, float(self.beta))
            for seen, reference in zip(self._by_time(noisy), references, strict=True)
        ]
        reports = [self._report(one, reference) for one, reference in zip(found, references, strict=True)]
        values = self.numbers(np.concatenate([one.steps for one in found])).tolist()
        return Repaired(values, reports[0] if self.times == 1 else _together(reports))

    def table(self, noisy: Steps, measured: Any) -> dict[str, Any]:
        """The table and the report; at several times with the law of the noise, for intervals of sums."""
        made = DistancePlan.table(self, noisy, measured)
        return made if self.times == 1 else {**made, "noise": noise_to(self.noise)}

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
    about: PublicGrid, ask: LoadsAsk, allotment: Allotment, epsilon: Fraction, confidence: float
) -> LoadPlan:
    """Read what is asked and price it. Every error comes from here, before anything is read or spent."""
    grid, schema = about.grid, about.schema
    step, within = read_positive(ask.step, "step"), read_part(ask.beta, "beta")
    check_confidence(confidence)
    if ask.cost is None:
        raise InputError("cost", None, 'given: a number that is public anyway, or "measured"')
    given = ask.highest
    top = as_written(round(grid.capacity, 6), "highest") if given is None else read_positive(given, "highest")
    most = int(top / step)
    check_steps(0, most, ask.step, "into the highest load")
    if schema.alpha > top:
        raise InputError("alpha", float(schema.alpha), f"at most {float(top):g} MW, the highest load there can be")
    share = read_share(ask.cost_share, "cost_share")
    repair = Repair(grid, float(step), np.full(grid.loads, most, dtype=np.int64))
    declared = None if ask.cost == "measured" else read_costs(ask.cost, repair, schema.times)
    dearest = ask.highest_price
    paid = epsilon * share if declared is None else None
    plan = LoadPlan(
        schema=schema,
        grid=grid,
        allotment=allotment,
        step=step,
        least=0,
        most=most,
        values_epsilon=epsilon - (paid or 0),
        optimum_epsilon=paid,
        declared=declared,
        beta=within,
        price=_usual(repair) if dearest is None else float(read_positive(dearest, "highest_price")),
        confidence=confidence,
        repair=repair,
    )
    check_noise(plan, ask.step)
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
