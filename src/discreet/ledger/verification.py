"""The ledger checked again from the records: chain, sums, caps, prices, units, covers, outcomes, anchor.

All of them, or those after a position that was verified before: docs/proofs/ledger.md, "A position that was verified".
What is held in memory while it is read are budgets, sums and releases that have no outcome yet, not the records.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from discreet.core.wire import canonical, loss_from_json
from discreet.errors import DiscreetError, LedgerError
from discreet.ledger.account import Spent, unit_text
from discreet.ledger.budget import Allotment, Budget, Charge
from discreet.ledger.chain import hash_of_accounts, hash_of_epsilons, hash_of_totals
from discreet.ledger.cover import cover_from, cover_problem
from discreet.ledger.discrepancy import find_discrepancy
from discreet.ledger.guard import Guard, identity_of
from discreet.ledger.outcome import acknowledges
from discreet.ledger.position import OpenRelease, Position
from discreet.ledger.pure_sum import PureSum
from discreet.ledger.record import GENESIS, Head, Record
from discreet.ledger.store import Entry, Epsilons, Reader, Row

__all__ = ["Verification", "verify"]

_ENOUGH = 20  # problems worth listing
_SLACK = 10**6
_PRICES = 10_000  # remembered
_NOTHING = Charge(Fraction(0))


@dataclass(frozen=True, slots=True)
class Verification:
    """What checking found. `ok` if nothing; else `problems`, in words, in the order they were met."""

    records: int
    charges: int
    head: Head
    anchored: bool
    problems: tuple[str, ...]
    without_unit: int = 0
    """Charges that do not say what they protect: those of 0.1, and what was written off."""
    after: int = 0
    """The position that was verified before: records up to it were not read this time."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


class _Check:
    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.problems: list[str] = []
        self.head = GENESIS
        self.count = 0
        self.budgets: dict[str, Budget] = {}
        self.units: dict[str, str] = {}
        self.without_unit = 0
        self.spent: dict[tuple[str, str], Charge] = {}
        self.epsilons: dict[tuple[str, str], PureSum] = {}
        self.charges = 0
        self.unanswered: dict[str, OpenRelease] = {}
        self.prices: dict[tuple[str, str, str], Charge | None] = {}
        self.accounts: list[Entry] = []
        self.closed: set[str] = set()
        self.lost = 0  # the last acknowledgement

    def found(self, problem: str) -> None:
        if len(self.problems) < _ENOUGH:
            self.problems.append(problem)

    def row(self, row: Row) -> None:
        self.count += 1
        name = f"record {row.sequence}"
        if Record.hash_of(row.body) != row.hash:
            self.found(f"{name} was changed: its text does not have its hash")
        try:
            record = Record.from_body(row.body)
        except DiscreetError:
            self.found(f"{name} cannot be read")
            self.head = Head(row.sequence, row.hash)
            return
        if (record.sequence, record.dataset, record.kind, record.release) != row[:4]:
            self.found(f"{name} was changed: its columns do not agree with its text")
        if row.sequence != self.head.sequence + 1:
            self.found(f"{name} follows record {self.head.sequence}: records are missing or out of order")
        elif record.previous != self.head.hash:
            self.found(f"{name} is not chained to the record before it")
        self.head = Head(row.sequence, row.hash)
        if record.accounts and record.accounts != hash_of_accounts(self.accounts):
            self.found(f"{name} was written with other budgets than those opened and closed before it")
        if record.kind in ("open", "close"):
            self.accounts.append(Entry(row.sequence, record.dataset, record.kind, row.hash))
        self.meaning(record, name)
        if record.totals and record.totals != hash_of_totals(self.spent):
            self.found(f"{name} was written with other totals than the sums of the charges up to it")
        if record.epsilons and record.epsilons != hash_of_epsilons(self.sums()):
            self.found(f"{name} was written with other sums of epsilons than those of the charges up to it")

    def sums(self) -> Epsilons:
        return {key: each.total for key, each in self.epsilons.items()}

    def charged(self, release: str, before: int) -> Record | None:
        """The charge of a release among the records before one."""
        with suppress(LedgerError):  # what was changed is named where it is read
            records = self.reader.of_release(release)
            return next((each for each in records if each.kind == "charge" and each.sequence < before), None)
        return None

    def meaning(self, record: Record, name: str) -> None:
        match record.kind:
            case "open":
                self.open(record, name)
            case "close":
                if record.dataset not in self.budgets:
                    self.found(f"{name} closes {record.dataset!r}, which had no budget")
                self.closed.add(record.dataset)
            case "charge":
                self.charge(record, name)
            case "measurement":
                waiting = self.unanswered.get(record.release)
                if waiting is None:
                    known = self.charged(record.release, record.sequence) is not None
                    state = "had an outcome" if known else "was never charged"
                    self.found(f"{name} is a measurement for {record.release!r}, which {state}")
                elif waiting.measured:
                    self.found(f"{name} is a second measurement for {record.release!r}")
                else:
                    self.unanswered[record.release] = waiting._replace(measured=True)
            case "answer" | "failure":
                waiting = self.unanswered.pop(record.release, None)
                if waiting is None and self.charged(record.release, record.sequence) is None:
                    self.found(f"{name} is an outcome of {record.release!r}, which was never charged")
                elif waiting is None:
                    self.found(f"{name} is a second outcome of {record.release!r}")
                elif record.kind == "answer" and record.result is None and not waiting.measured:
                    self.found(f"{name} answers {record.release!r} by its measurement, and there is none")
            case "note":
                if acknowledges(record):
                    self.acknowledge(record, name)

    def acknowledge(self, record: Record, name: str) -> None:
        """Records were missing: nothing may be open from here on. What 0.1 wrote left it open."""
        self.lost = record.sequence
        for release, waiting in self.unanswered.items() if record.totals else ():
            if waiting.priced and not waiting.measured:
                self.found(f"{name} acknowledges a loss and leaves {release!r} open, whose answer may have been seen")

    def open(self, record: Record, name: str) -> None:
        try:
            budget = Budget.from_json(record.detail["budget"])  # type: ignore[index, call-overload]
            self.units[record.dataset] = unit_text(record.detail["unit"])  # type: ignore[index, call-overload]
        except (DiscreetError, TypeError, KeyError):
            self.found(f"{name} opens a budget that cannot be read")
            return
        if record.dataset in self.closed:
            self.found(f"{name} changes the budget of {record.dataset!r}, which is closed")
        former = self.budgets.get(record.dataset)
        parts = {part.name: part for part in budget.allotments}
        for part in () if former is None else former.allotments:
            key, new = (record.dataset, part.name), parts.get(part.name)
            spent = Spent(self.spent.get(key, _NOTHING), self.epsilons.get(key, PureSum()))
            lower = new is None or not part.cap.within(new.cap)
            if (lower or spent.fits(part)) and (spent.any if new is None else not spent.fits(new)):
                self.found(f"{name} lowers allotment {part.name!r} of {record.dataset!r} below what was spent")
        self.budgets[record.dataset] = budget

    def charge(self, record: Record, name: str) -> None:
        self.charges += 1
        self.unanswered[record.release] = OpenRelease(priced=bool(record.digest))
        if min(record.charge.amount, record.charge.delta) < 0:
            self.found(f"{name} is a negative charge")
        key = (record.dataset, record.allotment)
        spent = self.spent.get(key, Charge(Fraction(0))) + record.charge
        self.spent[key] = spent
        epsilons = self.epsilons.setdefault(key, PureSum())
        epsilons.add(record)
        budget = self.budgets.get(record.dataset)
        if budget is None:
            if record.digest:  # what was written off for a dataset this ledger never had carries none
                self.found(f"{name} charges {record.dataset!r}, which had no budget")
            return
        if not record.digest:  # written off, in full: it was spent, whatever this ledger allows
            return
        if not record.unit:
            self.without_unit += 1
        elif record.unit != self.units.get(record.dataset):
            self.found(f"{name} protects another unit than the account of {record.dataset!r}: {record.unit}")
        if record.dataset in self.closed:
            self.found(f"{name} charges {record.dataset!r} after its budget was closed")
        parts = {part.name: part for part in budget.allotments}
        part = parts.get(record.allotment)
        if part is None or not (spent.within(part.cap) or epsilons.within(part)):
            self.found(f"{name} exceeds allotment {record.allotment!r} of {record.dataset!r}")
        elif record.digest:
            self.price(record, part, name)

    def price(self, record: Record, part: Allotment, name: str) -> None:
        """The price of the recorded loss, computed again; and what covers a step of cost zero."""
        aim = record.charge.delta if part.kind == "plan" else None
        key = (part.kind, str(aim), canonical(record.loss))
        if len(self.prices) > _PRICES:
            self.prices.clear()
        if key not in self.prices:
            try:
                self.prices[key] = part.price(loss_from_json(record.loss), aim)
            except DiscreetError:
                self.prices[key] = None
        price = self.prices[key]
        if price is None:
            self.found(f"{name} has a loss that cannot be priced in allotment {record.allotment!r}")
            return
        # A privacy loss distribution is numerical: its epsilon may differ in the last digits on another machine.
        slack = record.charge.amount / _SLACK if part.kind == "plan" else 0
        if not price.within(Charge(record.charge.amount + slack, record.charge.delta)):
            self.found(f"{name} charges less than its loss costs: {float(price.amount):.6g} {part.currency}")
        cover = cover_from(record.cover)
        if cover is None:
            if price.amount == 0 and price.delta == 0 and record.unit:  # in 0.1 no step said what covers it
                self.found(f"{name} costs nothing, and no paid release covers it")
            return
        with suppress(LedgerError):
            ends = [each for each in self.reader.of_release(cover.paid) if each.kind == "failure"]
            if any(each.sequence < record.sequence for each in ends):
                self.found(f"{name} is covered by {cover.paid!r}, which had failed")
        if problem := cover_problem(record, cover, self.charged(cover.paid, record.sequence), self.lost):
            self.found(f"{name} is not covered: {problem}")

    def begin(self, position: Position) -> bool:
        """Go on from a position, if it is one of this ledger: its record is here and binds what the position holds."""
        row = self.reader.row(position.head.sequence)
        if row is None or row.hash != position.head.hash:
            return False
        with suppress(LedgerError):
            record = row.record()
            entries = [each for each in self.reader.accounts() if each.sequence <= row.sequence]
            bound = (record.totals, record.accounts, record.epsilons)
            sums = hash_of_epsilons(position.epsilons) if record.epsilons else ""
            accounts = hash_of_accounts(each for each in entries if each.sequence < row.sequence)
            if bound != (hash_of_totals(position.spent), accounts, sums):
                return False
            for entry in entries:  # of records before: few
                declared = self.reader.row(entry.sequence)
                if declared is None or declared.hash != entry.hash:
                    return False
                self.meaning(declared.record(), f"record {entry.sequence}")
            if self.problems:
                return False
            self.head, self.count, self.charges = position.head, position.head.sequence, position.charges
            self.accounts, self.spent, self.lost = entries, dict(position.spent), position.lost
            self.epsilons = {key: PureSum(total) for key, total in position.epsilons.items()}
            self.unanswered, self.without_unit = dict(position.open), position.without_unit
            return True
        return False

    def position(self) -> Position:
        """Where this check has come to."""
        return Position(self.head, self.charges, self.without_unit, self.lost, self.spent, self.sums(), self.unanswered)


def verify(reader: Reader, guard: Guard | None, *, incremental: bool = False) -> Verification:
    """Check everything that can be checked from the records, the totals, the head and the guard.

    `incremental` reads the records after the last position that was verified, if that is known and of this ledger.
    """
    identity = identity_of(reader)
    known = Position.read(guard, identity) if incremental else None
    check = _Check(reader)
    if known is None or not check.begin(known):
        check, known = _Check(reader), None
    after = 0 if known is None else known.head.sequence
    for row in reader.rows(after=after):
        check.row(row)
    for sequence, release in reader.repeated(after):
        check.found(f"record {sequence} charges {release!r} a second time")
    if reader.head() != check.head:
        check.found(f"the records end at {check.head.sequence}, not where the head says")
    totals = {key: charge for key, charge in reader.totals().items() if charge != Charge(Fraction(0))}
    spent = {key: charge for key, charge in check.spent.items() if charge != Charge(Fraction(0))}
    for dataset, allotment in sorted(totals.keys() | spent.keys()):
        if totals.get((dataset, allotment)) != spent.get((dataset, allotment)):
            check.found(f"the total of allotment {allotment!r} of {dataset!r} is not the sum of its charges")
    if _binds_epsilons(reader) and reader.epsilons() != check.sums():
        check.found("the sums of epsilons are not those of the charges")
    anchored = False
    if guard is not None:
        discrepancy = find_discrepancy(reader, guard)
        anchored = discrepancy is None and check.count > 0
        if discrepancy is not None:
            check.found(f"not the ledger last seen here: {discrepancy.problem}")
    if anchored and not check.problems:
        check.position().save(guard, identity)
    return Verification(
        check.count, check.charges, check.head, anchored, tuple(check.problems), check.without_unit, after
    )


def _binds_epsilons(reader: Reader) -> bool:
    """Whether the sums that are noted must be those of the charges: the last record says so."""
    with suppress(LedgerError):
        return reader.format() > 1 and reader.head() != GENESIS and bool(reader.last().epsilons)
    return False
