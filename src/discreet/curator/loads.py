"""Private loads of a public power grid, behind a ledger."""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterable
from dataclasses import dataclass

from discreet.core.exact import Number, as_written
from discreet.curator.draft import Draft
from discreet.curator.kinds import read_release
from discreet.curator.offer import Offer
from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase, kind_of
from discreet.ledger.account import Standing
from discreet.ledger.budget import Budget
from discreet.ledger.door import Answer
from discreet.ledger.door import release as through_the_door
from discreet.ledger.ledger import Ledger
from discreet.power.ask import LoadsAsk, PublicGrid
from discreet.power.grid import Grid
from discreet.power.loads import Loads
from discreet.power.plan import unit_of
from discreet.power.release import HiddenLoads
from discreet.query.ask import Ask, Checked
from discreet.query.price import Price
from discreet.query.table_plan import Priced

__all__ = ["LoadDesk", "hide_loads"]


@dataclass(frozen=True)
class LoadDesk:
    """Loads of a grid and the ledger that pays for what is released of them."""

    about: PublicGrid
    loads: Loads
    ledger: Ledger
    who: str

    @property
    def schema(self) -> Schema:
        """Loads are no table."""
        raise InputError("loads", Phrase("a list of numbers"), "a table, where columns are asked for")

    def check(self, ask: Ask) -> Checked[HiddenLoads]:
        """The ask, for this grid."""
        return ask.checked(self.about)

    def offer(
        self, ask: Ask, checked: Checked[HiddenLoads] | None, price: Price | None, allotment: str | None
    ) -> Offer[HiddenLoads]:
        """The ask, priced."""
        ready = self.check(ask) if checked is None else checked
        part = ask.paying(self.ledger.account(self.about.name).budget, allotment)
        return Offer(self, ready.priced(part, price), ready.read)

    def standing(self) -> tuple[Standing, ...]:
        """What every allotment has spent and has left."""
        return self.ledger.standing(self.about.name)

    def releases(self) -> list[str]:
        """The ids of releases that have an answer."""
        return [known.charged.release for known in self.ledger.releases(self.about.name) if known.answer is not None]

    def release(self, release: str, part: str = "") -> HiddenLoads:
        """A release made before, read again for free."""
        found: HiddenLoads = read_release(self.ledger, release, dataset=self.about.name, part=part)
        return found

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


def hide_loads(
    grid: Grid,
    loads: Loads,
    ledger: Ledger,
    *,
    alpha: Number,
    dataset: str = "loads",
    budget: Budget | None = None,
    who: str | None = None,
) -> Draft[HiddenLoads]:
    """Begin a release of loads, of which any one is to be hidden up to `alpha` MW.

    `budget` is for the account of the dataset, opened with the first charge if the ledger has none. The account says
    what is protected, alpha included: a budget spent at one alpha says nothing at another.

    `plan` takes the `cost` of the true loads: a number that is public anyway, or "measured", for which `cost_share` of
    the price is spent. The released loads cost within `beta` of it. `step` (MW) is what loads are rounded to, `highest`
    (MW) the most that one may draw (by default what all generators can give), `highest_price` the price up to which a
    measured cost follows congestion; all three are public.
    """
    if not isinstance(grid, Grid):
        raise InputError("grid", kind_of(grid), "a Grid", "Use Grid.from_pandapower(net) or Grid.from_matpower(path).")
    if not isinstance(loads, Loads):
        raise InputError("loads", kind_of(loads), "a Loads", "Wrap them: Loads([...]), Loads.from_pandapower(net).")
    if len(loads) != grid.loads:
        raise InputError("loads", Phrase(f"{len(loads)} loads"), f"one for each load of the grid, {grid.loads}")
    ask, about = LoadsAsk(alpha), PublicGrid(dataset, grid)
    ask.checked(about)
    person = who or os.environ.get("DISCREET_WHO") or getpass.getuser()
    unit = unit_of(as_written(alpha, "alpha"))
    if budget is not None:
        ledger.declare(dataset, budget, unit=unit, who=person, new=True)
    elif (kept := ledger.account(dataset).unit) != str(unit):
        hint = "Give other loads, or another alpha, a dataset of their own."
        raise InputError("alpha", alpha, f"the distance that the account of {dataset!r} protects ({kept})", hint)
    return Draft.of(LoadDesk(about, loads, ledger, person), ask)
