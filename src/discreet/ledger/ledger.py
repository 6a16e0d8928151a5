"""Budgets and charges: `spend` is durable before it returns, and never exceeds what is left."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from discreet.core.exact import Number, round_up
from discreet.core.loss import Loss
from discreet.core.plan import Cover
from discreet.core.unit import Protected, Unit
from discreet.core.version import DataVersion, Versioned
from discreet.core.wire import Json, canonical, loss_to_json
from discreet.errors import InputError, LedgerError
from discreet.ledger.account import Account, Standing, account_of, refusal, unit_text
from discreet.ledger.anchor import Anchor, Mark
from discreet.ledger.budget import Budget, Charge, label
from discreet.ledger.cover import check_cover, cover_to
from discreet.ledger.doubt import Doubt, doubt_of
from discreet.ledger.outcome import Charged, Outcome, outcome_of
from discreet.ledger.record import GENESIS, Head, Record
from discreet.ledger.secret import fresh_secret, secret_at, secret_path
from discreet.ledger.store import Reader, Store, Writer
from discreet.ledger.totals import check_totals, write
from discreet.ledger.verification import Verification, verify

__all__ = ["Ledger"]

_LONG = 1024  # bits; a sum with a longer denominator than this takes further charges rounded up
_FINE = 10**30
_ROW = Unit()


class Ledger:
    """The books of one or more datasets. `Ledger.open("discreet.db")` or `Ledger.open("postgresql://...")`.

    Guarantee: the charges on the books of an allotment never exceed its caps, whoever spends from however many threads
    and processes; a charge that `spend` returned is on disk; no record is ever changed (`verify`). Together with
    the one door (`discreet.ledger.door`) everything released stays within the budget: docs/proofs/ledger.md.
    """

    def __init__(self, store: Store, anchor: Anchor | None = None, secret: Path | None = None) -> None:
        self._store = store
        self._anchor = anchor
        self._secret = secret
        with store.read() as reader:
            empty = reader.head() == GENESIS
        if anchor is not None and empty:
            anchor.move(self._mark, to=0)  # from now on a missing anchor means something

    @classmethod
    def open(cls, place: str | Path = "discreet.db", *, anchor: str | Path | None = None) -> Ledger:
        """The ledger at a path (SQLite, made if it is not there) or a postgresql:// address.

        A SQLite ledger is anchored in `<path>.head`. For PostgreSQL `anchor` may name a file on this machine, or the
        environment may: DISCREET_ANCHOR.
        """
        if isinstance(place, str) and place.startswith(("postgresql://", "postgres://")):
            from discreet.ledger.postgres import PostgresStore

            guard = anchor if anchor is not None else os.environ.get("DISCREET_ANCHOR") or None
            watch = None if guard is None else Anchor(Path(guard), expected=False)
            return cls(PostgresStore(place), watch, secret_path(place))
        if isinstance(place, str) and "://" in place:
            raise InputError("ledger", place.partition("://")[0] + "://...", "a path or a postgresql:// address")
        from discreet.ledger.sqlite import SqliteStore

        path = Path(place)
        beside = path.with_name(path.name + ".head") if anchor is None else Path(anchor)
        return cls(SqliteStore(path), Anchor(beside, expected=True), secret_path(path))

    def __repr__(self) -> str:
        return f"Ledger({self._store!r})"

    def close(self) -> None:
        """Let go of idle connections; the ledger can still be used."""
        self._store.close()

    def version_of(self, data: object) -> DataVersion:
        """Which version of the data a charge made now would name. Nothing of the data is opened."""
        if not isinstance(data, Versioned):
            return DataVersion()
        return data.version(fresh_secret() if self._secret is None else secret_at(self._secret))

    def private(self) -> Path:
        """The folder for what a job must remember of people between its steps, which only its owner may read."""
        beside = self._store.path or (None if self._anchor is None else self._anchor.path)
        if beside is None:
            hint = "Open it with anchor=..., or set DISCREET_ANCHOR: a file on this machine. Nothing was spent."
            raise InputError("ledger", "no anchor", "a ledger with a folder on this machine for private state", hint)
        return beside.with_name(beside.name + ".private")

    # Budgets

    def create(self, dataset: str, budget: Budget, *, unit: Protected = _ROW, who: str) -> Account:
        """Open a budget for a dataset and what it protects. The same again changes nothing; another one is refused."""
        detail = _opened(budget, unit)
        label(dataset, "dataset")
        with self._write() as writer:
            old = writer.latest(dataset, "open")
            if old is None:
                self._append(writer, kind="open", dataset=dataset, who=who, detail=detail)
            elif not isinstance(old.detail, dict) or old.detail | {"unit": unit_text(old.detail["unit"])} != detail:
                hint = "A budget is raised with `discreet ledger raise` or Ledger.raise_budget, which goes on record."
                raise InputError("budget", "another budget or unit", f"the one {dataset!r} already has", hint)
            return account_of(writer, dataset)

    def raise_budget(
        self, dataset: str, budget: Budget, *, who: str, why: str, unit: Protected | None = None
    ) -> Account:
        """Replace the budget of a dataset by a larger one; every allotment stays, with caps at least as large.

        From then on the guarantee is that of the larger budget, for everything released before as well. `unit` is for
        accounts of 0.1 that describe their unit in words of their own: the custodian's word which one is meant.
        """
        with self._write() as writer:
            account = account_of(writer, dataset)
            account.check_raise(budget)
            if unit is not None and account.comparable:
                account.check_unit(unit)
            detail = _opened(budget, unit) if unit is not None else {"budget": budget.to_json(), "unit": account.unit}
            self._append(writer, kind="open", dataset=dataset, who=who, why=why, detail=detail)
            return account_of(writer, dataset)

    def account(self, dataset: str) -> Account:
        """The budget of a dataset; `InputError` if it has none here."""
        with self._store.read() as reader:
            return account_of(reader, dataset)

    def datasets(self) -> tuple[str, ...]:
        """Every dataset with a budget, in the order they came."""
        with self._store.read() as reader:
            return tuple(dict.fromkeys(row.dataset for row in reader.rows() if row.kind == "open"))

    def standing(self, dataset: str) -> tuple[Standing, ...]:
        """What every allotment of a dataset has spent and has left."""
        with self._store.read() as reader:
            check_totals(reader, add_up=False)
            return tuple(
                Standing(dataset, part, spent, spent.left_of(part.cap))
                for part in account_of(reader, dataset).budget.allotments
                for spent in (reader.total(dataset, part.name),)
            )

    def remaining(self, dataset: str, allotment: str | None = None) -> Charge:
        """What an allotment has left."""
        with self._store.read() as reader:
            check_totals(reader, add_up=False)
            part = account_of(reader, dataset).budget.allotment(allotment)
            return reader.total(dataset, part.name).left_of(part.cap)

    # Charges and what came of them

    def spend(
        self,
        dataset: str,
        loss: Loss,
        *,
        release: str,
        who: str,
        why: str = "",
        query: Json = None,
        digest: str,
        mechanism: str = "",
        unit: Protected = _ROW,
        cover: Cover | None = None,
        allotment: str | None = None,
        delta: Number | None = None,
        data: DataVersion | None = None,
    ) -> Charged:
        """Charge `loss` for `release`. On disk when this returns; `BudgetError` and nothing spent if it does not fit.

        `unit` is what the loss is stated for. It must be what the account protects: the transaction compares them.
        A loss of zero needs a `cover`: the paid first step of the same job, checked in the same transaction.
        The same release again is not charged again; under another digest, dataset or a higher price it is refused.
        `delta` is for `plan` allotments: how much of their delta this job uses. `data` is the version of the data that
        will be read.
        """
        label(release, "release")
        label(digest, "digest")
        price = self.account(dataset).budget.allotment(allotment).price(loss, delta)
        told = {"who": who, "why": why, "query": query, "mechanism": mechanism, "loss": loss_to_json(loss)}
        canonical(told, "query")  # whatever cannot be recorded is refused here
        with self._write() as writer:
            account = account_of(writer, dataset)  # a raised budget has other caps
            account.check_unit(unit)
            part = account.budget.allotment(allotment)
            spent = writer.total(dataset, part.name)
            if known := outcome_of(writer.of_release(release)):
                paid = known.charged
                same = (paid.digest, paid.dataset, paid.allotment) == (digest, dataset, part.name)
                if not same or not price.within(paid.charge):
                    hint = "Nothing was spent. Choose another id for another question."
                    raise InputError("release", release, "a new id: this one was paid for something else", hint)
                return Charged(release, dataset, part.name, paid.charge, spent.left_of(part.cap), already_paid=True)
            charge = _short(price, spent)
            record = Record.after(
                writer.head(),
                kind="charge",
                dataset=dataset,
                allotment=part.name,
                charge=charge,
                release=release,
                digest=digest,
                unit=str(unit),
                cover=cover_to(cover),
                detail=None if data is None else {"data": data.to_json()},
                **told,
            )
            paid_before = None if cover is None else outcome_of(writer.of_release(cover.paid))
            check_cover(record, loss, price, cover, paid_before)
            if not (spent + charge).within(part.cap):
                raise refusal(dataset, part, charge, spent)
            write(writer, record)
        return Charged(release, dataset, part.name, charge, (spent + charge).left_of(part.cap), already_paid=False)

    def answer(self, release: str, result: str, *, who: str) -> str:
        """Keep the result (JSON text) of a paid release. The first one stays; it is what is returned."""
        return self._conclude(release, who=who, kind="answer", result=result).answer or ""

    def failed(self, release: str, reason: str, *, who: str) -> Outcome:
        """Note that a paid release has no answer and never will; the first outcome stays."""
        return self._conclude(release, who=who, kind="failure", detail={"reason": reason})

    def _conclude(self, release: str, **values: Any) -> Outcome:
        with self._write() as writer:
            outcome = self._known(writer, release)
            if outcome.answer is None and outcome.failure is None:
                self._append(writer, dataset=outcome.charged.dataset, release=release, **values)
            return self._known(writer, release)

    def note(self, release: str, why: str, *, who: str) -> Outcome:
        """Put a remark about a paid release on record."""
        with self._write() as writer:
            dataset = self._known(writer, release).charged.dataset
            self._append(writer, kind="note", dataset=dataset, release=release, who=who, why=why)
            return self._known(writer, release)

    @staticmethod
    def _known(reader: Reader, release: str) -> Outcome:
        outcome = outcome_of(reader.of_release(release))
        if outcome is None:
            raise InputError("release", release, "the id of a release that was paid for")
        return outcome

    def find(self, release: str) -> Outcome | None:
        """What is known of a release; None if it was never charged."""
        with self._store.read() as reader:
            return outcome_of(reader.of_release(release))

    def running(self, release: str) -> AbstractContextManager[None]:
        """Held while a release runs, so that two who ask for it get one answer."""
        return self._store.running(release)

    # The books themselves

    def records(self, dataset: str | None = None) -> Iterator[Record]:
        """Every record, or those of one dataset, in order."""
        with self._store.read() as reader:
            yield from (row.record() for row in reader.rows(dataset))

    def releases(self, dataset: str | None = None) -> tuple[Outcome, ...]:
        """Every release that was charged, in order, with what came of it."""
        by_release: dict[str, list[Record]] = {}
        for record in self.records(dataset):
            if record.release:
                by_release.setdefault(record.release, []).append(record)
        found = (outcome_of(records) for records in by_release.values())
        return tuple(outcome for outcome in found if outcome is not None)

    def head(self) -> Head:
        """The end of the chain: worth writing down somewhere else."""
        with self._store.read() as reader:
            return reader.head()

    def verify(self) -> Verification:
        """Check every record, sum and cap again, from the records alone."""
        with self._store.read() as reader:
            return verify(reader, self._anchor)

    def doubt(self) -> Doubt | None:
        """Why these are not the books last seen here, and what `acknowledge` would charge; None if all is well."""
        with self._store.write() as writer:  # alone, so that nobody's newer mark is taken for a doubt
            return doubt_of(writer, self._anchor)

    def acknowledge(self, *, who: str, why: str) -> tuple[Record, ...]:
        """A custodian's word that these books are to be used although their anchor says otherwise.

        What the anchor knows to have been spent and these books do not is charged now, so that a restored copy gives no
        budget back. Returns the records added.
        """
        if self._anchor is None:
            return ()
        added: list[Record] = []
        with self._store.write() as writer:
            doubt = doubt_of(writer, self._anchor)
            if doubt is None:
                return ()
            mark = doubt.mark or Mark(GENESIS)
            for dataset, allotment, lost in doubt.lost:
                # By its place on the books: should the mark not be moved after this, the next word has other ids.
                release = f"lost {mark.head.hash[:16]} {writer.head().sequence + 1}"
                named = {"dataset": dataset, "allotment": allotment, "release": release}
                added.append(self._append(writer, kind="charge", charge=lost, who=who, why=doubt.problem, **named))
            detail = {"acknowledged": doubt.problem, "anchor": mark.to_text()}
            added.append(self._append(writer, kind="note", dataset="", who=who, why=why, detail=detail))
            new = Mark.of(writer)
        self._anchor.force(new)
        return tuple(added)

    def move(self, to: Ledger, *, who: str, why: str) -> Head:
        """Carry these books over to an empty ledger, and close them: they can be read, and no longer spent from.

        Guarantee: at no moment, whatever fails, can both be spent from. If it fails half-way this ledger is closed and
        the other one empty: `acknowledge` opens it again, at no loss.
        """
        from discreet.ledger.move import carry_over

        if to.head() != GENESIS:  # before both are held: this ledger itself would wait for itself
            raise InputError("to", f"{to.head().sequence} records", "an empty ledger", "Nothing was changed.")
        if self._secret is not None and to._secret is not None and self._secret.exists():
            secret_at(to._secret, secret_at(self._secret))  # or no stored release could be compared with the data
        with self._store.write() as old, to._write() as new:
            return carry_over(old, self._anchor, new, who=who, why=why)

    # Inside

    def _mark(self) -> Mark:
        with self._store.read() as reader:
            return Mark.of(reader)

    @contextmanager
    def _write(self) -> Iterator[Writer]:
        """A transaction on books that are the ones last seen; the anchor follows when it is durable."""
        with self._store.write() as writer:
            if doubt := doubt_of(writer, self._anchor):
                raise LedgerError(
                    f"This ledger is not the one last seen here: {doubt.problem}. Nothing was spent. {doubt.remedy}"
                )
            check_totals(writer)
            before = writer.head()
            yield writer
            after = writer.head()
        if self._anchor is not None and after != before:
            try:
                self._anchor.move(self._mark, to=after.sequence)
            except OSError as error:
                raise LedgerError(
                    f"The change is on the books, but their guard {self._anchor.path.name!r} cannot be written "
                    f"({error.strerror}). Make room, then ask again under the same release id: it is not charged twice."
                ) from None

    @staticmethod
    def _append(writer: Writer, **values: Any) -> Record:
        return write(writer, Record.after(writer.head(), **values))


def _opened(budget: Budget, unit: object) -> dict[str, Json]:
    if not isinstance(unit, Protected):
        allowed = "a Unit: Unit() is one row, Unit('patient') everything of one patient"
        raise InputError("unit", unit if isinstance(unit, str) else type(unit).__name__, allowed)
    return {"budget": budget.to_json(), "unit": str(unit)}


def _short(price: Charge, spent: Charge) -> Charge:
    """The price, rounded up only if exact sums would otherwise grow without end."""
    total = spent + price
    if max(total.amount.denominator.bit_length(), total.delta.denominator.bit_length()) <= _LONG:
        return price
    return Charge(round_up(price.amount, _FINE), round_up(price.delta, _FINE))
