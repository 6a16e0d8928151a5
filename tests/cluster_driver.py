"""A driver in a process of its own: asks a cluster, tells when to pull the plug of a worker, and prints what it got.

python cluster_driver.py ADDRESS FOLDER
"""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path

import discreet
from discreet.core.unit import Unit
from discreet.data.column import Integer, Real
from discreet.data.schema import Schema
from discreet.data.source import Source, source_of
from discreet.ledger.budget import Budget
from discreet.query.aggregate import count, people, total
from discreet.query.compile import compile_query
from discreet.query.key import key
from discreet.query.question import Query

GROUPS = 50
SALT = list(range(101, 111))
SCHEMA = Schema(
    "visits",
    {"grp": Integer(0, GROUPS - 1, nullable=False), "value": Real(0, 100, nullable=False)},
    Unit("who", groups=5, rows=3),
)
QUERY = Query(None, (key("grp"),), (("who", people()), ("rows", count()), ("value", total("value")))).checked(SCHEMA)


def counted(source: Source) -> list[list[int]]:
    """The exact integers of the question, under a salt that is known."""
    measures = [measure for _, output in QUERY.outputs for measure in output.measures(SCHEMA)]
    with source.open() as connection:
        found = connection.integers(compile_query(QUERY, SCHEMA, measures, connection.table, SALT))
    return sorted(map(list, zip(*(column.tolist() for column in found.values()), strict=True)))


def watch(tracker, seen: dict[str, int], ended: threading.Event) -> None:
    """Say "now" in the middle: rows were sent to where their persons are, and some of the parts are counted."""
    while not ended.wait(0.01):
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            if info is None:
                continue
            seen["attempts"] = max(seen["attempts"], info.currentAttemptId + 1)
            sent = stage > seen["first"] and info.numTasks > 4
            if not seen["now"] and sent and 0 < info.numCompletedTasks < info.numTasks // 2:
                seen["now"] = 1
                print("now", flush=True)
                sys.stdin.readline()  # until the plug is pulled


def main(address: str, folder: str) -> None:
    source = source_of(address, f"parquet.`{folder}/visits`")
    source.columns()
    from pyspark.sql import SparkSession

    context = SparkSession.getActiveSession().sparkContext
    executors = context._jsc.sc().statusTracker()
    deadline = time.monotonic() + 60
    while len(executors.getExecutorInfos()) < 4 and time.monotonic() < deadline:  # three, and the driver
        time.sleep(0.1)
    before = len(executors.getExecutorInfos()) - 1
    first = max((*context.statusTracker().getActiveStageIds(), 0))
    seen, ended = {"attempts": 0, "now": 0, "first": first}, threading.Event()
    watcher = threading.Thread(target=watch, args=(context.statusTracker(), seen, ended))
    watcher.start()
    found = counted(source)
    ended.set()
    watcher.join()
    curator = discreet.open(source, SCHEMA, ledger=Path(folder) / "ledger.db", budget=Budget(10**6), create=True)
    answer = curator.question(QUERY).plan(epsilon=10**5).release()
    try:
        SparkSession.getActiveSession().table(f"parquet.`{folder}/visits`").collect()
        refused = False
    except Exception as problem:
        refused = "maxResultSize" in str(problem)
    left = len(executors.getExecutorInfos()) - 1
    facts = {"counted": found, "people": answer["who"], "refused": refused, "before": before, "left": left, **seen}
    print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
