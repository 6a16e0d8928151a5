"""A ledger as it was at one moment, to be read: an export or a backup."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.ledger.account import Account, Standing, account_of, opened_datasets, standing_of
from discreet.ledger.record import Record
from discreet.ledger.store import Reader

__all__ = ["Snapshot"]


class Snapshot:
    """What can be read of a ledger without its guard: records, budgets, and what was spent then."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader

    def records(self, dataset: str | None = None) -> Iterator[Record]:
        """Every record, or those of one dataset, in order."""
        return (row.record() for row in self.reader.rows(dataset))

    def datasets(self) -> tuple[str, ...]:
        """Every dataset with a budget, in the order they came."""
        return opened_datasets(self.reader)

    def account(self, dataset: str) -> Account:
        """The budget of a dataset; `InputError` if it has none here."""
        return account_of(self.reader, dataset)

    def standing(self, dataset: str) -> tuple[Standing, ...]:
        """What every allotment of a dataset had spent and had left."""
        return standing_of(self.reader, self.account(dataset))
