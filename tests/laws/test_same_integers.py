"""The same integers: what is counted follows from the set of rows alone, whatever their order and the threads.

Not from the order of rows, the number of threads, or whatever else decides a tie. The integers are captured
at the one seam (tests/seam.py), where a mechanism is handed them, and compared exactly.
"""

from __future__ import annotations

import random
from typing import Any
from unittest import mock

import ibis
import numpy as np
import pyarrow
import pytest

import discreet.query.estimate
from discreet.query.source import Connection
from seam import Tape, captured
from worlds import KINDS, Job, world

SIZE = 150_000  # more than one row group of DuckDB, which is what a thread takes
EXACT = ["sums", "joins", "quantiles", "private bounds", "top"]


def crowd(ids: str, size: int) -> tuple[pyarrow.Table, pyarrow.Table]:
    """A large table whose rows are those of small worlds, with many persons: each has several rows and groups."""
    chance = random.Random(5)
    tables = [world(chance, ids) for _ in range(40)]
    rows, beside = (pyarrow.concat_tables([getattr(one, side)() for one in tables]) for side in ("arrow", "other"))
    made = []
    for table in (rows, beside):
        place = np.random.default_rng(3).integers(0, len(table), size)
        person = np.random.default_rng(4).integers(0, size // 5, size)
        wide = table.take(place)
        names = pyarrow.array(person) if ids == "whole" else pyarrow.array([f"Person {i}" for i in person.tolist()])
        made.append(wide.set_column(0, "p", names))
    return made[0], made[1]


def integers(backend: Any, job: Job, tables: tuple[Any, Any], salt: str = "salt") -> list[Any]:
    """What the mechanisms are handed in one run. The noise is the same each time: adaptive jobs stay together."""
    table, beside = tables
    if job.schema.view is not None:
        table = job.schema.view(table, {"beside": beside})
    bits = Tape(salt)
    with captured(bits) as steps, mock.patch.object(discreet.query.estimate, "_DRAWS", 8):
        job.run(Connection(backend, table), bits)
    return steps


def jobs(kind: str, many: int) -> list[Job]:
    found = [KINDS[kind](random.Random(f"same {kind} {turn}")) for turn in range(12)]
    persons = [job for job in found if job.schema.unit.column is not None]
    return (persons or found)[:many]


@pytest.mark.parametrize("ids", ["whole", "text"])
@pytest.mark.parametrize("kind", EXACT)
def test_order_and_threads_change_no_integer(kind, ids):
    rows, beside = crowd(ids, SIZE if kind in ("sums", "joins", "quantiles", "synthesis") else SIZE // 10)
    backend = ibis.duckdb.connect()
    (job,) = jobs(kind, 1)
    found = []
    for threads, seed in ((1, None), (2, 1), (8, 2)):
        backend.raw_sql(f"SET threads = {threads}")
        for name, table in (("rows", rows), ("beside", beside)):
            order = np.arange(len(table)) if seed is None else np.random.default_rng(seed).permutation(len(table))
            backend.con.register("given", table.take(order))
            backend.raw_sql(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM given")
        found.append(integers(backend, job, (backend.table("rows"), backend.table("beside"))))
    assert found[0] == found[1] == found[2]
    assert found[0]
