"""Spark as a source: sessions are left as they were found, rows are read behind the door only, nothing is quoted."""

from __future__ import annotations

import sys

import pytest

import discreet
import discreet.data.spark as spark_module
from dirty import engine
from discreet.data.column import Category, Integer
from discreet.data.connection import Connection
from discreet.data.schema import Schema
from discreet.data.source import Source, source_of
from discreet.data.spark import answers, is_frame
from discreet.errors import InputError, MissingExtraError, RunError, SourceError
from discreet.ledger.budget import Budget
from discreet.query.aggregate import count, people, total
from discreet.query.key import key
from discreet.query.question import Query
from servers import free_port, spark, spark_address

SCHEMA = Schema(
    "visits", {"place": Category(["Ash", "Oak", "${env:HOME}"], nullable=False), "n": Integer(0, 5, nullable=True)}
)
QUESTION = Query(None, (key("place"),), (("rows", count()), ("sum", total("n"))))
ANSWER = {0: [2, 5], 1: [1, 0], 2: [1, 3]}
CELLS = [("Ash", 9), ("Ash", 0), ("Oak", None), ("${env:HOME}", 3), (None, 1)]


@pytest.fixture
def frame():
    return spark().createDataFrame(CELLS, "place string, n int")


pytestmark = pytest.mark.spark


def settings(session):
    names = ["spark.sql.session.timeZone", "spark.sql.ansi.enabled", "spark.sql.variable.substitute"]
    return {name: session.conf.get(name, None) for name in [*names, "spark.sql.mapKeyDedupPolicy"]}


def test_a_session_is_left_as_it_was_found(frame):
    session = spark()
    before, views = settings(session), session.catalog.listTables()
    assert engine(source_of(frame), QUESTION, SCHEMA) == ANSWER
    with source_of(frame).open():
        assert settings(session) != before
    assert settings(session) == before
    assert session.catalog.listTables() == views
    assert session.range(3).count() == 3  # and not ended


def test_a_table_of_the_cluster_is_named(frame):
    frame.write.mode("overwrite").saveAsTable("visits_here")
    source = Source("spark", spark().sparkContext.master, "default.visits_here")
    assert source.columns() == {"place": "string", "n": "int32"}
    assert engine(source, QUESTION, SCHEMA) == ANSWER
    remote = source_of(spark_address(), "default.visits_here")  # the same cluster through Spark Connect
    assert repr(remote) == "<private spark>"
    assert remote.columns() == {"place": "string", "n": "int32"}
    assert engine(remote, QUESTION, SCHEMA) == ANSWER
    assert engine(source_of(f"{spark_address()}?table=visits_here"), QUESTION, SCHEMA) == ANSWER


def test_a_frame_of_spark_connect():
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession(spark_address())
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    frame = session.sql("SELECT * FROM VALUES ('Ash', 9), ('Oak', CAST(NULL AS INT)) AS t(place, n)")
    assert is_frame(frame)
    assert engine(source_of(frame), QUESTION, SCHEMA) == {0: [1, 5], 1: [1, 0]}
    assert session.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"


def test_columns_are_known_without_a_row_and_failures_quote_nothing(tmp_path, capfd):
    from pyspark.sql.functions import col, concat, lit, raise_error

    session = spark()
    poisoned = session.createDataFrame([("Ash", "Secret")], "place string, name string")
    poisoned = poisoned.withColumn("n", raise_error(concat(lit("row of "), col("name"))).cast("int"))
    assert source_of(poisoned).columns() == {"place": "string", "name": "string", "n": "int32"}  # a row would fail
    curator = discreet.open(poisoned, SCHEMA, ledger=tmp_path / "books.db", budget=Budget(1), create=True)
    session.sparkContext.setLogLevel("OFF")  # what is logged is the session's owner's choice
    try:
        with pytest.raises(RunError) as caught:
            curator.question(QUESTION).plan(epsilon=0.1).release()
    finally:
        session.sparkContext.setLogLevel("ERROR")
    assert "Secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    said = capfd.readouterr()
    assert "Secret" not in said.out + said.err


def test_a_release_from_spark(tmp_path, frame):
    curator = discreet.open(frame, SCHEMA, ledger=tmp_path / "books.db", budget=Budget(100_000), create=True)
    answer = curator.question(QUESTION).plan(epsilon=90_000).release()
    assert answer["rows"] == [2, 1, 1]
    assert answer["sum"] == [5, 0, 3]


@pytest.mark.parametrize("columns", ["n int, N int", "n int, n int"])
def test_names_that_spark_takes_for_one(columns):
    with pytest.raises(InputError, match="differently in more than case"):
        source_of(spark().createDataFrame([(1, 2)], columns)).columns()


def test_a_session_that_reads_text_in_another_way(frame):
    spark().conf.set("spark.sql.parser.escapedStringLiterals", "true")
    try:
        with pytest.raises(InputError, match="escapes"):
            source_of(frame).columns()
    finally:
        spark().conf.unset("spark.sql.parser.escapedStringLiterals")


def test_streams_are_refused():
    with pytest.raises(InputError, match="never complete"):
        source_of(spark().readStream.format("rate").load()).columns()


def test_text_is_not_read_as_numbers(tmp_path):
    frame = spark().createDataFrame([("1d", "x")], "n string, place string")
    with pytest.raises(InputError, match="cannot read text as numbers"):
        discreet.open(frame, SCHEMA, ledger=tmp_path / "books.db", budget=Budget(1), create=True)


def test_one_cluster_for_each_process():
    spark()
    with pytest.raises(InputError, match="already has a session"):
        source_of("spark://elsewhere:7077", "db.visits").columns()


def test_a_table_that_is_not_there():
    for source in (Source("spark", spark().sparkContext.master, "no.such"), source_of(spark_address(), "no.such")):
        with pytest.raises(InputError, match="data that can be opened"):
            source.columns()


def test_a_stored_type_that_persons_are_named_by():
    frame = spark().sql("SELECT uuid() AS who, id % 2 AS n FROM range(10)")
    schema = Schema("t", {"n": Integer(0, 1, nullable=False)}, discreet.Unit("who", groups=1, rows=1))
    assert engine(source_of(frame), Query(None, (key("n"),), (("who", people()),)), schema) == {0: [5], 1: [5]}


@pytest.mark.parametrize(
    ("address", "module"), [("spark://host:7077", "pyspark.sql"), ("sc://host", "pyspark.sql.connect.session")]
)
def test_without_the_library(monkeypatch, address, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'discreet\[spark\]'"):
        source_of(address, "db.visits").columns()


def test_without_java(monkeypatch):
    from pyspark.sql import SparkSession

    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(InputError, match="Java 17"):
        source_of("spark://host:7077", "db.visits").columns()


def test_cached_tables_are_computed_once_and_forgotten(frame):
    session = frame.sparkSession
    with source_of(frame).open() as connection:
        codes = connection.table.select(c0=connection.table["n"].fill_null(0).cast("int16"))
        kept = connection.cached(codes)
        assert sorted(connection.integers(kept)["c0"].tolist()) == [0, 0, 1, 3, 9]
        ((name, held),) = connection._cache._frames
        assert session.catalog.isCached(name)
        assert held.storageLevel.useMemory
    assert not session.catalog.tableExists(name)
    assert not held.storageLevel.useMemory


@pytest.fixture
def remote(frame):
    """A table of Spark Connect by its address, and the session that is kept for its names and types."""
    frame.write.mode("overwrite").saveAsTable("visits_far")
    source = source_of(spark_address(), "default.visits_far")
    source.columns()
    return source, lambda: spark_module._remote[spark_address()]


def test_a_session_that_the_cluster_has_forgotten_is_opened_anew(remote, tmp_path):
    source, kept = remote
    first = kept()
    first.client.release_session()  # as a restart of the server does to all of them
    assert not answers(first)
    source.reach()
    assert kept() is not first
    assert engine(source, QUESTION, SCHEMA) == ANSWER


def test_a_cluster_that_is_not_there_costs_nothing(remote, tmp_path, monkeypatch):
    source, _ = remote
    nowhere = source_of(f"sc://127.0.0.1:{free_port()}", "default.visits_far")
    with pytest.raises(SourceError, match="that can be reached"):
        nowhere.reach()
    curator = discreet.open(source, SCHEMA, ledger=tmp_path / "books.db", budget=Budget(9), create=True)
    monkeypatch.setattr(type(source), "reach", lambda self: nowhere_reach(nowhere.place))
    with pytest.raises(SourceError):
        curator.question(QUESTION).plan(epsilon=1).release(release="r1")
    assert curator.standing()[0].spent.amount == 0


nowhere_reach = spark_module.reach


def test_each_question_has_a_session_of_its_own(remote):
    source, kept = remote
    with source.open() as one, source.open() as other:  # the first would keep the second waiting for ever
        sessions = {each._backend._session.session_id for each in (one, other)}
        assert len(sessions | {kept().session_id}) == 3
    assert answers(kept())


def test_a_session_that_is_lost_in_a_run_is_replaced_under_one_charge(remote, tmp_path, monkeypatch):
    source, _ = remote
    cuts, real = [1], Connection._integers

    def cut(self, expression):
        if cuts:
            cuts.pop()
            self._backend._session.client.release_session()
        return real(self, expression)

    monkeypatch.setattr(Connection, "_integers", cut)
    curator = discreet.open(source, SCHEMA, ledger=tmp_path / "books.db", budget=Budget(90), create=True)
    table = curator.question(QUESTION).plan(epsilon=80).release(release="r1")
    assert list(table.columns["rows"]) == [2, 1, 1]
    assert curator.standing()[0].spent.amount == 80
    assert [record.kind for record in curator.ledger.records() if record.release == "r1"][:2] == ["charge", "note"]


def test_a_frame_whose_session_ended_is_refused_before_it_costs_anything(frame):
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession(spark_address())
    source = source_of(session.sql("SELECT 'Ash' AS place, 1 AS n"))
    source.reach()
    session.client.release_session()
    with pytest.raises(SourceError, match="Its session has ended"):
        source.reach()
