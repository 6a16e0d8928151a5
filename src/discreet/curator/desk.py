"""Where asks are priced and paid: the ledger and the data here, or a server there. A curator works over either."""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from discreet.core.exact import Number
from discreet.core.version import DataVersion
from discreet.curator.kinds import read_release
from discreet.curator.offer import Offer
from discreet.curator.setup import read_setup
from discreet.curator.stream import StreamOffer
from discreet.data.schema import Schema
from discreet.data.source import Source
from discreet.errors import InputError
from discreet.ledger.account import Standing
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.door import Answer
from discreet.ledger.door import release as through_the_door
from discreet.ledger.ledger import Ledger
from discreet.query.ask import Ask, Checked
from discreet.query.compatibility import check_columns
from discreet.query.price import Price
from discreet.query.stream import CheckedStream
from discreet.query.table_plan import Priced

__all__ = ["Desk", "LocalDesk"]

Made = TypeVar("Made")


class Desk(Protocol):
    """Where a curator has its asks priced and released."""

    @property
    def schema(self) -> Schema:
        """What is declared about the table."""
        ...

    def check(self, ask: Ask) -> Checked[Any] | None:
        """The ask read against the schema, with every error there is; None where that is done elsewhere."""
        ...

    def offer(self, ask: Ask, checked: Checked[Any] | None, price: Price | None, allotment: str | None) -> Any:
        """The ask, priced. Spends nothing."""
        ...

    def standing(self) -> tuple[Standing, ...]:
        """What every allotment has spent and has left."""
        ...

    def releases(self) -> list[str]:
        """Ids of what was released."""
        ...

    def release(self, release: str, part: str) -> Any:
        """A release of any kind made before, or its table of a name."""
        ...


@dataclass(frozen=True)
class LocalDesk:
    """One private table, its schema, and the ledger that pays for what is released of it."""

    source: Source
    schema: Schema
    ledger: Ledger
    who: str
    warns: bool = True
    """Whether it warns of a stored answer that may describe earlier data, beside the note that the answer carries."""

    @classmethod
    def open(
        cls,
        source: Source,
        schema: Schema | Mapping[str, Any] | str | Path,
        *,
        ledger: Ledger | str | Path,
        budget: Budget | None = None,
        joins: Mapping[str, Source] | None = None,
        who: str | None = None,
        version: str | None = None,
        names: Sequence[str] = (),
        create: bool = False,
    ) -> Self:
        """Data, a schema and a ledger or its place: see `Curator.open`."""
        declared = read_setup(schema)
        found = declared.schema
        joined = dict(joins or {})
        if set(joined) != set(found.joins):
            raise InputError("joins", sorted(joined), "a table for each of the schema's [joins]", among=found.joins)
        source = replace(
            source.beside(joined),
            view=found.view,
            names=tuple(names) or declared.names,
            declared=declared.version if version is None else DataVersion.declare(version),
        )
        check_columns(source, found, found.columns)
        person = who or os.environ.get("DISCREET_WHO") or getpass.getuser()
        books = ledger if isinstance(ledger, Ledger) else Ledger.open(ledger, create=create, who=person)
        wanted = budget if budget is not None else declared.budget
        if wanted is not None:
            books.declare(found.name, wanted, unit=found.unit, who=person, new=create)
        books.account(found.name).check_unit(found.unit)
        return cls(source, found, books, person)

    @property
    def budget(self) -> Budget:
        """What the table's account may spend, and how it is divided."""
        return self.ledger.account(self.schema.name).budget

    def allotment(self, name: str | None = None) -> Allotment:
        """The allotment of that name; the only one, if there is one and no name is given."""
        return self.budget.allotment(name)

    def standing(self) -> tuple[Standing, ...]:
        """What every allotment has spent and has left."""
        return self.ledger.standing(self.schema.name)

    def check(self, ask: Ask) -> Checked[Any]:
        """The ask read against the schema."""
        return ask.checked(self.schema)

    def offer(self, ask: Ask, checked: Checked[Made] | None, price: Price | None, allotment: str | None) -> Offer[Made]:
        """The ask, priced."""
        ready = self.check(ask) if checked is None else checked
        part = ask.paying(self.budget, allotment)
        plan = ready.priced(part, price)
        if isinstance(ready, CheckedStream):
            return StreamOffer(self, plan, ready.read, lambda former: ready.priced(former, price))  # type: ignore[return-value]
        return Offer(self, plan, ready.read)

    def releases(self) -> list[str]:
        """The ids of the releases of this table that have an answer."""
        return [known.charged.release for known in self.ledger.releases(self.schema.name) if known.answer is not None]

    def release(self, release: str, part: str = "") -> Any:
        """A release of any kind made before, read again for free; with `part`, its table of that name."""
        return read_release(self.ledger, release, dataset=self.schema.name, part=part)

    def through_the_door(
        self, plan: Priced, columns: Iterable[str], *, release: str | None, why: str, delta: Number | None = None
    ) -> Answer:
        """Release a priced job on the data, once the columns it reads are known to fit.

        `delta` is what a job paid from a `plan` allotment is counted at.
        """
        check_columns(self.source, self.schema, columns, getattr(plan, "identifiers", ()))
        return through_the_door(
            plan,
            self.source,
            self.ledger,
            who=self.who,
            why=why,
            release=release,
            allotment=plan.allotment.name,
            delta=delta,
            warn=self.warns,
        )
