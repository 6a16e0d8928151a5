"""A small table behind a ledger: what tests of the curator's room share."""

from __future__ import annotations

import pyarrow

from discreet.core.unit import Unit
from discreet.curator.desk import LocalDesk
from discreet.data.column import Category, Date, Integer, Real
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.ledger.budget import Budget

COLUMNS = {
    "age": Integer(0, 120, nullable=False),
    "county": Category(["Ash", "Elm"], nullable=False),
    "pay": Real(0, 1000, nullable=True),
    "day": Date("2024-01-01", "2024-12-31", nullable=False),
}
SCHEMA = Schema("people", COLUMNS)
TABLE = pyarrow.table(
    {
        "id": [1, 2, 2, 3],
        "age": [30, 40, 50, 60],
        "county": ["Ash", "Elm", "Ash", "Ash"],
        "pay": [10.0, None, 30.0, 999.0],
        "day": ["2024-01-05", "2024-01-09", "2024-02-01", "2024-12-31"],
    }
)
PERSONS = Schema("people", COLUMNS, Unit("id", groups=1, rows=1))


def open_desk(folder, schema=SCHEMA, table=TABLE, **how):
    """A desk of that table whose ledger lies in the folder."""
    how = {"budget": Budget(10), "create": True, "who": "ann", **how}
    return LocalDesk.open(source_of(table), schema, ledger=folder / "books.db", **how)
