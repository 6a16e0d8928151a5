"""Hide what the loads of a power grid draw, and still hand out loads whose optimal power flow means something.

Describe (`hide_loads`), `plan`, `release`: the same three words as everywhere. The loads are private; the grid, which
buses have loads among it, is public.
"""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from discreet.core.exact import Number, as_written
from discreet.core.release import Release, number, percent
from discreet.core.released import Released, rows_table
from discreet.errors import InputError
from discreet.ledger.budget import Budget
from discreet.ledger.door import Answer
from discreet.ledger.door import release as through_the_door
from discreet.ledger.ledger import Ledger
from discreet.power.grid import Grid
from discreet.power.loads import Loads
from discreet.power.opf import optimal_flow
from discreet.power.plan import LoadPlan, plan_loads, unit_of
from discreet.query.offer import Offer
from discreet.query.price import Price
from discreet.query.table_plan import Priced
from discreet.query.tables import read_table
from discreet.query.within import plan_within

__all__ = ["Grid", "HiddenLoads", "LoadQuestion", "Loads", "hide_loads", "optimal_flow"]


def hide_loads(
    grid: Grid,
    loads: Loads,
    ledger: Ledger,
    *,
    alpha: Number,
    dataset: str = "loads",
    budget: Budget | None = None,
    who: str | None = None,
) -> LoadQuestion:
    """Begin a release of loads, of which any one is to be hidden up to `alpha` MW.

    `budget` is for the account of the dataset, opened with the first charge if the ledger has none. The account says
    what is protected, alpha included: a budget spent at one alpha says nothing at another.
    """
    if not isinstance(grid, Grid):
        raise InputError(
            "grid", type(grid).__name__, "a Grid", "Grid.from_pandapower(net) or Grid.from_matpower(path)."
        )
    if not isinstance(loads, Loads):
        raise InputError("loads", type(loads).__name__, "Loads", "Wrap them: Loads([...]), Loads.from_pandapower(net).")
    if len(loads) != grid.loads:
        raise InputError("loads", f"{len(loads)} loads", f"{grid.loads}, one for each load of the grid")
    apart = as_written(alpha, "alpha")
    if apart <= 0:
        raise InputError("alpha", alpha, "more than zero MW")
    person = who or os.environ.get("DISCREET_WHO") or getpass.getuser()
    unit = unit_of(apart)
    if budget is not None:
        ledger.declare(dataset, budget, unit=unit, who=person, new=True)
    elif (kept := ledger.account(dataset).unit) != str(unit):
        hint = "Give other loads, or another alpha, a dataset of their own."
        raise InputError("alpha", alpha, f"what the account of {dataset!r} protects ({kept})", hint)
    return LoadQuestion(grid, loads, ledger, alpha, dataset, person)


@dataclass(frozen=True, slots=True, eq=False)
class LoadQuestion:
    """Loads to be hidden. Nothing happens until it is planned and released."""

    grid: Grid
    loads: Loads
    ledger: Ledger
    alpha: Number
    dataset: str
    who: str

    def plan(
        self,
        *,
        epsilon: Number | None = None,
        share: Number | None = None,
        within: Number | None = None,
        beta: Number = 0.01,
        cost: Number | str,
        step: Number = 0.001,
        highest: Number | None = None,
        highest_price: Number | None = None,
        cost_share: Number = 0.25,
        confidence: float = 0.95,
        allotment: str | None = None,
    ) -> Offer[HiddenLoads]:
        """Price the release: by `epsilon`, a `share` of a pure allotment, or `within` how many MW a load may be off.

        `cost` is the optimal cost of the true loads: a number that is public anyway, or "measured", for which
        `cost_share` of the price is spent. The released loads cost within `beta` of it. `step` (MW) is what loads are
        rounded to, `highest` (MW) the most that one may draw (by default what all generators can give), `highest_price`
        the price up to which a measured cost follows congestion; all three are public.
        """
        part = self.ledger.account(self.dataset).budget.allotment(allotment)
        price = Price.read(epsilon=epsilon, share=share, within=within, confidence=confidence)
        if price.way != "within" and price.spent(part)[0] != "epsilon":
            raise InputError("share", str(share), f"epsilon: allotment {part.name!r} is not counted in epsilon")
        if part.kind == "plan":
            raise InputError("allotment", part.name, "a pure or zcdp allotment")

        def planned(paid: Price) -> LoadPlan:
            return plan_loads(
                self.grid,
                self.dataset,
                part,
                alpha=self.alpha,
                epsilon=paid.spent(part)[1],
                beta=beta,
                cost=cost,
                step=step,
                highest=highest,
                highest_price=highest_price,
                cost_share=cost_share,
                confidence=float(confidence),
            )

        plan = planned(price) if price.way != "within" else plan_within(price, part, planned, currency="epsilon")
        return Offer(self, plan, HiddenLoads.read)

    def through_the_door(
        self, plan: Priced, columns: Iterable[str], *, release: str | None, why: str, delta: Number | None = None
    ) -> Answer:
        """Release a plan on these loads."""
        return through_the_door(
            plan,
            self.loads,
            self.ledger,
            who=self.who,
            why=why,
            release=release,
            allotment=plan.allotment.name,
            delta=delta,
        )


@dataclass(frozen=True, slots=True, eq=False)
class HiddenLoads(Released):
    """Released loads: feasible, and as far as `report` says within beta of the reference cost.

    `table` has every load with an interval for the true one, `noisy` the loads before the repair: private as well, and
    unbiased, for whoever wants averages rather than a power flow.
    """

    table: Release
    noisy: tuple[float, ...]
    report: Mapping[str, Any]

    @classmethod
    def read(cls, answer: Answer, cost: str, remaining: str) -> HiddenLoads:
        """From an answer on the ledger."""
        result: Any = answer.result
        table = read_table(answer, cost, remaining)
        head = answer.provenance(cost, remaining)
        return cls(table=table, noisy=tuple(result["noisy"]), report=result["report"], stale=answer.stale, **head)

    def tables(self) -> dict[str, Release]:
        """The released loads, and those before the repair."""
        noisy = {**{key: self.table[key] for key in self.table.keys}, "mw": list(self.noisy)}
        return {"": self.table, "noisy": rows_table(noisy, self)}

    def to_dict(self) -> dict[str, Any]:
        """Plain values: the loads with their intervals, those before the repair, and the report."""
        return {**self.table.to_dict(), "noisy": list(self.noisy), "report": dict(self.report)}

    @property
    def loads(self) -> list[float]:
        """The released loads, MW."""
        return self.table["mw"]

    def __str__(self) -> str:
        told = self.report
        found = {
            "window": "the nearest loads found with such a cost",
            "nearest": "feasible loads near the noisy ones; none with such a cost were found",
            "anchor": "loads moved toward a feasible point fixed beforehand; none nearer were found",
        }[told["way"]]
        gap = "" if told["gap"] is None else f", {percent(round(told['gap'], 6))} from it"
        return "\n".join(
            [
                f"{len(self.table)} loads, feasible in DC optimal power flow: {found}.",
                f"Original cost: {number(told['reference'])}, {told['reference_is']}.",
                f"Cost of the released loads: {number(told['cost'])}{gap}"
                + (" (within beta)." if told["within"] else " (NOT within beta)."),
                f"[{percent(self.table.confidence)} intervals; {self.about}]",
            ]
        )
