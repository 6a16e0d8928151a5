"""A stored release is returned for the data it was made from, or says that nobody can tell: for every source."""

import json
import time

import pytest

from discreet.curator import open_curator
from discreet.data.column import Integer
from discreet.data.schema import Schema
from discreet.data.source import Source, source_of
from discreet.data.stamp import Stamp, rights_to_write
from discreet.errors import InputError
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from discreet.query.aggregate import count
from servers import fresh_schema, spark, spark_address

SCHEMA = Schema("visits", {"age": Integer(0, 120, nullable=False)})
EXACT = 100  # at this epsilon noise of a count is zero but once in 10^40
STALE = r"stored on \d{4}-\d\d-\d\d and the data is unversioned .* may describe earlier data"


def asked(data, tmp_path, release="r", **more):
    books = Ledger.open(tmp_path / "books.db", create=True)
    curator = open_curator(data, SCHEMA, ledger=books, budget=Budget(10_000), create=True, **more)
    return curator.table().agg(n=count()).plan(epsilon=EXACT).release(release=release)


def frame_of(kind, ages, name="age"):
    if kind == "pyarrow":
        import pyarrow

        return pyarrow.table({name: pyarrow.array(ages, pyarrow.int64())})
    library = pytest.importorskip(kind)
    return library.DataFrame({name: ages})


@pytest.mark.parametrize("kind", ["pyarrow", "pandas", "polars"])
def test_a_stored_answer_about_a_table_in_memory_says_that_it_may_be_of_earlier_data(tmp_path, kind):
    first = asked(frame_of(kind, [30, 40]), tmp_path)
    assert (first["n"], first.notes, first.data) == ([2], (), f"unversioned (a {kind} table)")
    with pytest.warns(UserWarning, match=STALE):
        later = asked(frame_of(kind, [30, 40, 50]), tmp_path)
    assert (later["n"], later.replayed) == ([2], True)
    (note,) = later.notes
    assert (note.kind, note.outputs) == ("data", ("n",))
    for surface in (later.to_json(), later.to_markdown(), str(later), str(later.to_arrow().schema.metadata)):
        assert "may describe earlier data" in surface


def test_a_table_in_memory_with_other_columns_is_refused(tmp_path):
    asked(frame_of("pyarrow", [30, 40]), tmp_path)
    other = frame_of("pyarrow", [30, 40]).append_column("sex", [["f", "m"]])
    with pytest.raises(InputError, match="paid for data version unversioned"):
        asked(other, tmp_path)


def test_a_declared_version_ends_the_doubt(tmp_path):
    asked(frame_of("pyarrow", [30]), tmp_path, version="2024-01")
    assert asked(frame_of("pyarrow", [30, 40]), tmp_path, version="2024-01").notes == ()
    with pytest.raises(InputError, match="the data is now version 2024-02"):
        asked(frame_of("pyarrow", [30, 40]), tmp_path, version="2024-02")


def versions(tmp_path):
    """What two neighbouring tables in memory leave on record."""
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    return [ledger.version_of(source_of(frame_of("pyarrow", ages))) for ages in ([30], [30, 40])]


def test_what_is_recorded_of_a_table_in_memory_does_not_depend_on_its_rows(tmp_path):
    some, more = versions(tmp_path)
    assert some == more
    assert some.outline


def test_a_fingerprint_of_rows_would_tell_neighbours_apart(tmp_path, monkeypatch):
    """The planted bug: whoever sees two charges knows whether the one person who may differ is there."""
    monkeypatch.setattr(Source, "_stamp", lambda self: Stamp("unversioned", self.place.arrow(rows=True).to_pylist()))
    some, more = versions(tmp_path)
    assert some != more


@pytest.fixture
def database():
    address = fresh_schema()
    write(address, "CREATE TABLE visits (age BIGINT)", "INSERT INTO visits VALUES (30), (40)")
    return address


def write(address, *statements):
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)
        ended = connection.info.backend_pid
    with psycopg.connect(address, autocommit=True) as connection:  # counters arrive with the end of the session
        while connection.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", (ended,)).fetchall():
            time.sleep(0.01)


WRITES = {
    "insert": "INSERT INTO visits VALUES (50)",
    "update": "UPDATE visits SET age = 31 WHERE age = 30",
    "delete": "DELETE FROM visits WHERE age = 30",
    "truncate": "TRUNCATE visits",
    "replaced": "DROP TABLE visits; CREATE TABLE visits (age BIGINT); INSERT INTO visits VALUES (30), (40)",
}


@pytest.mark.parametrize("how", WRITES)
def test_a_postgres_table_that_was_written_is_other_data(tmp_path, database, how):
    place = f"{database}&table=visits"
    first = asked(place, tmp_path)
    assert first.data.startswith("table ")
    write(database, "VACUUM ANALYZE visits")
    again = asked(place, tmp_path)
    assert (again.replayed, again.notes, again["n"]) == (True, (), [2])
    write(database, WRITES[how])
    with pytest.raises(InputError, match=rf"paid for data version {first.data}, and the data is now version table"):
        asked(place, tmp_path)


def test_a_partition_that_was_written_is_other_data(tmp_path):
    address = fresh_schema()
    write(
        address,
        "CREATE TABLE visits (age BIGINT) PARTITION BY RANGE (age)",
        "CREATE TABLE young PARTITION OF visits FOR VALUES FROM (0) TO (60)",
        "CREATE TABLE old PARTITION OF visits FOR VALUES FROM (60) TO (130)",
        "INSERT INTO visits VALUES (30), (70)",
    )
    asked(f"{address}&table=visits", tmp_path)
    write(address, "INSERT INTO old VALUES (80)")
    with pytest.raises(InputError, match="paid for data version"):
        asked(f"{address}&table=visits", tmp_path)


def test_a_view_of_a_database_has_no_version_and_its_answer_says_so(tmp_path, database):
    write(database, "CREATE VIEW adults AS SELECT * FROM visits")
    asked(f"{database}&table=adults", tmp_path)
    write(database, WRITES["insert"])
    with pytest.warns(UserWarning, match=STALE):
        assert asked(f"{database}&table=adults", tmp_path).notes[0].kind == "data"


def test_what_is_on_record_of_a_database_tells_no_counter(tmp_path, database):
    asked(f"{database}&table=visits", tmp_path)
    charge = next(r for r in Ledger.open(tmp_path / "books.db").records() if r.kind == "charge")
    ((kind, value),) = charge.detail["data"].items()
    assert (kind, len(value)) == ("table", 32)
    elsewhere = Ledger.open(tmp_path / "elsewhere.db", create=True)
    assert elsewhere.version_of(source_of(f"{database}&table=visits")).value != value


@pytest.fixture
def parquet(tmp_path):
    import pyarrow.parquet

    def make(name, ages):
        (tmp_path / name).mkdir(exist_ok=True)
        pyarrow.parquet.write_table(frame_of("pyarrow", ages), tmp_path / name / "part.parquet")
        return spark().read.parquet(str(tmp_path / name))

    return make


def test_a_spark_table_of_files_is_compared_by_its_files(tmp_path, parquet):
    first = asked(parquet("visits", [30, 40]), tmp_path)
    assert first.data.startswith("files ")
    again = asked(spark().read.parquet(str(tmp_path / "visits")), tmp_path)
    assert (again.replayed, again.notes) == (True, ())
    with pytest.raises(InputError, match="and the data is now version files"):
        asked(parquet("visits", [30, 40, 50]), tmp_path)


def test_a_spark_table_made_from_others_is_compared_by_the_names_of_files_only(tmp_path, parquet):
    whole = parquet("visits", [30, 40])
    asked(whole.where("age < 35"), tmp_path)
    with pytest.warns(UserWarning, match=STALE):  # another table from the same files: not known to be the same
        assert asked(whole.where("age > 35"), tmp_path).notes[0].kind == "data"
    with pytest.raises(InputError, match="paid for data version unversioned"):
        asked(parquet("others", [30, 40]).where("age < 35"), tmp_path)


def test_a_spark_table_in_memory_says_that_it_has_no_version(tmp_path):
    asked(spark().createDataFrame([(30,), (40,)], "age bigint"), tmp_path)
    with pytest.warns(UserWarning, match=STALE):
        later = asked(spark().createDataFrame([(30,)], "age bigint"), tmp_path)
    assert later["n"] == [2]


def test_a_table_of_spark_connect_says_that_it_has_no_version(tmp_path, parquet):
    from pyspark.sql.connect.session import SparkSession

    parquet("visits", [30, 40])
    session = SparkSession(spark_address())
    asked(session.read.parquet(str(tmp_path / "visits")), tmp_path)
    parquet("visits", [30])
    with pytest.warns(UserWarning, match=STALE):
        assert asked(session.read.parquet(str(tmp_path / "visits")), tmp_path)["n"] == [2]


def test_a_join_with_a_table_that_has_no_version_has_none(tmp_path):
    (tmp_path / "visits.csv").write_text("age\n30\n")
    source = source_of(tmp_path / "visits.csv").beside({"other": source_of(frame_of("pyarrow", [1]))})
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    before = ledger.version_of(source)
    assert str(before) == "unversioned (a pyarrow table)"
    (tmp_path / "visits.csv").write_text("age\n30\n40\n")
    assert before.same(ledger.version_of(source)) is False
    assert json.dumps(before.to_json())


def test_what_a_role_may_do_with_a_table():
    psycopg = pytest.importorskip("psycopg")
    address = fresh_schema()
    role = f"reader{time.time_ns()}"
    with psycopg.connect(address, autocommit=True) as connection:
        (schema,) = connection.execute("SELECT current_schema()").fetchone()
        connection.execute("CREATE TABLE visits (age int)")
        connection.execute(f"CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {role}")
        connection.execute(f"GRANT SELECT ON visits TO {role}")
        reader = address.replace("postgres:@", f"{role}@", 1)
        assert rights_to_write(reader, "visits") == []
        connection.execute(f"GRANT DELETE, INSERT ON visits TO {role}")
        assert rights_to_write(reader, "visits") == ["INSERT", "DELETE"]
        assert rights_to_write(reader, "none of the tables") == []
        assert rights_to_write(address, "visits") == ["do everything (it is a superuser)"]
        connection.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")
