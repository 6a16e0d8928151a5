"""A private answer per group against the plain query on the same file, CPU for CPU: DuckDB, Spark, and other libraries.

    python bench/groupby.py [--quick] [--json] [--no-peers] [--rows 1e8]

Every case runs three times in a process of its own, the cases taking turns; the least CPU time counts, that of all the
engine's threads included. "question" is the CPU from the first call to the last, once the libraries are imported;
"process" is everything from the start of the interpreter to its end. On Spark the Java machine's time is counted from
when its session is up, and each case runs once.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import ENVIRONMENTS, Report, arguments, peak_megabytes, peer

GROUPS = 1000
PER_USER = 10
NAMES = [f"group {number:03d}" for number in range(GROUPS)]
FULL = 10_000_000  # the targets are for so many rows: with few, opening the ledger is what costs
REPEATS = 3
EXPRESSIONS = ["value * 2 + grp", "CASE WHEN value > 50 THEN LEAST(value, 80) ELSE 0 END"]
# Others that answer the same question, each in an environment of its own: name, what to install, what it computes.
PEERS = [
    ("opendp", ["opendp[polars]==0.16.*"], "rows and sums"),
    ("smartnoise", ["smartnoise-sql==1.0.*", "pyarrow"], "rows and sums"),
    ("pipelinedp", ["pipeline-dp==0.3.*", "pyarrow"], "users, rows and sums"),
    ("tumult", ["tmlt.analytics==0.21.*"], "users, rows and sums, on Spark"),
]


def table(rows: int) -> Path:
    """A Parquet file of visits: ten rows for every user, groups and values spread evenly. Made once."""
    import duckdb

    path = ENVIRONMENTS / "data" / f"groupby-{rows}.parquet"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".partial")
        duckdb.execute(
            f"""COPY (SELECT (hash(3 * i) % {rows // PER_USER})::BIGINT AS user_id, grp,
                         'group ' || lpad(grp::VARCHAR, 3, '0') AS name,
                         round((hash(3 * i + 1) % 1000003) / 1e4, 3) AS value
                FROM (SELECT i, (hash(3 * i + 2) % {GROUPS})::INTEGER AS grp FROM range({rows}) t(i)))
                TO '{fresh}' (FORMAT parquet)"""
        )
        fresh.rename(path)
    return path


def plain(path: str, key: str, value: str) -> None:
    """What one would run without privacy."""
    import duckdb

    question = f"SELECT {key}, count(DISTINCT user_id), count(*), sum({value}) FROM '{path}' GROUP BY {key}"
    answer = duckdb.connect().execute(question).fetchall()
    if len(answer) != GROUPS:
        raise RuntimeError("the plain query lost groups")


def private(place, key: str, kept: int, value: str = "value") -> None:
    """The same three figures per group with an interval each, each user in at most `kept` groups."""
    from discreet.core.unit import Unit
    from discreet.curator import open_curator
    from discreet.data.column import Category, Integer, Real
    from discreet.data.schema import Schema
    from discreet.ledger.budget import Budget
    from discreet.query.aggregate import count, people, total

    columns = {
        "grp": Integer(0, GROUPS - 1, nullable=False),
        "name": Category(NAMES, nullable=False),
        "value": Real(0, 100, nullable=False),
    }
    with tempfile.TemporaryDirectory() as folder:
        schema = Schema("visits", columns, unit=Unit("user_id", groups=kept, rows=PER_USER))
        curator = open_curator(place, schema, ledger=Path(folder) / "ledger.db", budget=Budget(epsilon=1), create=True)
        question = curator.table().group_by(key).agg(users=people(), rows=count(), value=total(value))
        answer = question.plan(epsilon=1).release()
    if len(answer.columns["users_lower"]) != GROUPS:
        raise RuntimeError("the release lost groups")


def on_duckdb(path: str, key: str, kept: int | None, value: str = "value") -> dict[str, float]:
    """One case in this process: CPU seconds and memory."""
    import duckdb  # noqa: F401 - imports are not part of the question

    if kept is not None:
        import ibis

        import discreet.curator  # noqa: F401

        ibis.duckdb.connect().disconnect()  # which imports the rest of it
    start = time.process_time()
    if kept is None:
        plain(path, key, value)
    else:
        private(path, key, kept, value)
    return {"question": time.process_time() - start, "memory": peak_megabytes()}


def on_spark(path: str, key: str, kept: int | None) -> dict[str, float]:
    """The same on Spark, on two cores of this machine."""
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as f

    settings = {"spark.ui.enabled": "false", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.memory": "4g"}
    settings |= {"spark.driver.host": "127.0.0.1", "spark.sql.shuffle.partitions": "4"}
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    java = Path("/proc") / str(session.sparkContext._gateway.jvm.java.lang.ProcessHandle.current().pid())

    def cpu() -> float:
        ticks = (java / "stat").read_text().rsplit(")", 1)[1].split()[11:13]
        return time.process_time() + sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

    import ibis

    ibis.pyspark.connect(session)  # which imports the rest of it
    frame = session.read.parquet(path)
    start = cpu()
    if kept is None:
        asked = frame.groupBy(key).agg(f.countDistinct("user_id"), f.count("*"), f.sum("value"))
        if len(asked.collect()) != GROUPS:
            raise RuntimeError("the plain query lost groups")
    else:
        private(frame, key, kept)
    seconds = cpu() - start
    peak = next(line for line in (java / "status").read_text().splitlines() if line.startswith("VmHWM"))
    return {"question": seconds, "memory": peak_megabytes() + int(peak.split()[1]) / 1024}


def one(case: str) -> None:
    """Run one case in this process and print what it took."""
    engine, *rest = json.loads(case)
    print(json.dumps({"duckdb": on_duckdb, "spark": on_spark}[engine](*rest)))


def fresh(
    path: Path, key: str, kept: int | None, engine: str = "duckdb", *, value: str = "value", **environment: str
) -> dict[str, float]:
    """One case in a new process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    case = json.dumps([engine, str(path), key, kept, *([] if value == "value" else [value])])
    command, environment = [sys.executable, __file__, "--one", case], {**os.environ, **environment}
    run = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {**json.loads(run.stdout.strip().splitlines()[-1]), "process": process}


def compare(report: Report, rows: int, key: str, limits: list[int], targets: dict[int, float]) -> dict[int, float]:
    """The private question under each limit of groups against the plain query; CPU seconds by limit."""
    path = table(rows)
    runs: dict[int | None, list[dict[str, float]]] = {}
    for _ in range(REPEATS):
        for kept in (None, *limits):
            runs.setdefault(kept, []).append(fresh(path, key, kept))
    least = {kept: {what: min(run[what] for run in tries) for what in tries[0]} for kept, tries in runs.items()}
    kind = "integer" if key == "grp" else "text"
    where = f"{rows:.0e} rows, {kind} groups"
    report.figure(f"{where}, plain query", "question", least[None]["question"], "CPU s")
    report.figure(f"{where}, plain query", "peak RSS", max(run["memory"] for run in runs[None]), "MB")
    for kept in limits:
        case = f"{where}, k = {kept}"
        report.figure(case, "question", least[kept]["question"], "CPU s")
        ratio = least[kept]["question"] / least[None]["question"]
        report.figure(case, "question / plain", ratio, "x", at_most=targets.get(kept))
        report.figure(case, "process / plain", least[kept]["process"] / least[None]["process"], "x")
        limit = 1000 if rows == FULL else None
        report.figure(case, "peak RSS", max(run["memory"] for run in runs[kept]), "MB", at_most=limit)
    return {kept: least[kept]["question"] for kept in limits}


def compare_expression(report: Report, rows: int, values: list[str]) -> None:
    """The same with an expression in the place of the value, in both: what it adds to either."""
    for value in values:
        runs = {(kept, what): [] for kept in (None, 5) for what in ("value", value)}
        for _ in range(REPEATS):
            for (kept, what), tries in runs.items():
                tries.append(fresh(table(rows), "grp", kept, value=what)["question"])
        least = {case: min(tries) for case, tries in runs.items()}
        case = f"{rows:.0e} rows, k = 5, sum of {value}"
        target = 1.5 if rows == FULL else None
        report.figure(case, "question / plain", least[5, value] / least[None, value], "x", at_most=target)
        report.figure(case, "expression / column, plain", least[None, value] / least[None, "value"], "x")
        report.figure(case, "expression / column", least[5, value] / least[5, "value"], "x", at_most=1.2)


def compare_spark(report: Report, rows: int, ours: float) -> None:
    """The same question to Spark, and the plain query there."""
    try:
        runs = {kept: fresh(table(rows), "grp", kept, "spark") for kept in (None, 5)}
    except subprocess.SubprocessError:
        report.note("Spark did not run: it needs pyspark and Java 17")
        return
    where = f"{rows:.0e} rows, integer groups"
    for kept, run in runs.items():
        case = f"{where}, Spark, " + ("plain query" if kept is None else f"k = {kept}")
        report.figure(case, "question", run["question"], "CPU s")
        report.figure(case, "peak RSS", run["memory"], "MB")
    report.figure(f"{where}, Spark, k = 5", "question / plain", runs[5]["question"] / runs[None]["question"], "x")
    report.figure(f"{where}, k = 5", "Spark / DuckDB", runs[5]["question"] / ours, "x")


def compare_peers(report: Report, rows: int, ours: float, names: tuple[str, ...]) -> None:
    """Other libraries on the same file, with public keys."""
    for name, requirements, what in PEERS:
        if name not in names:
            continue
        home = "opendp-polars" if name == "opendp" else name
        theirs = peer(home, requirements, f"groupby_{name}.py", str(table(rows)), "5", report=report)
        if theirs is None:
            continue
        case = f"{rows:.0e} rows, integer groups, k = 5, {name} ({what})"
        report.figure(case, "question", theirs["cpu"], "CPU s")
        report.figure(case, "peak RSS", theirs["memory"], "MB")
        report.figure(case, f"{name} / discreet", theirs["cpu"] / ours, "x", at_least=1)


def main() -> None:
    rows_option = {"type": float, "help": "size of the largest table (default 1e7)"}
    options = arguments(__doc__.splitlines()[0], rows=rows_option)
    report = Report("groupby", as_json=options.json)
    small = 1_000_000
    large = int(options.rows or (small if options.quick else FULL))
    targets = {1: 1.5, 3: 1.5, 5: 1.5, 20: 2.0} if large == FULL else {}
    times = compare(report, large, "grp", [5, 20] if options.quick else [1, 3, 5, 20], targets)
    compare(report, large, "name", [5], {})
    compare_expression(report, large, EXPRESSIONS[:1] if options.quick else EXPRESSIONS)
    if large > small:
        small_times = compare(report, small, "grp", [5], {})
        growth = times[5] / small_times[5]
        report.figure(f"growth {small:.0e} to {large:.0e} rows, k = 5", "CPU", growth, "x", at_most=large / small)
    else:
        small_times = times
    limited = fresh(table(large), "grp", 5, DISCREET_MEMORY="1GB")
    case = f"{large:.0e} rows, integer groups, k = 5, memory limited to 1 GB"
    report.figure(case, "question", limited["question"], "CPU s")
    report.figure(case, "peak RSS", limited["memory"], "MB", at_most=1300)
    if not options.quick:
        compare_spark(report, small, small_times[5])
        compare_spark(report, large, times[5])
    if not options.no_peers:
        everyone = ("opendp",) if options.quick else tuple(name for name, *_ in PEERS)
        compare_peers(report, small, small_times[5], everyone)
        if large == FULL:  # the others take minutes, or memory in proportion
            compare_peers(report, large, times[5], ("opendp",))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2])
    else:
        main()
