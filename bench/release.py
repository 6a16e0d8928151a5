"""What one release costs: CPU time of a count and a mean by county, ledger included, and where it goes.

    python bench/release.py [--quick] [--json] [--no-peers]

A table of persons (a fifth as many as rows, each in one county, at most five rows), opened once: Parquet and CSV files,
an Arrow table in memory, large and small. Every release is planned, charged, counted, published and recorded, with a
new salt and fresh noise. CPU time of this process, all threads, without waiting for the disk. Peers count and average
the same rows in memory, with no persons, no ledger and no intervals.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet

from discreet import Budget, Category, Integer, Real, Schema, Unit, count, mean
from discreet import open as open_curator
from discreet.curator.desk import LocalDesk
from discreet.data.connection import Connection
from discreet.ledger.ledger import Ledger
from discreet.query.plan import QueryPlan
from harness import Report, arguments, cpu_seconds, peer

COUNTIES = ["Ash", "Birch", "Cedar", "Elm", "Hazel", "Juniper", "Larch", "Maple", "Oak", "Rowan", "Spruce", "Willow"]
LARGE, SMALL = 100_000, 1_000
EPSILON = "1/10"
PLAIN = "SELECT county, count(*), avg(pay) FROM people GROUP BY county"
PEERS = {
    "OpenDP": ("opendp", ["opendp==0.16.*"]),
    "diffprivlib": ("diffprivlib", ["diffprivlib==0.6.*", "scikit-learn<1.6", "numpy<2.1"]),
}
# Parts of a release: what is timed inside it. What is called by none of them is "the rest".
PARTS = {
    "engine": [(Connection, "counted")],
    "salt, noise": [],
    "ledger": [(Ledger, name) for name in ("spend", "measurement", "answer", "find", "version_of", "standing")],
    "estimates, notes, JSON of them": [(QueryPlan, "publish")],
    "fits the columns": [(LocalDesk, "fits")],
}


def people(rows: int) -> pyarrow.Table:
    """Made-up rows: nothing private."""
    chance = np.random.default_rng(1)
    return pyarrow.table(
        {
            "person": chance.integers(0, rows // 5, rows),
            "pay": 100_000 * chance.random(rows),
            "county": np.array(COUNTIES)[chance.integers(0, len(COUNTIES), rows)],
        }
    )


def asking(place: object, folder: Path, unit: Unit):
    """The question, of a curator who opened the data; every call of it plans and releases."""
    columns = {"person": Integer(0, 10**9), "pay": Real(0, 100_000), "county": Category(COUNTIES)}
    schema = Schema("people", columns, unit=unit)
    ledger = Path(tempfile.mkdtemp(dir=folder)) / "books.db"
    curator = open_curator(place, schema, ledger=ledger, budget=Budget(10**6), who="bench", create=True)
    question = curator.table().group_by("county").agg(n=count(), pay=mean("pay"))
    return question, lambda: question.plan(epsilon=EPSILON).release()


def written(table: pyarrow.Table, folder: Path, ending: str) -> str:
    path = folder / "data" / f"{len(table)}.{ending}"
    path.parent.mkdir(exist_ok=True)
    (pyarrow.parquet.write_table if ending == "parquet" else pyarrow.csv.write_csv)(table, path)
    return str(path)


def divided(release, repeats: int) -> dict[str, float]:
    """CPU seconds of the parts of a release, on average over some."""
    spent = dict.fromkeys(PARTS, 0.0)
    before = {}

    def timed(part: str, method):
        def run(*args, **options):
            start = time.process_time()
            try:
                return method(*args, **options)
            finally:
                spent[part] += time.process_time() - start

        return run

    for part, methods in PARTS.items():
        for owner, name in methods:
            before[owner, name] = getattr(owner, name)
            setattr(owner, name, timed(part, before[owner, name]))
    whole = QueryPlan.measure
    QueryPlan.measure = timed("salt, noise", whole)
    try:
        start = time.process_time()
        for _ in range(repeats):
            release()
        total = time.process_time() - start
    finally:
        QueryPlan.measure = whole
        for (owner, name), method in before.items():
            setattr(owner, name, method)
    spent["salt, noise"] -= spent["engine"]
    spent["the rest"] = total - sum(spent.values())
    return {part: seconds / repeats for part, seconds in spent.items()}


def ours(report: Report, folder: Path, repeats: int) -> None:
    """Releases of each kind of source, and where their time goes."""
    large, small = people(LARGE), people(SMALL)
    person, row = Unit("person", groups=1, rows=5), Unit()
    cases = {
        "100,000 rows in Parquet": (written(large, folder, "parquet"), person, 8),
        "100,000 rows in CSV": (written(large, folder, "csv"), person, None),
        "100,000 rows in memory": (large, person, 8),
        "100,000 rows in memory, a row each": (large, row, None),
        "1,000 rows in memory": (small, person, 3),
        "1,000 rows in memory, a row each": (small, row, None),
    }
    time.sleep(2.5)  # files that were written this moment are looked at again each time
    for name, (place, unit, target) in cases.items():
        question, release = asking(place, folder, unit)
        first = time.process_time()
        release()
        report.figure(name, "first release", 1000 * (time.process_time() - first), "CPU ms")
        release()
        report.figure(name, "a release", 1000 * cpu_seconds(release, repeats), "CPU ms", at_most=target)
        plan = cpu_seconds(lambda question=question: question.plan(epsilon=EPSILON), repeats)
        report.figure(name, "its plan alone", 1000 * plan, "CPU ms")
        for part, seconds in divided(release, repeats).items():
            report.figure(name, f"of it: {part}", 1000 * seconds, "CPU ms")
    engine = duckdb.connect()
    for rows, table in ((LARGE, large), (SMALL, small)):
        engine.register("people", table)
        plain = cpu_seconds(lambda: engine.execute(PLAIN).fetchnumpy(), repeats)
        report.figure(f"DuckDB alone, {rows:,} rows in memory", "no privacy at all", 1000 * plain, "CPU ms")


def peers(report: Report, folder: Path, repeats: int) -> None:
    """Other libraries, each where it can be installed."""
    for rows in (LARGE, SMALL):
        table = people(rows)
        codes = np.searchsorted(COUNTIES, table["county"].to_numpy(zero_copy_only=False))
        job = {"groups": codes.tolist(), "values": table["pay"].to_pylist(), "keys": len(COUNTIES), "upper": 100_000}
        path = folder / f"job{rows}.json"
        path.write_text(json.dumps({**job, "epsilon": 0.1, "repeats": repeats}))
        for name, (home, requirements) in PEERS.items():
            found = peer(home, requirements, f"release_{home}.py", str(path), report=report)
            if found is not None:
                report.figure(f"{name}, {rows:,} rows in memory", "count and mean", 1000 * found["cpu"], "CPU ms")


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    report = Report("release", as_json=options.json)
    with tempfile.TemporaryDirectory() as place:
        ours(report, Path(place), 15 if options.quick else 60)
        if not options.no_peers:
            peers(report, Path(place), 5 if options.quick else 20)
    sys.exit(1 if report.missed else 0)


if __name__ == "__main__":
    main()
