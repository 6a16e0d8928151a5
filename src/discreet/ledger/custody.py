"""What a custodian does to a ledger in a transaction: change and close budgets, write off what a copy has lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from discreet.core.unit import Protected
from discreet.core.wire import Json
from discreet.errors import GIVEN, MISSING, InputError
from discreet.ledger.account import Account, Spent, account_of, opened_datasets, spent_of
from discreet.ledger.anchor import Mark
from discreet.ledger.budget import Budget, Charge
from discreet.ledger.chain import append, check_bound
from discreet.ledger.discrepancy import Discrepancy, find_discrepancy
from discreet.ledger.guard import Guard
from discreet.ledger.outcome import SEEN, open_releases
from discreet.ledger.record import GENESIS, Record
from discreet.ledger.store import Reader, Store, Writer

__all__ = ["Change", "WriteOff", "accept_ledger", "change_budget", "charge_losses", "check_change", "close_budget"]

WriteOff = Literal["everything", "nothing"] | Mapping[tuple[str, str], Charge]
"""What to charge where nobody knows what was spent: by dataset and allotment, or in a word."""


Change = Literal["raise", "lower", "divide"]


def change_budget(
    writer: Writer, change: Change, dataset: str, budget: Budget, *, who: str, why: str, unit: Protected | None = None
) -> Account:
    """Put another budget for a dataset on record; its unit stays, unless a custodian says what its words mean."""
    account = account_of(writer, dataset)
    account.check_open()
    check_change(account, change, budget, spent_of(writer, account))
    if unit is not None and account.comparable:
        account.check_unit(unit)
    detail: dict[str, Json] = {"budget": budget.to_json(), "unit": account.unit if unit is None else str(unit)}
    append(writer, kind="open", dataset=dataset, who=who, why=why, detail=detail)
    return account_of(writer, dataset)


def check_change(account: Account, change: Change, budget: Budget, spent: Mapping[str, Spent]) -> None:
    """`InputError` unless an account may change its budget so, given what is `spent` from each allotment."""
    match change:
        case "raise":
            account.check_raise(budget, spent)
        case "lower":
            account.check_lower(budget, spent)
        case "divide":
            account.check_divide(budget, spent)


def close_budget(writer: Writer, dataset: str, *, who: str, why: str) -> Account:
    """Put on record that nothing is charged to a dataset any more; closed twice is closed once."""
    account = account_of(writer, dataset)
    if not account.closed:
        append(writer, kind="close", dataset=dataset, who=who, why=why)
    return account_of(writer, dataset)


def accept_ledger(store: Store, guard: Guard, write_off: WriteOff | None, *, who: str, why: str) -> tuple[Record, ...]:
    """Charge what a guard saw and the ledger has lost, and let the guard go on from here; the records added."""
    with store.write() as writer:
        discrepancy = find_discrepancy(writer, guard)
        if discrepancy is None:
            return ()
        check_bound(writer)  # or the word would bind what was edited
        added = charge_losses(writer, discrepancy, write_off, who=who, why=why)
    with store.write() as writer:
        guard.accept(writer)
    return tuple(added)


def charge_losses(
    writer: Writer, discrepancy: Discrepancy, amounts: WriteOff | None, *, who: str, why: str
) -> list[Record]:
    """Charge what a discrepancy says is lost, or what the custodian says where it cannot be told; the records added.

    In full, also beyond a cap: what was spent under a budget that this copy does not know stays spent if it is
    raised again. What was charged and has no outcome fails: among what is missing may be its answer.
    """
    mark = discrepancy.mark or Mark(GENESIS)
    lost = discrepancy.lost if discrepancy.mark is not None else _decided(writer, amounts)
    if discrepancy.mark is not None and amounts is not None:
        raise InputError("write_off", GIVEN, "left out: the guard knows what is missing", "Nothing was changed.")
    added: list[Record] = []
    for dataset, allotment, charge in lost:
        # By its number on the ledger: should the guard not follow after this, the next word has other ids.
        release = f"lost {mark.head.hash[:16]} {writer.head().sequence + 1}"
        named = {"dataset": dataset, "allotment": allotment, "release": release}
        added.append(append(writer, kind="charge", charge=charge, who=who, why=discrepancy.problem, **named))
    for dataset, release in tuple(open_releases(writer)):
        failed = {"dataset": dataset, "release": release, "detail": {"reason": SEEN}}
        added.append(append(writer, kind="failure", who=who, **failed))
    detail: dict[str, Json] = {"acknowledged": discrepancy.problem, "anchor": mark.to_text()}
    if discrepancy.mark is None:
        detail["charge_losses"] = amounts if isinstance(amounts, str) else "amounts"
    added.append(append(writer, kind="note", dataset="", who=who, why=why, detail=detail))
    return added


def _decided(reader: Reader, amounts: WriteOff | None) -> list[tuple[str, str, Charge]]:
    """What the custodian writes off, for every allotment that has something left."""
    left = {
        (dataset, part.name): reader.total(dataset, part.name).left_of(part.cap)
        for dataset in opened_datasets(reader)
        for part in account_of(reader, dataset).budget.allotments
    }
    open_keys = [key for key, rest in left.items() if rest.amount or rest.delta]
    if amounts == "nothing":
        return []
    if amounts == "everything":
        return [(*key, left[key]) for key in open_keys]
    hint = "What was spent and is not recorded here is unknown. Nothing was changed."
    if not isinstance(amounts, Mapping):
        allowed = "'everything' that is left, 'nothing', or an amount for each of " + _names(open_keys)
        raise InputError("write_off", amounts, allowed, hint)
    if unknown := set(amounts) - set(left):
        raise InputError("write_off", _names(sorted(unknown)), "amounts for " + _names(list(left)), hint)
    if silent := [key for key in open_keys if key not in amounts]:
        raise InputError("write_off", MISSING, f"given for {_names(silent)} too, if only 0", hint)
    for key, charge in amounts.items():
        if min(charge.amount, charge.delta) < 0:
            raise InputError("write_off", charge.amount, f"at least 0 for {_names([key])}", hint)
    return [(*key, charge) for key, charge in sorted(amounts.items()) if charge.amount or charge.delta]


def _names(keys: list[tuple[str, str]]) -> str:
    return ", ".join(f"{dataset}/{allotment}" for dataset, allotment in keys) or "no allotment"
