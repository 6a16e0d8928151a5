"""Private numbers behind a ledger, released so that any one is hidden up to a distance."""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.constraints.hidden.ask import HideAsk
from discreet.constraints.hidden.values import PrivateValues, ValuesSchema
from discreet.core.exact import Number
from discreet.curator.desk import LedgerDesk
from discreet.curator.draft import Draft
from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from discreet.query.ask import Ask, check_subject
from discreet.query.table_plan import Priced

if TYPE_CHECKING:
    from discreet.constraints.convex import Convex
    from discreet.constraints.hidden.release import HiddenValues
    from discreet.constraints.system import Constraint

__all__ = ["ValuesDesk", "hide_values"]


@dataclass(frozen=True)
class ValuesDesk(LedgerDesk):
    """Private numbers and the ledger that pays for what is released of them."""

    declared_values: ValuesSchema
    values: PrivateValues

    @property
    def about(self) -> ValuesSchema:
        """What is declared."""
        return self.declared_values

    @property
    def declared(self) -> ValuesSchema:
        """What is declared."""
        return self.declared_values

    @property
    def schema(self) -> Schema:
        """Numbers are no table."""
        check_subject(Ask, self.declared)
        raise InputError("dataset", self.name, "a table")

    @property
    def data(self) -> PrivateValues:
        """The private numbers."""
        return self.values

    def fits(self, plan: Priced, columns: Iterable[str]) -> None:
        """Refuse numbers of other names than those declared."""
        if self.values.names != self.declared_values.names:
            raise InputError("values", Phrase("other names"), "the numbers that were declared", "Nothing was spent.")


def hide_values(
    values: PrivateValues | Mapping[str, Any] | Sequence[Any],
    ledger: Ledger,
    *,
    alpha: Number,
    objective: Convex | None = None,
    constraints: Sequence[Convex | Constraint] = (),
    dataset: str = "values",
    measure: str = "units",
    budget: Budget | None = None,
    who: str | None = None,
) -> Draft[HiddenValues]:
    """Begin a release of private numbers, of which any one is to be hidden up to `alpha`.

    `objective` is a convex function of all numbers, whose value at the released ones is to be about that at the true
    ones; `constraints` are what they must meet, and are public. `measure` is what numbers are counted in. `budget` is
    for the account of the dataset, opened with the first charge if the ledger has none; the account says what is
    protected, alpha included.

    `plan` takes the bounds `lowest` and `highest` of a number and the `step` it is rounded to, which are public; the
    `optimum`, a number that is public anyway, or "measured" for `optimum_share` of the price, with `lipschitz`, how far
    the objective moves at most where one number moves by one; and `beta`, how near to it released numbers come.
    """
    held = values if isinstance(values, PrivateValues) else PrivateValues(values)
    about = ValuesSchema.of(dataset, alpha, held.names, measure)
    person = who or os.environ.get("DISCREET_WHO") or getpass.getuser()
    if budget is not None:
        ledger.declare(dataset, budget, unit=about.unit, who=person, new=True)
    elif (kept := ledger.account(dataset).unit) != str(about.unit):
        allowed = f"the distance that the account of {dataset!r} protects ({kept}), or another dataset"
        raise InputError("alpha", alpha, allowed)
    ask = HideAsk(objective=objective, constraints=tuple(constraints) or None)
    return Draft.of(ValuesDesk(ledger, person, about, held), ask)
