"""Private numbers behind a ledger, released so that any one is hidden up to a distance."""

from __future__ import annotations

import getpass
import os
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from discreet.constraints.hidden.ask import HideAsk
from discreet.constraints.hidden.file import ValuesFile
from discreet.constraints.hidden.values import PrivateValues, ValuesSchema
from discreet.core.exact import Number
from discreet.core.version import DataVersion
from discreet.curator.desk import Desk, LedgerDesk, account_of
from discreet.curator.draft import Draft
from discreet.curator.setup import Setup
from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from discreet.query.ask import Ask, Described, check_subject
from discreet.query.table_plan import Priced

if TYPE_CHECKING:
    from discreet.constraints.convex import Convex
    from discreet.constraints.hidden.release import HiddenValues
    from discreet.constraints.system import Constraint

__all__ = ["NumbersDesk", "ValuesDesk", "draft_values", "hide_values", "numbers_account"]


@dataclass(frozen=True)
class NumbersDesk(LedgerDesk):
    """Private numbers that are no table, and the ledger that pays for what is released of them."""

    @classmethod
    def open(
        cls,
        source: Any,
        declared: Setup,
        *,
        ledger: Ledger | str | Path,
        budget: Budget | None = None,
        who: str | None = None,
        version: str | None = None,
        create: bool = False,
    ) -> Self:
        """A file, what its schema declares, and a ledger or its place: see `Curator.open`."""
        named = declared.version if version is None else DataVersion.declare(version)
        about, data = cls.describe(source, declared.schema, named)
        limit = declared.budget if budget is None else budget
        books, person = account_of(declared.schema, ledger, limit, who, create)
        opened: Any = cls
        return cast(Self, opened(books, person, about, data))

    @classmethod
    @abstractmethod
    def describe(cls, source: Any, schema: Any, version: DataVersion | None) -> tuple[Any, Any]:
        """What is public of a file, with what is declared; and the file, held to it."""

    @property
    def schema(self) -> Schema:
        """Numbers are no table."""
        check_subject(Ask, self.declared)
        raise InputError("dataset", self.name, "a table")


@dataclass(frozen=True)
class ValuesDesk(NumbersDesk):
    """Private numbers and the ledger that pays for what is released of them."""

    declared_values: ValuesSchema
    values: PrivateValues | ValuesFile

    @classmethod
    def describe(
        cls, source: Any, schema: Any, version: DataVersion | None
    ) -> tuple[ValuesSchema, PrivateValues | ValuesFile]:
        """A CSV file of numbers, with their names."""
        return ValuesFile.of(source, schema).described(schema, version)

    @property
    def about(self) -> ValuesSchema:
        """What is declared."""
        return self.declared_values

    @property
    def declared(self) -> ValuesSchema:
        """What is declared."""
        return self.declared_values

    @property
    def data(self) -> PrivateValues | ValuesFile:
        """The private numbers."""
        return self.values

    def fits(self, plan: Priced, columns: Iterable[str]) -> None:
        """Refuse numbers of other names than those declared."""
        if isinstance(self.values, ValuesFile):
            self.values.check()
        if self.values.names != self.declared_values.names:
            raise InputError("values", Phrase("other names"), "the numbers that were declared", "Nothing was spent.")


def numbers_account(schema: Described, alpha: Number, ledger: Ledger, budget: Budget | None, who: str | None) -> str:
    """Who asks, once the ledger has an account that protects numbers up to this distance."""
    person = who or os.environ.get("DISCREET_WHO") or getpass.getuser()
    if budget is not None:
        ledger.declare(schema.name, budget, unit=schema.unit, who=person, new=True)
    elif (kept := ledger.account(schema.name).unit) != str(schema.unit):
        allowed = f"the distance that the account of {schema.name!r} protects ({kept})"
        raise InputError("alpha", alpha, allowed, "Give other numbers, or another alpha, a dataset of their own.")
    return person


def draft_values(
    desk: Desk, alpha: Number | None, objective: Convex | None, constraints: Sequence[Convex | Constraint]
) -> Draft[HiddenValues]:
    """Begin a release of the numbers that a desk has; constraints and objective are those declared, unless given."""
    if alpha is not None:
        raise InputError("alpha", alpha, "left out: the schema declares it")
    return Draft.of(desk, HideAsk(objective=objective, constraints=_listed(constraints)))


def _listed(constraints: Sequence[Convex | Constraint]) -> tuple[Convex | Constraint, ...] | None:
    """Constraints that were given, if any."""
    try:
        return tuple(constraints) or None
    except TypeError:
        raise InputError("constraints", constraints, "a list of constraints") from None


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
    person = numbers_account(about, alpha, ledger, budget, who)
    ask = HideAsk(objective=objective, constraints=_listed(constraints))
    return Draft.of(ValuesDesk(ledger, person, about, held), ask)
