"""Caps of callers: how much one person may spend from an allotment in an hour, a day or a week.

A cap is policy, and the budget stays the guarantee: a cap keeps one person from using up what all of them share. Caps
are on the ledger and looked at in the transaction that spends, by the name on the charge, so that two requests at once
cannot both have the last of one. They count what was charged within the last hour, day or week before now.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.core.exact import Number, as_written
from discreet.core.wire import Json, fraction
from discreet.errors import CapError, InputError
from discreet.ledger.account import Account
from discreet.ledger.budget import Allotment, Charge, label
from discreet.ledger.chain import append
from discreet.ledger.record import Head, Record
from discreet.ledger.store import Reader, Writer

__all__ = [
    "EVERYONE",
    "PERIODS",
    "Cap",
    "CapStanding",
    "Spending",
    "caps_of",
    "change_cap",
    "check_cap",
    "read_rate",
    "spending_of",
]

PERIODS = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(days=7)}
EVERYONE = "*"
"""The name of a cap that holds for each caller who has none of their own."""

_NOTHING = Fraction(0)
_PAGE = 200  # records


@dataclass(frozen=True, slots=True)
class Cap:
    """At most so much of an allotment in any period, for one caller or for each of all others."""

    caller: str
    allotment: str
    amount: Fraction
    period: str

    def to_json(self) -> dict[str, Json]:
        """Plain values, exact."""
        amount = str(self.amount)
        return {"caller": self.caller, "allotment": self.allotment, "amount": amount, "period": self.period}

    @classmethod
    def from_json(cls, value: Any) -> Cap:
        """Read back what `to_json` wrote."""
        return cls(value["caller"], value["allotment"], fraction(value["amount"], "cap"), value["period"])


@dataclass(frozen=True, slots=True)
class CapStanding:
    """A cap that holds for a caller, and what they used of it within the last period."""

    cap: Cap
    currency: str
    used: Fraction

    @property
    def left(self) -> Fraction:
        """What they may spend now, as far as the cap goes."""
        return max(_NOTHING, self.cap.amount - self.used)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, exact and readable."""
        values = {**self.cap.to_json(), "currency": self.currency, "used": str(self.used), "left": str(self.left)}
        return {**values, "float": {"amount": float(self.cap.amount), "left": float(self.left)}}


def read_rate(text: str, field: str) -> tuple[Fraction, str]:
    """An amount and a period from a text such as 0.5/day; without a period it is a day.

    >>> read_rate("0.5/week", "--epsilon")
    (Fraction(1, 2), 'week')
    """
    amount, _, period = (part.strip() for part in text.partition("/"))
    if period and period not in PERIODS:
        raise InputError(field, text, f"an amount by {', '.join(PERIODS)}: 0.5/day")
    return as_written(amount, field), period or "day"


def caps_of(reader: Reader, dataset: str) -> tuple[Cap, ...]:
    """The caps of a dataset, as they were last changed."""
    record = reader.latest(dataset, "cap")
    listed = record.detail.get("caps") if record is not None and isinstance(record.detail, dict) else None
    return tuple(Cap.from_json(one) for one in listed) if isinstance(listed, list) else ()


def change_cap(
    writer: Writer,
    account: Account,
    caller: str,
    amount: Number | None,
    *,
    allotment: str | None,
    currency: str,
    period: str,
    who: str,
    why: str,
) -> tuple[Cap, ...]:
    """Put the cap of a caller on record, in place of the one they had; None takes it away. All caps after it."""
    label(caller, "name")
    part = account.budget.allotment(allotment)
    if currency != part.currency:
        hint = f"The allotment {part.name!r} counts {part.currency}. Nothing was changed."
        raise InputError(currency, amount, f"left out: a cap here is one of {part.currency}", hint)
    if period not in PERIODS:
        raise InputError("period", period, among=PERIODS)
    kept = [one for one in caps_of(writer, account.dataset) if (one.caller, one.allotment) != (caller, part.name)]
    if amount is not None:
        most = as_written(amount, currency)
        if most < 0:
            raise InputError(currency, amount, "0 or more", "Nothing was changed.")
        kept.append(Cap(caller, part.name, most, period))
    detail: Json = {"caps": [one.to_json() for one in kept], "caller": caller}
    append(writer, kind="cap", dataset=account.dataset, allotment=part.name, who=who, why=why, detail=detail)
    return tuple(kept)


@dataclass(slots=True)
class _Recent:
    """Charges of a dataset since a moment, up to a record: what comes after is read when it is needed."""

    head: Head
    since: datetime
    charges: list[tuple[datetime, str, str, Fraction]] = field(default_factory=list)


class Spending:
    """What callers spent lately, read off the records: each record once, so that a long ledger takes no longer."""

    def __init__(self) -> None:
        self._recent: dict[str, _Recent] = {}
        self._lock = threading.Lock()

    def standing(self, reader: Reader, account: Account, who: str, now: datetime | None = None) -> list[CapStanding]:
        """The caps that hold for a caller on a dataset, with what they used."""
        at = now or datetime.now(UTC)
        caps = caps_of(reader, account.dataset)
        found = []
        for part in account.budget.allotments:
            cap = _cap_for(caps, part.name, who)
            if cap is not None:
                used = sum((amount for _, amount in self._used(reader, account.dataset, cap, who, caps, at)), _NOTHING)
                found.append(CapStanding(cap, part.currency, used))
        return found

    def check(
        self, reader: Reader, account: Account, part: Allotment, charge: Charge, who: str, now: datetime | None = None
    ) -> None:
        """`CapError` where a charge would take a caller beyond their cap. What costs nothing always fits."""
        caps = caps_of(reader, account.dataset)
        cap = _cap_for(caps, part.name, who)
        if cap is None or charge.amount == 0:
            return
        at = now or datetime.now(UTC)
        used = list(self._used(reader, account.dataset, cap, who, caps, at))
        total = sum((amount for _, amount in used), _NOTHING)
        if total + charge.amount <= cap.amount:
            return
        raise _refusal(account.dataset, part, cap, who, charge, total, _frees(used, cap, charge.amount))

    def _used(
        self, reader: Reader, dataset: str, cap: Cap, who: str, caps: tuple[Cap, ...], now: datetime
    ) -> Iterator[tuple[datetime, Fraction]]:
        begun = now - PERIODS[cap.period]
        longest = max(PERIODS[one.period] for one in caps)
        with self._lock:
            charges = list(self._read(reader, dataset, now - longest).charges)
        return (
            (time, amount)
            for time, allotment, name, amount in charges
            if time > begun and (allotment, name) == (cap.allotment, who)
        )

    def _read(self, reader: Reader, dataset: str, since: datetime) -> _Recent:
        recent = self._recent.get(dataset)
        if recent is None or recent.since > since or not _holds(reader, recent.head):
            first = _first_after(reader, since)
            recent = self._recent[dataset] = _Recent(Head(first - 1, _hash_at(reader, first - 1)), since)
        head = reader.head()
        for row in reader.rows(dataset, after=recent.head.sequence):
            if row.kind == "charge":
                record = row.record()
                recent.charges.append((_time(record), record.allotment, record.who, record.charge.amount))
        recent.head, recent.since = head, since
        recent.charges = [one for one in recent.charges if one[0] > since]
        return recent


@lru_cache(maxsize=64)
def _spending(identity: str) -> Spending:
    return Spending()


def check_cap(reader: Reader, account: Account, part: Allotment, charge: Charge, who: str) -> None:
    """`CapError` where a charge would take a caller beyond their cap, in the transaction that would write it."""
    spending_of(reader).check(reader, account, part, charge, who)


def spending_of(reader: Reader) -> Spending:
    """What this process knows of the charges of a ledger."""
    return _spending(_hash_at(reader, 1))


def _cap_for(caps: tuple[Cap, ...], allotment: str, who: str) -> Cap | None:
    """The cap that holds for a caller: their own, or else that of everyone."""
    here = {one.caller: one for one in caps if one.allotment == allotment}
    return here.get(who, here.get(EVERYONE))


def _time(record: Record) -> datetime:
    return datetime.fromisoformat(record.time)


def _holds(reader: Reader, head: Head) -> bool:
    """Whether a record that was read is still there: it is not where a copy was put back."""
    return head.sequence == 0 or _hash_at(reader, head.sequence) == head.hash


def _hash_at(reader: Reader, sequence: int) -> str:
    row = reader.row(sequence)
    return "" if row is None else row.hash


def _first_after(reader: Reader, moment: datetime) -> int:
    """The number of a record before which there is none after a moment, looked for from the end.

    Records are in the order of time, but for those of machines whose clocks are slow, which stand between others: a
    whole page of records before the moment is taken for the end. Not so on a ledger that others were merged into: their
    records have times of their own, and stand later.
    """
    first = before = reader.head().sequence + 1
    if _is_merged(reader):
        return 1
    while page := reader.newest(None, _PAGE, before):
        recent = next((row.sequence for row in page if _time(row.record()) > moment), None)
        if recent is None:
            break
        first, before = recent, page[0].sequence
    return first


def _is_merged(reader: Reader) -> bool:
    """Whether records of another ledger were written at the end of this one."""
    notes = (row.record().detail for row in reader.rows("") if row.kind == "note")
    return any(isinstance(detail, dict) and "merged" in detail for detail in notes)


def _frees(used: list[tuple[datetime, Fraction]], cap: Cap, amount: Fraction) -> datetime | None:
    """When a charge fits, if nothing else is spent meanwhile; None if it never does."""
    total = sum((part for _, part in used), _NOTHING)
    for time, part in sorted(used):
        total -= part
        if total + amount <= cap.amount:
            return time + PERIODS[cap.period]
    return None


def _refusal(
    dataset: str, part: Allotment, cap: Cap, who: str, asked: Charge, used: Fraction, frees: datetime | None
) -> CapError:
    from discreet.accounting.words import readable

    most, cost = readable(cap.amount, direction="down"), readable(asked.amount)
    moment = "" if frees is None else f"{frees + timedelta(seconds=1):%Y-%m-%d %H:%M:%S} UTC"
    later = f"It fits from {moment} on, if nothing else is spent meanwhile." if moment else "It is more than the cap."
    text = (
        f"The cap of {who!r} on the allotment {part.name!r} of {dataset!r} is {part.currency} = {most} in any "
        f"{cap.period}; {readable(used)} was used within the last {cap.period}, and this costs {cost}. {later} "
        "Nothing was spent and no data was read. A custodian can change the cap."
    )
    left = Charge(max(_NOTHING, cap.amount - used))
    return CapError(text, asked=asked, left=left, allotment=part.name, frees=moment)
