"""Tumult Analytics on Spark for bench/compare.py: `answers FILE`, `noise RUNS` or `spend`. Prints JSON.

Of its processes the driver and the Java machine are counted, not the Python workers that draw the noise.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession
from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session

os.environ["PYSPARK_PYTHON"] = sys.executable


def started():
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    spark = builder.config("spark.sql.shuffle.partitions", "2").config("spark.driver.memory", "2g").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark, Path("/proc") / str(spark.sparkContext._gateway.jvm.java.lang.ProcessHandle.current().pid()) / "stat"


def session(spark, rows, epsilon):
    return Session.from_dataframe(
        privacy_budget=PureDPBudget(epsilon),
        source_id="t",
        dataframe=spark.createDataFrame(rows, "grp INT, value INT"),
        protected_change=AddOneRow(),
    )


def answers(job):
    spark, java = started()

    def cpu():
        return time.process_time() + sum(map(int, java.read_text().rsplit(")", 1)[1].split()[11:13])) / 100

    rows = list(zip(job["groups"], job["values"], strict=True))
    keys, upper, trials = KeySet.from_dict({"grp": list(range(job["keys"]))}), job["upper"], min(job["trials"], 5)
    asked = {
        "count": QueryBuilder("t").groupby(keys).count(),
        "sum": QueryBuilder("t").sum("value", 0, upper),
        "median": QueryBuilder("t").median("value", 0, upper),
    }
    opened = session(spark, rows, float("inf"))
    out = {}
    for name, query in asked.items():
        found, start = [], cpu()
        for _ in range(trials):
            answer = opened.evaluate(query, PureDPBudget(job["epsilon"])).collect()
            numbers = {row["grp"] if name == "count" else 0: float(row[-1]) for row in answer}
            found.append([numbers[key] for key in range(job["keys"])] if name == "count" else numbers[0])
        out[name] = {"found": found, "cpu": (cpu() - start) / trials}
    return out


def noise(runs):
    from tmlt.core.domains.numpy_domains import NumpyFloatDomain
    from tmlt.core.measurements.noise_mechanisms import AddLaplaceNoise

    measure = AddLaplaceNoise(scale=1, input_domain=NumpyFloatDomain())
    return {
        "without": [float(measure(0.0)) for _ in range(runs)],
        "with": [float(measure(1.0)) for _ in range(runs)],
    }


def spend():
    opened, given = session(started()[0], [(0, 1)] * 10, 1), 0
    try:
        while given < 12:
            opened.evaluate(QueryBuilder("t").count(), PureDPBudget(0.25)).collect()
            given += 1
    except Exception as refusal:
        return {"given": given, "refusal": type(refusal).__name__}
    return {"given": given, "refusal": ""}


match sys.argv[1:]:
    case ["answers", file]:
        print(json.dumps(answers(json.loads(Path(file).read_text()))))
    case ["noise", runs]:
        print(json.dumps(noise(int(runs))))
    case ["spend", *killed]:
        print(json.dumps(spend()), flush=True)
        if killed:
            os.kill(os.getpid(), signal.SIGKILL)
