"""A year of dirty rows, and streams that count it month by month."""

import numpy as np
import pyarrow

import discreet
from discreet import Budget, Category, Date, Real, Schema, Unit, bins
from discreet.data.source import source_of
from discreet.noise.bits import SystemBits
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.stream import plan_stream
from discreet.query.stream_step import StreamStep

MONTHS = bins("day", every="month")
COLUMNS = {
    "day": Date("2024-01-01", "2024-12-31", nullable=False),
    "sex": Category(["f", "m"], nullable=False),
    "pay": Real(0, 10, nullable=False),
}


def rows_of(count_, seed=7):
    rng = np.random.default_rng(seed)
    return [
        {
            "p": int(rng.integers(0, count_ // 3)),
            "day": f"2024-{int(rng.integers(1, 13)):02d}-{int(rng.integers(1, 29)):02d}",
            "sex": ["f", "m", "x", None][int(rng.integers(0, 4))],
            "pay": float(rng.integers(-2, 14)),
        }
        for _ in range(count_)
    ]


def table(rows):
    return pyarrow.table({name: [row[name] for row in rows] for name in ("p", "day", "sex", "pay")})


def planned(unit, outputs, limit=1, price=None, keys=("sex",), budget=None):
    schema = Schema("t", COLUMNS, unit)
    allotment = (budget or Budget(epsilon=100)).allotments[0]
    query = Query().group_by(*keys).agg(**outputs)
    return plan_stream(query, schema, allotment, price or Price.read(epsilon=1), MONTHS, limit)


class FixedBits:
    """The same bytes every time, so that two runs pick groups alike."""

    def read(self, count_):
        return np.full(count_, 0b10110010, dtype=np.uint8)


def steps(plan, tables, folder, bits=None):
    """The exact sums of every period, where `tables[t - 1]` is the table when period t is released."""
    exact = []
    for period, rows in enumerate(tables, 1):
        step = StreamStep(plan, period, "s", folder)
        with source_of(rows if isinstance(rows, pyarrow.Table) else table(rows)).open() as connection:
            step.measure(connection, bits or SystemBits())
        (sums,) = step.state.sums(period - 1, period)
        exact.append(sums)
    return np.array(exact)  # period, measure, group


def reference(tables, plan):
    """By hand: a person counts in the first `limit` months in which they have a row that counts at its release."""
    unit, counted = plan.schema.unit, {}
    out = np.zeros((len(tables), 2), dtype=int)
    for month, rows in enumerate(tables, 1):
        here = [row for row in rows if int(row["day"][5:7]) == month and row["sex"] in ("f", "m")]
        if unit.column is not None:
            here = [row for row in here if counted.get(row["p"], 0) < plan.limit]
            for person in {row["p"] for row in here}:
                counted[person] = counted.get(person, 0) + 1
        seen = {}
        for row in here:
            key = (row["p"], row["sex"])
            seen[key] = seen.get(key, 0) + 1
            if unit.column is None or seen[key] <= unit.rows:
                out[month - 1, ["f", "m"].index(row["sex"])] += 1
    return out


def opened(tmp_path):
    """A curator of this table, with more budget than any test spends."""
    schema = Schema("t", COLUMNS, Unit("p", groups=1, rows=1))
    budget = Budget(epsilon=10**5)
    return discreet.open(table(rows_of(300)), schema, ledger=tmp_path / "l.db", budget=budget, who="t", create=True)
