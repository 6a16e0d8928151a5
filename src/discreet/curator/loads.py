"""Private loads of a public power grid, behind a ledger."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from discreet.core.exact import Number
from discreet.core.version import DataVersion
from discreet.curator.draft import Draft
from discreet.curator.hidden import NumbersDesk, numbers_account
from discreet.errors import InputError, Phrase, kind_of
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from discreet.power.ask import LoadsAsk
from discreet.power.file import GridFile
from discreet.power.grid import Grid
from discreet.power.loads import Loads
from discreet.power.release import HiddenLoads
from discreet.power.schema import GridSchema, PublicGrid
from discreet.query.table_plan import Priced

__all__ = ["LoadDesk", "hide_loads"]


@dataclass(frozen=True)
class LoadDesk(NumbersDesk):
    """Loads of a grid and the ledger that pays for what is released of them."""

    grid: PublicGrid
    loads: Loads | GridFile

    @classmethod
    def describe(cls, source: Any, schema: Any, version: DataVersion | None) -> tuple[PublicGrid, Loads | GridFile]:
        """A grid file, with its grid."""
        if not isinstance(schema, GridSchema):
            GridFile.of(source)
            raise InputError("schema", schema.name, "that of a grid: [grid] alpha = ...")
        return GridFile.of(source, schema.loads).described(schema, version)

    @property
    def about(self) -> PublicGrid:
        """The grid, and what is declared."""
        return self.grid

    @property
    def declared(self) -> GridSchema:
        """The name, the distance, and what is public about the grid."""
        return self.grid.schema

    @property
    def data(self) -> Loads | GridFile:
        """The private loads."""
        return self.loads

    def for_ac(self, release: str, power_factor: Number, beta: Number) -> HiddenLoads:
        """Released loads moved until AC converges. Of the grid file what is public is read."""
        found = self.release(release, "")
        if not isinstance(found, HiddenLoads):
            raise InputError("release", release, "the id of a set of loads")
        if not isinstance(self.loads, GridFile):
            raise InputError("loads", kind_of(self.loads), "those of a grid file; others have release.for_ac(net)")
        return found.for_ac(self.loads.net(), power_factor=power_factor, beta=beta)

    def fits(self, plan: Priced, columns: Iterable[str]) -> None:
        """Refuse a file whose grid is another one by now."""
        if isinstance(self.loads, GridFile):
            self.loads.check()


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
    about = PublicGrid.of(dataset, alpha, grid, loads.times, loads.clock)
    person = numbers_account(about.schema, alpha, ledger, budget, who)
    return Draft.of(LoadDesk(ledger, person, about, loads), LoadsAsk())
