"""The time limit of a run stops it in the engine: afterwards nothing runs there, and the charge is kept."""

import threading
import time

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet import Budget, Category, Integer, Schema
from discreet.core.deadline import limited
from discreet.data.interruption import interruptible
from discreet.data.pool import Engine, engines
from discreet.data.source import Connection, source_of
from discreet.errors import BusyError, RunError
from servers import fresh_schema, spark, spark_address

SCHEMA = Schema("people", {"age": Integer(0, 120, nullable=False), "county": Category(["Ash", "Elm"], nullable=False)})
LONG = 60
FOREVER = "SELECT sum(a.range * b.range % 7) FROM range(10000000) a, range(10000000) b"


class Question:
    """A question about a source that never ends by itself, asked in a thread of its own under a time limit."""

    def __init__(self, source, tmp_path):
        self.curator = discreet.open(source, SCHEMA, ledger=tmp_path / "b.db", budget=Budget(1), create=True)
        self.offer = self.curator.table().group_by("county").agg(n=discreet.count()).plan(epsilon=0.25)
        self.problem = None
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._begun.wait(LONG)

    def _run(self):
        with limited(3600) as self._deadline:
            self._begun.set()
            try:
                self.offer.release(release="slow")
            except RunError as problem:
                self.problem = problem

    def stop(self):
        """Reach the limit, and wait for the run to end."""
        self._deadline.reach()
        self._thread.join(LONG)
        assert not self._thread.is_alive()
        assert "'slow' has no answer: it was stopped at the time limit." in str(self.problem)
        assert "stays spent" in str(self.problem)
        assert float(self.curator.standing()[0].spent.amount) == 0.25
        with pytest.raises(RunError) as again:  # nothing is read: that would never end
            self.offer.release(release="slow")
        assert str(again.value) == str(self.problem)
        assert self.curator.ledger.verify().ok


def wait_until(true):
    for _ in range(40 * LONG):
        if true():
            return
        time.sleep(0.025)
    pytest.fail("never so")


@pytest.fixture
def running(monkeypatch):
    """Set as soon as an engine is given something to run."""
    begun, real = threading.Event(), Connection._run

    def noted(self, run, expression):
        begun.set()
        return real(self, run, expression)

    monkeypatch.setattr(Connection, "_run", noted)
    return begun


def test_a_duckdb_file_is_read_no_further(tmp_path, running):
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute(f"CREATE VIEW people AS SELECT 30 AS age, 'Ash' AS county FROM ({FOREVER}) x(n) WHERE n > 0")
    asked = Question(source_of(path, "people"), tmp_path)
    assert running.wait(LONG)
    asked.stop()


def test_a_lent_engine_that_was_stopped_is_not_lent_again(tmp_path, monkeypatch):
    pq.write_table(pa.table({"age": [30, 40], "county": ["Ash", "Elm"]}), tmp_path / "people.parquet")
    engines.drain()
    begun, tries, closed, real = threading.Event(), [], [], Connection._integers

    def slow(self, expression):
        tries.append(1)
        begun.set()
        self._backend.raw_sql(FOREVER).fetchall()
        return real(self, expression)

    with monkeypatch.context() as patch:
        patch.setattr(Connection, "_integers", slow)
        patch.setattr(Engine, "close", lambda engine: closed.append(engine))
        asked = Question(tmp_path / "people.parquet", tmp_path)
        assert begun.wait(LONG)
        asked.stop()
    assert tries == [1]  # what was stopped is no file to be read in another way
    assert len(closed) == 1
    assert closed[0] not in engines._idle
    closed[0].close()
    assert asked.offer.release(release="quick").to_dict()["columns"]


def test_an_engine_that_ended_as_it_was_stopped_is_not_lent_again():
    engines.drain()
    with limited(3600) as deadline, engines.lent() as backend, interruptible(backend):
        deadline.passed = True
        assert backend.raw_sql("SELECT 1").fetchone() == (1,)
    assert engines._idle == []
    with limited(3600), engines.lent():
        pass
    assert len(engines._idle) == 1


def test_postgresql_is_told_to_cancel(tmp_path):
    import psycopg

    address = fresh_schema()
    with psycopg.connect(address, autocommit=True) as other:
        other.execute("CREATE TABLE stored AS SELECT 30 AS age, 'Ash' AS county FROM generate_series(1, 10)")
        other.execute("CREATE VIEW people AS SELECT * FROM stored WHERE pg_sleep(1000) IS NOT NULL")
        find = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
        asked = Question(source_of(address, "people"), tmp_path)
        wait_until(lambda: other.execute(find).fetchone() == (1,))
        asked.stop()
        assert other.execute(find).fetchone() == (0,)


@pytest.mark.spark
@pytest.mark.parametrize("way", ["classic", "connect"])
def test_spark_jobs_of_the_run_are_cancelled_and_no_others(tmp_path, way):
    context = spark().sparkContext
    tracker = context.statusTracker()
    endless = (
        "SELECT 30 AS age, IF(a.id % 7 = b.id % 5, 'Ash', 'Elm') AS county FROM range(10000000) a, range(10000000) b"
    )
    spark().sql(endless).createOrReplaceGlobalTempView("endless")
    if way == "classic":
        frame = spark().sql(endless)
    else:
        from pyspark.sql.connect.session import SparkSession

        frame = SparkSession(spark_address()).table("global_temp.endless")
    assert tracker.getActiveJobsIds() == []
    asked = Question(frame, tmp_path)
    wait_until(tracker.getActiveJobsIds)
    asked.stop()
    wait_until(lambda: not tracker.getActiveJobsIds())
    if way == "classic":  # it is someone's session: it is as it was
        assert list(context.getJobTags()) == []
        assert spark().range(5).count() == 5


def test_what_had_no_turn_in_time_is_not_charged(tmp_path):
    pq.write_table(pa.table({"age": [30], "county": ["Ash"]}), tmp_path / "people.parquet")
    curator = discreet.open(
        tmp_path / "people.parquet", SCHEMA, ledger=tmp_path / "b.db", budget=Budget(1), create=True
    )
    offer = curator.table().group_by("county").agg(n=discreet.count()).plan(epsilon=0.25)
    with limited(3600) as deadline:
        deadline.passed = True
        with pytest.raises(BusyError, match="Nothing was spent"):
            offer.release(release="late")
    assert curator.ledger.find("late") is None
    assert offer.release(release="late").id == "late"  # it can be asked for under the same id
    with limited(3600) as deadline:
        deadline.passed = True
        assert offer.release(release="late").id == "late"  # and is read again whatever the time
