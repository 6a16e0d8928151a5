"""What a person gives away who is in several datasets, on one ledger or on many: their losses add up.

Data sets that hold different people are side by side, and cost a person what the worst one does. Data sets that hold
the same person are not: whoever sees all releases sees all losses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from discreet.accounting.compose import compose
from discreet.accounting.convert import approx, zcdp
from discreet.accounting.group import group
from discreet.core.exact import Number, as_written
from discreet.core.loss import ZCDP, Approx, Composed, Loss, Pure
from discreet.core.wire import loss_from_json
from discreet.errors import MISSING, InputError, LossError, Phrase
from discreet.ledger.account import Account, Standing
from discreet.ledger.budget import Allotment, Charge
from discreet.ledger.pure_sum import PureSum, counts_both
from discreet.ledger.record import Record

__all__ = ["Accounts", "Membership", "PersonTotal", "person_total"]


class Accounts(Protocol):
    """What is added up: a `Ledger`, or one that was exported and read again (`ExportedLedger`)."""

    def records(self, dataset: str | None = None) -> Iterator[Record]:
        """Every record, or those of one dataset, in order."""
        ...

    def datasets(self) -> tuple[str, ...]:
        """Every dataset with a budget."""
        ...

    def account(self, dataset: str) -> Account:
        """The budget of a dataset."""
        ...

    def standing(self, dataset: str) -> tuple[Standing, ...]:
        """What every allotment has spent."""
        ...


@dataclass(frozen=True, slots=True)
class Membership:
    """One dataset that a person is in: what was charged to it, what its budget allows, and what was measured."""

    dataset: str
    unit: str
    rows: int
    """As how many units of the dataset the person counts."""
    spent: tuple[Loss, ...]
    """What each allotment has spent, as it is counted there."""
    promised: tuple[Loss, ...]
    """What each allotment may spend at most."""
    recorded: tuple[Loss, ...]
    """The loss of every charge, as its mechanism states it; as it was counted where that is lost."""


@dataclass(frozen=True, slots=True)
class PersonTotal:
    """The total of a person over several datasets.

    Guarantee: everything ever released under the budgets, seen together, is for this person within `promised`, however
    questions were chosen. `basic` and `zcdp` are about what was spent so far: they hold where how much was to be spent
    was fixed beforehand (pure sums always do), `fixed` where the questions were. Proof: docs/proofs/composition.md.
    """

    datasets: tuple[Membership, ...]
    delta: Fraction

    @property
    def basic(self) -> Approx:
        """The sum of what each allotment guarantees by itself."""
        return _added([loss for one in self.datasets for loss in _of_rows(one.spent, one.rows)], self.delta)

    @property
    def zcdp(self) -> Approx:
        """All charges as zCDP, added up, and then stated as (epsilon, delta)."""
        return _concentrated([loss for one in self.datasets for loss in _of_rows(one.spent, one.rows)], self.delta)

    @property
    def fixed(self) -> Approx | None:
        """By the exact law of everything that was drawn: the tightest, where questions did not depend on answers.

        None where some charge has no law that can be composed so.
        """
        losses = [loss for one in self.datasets for loss in _of_rows(one.recorded, one.rows)]
        with suppress(LossError):
            return approx(compose(losses), self.delta) if losses else Approx(0, 0)
        return None

    @property
    def promised(self) -> Approx:
        """What all budgets together allow: the sum of what is promised, with the deltas that are promised too."""
        losses = [loss for one in self.datasets for loss in _of_rows(one.promised, one.rows)]
        stated = sum((loss.delta for loss in losses if isinstance(loss, Approx)), Fraction(0))
        return _added(losses, stated + self.delta)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        claims = {"basic": self.basic, "zcdp": self.zcdp, "fixed": self.fixed, "promised": self.promised}
        return {
            "delta": float(self.delta),
            "datasets": [{"dataset": one.dataset, "unit": one.unit, "rows": one.rows} for one in self.datasets],
            **{
                name: None if claim is None else {"epsilon": float(claim.epsilon), "delta": float(claim.delta)}
                for name, claim in claims.items()
            },
        }


def person_total(
    ledgers: Iterable[Accounts],
    *,
    datasets: Sequence[str] | None = None,
    rows: Mapping[str, int] | None = None,
    delta: Number = 0,
) -> PersonTotal:
    """The total of a person who is in all of these datasets (all that the ledgers have, unless they are named).

    A ledger that another custodian exported, `read_export("ledger.json")`, is added up as it was then.
    `rows` says in which datasets a person counts as several units, such as {"visits": 3} where one row is protected.
    `delta` is that of the whole; without one, only pure epsilons add up.
    """
    missed, times = as_written(delta, "delta"), dict(rows or {})
    if not 0 <= missed < 1:
        raise InputError("delta", delta, "at least 0 and less than 1")
    if wrong := [many for many in times.values() if many < 1]:
        raise InputError("rows", wrong[0], "1 or more units of a dataset")
    found, known, begun = [], list[str](), set[str]()
    for ledger in ledgers:
        first = next(ledger.records()).hash
        if first in begun:
            raise InputError("ledgers", Phrase("one of them twice"), "different ledgers: each is added up once")
        begun.add(first)
        opened = ledger.datasets()
        known += opened
        chosen = [name for name in opened if datasets is None or name in datasets]
        found += [_membership(ledger, name, times.get(name, 1)) for name in chosen]
        for record in ledger.records():
            unknown = record.kind == "charge" and record.dataset not in opened
            if unknown and (datasets is None or record.dataset in datasets):
                raise _lost(record.dataset, record.allotment)
    for field, names in (("datasets", datasets or ()), ("rows", times)):
        if strange := [name for name in names if name not in known]:
            raise InputError(field, strange[0], "a dataset of these ledgers", among=known)
    if not found:
        raise InputError("datasets", MISSING, "at least one, with a budget")
    return PersonTotal(tuple(found), missed)


def _membership(ledger: Accounts, name: str, rows: int) -> Membership:
    account, standings = ledger.account(name), ledger.standing(name)
    if "moved by at most" in account.unit:
        hint = "Name the datasets that hold the person."
        raise InputError("datasets", name, Phrase(f"about persons or rows: this one protects {account.unit}"), hint)
    parts = {one.allotment.name: one.allotment for one in standings}
    sums = {part: PureSum() for part in parts}
    recorded = list[Loss]()
    for record in ledger.records(name):
        if record.kind != "charge":
            continue
        if record.allotment not in parts:
            raise _lost(name, record.allotment)
        sums[record.allotment].add(record)
        counted = record.loss is None  # written off: what was drawn is not known, what it cost is
        recorded.append(_loss(parts[record.allotment], record.charge) if counted else loss_from_json(record.loss))
    spent = tuple(_loss(one.allotment, one.spent) for one in standings if _spends(one))
    promised = tuple(_promise(one, sums[one.allotment.name]) for one in standings)
    return Membership(name, account.unit, rows, spent, promised, tuple(recorded))


def _spends(standing: Standing) -> bool:
    return bool(standing.spent.amount or standing.spent.delta)


def _loss(allotment: Allotment, charge: Charge) -> Loss:
    """A charge as the loss that it is counted as."""
    match allotment.kind:
        case "pure":
            return Pure(charge.amount)
        case "plan":
            return Approx(charge.amount, charge.delta)
        case "zcdp":
            return ZCDP(charge.amount, charge.delta)


def _promise(standing: Standing, pure: PureSum) -> Loss:
    """What an allotment guarantees of everything that is ever charged to it.

    One of (epsilon, delta) that counts rho promises those, and not its cap on rho: pure releases may go beyond that.
    What was written off may go beyond every cap: then what was spent counts.
    """
    allotment, spent, cap = standing.allotment, standing.spent, standing.allotment.cap
    if not spent.within(cap) and not pure.within(allotment):
        return _loss(allotment, Charge(max(spent.amount, cap.amount), max(spent.delta, cap.delta)))
    if counts_both(allotment):
        return Approx(allotment.epsilon or 0, allotment.delta)
    return _loss(allotment, cap)


def _lost(dataset: str, allotment: str) -> InputError:
    """The refusal where something was written off that no budget here says how to count."""
    allowed = f"one whose budget has the allotment {allotment!r}, of which something was written off"
    return InputError("datasets", dataset, allowed)


def _of_rows(losses: Sequence[Loss], rows: int) -> list[Loss]:
    return [group(loss, rows) for loss in losses]


def _added(losses: Sequence[Loss], delta: Fraction) -> Approx:
    """Each as (epsilon, delta), added up: what is not pure gets an even part of the delta that is left."""
    apart = [loss for loss in losses if isinstance(loss, ZCDP)]
    rest = [_stated(loss) for loss in losses if not isinstance(loss, ZCDP)]
    missed = sum((claim.delta for claim in rest), Fraction(0))
    if apart:
        share = (delta - missed) / len(apart)
        if share <= 0:
            raise _needs_delta(delta)
        rest += [approx(loss, share) for loss in apart]
    if (total := sum((claim.delta for claim in rest), Fraction(0))) > delta:
        raise _needs_delta(delta, total)
    return Approx(sum((claim.epsilon for claim in rest), Fraction(0)), total)


def _stated(loss: Loss) -> Approx:
    """Pure and approximate losses, which are what they say."""
    return loss if isinstance(loss, Approx) else Approx(loss.epsilon, 0) if isinstance(loss, Pure) else approx(loss, 0)


def _concentrated(losses: Sequence[Loss], delta: Fraction) -> Approx:
    whole = zcdp(Composed(tuple(losses)))
    if whole.rho and whole.delta >= delta:
        if all(isinstance(loss, Pure) for loss in losses):
            return _added(losses, delta)
        raise _needs_delta(delta)
    return approx(whole, delta) if whole.rho else Approx(0, 0)


def _needs_delta(given: Fraction, least: Fraction = Fraction(0)) -> InputError:
    hint = "Such as --delta 1e-6: some of the budgets are not pure."
    allowed = "more than zero" if not least else f"at least {float(least):.6g}, what was charged"
    return InputError("delta", float(given), allowed, hint)
