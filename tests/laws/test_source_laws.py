"""The laws of sources: what each kind owes, whatever it reads. A kind that is registered and not listed here fails.

Whether they give the same integers of the dirtiest of tables is asked in `tests/data/test_source.py`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

import discreet
import discreet.data.objects
from discreet import Budget, Category, Integer, Schema
from discreet.data.registry import SOURCES
from discreet.data.source import Source, source_of
from discreet.errors import InputError, RunError
from object_store import object_store
from servers import fresh_schema, spark, spark_address

SCHEMA = Schema("visits", {"ward": Category(["a", "b"], nullable=False), "n": Integer(0, 9, nullable=False)})
SECRET = "s3cret"
_numbers = itertools.count()


@dataclass
class Member:
    """A source with `rows` rows of ward b beside one of ward a, and how its owner writes to it."""

    source: Source
    write: Callable[[int], None]
    remove: Callable[[], None]


def _table(rows: int) -> pyarrow.Table:
    return pyarrow.table({"ward": ["a", *["b"] * rows], "n": [1] * (rows + 1)})


def _csv(rows: int) -> str:
    return "ward,n\na,1\n" + "b,1\n" * rows


def files_csv(folder, store):
    path = folder / "visits.csv"
    return "files", lambda rows: path.write_text(_csv(rows)), lambda: source_of(path), path.unlink


def files_parquet(folder, store):
    path = folder / "visits" / "p.parquet"
    path.parent.mkdir()
    write = lambda rows: pyarrow.parquet.write_table(_table(rows), path)  # noqa: E731
    return "files", write, lambda: source_of(folder / "visits"), path.unlink


def files_duckdb(folder, store):
    import duckdb

    path = folder / "visits.duckdb"

    def write(rows):
        with duckdb.connect(str(path)) as made:
            made.register("given", _table(rows))
            made.execute("CREATE OR REPLACE TABLE visits AS SELECT * FROM given")

    return "files", write, lambda: source_of(path, "visits"), path.unlink


def objects_csv(folder, store):
    def write(rows):
        store.objects["clinic/visits/v.csv"] = _csv(rows).encode()

    return "objects", write, lambda: source_of(store.address("clinic/visits")), store.objects.clear


def objects_parquet(folder, store):
    def write(rows):
        pyarrow.parquet.write_table(_table(rows), folder / "p.parquet")
        store.objects["clinic/more/p.parquet"] = (folder / "p.parquet").read_bytes()

    return "objects", write, lambda: source_of(store.address("clinic/more/*.parquet")), store.objects.clear


def postgres(folder, store):
    address = fresh_schema()
    import psycopg

    def run(*statements):
        with psycopg.connect(address, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)

    def write(rows):
        rest = f"SELECT 'b', 1 FROM generate_series(1, {rows})"
        run("CREATE TABLE IF NOT EXISTS visits (ward text, n int)", "DELETE FROM visits")
        run(f"INSERT INTO visits SELECT 'a', 1 UNION ALL ({rest})")

    return "postgres", write, lambda: source_of(address, "visits"), lambda: run("DROP TABLE visits")


def spark_connect(folder, store):
    name = f"law{next(_numbers)}"
    session = spark()

    def write(rows):
        frame = session.createDataFrame([("a", 1), *[("b", 1)] * rows], "ward string, n int")
        frame.write.mode("overwrite").saveAsTable(name)

    return "spark", write, lambda: source_of(spark_address(), name), lambda: session.sql(f"DROP TABLE {name}")


MEMBERS = [files_csv, files_parquet, files_duckdb, objects_csv, objects_parquet]
MEMBERS += [postgres, pytest.param(spark_connect, marks=pytest.mark.spark)]


@pytest.fixture(params=MEMBERS, ids=lambda made: made.__name__)
def member(request, tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(discreet.data.objects, "_FRESH", 0.0)
    (tmp_path / "data").mkdir()
    with object_store() as store:
        kind, write, opened, remove = request.param(tmp_path / "data", store)
        assert kind in SOURCES
        write(2)
        yield Member(opened(), write, remove)


def released(source: Source, folder: Path) -> list[int]:
    """Counts with noise that is far below one."""
    path = folder / f"{next(_numbers)}.db"
    curator = discreet.open(source, SCHEMA, ledger=path, budget=Budget(90), create=True)
    return list(curator.table().group_by("ward").agg(n=discreet.count()).plan(epsilon=80).release().columns["n"])


def test_every_kind_is_held_to_the_laws(tmp_path):
    made = {getattr(each, "values", (each,))[0] for each in MEMBERS}
    names = {each.__name__.partition("_")[0] for each in made}
    assert names == set(SOURCES)


def test_names_and_types_follow_from_no_value(member):
    before = member.source.columns()
    assert list(before) == ["ward", "n"]
    member.write(0)
    assert member.source.columns() == before


def test_what_is_there_now_is_what_is_counted(member, tmp_path):
    assert released(member.source, tmp_path) == [1, 2]
    member.write(5)
    assert released(member.source, tmp_path) == [1, 5]


def test_a_write_is_another_version_or_nobody_says_that_it_is_the_same(member):
    before = member.source.version(b"key")
    assert before == member.source.version(b"key")
    member.write(5)
    after = member.source.version(b"key")
    assert after != before or after.kind == "unversioned"
    if after.kind == "files":
        assert member.source.version(b"another key") != after  # it says nothing to whoever has no key


def test_data_that_is_gone_costs_nothing(member, tmp_path):
    path = tmp_path / "books.db"
    curator = discreet.open(member.source, SCHEMA, ledger=path, budget=Budget(90), create=True)
    offer = curator.table().group_by("ward").agg(n=discreet.count()).plan(epsilon=80)
    member.remove()
    with pytest.raises((InputError, RunError)) as caught:
        offer.release(release="r1")
    spent = curator.standing()[0].spent.amount
    assert spent == (0 if isinstance(caught.value, InputError) else 80)
    assert curator.ledger.verify().ok


def test_a_source_shows_nothing_of_where_it_lies(member, tmp_path):
    shown = f"{member.source!r} {member.source.described}"
    for part in (str(tmp_path), "127.0.0.1:", "endpoint", SECRET):
        assert part not in repr(member.source)
    assert "anonymous" not in shown


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ann:{SECRET}@127.0.0.1:1/db",
        f"sc://127.0.0.1:1/;token={SECRET}",
        f"s3://{SECRET}@bucket/x",
        f"s3://bucket/x?secret_key={SECRET}",
        f"az://bucket/x?sas_token={SECRET}",
    ],
)
def test_an_address_with_a_secret_is_repeated_by_no_error(address):
    with pytest.raises(InputError) as caught:
        source_of(address, "visits" if not address.startswith(("s3", "az")) else None).reach()
    assert SECRET not in str(caught.value)
    assert SECRET not in repr(caught.value)
