"""Counting a tree in the engine: CPU and memory of DuckDB and of Spark with its driver, by rows.

    python bench/hierarchy_counting.py [--quick] [--json] [--rows 1e7] [--leaves 1e4]

Rows of a Parquet file are counted by leaf region and 24 cells, as `curator.tree` does it behind the one door: what the
engine returns is a number for every region and cell that has rows. Each case runs in a process of its own, twice, so
that the second run shows what starting costs; the least counts. On Spark the Java machine runs the query, on two cores
of this machine, and the driver is the Python process that receives the answer.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from harness import ENVIRONMENTS, Report, arguments, peak_megabytes

CELLS = 24
RUNS = 2


def codes(leaves: int) -> list[str]:
    """The codes of the leaf regions, which are public."""
    digits = len(str(leaves - 1))
    return [f"{number:0{digits}d}" for number in range(leaves)]


def table(rows: int, leaves: int) -> Path:
    """A Parquet file of people: block, sex and age. Made once."""
    import duckdb

    path, digits = ENVIRONMENTS / "data" / f"people-{rows}-{leaves}.parquet", len(str(leaves - 1))
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".partial")
        duckdb.execute(
            f"""COPY (SELECT lpad((hash(3 * i) % {leaves})::VARCHAR, {digits}, '0') AS block,
                         CASE WHEN hash(3 * i + 1) % 2 = 0 THEN 'f' ELSE 'm' END AS sex,
                         lpad((hash(3 * i + 2) % 12)::VARCHAR, 2, '0') AS age
                FROM range({rows}) t(i)) TO '{fresh}' (FORMAT parquet)"""
        )
        fresh.rename(path)
    return path


def tabulation(leaves: int):
    """The question: regions by sex and age, the leaf column declared as text."""
    from discreet.data.column import Category, Text
    from discreet.data.schema import Schema
    from discreet.query.key import Key
    from discreet.trees.count import Tabulation
    from discreet.trees.tree import Hierarchy

    named = {"sex": Category(["f", "m"], nullable=False), "age": Category([f"{a:02}" for a in range(12)], False)}
    tree = Hierarchy.from_prefixes(codes(leaves), {"tract": len(str(leaves - 1)) - 2, "block": len(str(leaves - 1))})
    keys = tuple(Key(name) for name in named)
    return Tabulation(Schema("people", {"block": Text(), **named}), tree, "block", keys).checked()


def counted(place, leaves: int, cpu) -> dict[str, float]:
    """Counts twice; what the quicker run took, and how much came back."""
    from discreet.data.source import source_of
    from discreet.noise.replay import Replay

    asked, best, returned = tabulation(leaves), float("inf"), []
    with source_of(place).open() as data:
        fetch = data.integers

        def integers(expression):
            found = fetch(expression)
            returned.append(len(next(iter(found.values()))))
            return found

        data.integers = integers
        for _ in range(RUNS):
            start = cpu()
            exact = asked.count(data, Replay(b"counting"))
            seconds = [now - then for now, then in zip(cpu(), start, strict=True)]
            if sum(seconds) < best:
                best, parts = sum(seconds), seconds
    return {"cpu": best, "driver": parts[0], "returned": max(returned), "people": int(exact.sum())}


def on_duckdb(path: str, leaves: int) -> dict[str, float]:
    """By DuckDB, in this process."""
    before = peak_megabytes()
    found = counted(path, leaves, lambda: (time.process_time(),))
    return {**found, "before": before, "memory": peak_megabytes()}


def on_spark(path: str, leaves: int) -> dict[str, float]:
    """By Spark: CPU of the driver and of the Java machine; memory of the driver."""
    from pyspark.sql import SparkSession

    settings = {"spark.ui.enabled": "false", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.memory": "4g"}
    settings |= {"spark.driver.host": "127.0.0.1", "spark.sql.shuffle.partitions": "4"}
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    java = Path("/proc") / str(session.sparkContext._gateway.jvm.java.lang.ProcessHandle.current().pid())

    def cpu() -> tuple[float, float]:
        ticks = (java / "stat").read_text().rsplit(")", 1)[1].split()[11:13]
        return time.process_time(), sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

    import ibis

    ibis.pyspark.connect(session)  # which imports the rest of it
    before = peak_megabytes()
    found = counted(session.read.parquet(path), leaves, cpu)
    peak = next(line for line in (java / "status").read_text().splitlines() if line.startswith("VmHWM"))
    return {**found, "before": before, "memory": peak_megabytes(), "java": int(peak.split()[1]) / 1024}


def one(case: str) -> None:
    """Run one case in this process and print what it took."""
    engine, path, leaves = json.loads(case)
    print(json.dumps({"duckdb": on_duckdb, "spark": on_spark}[engine](path, leaves)))


def fresh(engine: str, path: Path, leaves: int) -> dict[str, float]:
    """One case in a new process."""
    case = json.dumps([engine, str(path), leaves])
    done = subprocess.run([sys.executable, __file__, "--one", case], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def compare(report: Report, rows: int, leaves: int) -> None:
    """Both engines on one table: CPU, memory, and that the answer is no longer than the table of counts."""
    path = table(rows, leaves)
    for engine in ("duckdb", "spark"):
        case = f"{rows:.0e} rows, {leaves:.0e} leaves x {CELLS}, {engine}"
        try:
            found = fresh(engine, path, leaves)
        except subprocess.CalledProcessError:
            report.note(f"{case}: did not run; Spark needs pyspark and Java 17")
            continue
        if found["people"] != rows:
            raise RuntimeError("rows were lost")
        report.figure(case, "CPU", found["cpu"], "s")
        report.figure(case, "of it the driver", found["driver"], "s")
        report.figure(case, "driver's peak RSS", found["memory"], "MB")
        report.figure(case, "before the question", found["before"], "MB")
        if "java" in found:
            report.figure(case, "Java's peak RSS", found["java"], "MB")
        report.figure(case, "numbers returned", found["returned"], "", at_most=leaves * CELLS)


def main() -> None:
    rows = {"type": float, "help": "rows of the largest table (default 1e7; with --quick 1e6)"}
    leaves = {"type": float, "default": 1e4, "help": "leaf regions"}
    options = arguments(__doc__.splitlines()[0], rows=rows, leaves=leaves)
    report = Report("hierarchy_counting", as_json=options.json)
    largest = int(options.rows or (10**6 if options.quick else 10**7))
    for many in (10**6, 10**7):
        if many <= largest:
            compare(report, many, int(options.leaves))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2])
    else:
        main()
