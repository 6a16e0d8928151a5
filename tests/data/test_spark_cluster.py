"""Spark as people have it: a master, three workers with executors of their own, and one that dies in the middle."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec

import duckdb
import pytest

import cluster_driver
from discreet.data.source import source_of
from servers import SPARK_NEEDED, java, missing
from spark_cluster import BRIEF, spark_cluster

ROWS, PERSONS, FILES = 300_000, 30_000, 6
MOST = "256k"  # what all tasks of a question may send to the driver together; the rows are some megabytes

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    if java() < 17 or find_spec("pyspark") is None:
        missing(SPARK_NEEDED)
    folder = tmp_path_factory.mktemp("cluster")
    (folder / "visits").mkdir()
    for number in range(FILES):
        rows = f"range({number * ROWS // FILES}, {(number + 1) * ROWS // FILES}) t(i)"
        duckdb.execute(
            f"""COPY (SELECT (hash(i) % {PERSONS})::BIGINT AS who, (hash(i + {ROWS}) % 50)::INT AS grp,
                             round((hash(i + {2 * ROWS}) % 1000003) / 1e4, 3) AS value FROM {rows})
                TO '{folder}/visits/{number}.parquet' (FORMAT parquet)"""
        )
    return folder


def test_a_worker_that_dies_in_the_middle_changes_no_integer_and_no_row_comes_back(visits):
    settings = {
        "spark.driver.maxResultSize": MOST,
        "spark.sql.shuffle.partitions": "24",
        "spark.sql.adaptive.enabled": "false",  # which would make one part of few rows
        "spark.driver.extraJavaOptions": " ".join(BRIEF),
        "spark.executor.extraJavaOptions": " ".join(BRIEF),
        "spark.ui.enabled": "false",
    }
    with spark_cluster(workers=3) as cluster:
        command = [sys.executable, cluster_driver.__file__, cluster.address, str(visits)]
        with subprocess.Popen(
            command, env=cluster.environment(**settings), stdin=-1, stdout=-1, stderr=subprocess.DEVNULL, text=True
        ) as driver:
            assert driver.stdout.readline() == "now\n"
            cluster.kill(0)
            driver.stdin.write("done\n")
            driver.stdin.flush()
            facts = json.loads(driver.stdout.readline())
            assert driver.wait() == 0
    assert facts["before"] == 3
    assert facts["attempts"] > 1  # what the dead worker had counted, others counted again
    assert facts["left"] == 2
    assert facts["counted"] == cluster_driver.counted(source_of(visits / "visits"))
    assert facts["refused"]  # the driver takes no rows: the answers were a few integers
    # The release came from the two that are left. Everybody is in as many groups as before, whichever these are.
    assert sum(facts["people"]) == sum(people for _, people, *_ in facts["counted"])
