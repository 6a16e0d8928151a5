"""CPU seconds Tumult Analytics takes on Spark for users, rows and a sum per group. Arguments: file, groups per user.

Of its processes the driver and the Java machine are counted, not the Python workers that draw the noise.
"""

import json
import os
import resource
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddRowsWithID,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    PureDPBudget,
    QueryBuilder,
    Session,
)

path, kept = sys.argv[1], int(sys.argv[2])
groups, per_user = 1000, 10
os.environ["PYSPARK_PYTHON"] = sys.executable
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
builder = builder.config("spark.sql.shuffle.partitions", "4").config("spark.driver.memory", "4g")
spark = builder.getOrCreate()
java = Path("/proc") / str(spark.sparkContext._gateway.jvm.java.lang.ProcessHandle.current().pid())


def cpu() -> float:
    ticks = (java / "stat").read_text().rsplit(")", 1)[1].split()[11:13]
    return time.process_time() + sum(map(int, ticks)) / 100


start = cpu()
session = Session.from_dataframe(
    privacy_budget=PureDPBudget(1),
    source_id="visits",
    dataframe=spark.read.parquet(path).select("user_id", "grp", "value"),
    protected_change=AddRowsWithID("user_id"),
)
keys = KeySet.from_dict({"grp": list(range(groups))})
bounded = QueryBuilder("visits").enforce(MaxGroupsPerID("grp", kept))
bounded = bounded.enforce(MaxRowsPerGroupPerID("grp", per_user)).groupby(keys)
for query in (bounded.count_distinct(["user_id"]), bounded.count(), bounded.sum("value", 0, 100)):
    if len(session.evaluate(query, PureDPBudget(1 / 3)).collect()) != groups:
        raise SystemExit("groups are missing")
taken = cpu() - start
peak = next(line for line in (java / "status").read_text().splitlines() if line.startswith("VmHWM"))
memory = int(peak.split()[1]) / 1024 + resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"cpu": taken, "memory": memory}))
