"""Where asks are priced and paid: the ledger and the data here, or a server there. A curator works over either."""

from __future__ import annotations

import getpass
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from discreet.core.exact import Number
from discreet.core.garbage import rarely_collected
from discreet.core.plan import Private
from discreet.core.version import DataVersion
from discreet.curator.kinds import read_release
from discreet.curator.offer import Offer
from discreet.curator.repeat import Repeat, find_repeat
from discreet.curator.request import offer_again, request_to
from discreet.curator.setup import read_setup
from discreet.curator.stream import StreamOffer
from discreet.data.schema import Schema
from discreet.data.source import Source
from discreet.errors import MISSING, InputError
from discreet.ledger.account import Standing
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.door import Answer
from discreet.ledger.door import release as through_the_door
from discreet.ledger.ledger import Ledger
from discreet.query.ask import SUBJECTS, Ask, Checked, Described, check_subject
from discreet.query.compatibility import check_columns
from discreet.query.price import Price
from discreet.query.stream import CheckedStream
from discreet.query.table_plan import Priced

__all__ = ["Desk", "LedgerDesk", "LocalDesk", "RecordDesk", "account_of"]

Made = TypeVar("Made")


class Desk(Protocol):
    """Where a curator has its asks priced and released."""

    @property
    def schema(self) -> Schema:
        """What is declared about the table; refused where the data is something else."""
        ...

    @property
    def declared(self) -> Described:
        """What is declared about the data, whatever it is."""
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

    def publish(self, release: str, how: Mapping[str, Any]) -> Any:
        """A release of any kind made before, published again from what was measured for it."""
        ...


@dataclass(frozen=True)
class LedgerDesk(ABC):
    """Private data here, and the ledger that pays for what is released of it."""

    ledger: Ledger
    who: str
    warns: bool = field(default=True, kw_only=True)
    """Whether it warns of a stored answer that may describe earlier data, beside the note that the answer carries."""

    @property
    @abstractmethod
    def about(self) -> Any:
        """What asks are read against: the schema, and what else is public."""

    @property
    @abstractmethod
    def data(self) -> Private:
        """What the one door opens."""

    @property
    @abstractmethod
    def declared(self) -> Described:
        """What is declared about the data."""

    @property
    def name(self) -> str:
        """The name of the dataset, as the ledger knows it."""
        return self.declared.name

    @property
    def budget(self) -> Budget:
        """What the account of the data may spend, and how it is divided."""
        return self.ledger.account(self.name).budget

    def allotment(self, name: str | None = None) -> Allotment:
        """The allotment of that name; the only one, if there is one and no name is given."""
        return self.budget.allotment(name)

    def standing(self) -> tuple[Standing, ...]:
        """What every allotment has spent and has left."""
        return self.ledger.standing(self.name)

    def check(self, ask: Ask) -> Checked[Any]:
        """The ask read against what is declared."""
        check_subject(ask, self.declared)
        return ask.checked(self.about)

    def offer(self, ask: Ask, checked: Checked[Made] | None, price: Price | None, allotment: str | None) -> Offer[Made]:
        """The ask, priced."""
        ready = self.check(ask) if checked is None else checked
        plan, request = ready.priced(ask.paying(self.budget, allotment), price), request_to(ask, price)
        if isinstance(ready, CheckedStream):
            later: Any = StreamOffer(
                self, plan, ready.read, lambda former: ready.priced(former, price), request=request
            )
            offer: Offer[Made] = later
            return offer
        return Offer(self, plan, ready.read, request=request, remarks=ready.remarks)

    def releases(self) -> list[str]:
        """The ids of the releases of this data that have an answer."""
        return [known.charged.release for known in self.ledger.releases(self.name) if known.answer is not None]

    def release(self, release: str, part: str = "") -> Any:
        """A release of any kind made before, read again for free; with `part`, its table of that name."""
        return read_release(self.ledger, release, dataset=self.name, part=part)

    def answered(self, digest: str) -> Repeat | None:
        """An answer on record to the plan of a digest, of the data as it is now; None if there is none."""
        return find_repeat(self.ledger, self.name, digest, self.data)

    def publish(self, release: str, how: Mapping[str, Any]) -> Any:
        """What was measured for a release, published again from its record: free, without data and fresh noise."""
        return self.offer_of(release).publish(release, **how)

    def offer_of(self, release: str) -> Offer[Any]:
        """The offer that a measured release was made of, planned again from its record."""
        known = self.ledger.find(release)
        if known is None or known.charged.dataset != self.name or known.measurement is None:
            hint = "Nothing was spent. Versions before 0.2 recorded answers only."
            raise InputError("release", release, "the id of a release whose measurement is recorded", hint)
        return offer_again(self, known)

    @abstractmethod
    def fits(self, plan: Priced, columns: Iterable[str]) -> None:
        """Refuse a plan that the data, as it is now, does not fit. Nothing of it is opened."""

    def data_with(self, columns: Iterable[str]) -> Private:
        """The data as a plan reads it that reads these columns."""
        return self.data

    def through_the_door(
        self,
        plan: Priced,
        columns: Iterable[str],
        *,
        release: str | None,
        why: str,
        delta: Number | None = None,
        request: str | None = None,
    ) -> Answer:
        """Release a priced job on the data, once what it reads is known to fit.

        `delta` is what a job paid from a `plan` allotment is counted at.
        """
        names = list(columns)
        self.fits(plan, names)
        return through_the_door(
            plan,
            self.data_with(names),
            self.ledger,
            who=self.who,
            why=why,
            release=release,
            allotment=plan.allotment.name,
            delta=delta,
            warn=self.warns,
            request=request,
        )


@dataclass(frozen=True)
class LocalDesk(LedgerDesk):
    """One private table, its schema, and the ledger that pays for what is released of it."""

    source: Source
    schema: Schema

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
        if not isinstance(found, Schema):
            raise InputError("schema", found.name, f"that of a table: this one declares {SUBJECTS[found.subject]}")
        joined = dict(joins or {})
        if set(joined) != set(found.joins):
            raise InputError("joins", sorted(joined), "a table for each of the schema's [joins]", among=found.joins)
        found.layout.check_kind(source.kind)
        source = replace(
            source.beside(joined),
            layout=found.layout,
            written=found.stored,
            view=found.view,
            names=tuple(names) or declared.names,
            declared=declared.version if version is None else DataVersion.declare(version),
        )
        with rarely_collected():  # the first look at data loads its engine
            check_columns(source, found, found.columns)
        books, person = account_of(found, ledger, declared.budget if budget is None else budget, who, create)
        return cls(books, person, source, found)

    @property
    def about(self) -> Schema:
        """The schema."""
        return self.schema

    @property
    def data(self) -> Source:
        """The table."""
        return self.source

    @property
    def declared(self) -> Schema:
        """The schema."""
        return self.schema

    def fits(self, plan: Priced, columns: Iterable[str]) -> None:
        """Refuse columns that are not as declared."""
        names = list(columns)
        check_columns(self.source, self.schema, self.schema.read_by(names), getattr(plan, "identifiers", ()))
        if any(name not in self.schema.columns for name in names):
            self.data_with(names).check_view()

    def data_with(self, columns: Iterable[str]) -> Source:
        """The table, with the expressions among these columns beside its own."""
        names = tuple(dict.fromkeys(name for name in columns if name not in self.schema.columns))
        return self.source.widened(names, self.schema.view_with(names)) if names else self.source


@dataclass(frozen=True)
class RecordDesk(LedgerDesk):
    """What is on record and what is declared, without data: for publishing what was measured before."""

    known: Any
    """What asks are read against: a schema, or a public grid."""

    @property
    def about(self) -> Any:
        """What asks are read against."""
        return self.known

    @property
    def data(self) -> Private:
        """There is none here."""
        raise InputError("data", MISSING, "given where something is measured", "Nothing was spent.")

    @property
    def declared(self) -> Described:
        """What is declared."""
        found: Described = getattr(self.known, "schema", self.known)
        return found

    def answered(self, digest: str) -> Repeat | None:
        """Nothing is bought where there is no data."""
        return None

    def fits(self, plan: Priced, columns: Iterable[str]) -> None:
        """Nothing fits where there is no data."""
        _ = self.data


def account_of(
    schema: Described, ledger: Ledger | str | Path, budget: Budget | None, who: str | None, create: bool
) -> tuple[Ledger, str]:
    """The ledger with an account for what a schema declares, and who asks."""
    person = who or os.environ.get("DISCREET_WHO") or getpass.getuser()
    books = ledger if isinstance(ledger, Ledger) else Ledger.open(ledger, create=create, who=person)
    if budget is not None:
        books.declare(schema.name, budget, unit=schema.unit, who=person, new=create)
    books.account(schema.name).check_unit(schema.unit)
    return books, person
