"""Budgets and charges: `spend` is durable before it returns, and never exceeds what is left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Self

from discreet.core.exact import Number
from discreet.core.loss import Loss
from discreet.core.plan import Cover
from discreet.core.unit import Protected, Unit
from discreet.core.version import DataVersion, Versioned
from discreet.core.wire import Json, canonical, loss_to_json
from discreet.errors import InputError, LedgerError
from discreet.ledger.account import (
    Account,
    Declaration,
    Standing,
    account_of,
    allotment_history,
    closed_refusal,
    opened_datasets,
    refusal,
    standing_of,
)
from discreet.ledger.budget import Allotment, Budget, Charge, label, shorten
from discreet.ledger.cap import check_cap
from discreet.ledger.chain import check_bound, check_chain, write
from discreet.ledger.conclusion import conclude, keep_measurement, outcomes_of, remark
from discreet.ledger.cover import check_cover, cover_to
from discreet.ledger.custody import WriteOff, accept_ledger, change_budget, close_budget
from discreet.ledger.discrepancy import Discrepancy, check_seen, find_discrepancy
from discreet.ledger.guard import Guard, Step, identity_of
from discreet.ledger.location import private_folder, workspace
from discreet.ledger.opening import begin, store_at
from discreet.ledger.outcome import Charged, Outcome, form_to, outcome_in
from discreet.ledger.pure_left import covers, pure_left
from discreet.ledger.record import Head, Record
from discreet.ledger.secret import fresh_secret, secret_at, secret_path
from discreet.ledger.store import Execute, Reader, Store, Writer
from discreet.ledger.verification import Verification, verify
from discreet.ledger.witness import witness, witnessed_outcome

__all__ = ["Ledger"]

_ROW = Unit()


class Ledger:
    """Budgets and charges of datasets: `Ledger.open("books.db", create=True)` or `Ledger.open("postgresql://...")`.

    Guarantee: the charges to an allotment never exceed its caps, whoever spends from however many threads
    and processes; a charge that `spend` returned is on disk; no record is ever changed (`verify`). Together with
    the one door (`discreet.ledger.door`) everything released stays within the budget: docs/proofs/ledger.md.
    """

    def __init__(self, store: Store, guard: Guard | None = None, secret: Path | None = None) -> None:
        self._store, self._guard, self._secret = store, guard, secret
        self._declared: dict[str, Declaration] = {}

    @classmethod
    def open(
        cls,
        address: str | Path,
        *,
        anchor: str | Path | None = None,
        create: bool = False,
        anew: bool = False,
        who: str | None = None,
    ) -> Ledger:
        """The ledger at a path (SQLite) or a postgresql:// address; `MissingLedgerError` if there is none.

        With `create` one is made where there is none, unless there was one before: then only with `anew`, for its
        budgets begin again. It is watched by an anchor in the state folder of this machine (DISCREET_STATE) and by the
        one that `anchor` or DISCREET_ANCHOR names: a file, a folder, sqlite:///path or postgresql://...
        """
        store, guard = store_at(address, anchor, create=create, anew=anew)
        begin(store, guard, address, create=create, anew=anew, who=who)
        return cls(store, guard, secret_path(address))

    @classmethod
    def in_memory(cls) -> Ledger:
        """The ledger of this process, for trying things out: there is one, and it is lost when the process ends."""
        from discreet.ledger.session import session_ledger

        return session_ledger()

    @classmethod
    def temporary(cls, folder: str | Path) -> Self:
        """A new ledger for an experiment on invented data, with its guard beside it: nothing is left elsewhere."""
        path = Path(folder) / "books.db"
        store, guard = store_at(path, path.with_name("books.db.head"), create=True, local=False)
        begin(store, guard, path, create=True, anew=False, who=None)
        return cls(store, guard, secret_path(path))

    def __repr__(self) -> str:
        return f"Ledger({self._store!r})"

    def _repr_html_(self) -> str:
        from discreet.ledger.standing_view import ledger_cell

        return ledger_cell(self)

    @property
    def kept_at(self) -> str:
        """Where the records are, without an address that may hold a password."""
        return "a PostgreSQL database" if self._store.path is None else str(self._store.path.absolute())

    def close(self) -> None:
        """Let go of idle connections; the ledger can still be used."""
        self._store.close()

    def take_over(self, other: Ledger) -> None:
        """Hold what was declared on another object for this same ledger, and close that one."""
        self._declared.update(other._declared)
        other.close()

    def version_of(self, data: object) -> DataVersion:
        """Which version of the data a charge made now would name. Nothing of the data is opened."""
        if not isinstance(data, Versioned):
            return DataVersion()
        if self._secret is None:  # fingerprints that compare with none
            return replace(data.version(fresh_secret()), outline="")
        return data.version(secret_at(self._secret))

    def create(self, dataset: str, budget: Budget, *, unit: Protected = _ROW, who: str) -> Account:
        """Open a budget for a dataset and what it protects. The same again changes nothing; another one is refused."""
        declaration = Declaration(dataset, budget, unit, who, new=True)
        with self._write() as writer:
            if not declaration.matches(writer):
                declaration.record(writer)
            return account_of(writer, dataset)

    def declare(self, dataset: str, budget: Budget, *, unit: Protected = _ROW, who: str, new: bool = False) -> Account:
        """Say which budget a dataset is to have; it is opened with the first charge, and nothing is written now.

        One that the ledger has already is compared. A name that is not among those of a ledger with budgets is refused
        unless it is said to be `new`: a misspelt name would begin a budget anew.
        """
        declaration = Declaration(dataset, budget, unit, who, new)
        with self._store.write() as writer:  # to be told now, and not at the first charge, that this is an old copy
            check_seen(writer, self._guard)
            check_bound(writer, whole=False)
            if not declaration.matches(writer):
                declaration.check_name(writer)
        self._declared[dataset] = declaration
        return self.account(dataset)

    def raise_budget(
        self, dataset: str, budget: Budget, *, who: str, why: str, unit: Protected | None = None
    ) -> Account:
        """Replace the budget of a dataset by a larger one; every allotment stays, with caps at least as large.

        From then on the guarantee is that of the larger budget, for everything released before as well. `unit` is for
        accounts of 0.1 that describe their unit in words of their own: the custodian's word which one is meant.
        """
        with self._write() as writer:
            return change_budget(writer, "raise", dataset, budget, who=who, why=why, unit=unit)

    def lower_budget(self, dataset: str, budget: Budget, *, who: str, why: str) -> Account:
        """Replace the budget of a dataset by a smaller one, down to what is spent; an unused allotment may go."""
        with self._write() as writer:
            return change_budget(writer, "lower", dataset, budget, who=who, why=why)

    def divide_budget(self, dataset: str, budget: Budget, *, who: str, why: str) -> Account:
        """Divide the budget of a dataset otherwise, into parts that promise no more together than it did."""
        with self._write() as writer:
            return change_budget(writer, "divide", dataset, budget, who=who, why=why)

    def close_budget(self, dataset: str, *, who: str, why: str) -> Account:
        """Charge nothing to a dataset any more, for good. What was released stays readable."""
        with self._write() as writer:
            return close_budget(writer, dataset, who=who, why=why)

    def _account(self, reader: Reader, dataset: str) -> Account:
        """The budget as opened, or else as declared."""
        if dataset in self._declared and reader.latest(dataset, "open") is None:
            return self._declared[dataset].account
        return account_of(reader, dataset)

    def account(self, dataset: str) -> Account:
        """The budget of a dataset, opened or declared; `InputError` if it has none here."""
        with self._store.read() as reader:
            return self._account(reader, dataset)

    def former_allotments(self, dataset: str, allotment: str) -> list[Allotment]:
        """An allotment as every budget that a dataset ever had on record defined it, the latest first."""
        with self._store.read() as reader:
            return allotment_history(reader, dataset, allotment)

    def datasets(self) -> tuple[str, ...]:
        """Every dataset with a budget that was opened, in the order they came."""
        with self._store.read() as reader:
            return opened_datasets(reader)

    def standing(self, dataset: str) -> tuple[Standing, ...]:
        """What every allotment of a dataset has spent and has left."""
        with self._store.read() as reader:
            check_bound(reader, whole=False)
            return standing_of(reader, self._account(reader, dataset))

    def remaining(self, dataset: str, allotment: str | None = None) -> Charge:
        """What an allotment has left."""
        with self._store.read() as reader:
            check_bound(reader, whole=False)
            account = self._account(reader, dataset)
            name = account.budget.allotment(allotment).name
            return next(one.left for one in standing_of(reader, account) if one.allotment.name == name)

    # Charges and what came of them

    def pure_left(self, dataset: str, allotment: str | None = None) -> Fraction | None:
        """The epsilon that pure releases may still take by their plain sum; None where that sum does not count."""
        with self._store.read() as reader:
            account = self._account(reader, dataset)
            part = account.budget.allotment(allotment)
            return None if account.closed else pure_left(reader, dataset, part)

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
        request: str | None = None,
    ) -> Charged:
        """Charge `loss` for `release`. On disk when this returns; `BudgetError` and nothing spent if it does not fit.

        `unit` is what the loss is stated for. It must be what the account protects: the transaction compares them.
        A loss of zero needs a `cover`: the paid first step of the same job, checked in the same transaction.
        The same release again is not charged again; under another digest, dataset or a higher price it is refused.
        `delta` is for `plan` allotments: how much of their delta this job uses. `data` is the version of the data that
        will be read, `request` what was asked for and at which price, as far as it is needed to plan the same again.
        """
        label(release, "release")
        label(digest, "digest")
        priced = self.account(dataset).budget.allotment(allotment)
        price = priced.price(loss, delta)  # before the transaction: it may take long
        detail: dict[str, Json] = {} if data is None else {"data": data.to_json()}
        detail |= {} if request is None else {"request": request}
        told: dict[str, Json] = {"who": who, "why": why, "query": query, "mechanism": mechanism}
        told |= {"loss": loss_to_json(loss), "detail": detail or None}
        canonical(told, "query")  # whatever cannot be recorded is refused here
        with self._write() as writer:
            account = self._account(writer, dataset)  # as it is now: a raised budget has other caps
            account.check_unit(unit)
            part = account.budget.allotment(allotment)
            price = price if part == priced else part.price(loss, delta)  # a budget that another changed meanwhile
            spent = writer.total(dataset, part.name)
            if known := outcome_in(writer, release):
                paid = known.charged
                same = (paid.digest, paid.dataset, paid.allotment) == (digest, dataset, part.name)
                if not same or not price.within(paid.charge):
                    hint = "Nothing was spent. Choose another id for another question."
                    raise InputError("release", release, "a new id: this one was paid for another question", hint)
                if known.open:  # it may be run again: is nothing hidden?
                    check_chain(writer)
                return Charged(release, dataset, part.name, paid.charge, spent.left_of(part.cap), already_paid=True)
            charge = shorten(price, spent)
            if account.closed:
                raise closed_refusal(dataset, part, charge)
            if writer.latest(dataset, "open") is None:
                self._declared[dataset].record(writer)
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
                **told,
            )
            check_cover(writer, record, loss, price, cover)
            if not (spent + charge).within(part.cap) and not covers(pure_left(writer, dataset, part), loss):
                raise refusal(dataset, part, charge, spent)
            check_cap(writer, account, part, charge, who)
            write(writer, record)
        return Charged(release, dataset, part.name, charge, (spent + charge).left_of(part.cap), already_paid=False)

    def measurement(self, release: str, result: str, *, who: str, kind: str = "", version: int = 0) -> Outcome:
        """Keep what was drawn (JSON text) for a paid release. The first one stays, and none follows an outcome."""
        with self._write() as writer:
            return keep_measurement(writer, release, result, who, kind, version)

    def answer(self, release: str, result: str | None, *, who: str, kind: str = "", version: int = 0) -> str:
        """Keep the result (JSON text; None: as measured) of a paid release. The first one stays; it is returned."""
        return self.answered_by(release, result, who=who, kind=kind, version=version).answer or ""

    def answered_by(self, release: str, result: str | None, *, who: str, kind: str = "", version: int = 0) -> Outcome:
        """The same, and all that is known of the release then: as `find` says it, once the guard has seen it."""
        with self._write() as writer:
            known = conclude(writer, release, who=who, kind="answer", result=result, detail=form_to(kind, version))
            kept = bool(writer.appended)
        return known if kept else self.find(release) or known  # what another kept, the guard may not have seen

    def failed(self, release: str, reason: str, *, who: str) -> Outcome:
        """Note that a paid release has no answer and never will; the first outcome stays."""
        with self._write() as writer:
            return conclude(writer, release, who=who, kind="failure", detail={"reason": reason})

    def note(self, release: str, why: str, *, who: str, data: DataVersion | None = None) -> Outcome:
        """Put a remark about a paid release on record; `data` is the version it reads, if another than was paid for."""
        detail: Json = None if data is None else {"data": data.to_json()}
        with self._write() as writer:
            return remark(writer, release, who, why, detail)

    def find(self, release: str) -> Outcome | None:
        """What is known of a release; None if it was never charged."""
        return witnessed_outcome(self._store, self._guard, release)

    def answered(self, dataset: str, digest: str) -> Outcome | None:
        """The latest release with an answer that was paid for the plan of this digest; None if there is none."""
        with self._store.read() as reader:
            listed = reader.charged_for(dataset, digest)
        found = (self.find(release) for release in reversed(listed))
        return next((one for one in found if one and one.answer is not None and one.charged.digest == digest), None)

    def running(self, release: str, *, wait: bool = True) -> AbstractContextManager[None]:
        """Held while a release runs, so that two who ask for it get one answer. `BusyError` if it may not `wait`."""
        return self._store.running(release, wait=wait)

    def records(self, dataset: str | None = None, *, after: int = 0, limit: int | None = None) -> Iterator[Record]:
        """Every record, or those of one dataset, as they are read: those numbered above `after`, at most `limit`."""
        witness(self._store, self._guard)
        with self._store.read() as reader:
            yield from (row.record() for row in reader.rows(dataset, after=after, limit=limit))

    def releases(self, dataset: str | None = None) -> tuple[Outcome, ...]:
        """Every release that was charged, in order, with what came of it."""
        return outcomes_of(self.records(dataset))

    def beside(self, *, write: bool = True) -> AbstractContextManager[Execute]:
        """A transaction on tables of others in the same database, which are no part of the chain."""
        return self._store.beside(write=write)

    def head(self) -> Head:
        """The end of the chain: worth writing down somewhere else."""
        with self._store.read() as reader:
            return reader.head()

    def verify(self, *, incremental: bool = False) -> Verification:
        """Check every record, sum and cap again; if `incremental`, those after the last position verified here."""
        with self._store.read() as reader:
            return verify(reader, self._guard, incremental=incremental)

    def discrepancy(self) -> Discrepancy | None:
        """Why this is not the ledger last seen here, and what `acknowledge` would charge; None if all is well."""
        with self._store.write() as writer:  # alone, so that nobody's newer mark is taken for a discrepancy
            return find_discrepancy(writer, self._guard)

    def check_guard(self) -> None:
        """`LedgerError` unless something watches this ledger and has nothing against it."""
        if self._guard is None:
            raise LedgerError("Nothing watches this ledger: one restored from an old copy would give budget back.")
        with self._store.write() as writer:
            check_seen(writer, self._guard)

    def acknowledge(self, *, who: str, why: str, write_off: WriteOff | None = None) -> tuple[Record, ...]:
        """A custodian's word that this ledger is to be used although its guard says otherwise.

        What the guard knows to have been spent and this ledger does not is charged now: a restored copy gives no
        budget back. What is open ends: releases without an outcome fail, streams go no further. Where the guard is
        lost, nobody knows: then `write_off` says what to charge, an amount for each allotment that has something left,
        "everything" or "nothing". Returns the records added.
        """
        return () if self._guard is None else accept_ledger(self._store, self._guard, write_off, who=who, why=why)

    def move(self, to: str | Path, *, who: str, why: str, anchor: str | Path | None = None) -> Ledger:
        """Carry this ledger over to a new address, and close it: it can be read, and no longer spent from.

        The secret and what streams remember of people go along. Guarantee: at no moment, whatever fails, can both be
        spent from. If it is stopped half-way, the same move again finishes it. Only if the new ledger is lost does
        `acknowledge` open this ledger again, which charges nothing and ends its streams.
        """
        from discreet.ledger.move import move_ledger

        store, guard = store_at(to, anchor, create=True)
        new = Ledger(store, guard, secret_path(to))
        move_ledger(self, new, to, who=who, why=why)
        return new

    def workspace(self, name: str) -> Path:
        """A folder of this machine, for its owner alone: "private" is for what a job must remember of people."""
        with self._store.read() as reader:
            identity = identity_of(reader) or "new"
        return private_folder(workspace(self._store.path, identity, name))

    @contextmanager
    def _write(self) -> Iterator[Writer]:
        """A transaction on a ledger that is the one last seen; the guard follows when it is durable."""
        with self._store.write() as writer:
            check_seen(writer, self._guard)
            check_bound(writer)
            before = writer.head()
            yield writer
            after, step = writer.head(), Step.of(writer, before)
        if self._guard is not None and after != before:
            self._guard.follow(self._store, step)
