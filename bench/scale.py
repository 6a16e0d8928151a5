"""Large tables: whole processes against the plain query, memory by default, and a Spark cluster of three workers.

    python bench/scale.py [--quick] [--json] [--rows 1e8]

"process" is the CPU of a process from its start to its end: imports, opening, charging, counting, noise, intervals,
the record; against one that imports DuckDB and runs the plain query. Cases take turns, each in a process of its own;
the least of three is compared (one run each from 1e8 rows on), and the median is given beside it. No setting is made:
memory is what discreet takes by default. On Spark, a master and three workers with an executor each are started on
this machine; the CPU is that of the workers and their executors while they answer, and what was sent between them is
what Spark itself has counted.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from groupby import FULL, GROUPS, PER_USER, REPEATS, table
from harness import ENVIRONMENTS, HERE, Report, arguments, peak_megabytes

sys.path.insert(0, str(HERE.parent / "tests"))

KEPT = 5
REGIONS = [f"region {number:02d}" for number in range(50)]
MOST_MEMORY = 1500
# The same on files: what a person would run who does not protect anybody.
PLAIN = {
    "sums": "SELECT grp, count(DISTINCT user_id), count(*), sum(value) FROM '{rows}' GROUP BY grp",
    "medians": "SELECT grp, quantile_cont(value, 0.5) FROM '{rows}' GROUP BY grp",
    "join": "SELECT region, count(DISTINCT user_id), count(*), sum(value) FROM '{rows}' JOIN '{persons}' "
    "USING (user_id) GROUP BY region",
}


def persons(rows: int) -> Path:
    """A Parquet file with a row for every user of the table: where they live. Made once."""
    import duckdb

    path = ENVIRONMENTS / "data" / f"persons-{rows}.parquet"
    if not path.exists():
        number = f"lpad((hash(i) % {len(REGIONS)})::VARCHAR, 2, '0')"
        duckdb.execute(
            f"COPY (SELECT i AS user_id, 'region ' || {number} AS region FROM range({rows // PER_USER}) t(i)) "
            f"TO '{path}' (FORMAT parquet)"
        )
    return path


def plain(what: str, rows: str, joined: str) -> None:
    """The query without privacy."""
    import duckdb

    if not duckdb.connect().execute(PLAIN[what].format(rows=rows, persons=joined)).fetchall():
        raise RuntimeError("no answer")


def private(what: str, place, joined: str | None) -> None:
    """The same with noise and intervals, each user in at most five groups."""
    import discreet
    from discreet import Budget, Category, Integer, Real, Schema, Unit

    columns = {"grp": Integer(0, GROUPS - 1, nullable=False), "value": Real(0, 100, nullable=False)}
    more, sources, key = {}, {}, "grp"
    if what == "join":
        from discreet.data import Join

        more = {"joins": {"persons": Join({"region": Category(REGIONS)})}}
        sources, key = {"joins": {"persons": joined}}, "region"
    schema = Schema("visits", columns, unit=Unit("user_id", groups=KEPT, rows=PER_USER), **more)
    with tempfile.TemporaryDirectory() as folder:
        how = {"ledger": Path(folder) / "ledger.db", "budget": Budget(epsilon=1), "create": True}
        question = discreet.open(place, schema, **how, **sources).table().group_by(key)
        if what == "medians":
            question = question.agg(value=discreet.median("value"))
        else:
            question = question.agg(users=discreet.people(), rows=discreet.count(), value=discreet.total("value"))
        question.plan(epsilon=1).release()


def fresh(what: str, rows: int, kept: bool) -> dict[str, float]:
    """One case in a new process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    case = json.dumps([what, str(table(rows)), str(persons(rows)), kept])
    environment = {name: value for name, value in os.environ.items() if name != "DISCREET_MEMORY"}
    command = [sys.executable, __file__, "--one", case]
    run = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"memory": float(run.stdout.strip().splitlines()[-1]), "process": process}


def compare(report: Report, what: str, rows: int, target: float | None) -> float:
    """A question against the plain query; the process's CPU seconds."""
    runs: dict[bool, list[dict[str, float]]] = {False: [], True: []}
    for _ in range(REPEATS if rows <= FULL else 1):
        for kept, tries in runs.items():
            tries.append(fresh(what, rows, kept))
    least, middle = (
        {kept: of(run["process"] for run in tries) for kept, tries in runs.items()} for of in (min, statistics.median)
    )
    case = f"{rows:.0e} rows, {what}, k = {KEPT}"
    report.figure(case, "plain process", least[False], "CPU s")
    report.figure(case, "process", least[True], "CPU s")
    report.figure(case, "process / plain", least[True] / least[False], "x", at_most=target)
    report.figure(case, "process / plain, medians", middle[True] / middle[False], "x")
    report.figure(case, "plain peak RSS", max(run["memory"] for run in runs[False]), "MB")
    report.figure(case, "peak RSS", max(run["memory"] for run in runs[True]), "MB", at_most=MOST_MEMORY)
    return least[True]


def compare_cluster(report: Report, sizes: list[int]) -> None:
    """The question to a cluster of three workers, with twice and ten times the rows."""
    from spark_cluster import spark_cluster

    seconds = {}
    for rows in sizes:
        with spark_cluster(workers=3, memory="1g") as cluster:
            settings = {"spark.executor.memory": "1g", "spark.sql.files.maxPartitionBytes": "32m"}
            command = [sys.executable, __file__, "--driver", cluster.address, str(table(rows))]
            pipe = subprocess.PIPE
            with subprocess.Popen(
                command,
                env=cluster.environment(**settings),
                stdin=pipe,
                stdout=pipe,
                stderr=subprocess.DEVNULL,
                text=True,
            ) as driver:
                if driver.stdout.readline() != "ready\n":
                    report.note("the cluster did not answer: it needs pyspark and Java 17")
                    return
                start = cluster.cpu_seconds()
                driver.stdin.write("go\n")
                driver.stdin.flush()
                facts = json.loads(driver.stdout.readline() or "{}")
                seconds[rows] = cluster.cpu_seconds() - start
                memory = cluster.peak_megabytes()
            if driver.returncode or not facts:
                raise RuntimeError("the driver failed")
        case = f"{rows:.0e} rows, sums, k = {KEPT}, Spark, 3 workers"
        report.figure(case, "executors", seconds[rows], "CPU s")
        report.figure(case, "largest executor, peak RSS", memory, "MB")
        for place, sent in enumerate(facts["sent"]):
            report.figure(case, f"shuffle {place + 1}, records", sent["records"], "")
            report.figure(case, f"shuffle {place + 1}", sent["bytes"] / 1e6, "MB")
        report.figure(case, "sent to the driver", facts["result"] / 1e3, "KB", at_most=1000)
    if len(sizes) > 1:
        small, large = min(sizes), max(sizes)
        growth = (seconds[large] - seconds[small]) / (large - small)
        report.figure(f"Spark, {small:.0e} to {large:.0e} rows", "CPU for a million rows more", 1e6 * growth, "s")
        report.figure("1e9 rows, by that growth", "executors", seconds[large] + (1e9 - large) * growth, "CPU s")


def drive(address: str, path: str) -> None:
    """A driver in a process of its own; see `compare_cluster`."""
    from discreet.data.source import source_of

    source = source_of(address, f"parquet.`{path}`")
    source.columns()
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    session.range(100_000).repartition(6).count()  # which waits until there are executors, and starts their parts
    before = {stage.stageId() for stage in stages(session)}
    print("ready", flush=True)
    sys.stdin.readline()
    private("sums", source, None)
    found = [stage for stage in stages(session) if stage.stageId() not in before]
    sent = [stage for stage in found if stage.shuffleWriteRecords()]
    facts = [{"records": stage.shuffleWriteRecords(), "bytes": stage.shuffleWriteBytes()} for stage in reversed(sent)]
    print(json.dumps({"sent": facts, "result": sum(stage.resultSize() for stage in found)}), flush=True)


def stages(session) -> list:
    """What Spark knows of the stages it ran, the latest first."""
    context = session.sparkContext
    none = context._gateway.new_array(context._jvm.double, 0)
    found = context._jsc.sc().statusStore().stageList(None, False, False, none, None)
    return [found.apply(place) for place in range(found.size())]


def main() -> None:
    rows_option = {"type": float, "help": "size of the largest table (default 1e7)"}
    options = arguments(
        __doc__.splitlines()[0], rows=rows_option, spark={"type": float, "help": "rows for the cluster"}
    )
    report = Report("scale", as_json=options.json)
    small = 1_000_000
    large = int(options.rows or (small if options.quick else FULL))
    for what in PLAIN:
        compare(report, what, large, 1.3 if large >= FULL and what == "sums" else None)
    if not options.quick:
        most = int(options.spark or 20_000_000)
        compare_cluster(report, [most // 10, most])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        chosen, rows_path, persons_path, protected = json.loads(sys.argv[2])
        (private if protected else plain)(chosen, rows_path, persons_path)
        print(peak_megabytes())
    elif sys.argv[1:2] == ["--driver"]:
        drive(*sys.argv[2:])
    else:
        main()
