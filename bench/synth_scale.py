"""Synthetic rows of wide and of long tables: errors of pairs beside independent columns, CPU seconds, megabytes.

python bench/synth_scale.py [--quick] [--json] [--rows 100000,1000000] [--columns 25,50,100] [--methods auto]
                            [--spark 1000000,10000000] [--arrays mosaic]

Every table is a file that is opened, planned and released as a user does it, reading and writing included, at epsilon 1
and delta 1/n^2, in a process of its own. Wide: 50,000 rows of 100 columns in ten families that lean on one another;
`TV` is the mean over pairs of columns of half the L1 distance. Long: 15 columns of ADULT's sizes. Tables are made up,
the same each time. With --rows 10000000 ten million rows, from which at most five million are made. With --spark the
same tables are read by a Spark of two threads and 4 GB on this machine, and rows are made of the marginals that it
counted; its CPU seconds are those of driver and executors, which are one process there, its start left out.
With --arrays, wide tables only and a method by itself: counts are taken from arrays in memory.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet

import discreet
from discreet import Budget, Category, Integer, Schema
from discreet.core.sensitivity import Sensitivity
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.meter import Meter
from discreet.synth.methods import method_named
from harness import Report, arguments, peak_megabytes
from synth_tables import SIZES, domain_of, errors, invented, rho_for

WIDE = 50_000
KINDS = (2, 3, 4, 5, 8, 10, 12, 16, 24, 32)  # sizes of the ten columns of a family
LONG = (*SIZES, 12)
FEW = 20  # up to so many codes a column is one of categories, beyond it of numbers
# With 100 columns and 50,000 rows: TV of pairs at most .045 where independent columns have .068, in 60 CPU seconds.
PART, WIDE_SECONDS = 0.045 / 0.068, 60
LONG_SECONDS, LONG_MEGABYTES = 15, 500


def sizes_of(columns: int) -> tuple[int, ...]:
    return tuple(KINDS[place % 10] for place in range(columns))


def families(columns: int) -> np.ndarray:
    """Columns in families of ten: each leans on what its family shares, and a family on what all share."""
    chance = np.random.default_rng(3)
    common = chance.normal(size=WIDE)
    codes = np.empty((WIDE, columns), dtype=np.int64)
    for place, size in enumerate(sizes_of(columns)):
        if place % 10 == 0:
            shared = 0.7 * common + 0.714 * chance.normal(size=WIDE)
        lean = chance.uniform(0.3, 0.9)
        value = lean * shared + np.sqrt(1 - lean**2) * chance.normal(size=WIDE)
        parts = np.cumsum(chance.dirichlet(np.full(size, 2.0)))[:-1]
        codes[:, place] = np.searchsorted(np.quantile(value, parts), value)
    return codes


def write(path: Path, rows: int | None, sizes: tuple[int, ...]) -> None:
    """A long table of so many rows, or a wide one."""
    codes = families(len(sizes)) if rows is None else invented(rows, sizes)[1]
    columns = {}
    for place, size in enumerate(sizes):
        values = pyarrow.array(codes[:, place])
        columns[f"c{place}"] = values if size > FEW else values.cast(pyarrow.string())
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


def read(path: Path) -> np.ndarray:
    found = pyarrow.parquet.read_table(path)
    return np.column_stack([column.cast(pyarrow.int64()).to_numpy() for column in found.columns])


def released(path: Path, sizes: tuple[int, ...], method: str, rows: int, source: object = None) -> tuple[float, float]:
    """A file, or another source, released as a user does it, into rows beside it: CPU seconds of all threads, MB."""
    columns = {
        f"c{place}": Integer(0, size - 1, nullable=False)
        if size > FEW
        else Category([str(code) for code in range(size)], nullable=False)
        for place, size in enumerate(sizes)
    }
    before = resource.getrusage(resource.RUSAGE_SELF)
    budget = Budget(epsilon=1, delta=1 / rows**2)
    ledger = path.with_name(f"{method}.db")
    data = path if source is None else source
    curator = discreet.open(data, Schema("scale", columns), ledger=ledger, budget=budget, create=True)
    curator.synthesize(method).plan(share=1).release().save(path.with_name(f"{method}.parquet"))
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, peak_megabytes()


def released_by_spark(path: Path, sizes: tuple[int, ...], method: str, rows: int) -> tuple[float, float, float, float]:
    """The same by Spark: CPU seconds and megabytes of Python, and of Spark."""
    from pyspark.sql import SparkSession

    settings = {"driver.memory": "4g", "ui.enabled": "false", "ui.showConsoleProgress": "false"}
    settings |= {"local.dir": str(path.parent), "driver.bindAddress": "127.0.0.1", "driver.host": "127.0.0.1"}
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(f"spark.{name}", value)
    session = builder.getOrCreate()
    process = session.sparkContext._jvm.java.lang.ProcessHandle.current().pid()

    def seconds() -> float:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    before = seconds()
    here, megabytes = released(path, sizes, method, rows, session.read.parquet(str(path)))
    return here, megabytes, seconds() - before, peak_megabytes(process)


def by_itself(path: Path, sizes: tuple[int, ...], method: str, rows: int) -> tuple[float, float]:
    """A method on arrays, no engine and no ledger, into rows beside the file: CPU seconds, megabytes."""
    domain = domain_of({f"c{place}": size for place, size in enumerate(sizes)}, frozenset())
    meter = Meter(ArrayCounts(domain, read(path)), Sensitivity(1), "rho", rho_for(1.0, rows))
    start = time.process_time()
    made = method_named(method)(meter, list(itertools.combinations(range(len(sizes)), 2)), None)
    seconds, megabytes = time.process_time() - start, peak_megabytes()
    columns = {f"c{place}": made.codes[:, place] for place in range(len(sizes))}
    pyarrow.parquet.write_table(pyarrow.table(columns), path.with_name(f"{method}.parquet"))
    return seconds, megabytes


def off(path: Path, sizes: tuple[int, ...], method: str | None) -> tuple[float, float]:
    """Largest error and TV of pairs; without a method those of the same columns, each shuffled on its own."""
    domain = domain_of({f"c{place}": size for place, size in enumerate(sizes)}, frozenset())
    codes, chance = read(path), np.random.default_rng(4)
    made = chance.permuted(codes, axis=0) if method is None else read(path.with_name(f"{method}.parquet"))
    return errors(domain, codes, made, list(itertools.combinations(range(len(sizes)), 2)))


def alone(work, *job):
    """What `work` returns in a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, job)


def grown(report: Report, case: str, steps: list[tuple[float, float, float]]) -> None:
    """Times as long and as large, from one size to the next."""
    if len(steps) > 1:
        (before, *old), (now, *new) = steps[-2:]
        for metric, least, most in zip(("time", "memory"), old, new, strict=True):
            report.figure(case, f"growth of {metric}", most / least, f"times, for {now / before:g} times the size")


def measure_wide(report: Report, method: str, widths: list[int], release=released) -> None:
    steps: list[tuple[float, float, float]] = []
    for columns in widths:
        case, sizes = f"{columns} columns x {WIDE:,}, {method}", sizes_of(columns)
        case += ", on arrays" if release is by_itself else ""
        goal = columns == 100
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "wide.parquet"
            alone(write, path, None, sizes)
            alone(release, path, sizes, "independent", WIDE)
            seconds, megabytes = alone(release, path, sizes, method, WIDE)
            alike, plain, (most, half) = (alone(off, path, sizes, one) for one in (None, "independent", method))
        report.figure(case, "TV, columns shuffled", alike[1], "of rows, pairs; exact, not private")
        report.figure(case, "TV, independent", plain[1], "of rows, pairs")
        report.figure(case, "TV", half, "of rows, pairs")
        report.figure(case, "TV, part of independent", half / plain[1], "of it", **({"at_most": PART} if goal else {}))
        report.figure(case, "max", most, "of rows, pairs")
        report.figure(case, "time", seconds, "CPU s", **({"at_most": WIDE_SECONDS} if goal else {}))
        report.figure(case, "memory", megabytes, "MB")
        steps.append((columns, seconds, megabytes))
        grown(report, case, steps)


def measure_long(report: Report, method: str, lengths: list[int]) -> None:
    steps: list[tuple[float, float, float]] = []
    for rows in lengths:
        case = f"{rows:,} x {len(LONG)}, {method}"
        goal = rows == 1_000_000
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "long.parquet"
            alone(write, path, rows, LONG)
            seconds, megabytes = alone(released, path, LONG, method, rows)
        report.figure(case, "time", seconds, "CPU s", **({"at_most": LONG_SECONDS} if goal else {}))
        report.figure(case, "memory", megabytes, "MB", **({"at_most": LONG_MEGABYTES} if goal else {}))
        steps.append((rows, seconds, megabytes))
        grown(report, case, steps)


def measure_spark(report: Report, method: str, lengths: list[int]) -> None:
    steps: list[tuple[float, float, float]] = []
    for rows in lengths:
        case = f"{rows:,} x {len(LONG)} on Spark, {method}"
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "long.parquet"
            alone(write, path, rows, LONG)
            here, megabytes, there, taken = alone(released_by_spark, path, LONG, method, rows)
        report.figure(case, "time of Python", here, "CPU s")
        report.figure(case, "memory of Python", megabytes, "MB")
        report.figure(case, "time of Spark", there, "CPU s")
        report.figure(case, "memory of Spark", taken, "MB")
        steps.append((rows, there, taken))
        grown(report, case, steps)


def numbers(listed: str) -> list[int]:
    return [int(number) for number in listed.split(",") if number]


def main() -> None:
    options = arguments(
        __doc__.splitlines()[0],
        rows={"default": "100000,1000000"},
        columns={"default": "25,50,100"},
        methods={"default": "auto"},
        spark={"default": "", "help": "sizes of long tables that Spark reads"},
        arrays={"help": "a method to run by itself, on arrays in memory"},
    )
    report = Report("synth_scale", as_json=options.json)
    lengths = [20_000] if options.quick else numbers(options.rows)
    widths = [12] if options.quick else numbers(options.columns)
    if options.arrays:
        measure_wide(report, options.arrays, widths, by_itself)
        return
    for method in options.methods.split(","):
        measure_wide(report, method, widths)
        measure_long(report, method, lengths)
        measure_spark(report, method, numbers(options.spark))


if __name__ == "__main__":
    main()
