"""One column of a stored type, put where data may lie, and a question about it."""

import datetime as dt

import pyarrow
import pyarrow.parquet
import pytest

from discreet.curator import open_curator
from discreet.data.column import Date
from discreet.data.schema import Schema
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from discreet.query.aggregate import count, total
from discreet.query.key import bins

LATE = dt.datetime(2024, 1, 1, 23, 30)  # in UTC; the second of January in Berlin
DAYS = Date(dt.date(2023, 12, 31), dt.date(2024, 1, 3), nullable=False)


def source_as(kind, table, folder):
    if kind == "parquet":
        pyarrow.parquet.write_table(table, folder / "t.parquet")
        return folder / "t.parquet"
    if kind == "polars":
        return pytest.importorskip("polars").from_arrow(table)
    return table.to_pandas() if kind == "pandas" else table


def asked(source, column, folder):
    ledger = Ledger.open(folder / "books.db", create=True)
    curator = open_curator(source, Schema("t", {"x": column}), ledger=ledger, budget=Budget(1000), create=True)
    question = curator.table()
    if isinstance(column, Date):
        return question.group_by(bins("x", every="day")).agg(n=count()).plan(epsilon=500).release()["n"]
    return question.agg(n=total("x")).plan(epsilon=500).release()["n"]
