"""Every source gives the same integers, says nothing of its values, and is opened in one place only."""

from __future__ import annotations

import ast
import csv
import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from engine_cases import Case, answers

import discreet
from dirty import KEYS, SALT, arrow, engine, schema_for, some_rows
from discreet.core.unit import Unit
from discreet.data.column import Boolean, Category, Date, Integer, Real
from discreet.data.schema import Schema
from discreet.data.source import Source, source_of
from discreet.errors import InputError
from discreet.query.aggregate import count, mean, people, total, variance
from discreet.query.key import bins, key
from discreet.query.question import Query
from reference import measures_of, of_persons, of_rows
from servers import fresh_schema

ROWS = some_rows(250)
PERSONS = Unit("p", groups=2, rows=2)
OUTPUTS = (("rows", count()), ("with_m", count("m")), ("sum", total("y")), ("avg", mean("x")), ("var", variance("m")))
QUESTIONS = [
    Query(None, (KEYS[0],), OUTPUTS),
    Query(None, (key("long"), key("flag")), OUTPUTS),
    Query(None, (bins("d", every="month"), key("n")), OUTPUTS),
    Query(None, (bins("y", width=50_000),), OUTPUTS).where("not (m > 50 or d <= DATE '2020-12-31') or flag is null"),
    Query(None, (), (("sum", total("big")), ("low", total("n")))).where("long in ('Ä', 'zz', '') or short <> 'a'"),
]


def parquet_file(folder: Path) -> Source:
    pyarrow.parquet.write_table(arrow(ROWS), folder / "t.parquet")
    return source_of(folder / "t.parquet")


def parquet_glob(folder: Path) -> Source:
    for place in range(3):
        pyarrow.parquet.write_table(arrow(ROWS[place::3]), folder / f"part{place}.parquet")
    return source_of(str(folder / "part*.parquet"))


def parquet_folder(folder: Path) -> Source:
    (folder / "year").mkdir()
    pyarrow.parquet.write_table(arrow(ROWS[:100]), folder / "one.parquet")
    pyarrow.parquet.write_table(arrow(ROWS[100:]), folder / "year" / "two.parquet")
    return source_of(folder)


def pandas_frame(folder: Path) -> Source:
    return source_of(arrow(ROWS).to_pandas(date_as_object=False))


def pandas_objects(folder: Path) -> Source:
    import pandas

    return source_of(pandas.DataFrame({name: [row[name] for row in ROWS] for name in ROWS[0]}, dtype=object))


def polars_frame(folder: Path) -> Source:
    polars = pytest.importorskip("polars")
    return source_of(polars.from_arrow(arrow(ROWS)))


def polars_lazy(folder: Path) -> Source:
    polars = pytest.importorskip("polars")
    frame = polars.from_arrow(arrow(ROWS)).with_columns(polars.col("short").cast(polars.Categorical))
    return source_of(frame.lazy())


def arrow_stream(folder: Path) -> Source:
    table = arrow(ROWS)
    table = table.set_column(1, "short", table.column("short").dictionary_encode())
    return source_of(pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=60)))


def duckdb_file(folder: Path) -> Source:
    import duckdb

    rows = arrow(ROWS)
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        connection.register("given", rows)
        connection.execute("CREATE TABLE visits AS SELECT * FROM given")
    return source_of(folder / "t.duckdb", "visits")


def postgres(folder: Path) -> Source:
    import psycopg

    address = fresh_schema()
    kinds = {"p": "int8", "short": "text", "long": 'text COLLATE "C"', "flag": "bool", "n": "int8", "m": "float8"}
    kinds |= {"big": "int8", "x": "float8", "y": "float8", "d": "date"}
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE visits ({', '.join(f'{name} {kind}' for name, kind in kinds.items())})")
        with connection.cursor().copy(f"COPY visits ({', '.join(kinds)}) FROM STDIN") as copy:
            for row in ROWS:
                copy.write_row([row[name] for name in kinds])
    return source_of(f"{address}&table=visits")


NATIVE = [parquet_file, parquet_glob, parquet_folder, pandas_frame, polars_frame, polars_lazy, arrow_stream]
NATIVE += [duckdb_file, postgres, pandas_objects]


CASES = [Case(query, schema_for()) for query in QUESTIONS]
CASES += [Case(query.agg(who=people()), schema_for(PERSONS, Integer(0, 9, nullable=False))) for query in QUESTIONS]


def expected(case: Case) -> dict[int, list[int]]:
    """What the rules give, worked out once for all sources."""
    place = CASES.index(case)
    if place not in _EXPECTED:
        asked = (case.checked, case.schema, case.measures, ROWS)
        _EXPECTED[place] = of_rows(*asked) if case.schema.unit.column is None else of_persons(*asked, SALT)
    return _EXPECTED[place]


_EXPECTED: dict[int, dict[int, list[int]]] = {}


@pytest.mark.parametrize("kind", NATIVE, ids=lambda kind: kind.__name__)
def test_every_source_gives_the_same_integers(kind, tmp_path):
    source = kind(tmp_path)
    assert repr(source).startswith("<private")
    assert set(ROWS[0]) <= set(source.columns())
    # Where persons are floats or text, as in pandas, their hashes are others.
    cases = CASES[: len(QUESTIONS)] if kind in (pandas_frame, pandas_objects) else CASES
    for case, found in zip(cases, answers(source, cases), strict=True):
        assert found == expected(case), case.query


# CSV: all text, and much of it nonsense.
NUMBERS = [
    "",
    "12",
    " 7 ",
    "1e2",
    "-3.5",
    "nan",
    "NaN",
    "inf",
    "-Infinity",
    "x",
    "1,5",
    "0x1F",
    "1e400",
    "٣",
    "5.",
    "--1",
]
DAYS = ["", "2020-02-29", "2020-02-30", "2021-03-02", "2021-12-31", "0001-01-01", "2020-05-05 23:59:59", "junk", "9999"]
FLAGS = ["", "true", "TRUE", "f", "No", "yes", "1", "0", "2", "wahr", "T", " true"]


def write_csv(path: Path, rows: list[dict], delimiter: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_a_csv_is_read_by_the_same_rules(ending, tmp_path):
    rows = []
    for place in range(240):
        row = dict(some_rows(1, seed=place)[0])
        row |= {name: NUMBERS[(place * step) % len(NUMBERS)] for name, step in (("n", 1), ("m", 3), ("x", 5), ("y", 7))}
        row |= {"d": DAYS[place % len(DAYS)], "flag": FLAGS[place % len(FLAGS)], "long": row["long"] or ""}
        row["short"] = ["line\nbreak", 'a "quote"', "é", "it's", "z,z", "a", " a"][place % 7]
        rows.append(row)
    source = source_of(write_csv(tmp_path / f"t.{ending}", rows, "," if ending == "csv" else "\t"))
    stored = [{name: None if cell in ("", None) else str(cell) for name, cell in row.items()} for row in rows]
    schema = schema_for()
    for query in QUESTIONS:
        checked = query.checked(schema)
        assert engine(source, query, schema) == of_rows(checked, schema, measures_of(checked, schema), stored)


def test_broken_lines_count_and_nothing_fails(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(
        b"\xef\xbb\xbfname,n\r\na,1\r\nb\r\nc,3,4\r\n\r\n\xff\xfe,5\r\n\x00,6\r\n"
        + b"x" * 3_000_000
        + b',7\r\n"open,8\r\n'
    )
    schema = Schema("t", {"n": Integer(0, 9, nullable=True)})
    counts = Query().agg(rows=count(), n=count("n"), s=total("n"))
    assert engine(source_of(path), counts, schema) == {0: [6, 4, 15]}  # without the line that is longer than 2 MB
    named = Schema("t", {"name": Category(["a", "b", "c"], nullable=True)})
    assert engine(source_of(path), Query().group_by("name").agg(n=count()), named) == {0: [1], 1: [1], 2: [1], 3: [3]}


def test_a_file_s_word_about_its_values_is_not_taken(tmp_path):
    # Arrow records the range of a column without its NaNs.
    values = [10.0, math.nan, 10.5, 10.25] * 50
    pyarrow.parquet.write_table(pyarrow.table({"x": values}), tmp_path / "t.parquet")
    schema = Schema("t", {"x": Real(0, 20, nullable=True)})
    step = float(total("x").measures(schema)[0].lattice.step)
    source = source_of(tmp_path / "t.parquet")
    assert engine(source, Query().agg(n=count("x"), s=total("x")), schema) == {0: [150, int(30.75 * 50 / step)]}
    for condition, rows in [("x is null", 50), ("x > 10.3", 50), ("x <> 10", 100), ("not (x > 11)", 150)]:
        assert engine(source, Query().where(condition).agg(n=count()), schema) == {0: [rows]}


def test_the_dialect_is_not_guessed_from_values(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b,c\n" + "1;2,3\n" * 50 + "4;5;6;7,8\n" * 50)
    assert list(source_of(path).columns()) == ["a;b", "c"]


def test_types_of_objects_do_not_depend_on_values():
    import pandas

    for cells in ([], [None], [1, 2], [1, "x"], ["a", b"b"], [object(), Decimal(1)], [{}, [1]], ["\ud800", 1.5]):
        source = source_of(pandas.DataFrame({"c": pandas.Series(cells, dtype=object)}))
        assert source.columns() == {"c": "string"}
        with source.open() as connection:
            assert len(
                connection.integers(connection.table.select(n=connection.table.c.notnull().cast("int64")))["n"]
            ) == len(cells)


def test_other_ways_to_store_the_same(tmp_path):
    moment = datetime(2020, 3, 1, 23, 30, tzinfo=UTC)
    table = pyarrow.table(
        {
            "small": pyarrow.array([1, 2, None], pyarrow.int8()),
            "code": pyarrow.array([10.0, math.nan, 10.5]),
            "flag": pyarrow.array([1, 0, 7], pyarrow.uint8()),
            "price": pyarrow.array([Decimal("1.50"), Decimal("-7.25"), None], pyarrow.decimal128(10, 2)),
            "when": pyarrow.array([moment, moment + timedelta(hours=1), None], pyarrow.timestamp("us", "America/Lima")),
            "empty": pyarrow.nulls(3),
        }
    )
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    schema = Schema(
        "t",
        {
            "small": Integer(0, 9, nullable=True),
            "code": Category(["10", "11"], nullable=False),
            "flag": Boolean(nullable=False),
            "price": Real(-5, 5, nullable=True),
            "when": Date("2020-01-01", "2020-12-31", nullable=False),
            "empty": Integer(0, 9, nullable=True),
        },
    )
    for source in (source_of(table), source_of(tmp_path / "t.parquet")):
        assert engine(source, Query().agg(n=count("small"), s=total("small")), schema) == {0: [2, 3]}
        assert engine(source, Query().group_by("code").agg(n=count()), schema) == {0: [1]}
        assert engine(source, Query().group_by("flag").agg(n=count()), schema) == {0: [1], 1: [1]}
        step = float(total("price").measures(schema)[0].lattice.step)
        assert engine(source, Query().agg(s=total("price")), schema) == {0: [int(-3.5 / step)]}
        days = Query().group_by(bins("when", ["2020-03-01", "2020-03-02", "2020-03-03"])).agg(n=count())
        assert engine(source, days, schema) == {0: [1], 1: [1]}  # the days are those of UTC
    assert engine(source_of(table), Query().agg(n=count("empty")), schema) == {0: [0]}


def test_what_postgresql_stores_in_its_own_way():
    import psycopg

    address = fresh_schema()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE TYPE mood AS ENUM ('good', 'bad')")
        connection.execute(
            "CREATE TABLE t (who numeric(20, 0), n numeric, f real, mood mood, c char(4), d timestamptz, s smallint)"
        )
        rows = [
            (1, "NaN", "NaN", "good", "ab", "infinity", 1),
            (1, "1e400", "inf", "good", "ab", "2020-06-01 23:00:00-05", None),
            (2, "-1e400", "-inf", "bad", "cd", "-infinity", -5),
            (2, "1e-400", "2.5", None, "xyz", None, 30000),
            (None, "3.25", "1e-45", "bad", None, "2020-06-01", 2),
        ]
        for row in rows:
            connection.execute("INSERT INTO t VALUES (%s, %s, %s, %s, %s, %s, %s)", row)
    columns = {
        "n": Real(-4, 4, nullable=True),
        "f": Integer(-3, 3, nullable=True),
        "mood": Category(["good", "bad"], nullable=True),
        "c": Category(["ab", "cd"], nullable=False),
        "d": Date("2020-01-01", "2020-12-31", nullable=True),
        "s": Integer(0, 9, nullable=False),
    }
    schema = Schema("t", columns)
    source = source_of(address, "t")
    step = float(total("n").measures(schema)[0].lattice.step)
    assert engine(source, Query().agg(n=count("n"), s=total("n")), schema) == {0: [4, int(3.25 / step)]}
    assert engine(source, Query().agg(n=count("f"), s=total("f")), schema) == {0: [4, 3]}
    assert engine(source, Query().group_by("mood").agg(n=count()), schema) == {0: [2], 1: [2], 2: [1]}
    assert engine(source, Query().group_by("c").agg(n=count()), schema) == {0: [2], 1: [1]}
    days = bins("d", ["2020-01-01", "2020-06-02", "2020-06-03", "2020-12-31"])
    assert engine(source, Query().group_by(days).agg(n=count()), schema) == {0: [1], 1: [1], 3: [1]}
    assert engine(source, Query().agg(s=total("s")), schema) == {0: [1 + 4 + 0 + 9 + 2]}
    persons = Schema("t", columns, Unit("who", groups=1, rows=1))
    assert engine(source, Query().agg(who=people(), n=count()), persons) == {0: [2, 2]}


def test_text_in_another_language_s_order_on_postgresql():
    import psycopg

    address = fresh_schema()
    words = [
        "Zebra",
        "apple",
        "Äpfel",
        "zebra",
        "Apple",
        "éclair",
        "_",
        "-",
        "B",
        "b",
        "a b",
        "ab",
        "ß",
        "ss",
        "10",
        "9",
    ]
    with psycopg.connect(address, autocommit=True) as connection:
        try:
            connection.execute('CREATE TABLE t (c text COLLATE "en-x-icu")')
        except psycopg.errors.UndefinedObject:
            pytest.skip("this PostgreSQL has no ICU collations")
        for word in [*words, "unknown", None]:
            connection.execute("INSERT INTO t VALUES (%s)", (word,))
    found = engine(
        source_of(address, "t"),
        Query().group_by("c").agg(n=count()),
        Schema("t", {"c": Category(words, nullable=False)}),
    )
    assert found == {place: [1] for place in range(len(words))}


def test_nothing_can_be_written_to_a_database():
    import psycopg

    address = fresh_schema()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (n int)")
    with source_of(address, "t").open() as connection, pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        connection._backend.raw_sql("INSERT INTO t VALUES (1)")


def test_what_cannot_be_a_source_is_refused_by_name(tmp_path):
    (tmp_path / "x.csv").write_text("a,A\n1,2\n")
    (tmp_path / "y.csv").write_text("")
    (tmp_path / "z.txt").write_text("")
    (tmp_path / "w.parquet").write_text("not parquet")
    (tmp_path / "d.duckdb").write_text("not a database")
    (tmp_path / "mixed").mkdir()
    (tmp_path / "mixed" / "a.csv").write_text("a\n1\n")
    (tmp_path / "mixed" / "b.csv").write_text("b\n1\n")
    import pandas

    doubled = pandas.DataFrame([[1, 2]], columns=["a", "a"])
    cases = [
        (tmp_path / "none.csv", None, "source"),
        (tmp_path / "z.txt", None, "source"),
        (str(tmp_path / "*.nothing"), None, "source"),
        ("ftp://x/y", None, "source"),
        (tmp_path / "d.duckdb", None, "table"),
        ("postgresql://localhost/x", None, "table"),
        ([1, 2], None, "source"),
        (None, None, "source"),
    ]
    for place, table, field in cases:
        with pytest.raises(InputError) as caught:
            source_of(place, table)
        assert caught.value.field == field
    unreadable = [
        source_of(tmp_path / "x.csv"),
        source_of(tmp_path / "y.csv"),
        source_of(tmp_path / "w.parquet"),
        source_of(tmp_path / "d.duckdb", "t"),
        source_of(tmp_path / "mixed"),
        source_of(doubled),
        source_of("postgresql://nobody@127.0.0.1:1/nothing", "t"),
    ]
    for source in unreadable:
        with pytest.raises(InputError) as caught:
            source.columns()
        assert caught.value.__context__ is None or isinstance(caught.value.__context__, InputError)


def test_memory_can_be_limited_and_what_does_not_fit_is_nobody_else_s_to_read(tmp_path, monkeypatch):
    path = parquet_file(tmp_path)
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "it's here"))
    monkeypatch.setenv("DISCREET_MEMORY", "200MB")
    with path.open() as connection:
        limit, folder = connection._backend.raw_sql(
            "SELECT current_setting('memory_limit'), current_setting('temp_directory')"
        ).fetchone()
        assert limit.startswith("190.")  # in MiB
        assert Path(folder).is_relative_to(tmp_path / "it's here")
        assert Path(folder).stat().st_mode & 0o077 == 0
    assert not Path(folder).exists()
    for wrong in ("1GB'; SELECT 1; --", "much", "-1GB", "0GB"):
        monkeypatch.setenv("DISCREET_MEMORY", wrong)
        with pytest.raises(InputError, match="such as 4GB"):
            path.columns()


# One door.
SOURCE = Path(discreet.__file__).parent
ENGINE_CALLS = {"to_pyarrow", "to_pandas", "to_polars", "execute", "connect", "read_csv", "read_parquet", "memtable"}
ENGINE_CALLS |= {"raw_sql", "to_pyarrow_batches", "create_table", "insert", "read_json", "cache", "preview"}


def calls(path: Path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.func.attr, ast.unparse(node.func.value)


def test_only_the_source_touches_an_engine():
    for path in [
        *(SOURCE / "data").rglob("*.py"),
        *(SOURCE / "query").rglob("*.py"),
        *(SOURCE / "curator").glob("*.py"),
    ]:
        touched = {name for name, owner in calls(path) if name in ENGINE_CALLS}
        imported = "import duckdb" in path.read_text() or "import psycopg" in path.read_text()
        if path.name in ("source.py", "connection.py"):  # one opens data, the other runs expressions on it
            assert touched
        elif path.name == "pool.py":  # starts engines for the source, and shows them nothing
            assert touched == {"connect", "raw_sql", "execute"}
            assert path.read_text().count(".execute(_BEGIN)") == path.read_text().count(".execute(")
        elif path.name == "kept_plan.py":  # plans a statement that the source has run, and runs it for another salt
            assert touched == {"execute"}
            assert path.read_text().count(".execute(") == 2
        elif path.name == "postgres.py":  # lends connections to the source, and says how they are set
            assert touched == {"connect", "raw_sql"}
            assert path.read_text().count("raw_sql(_SETTINGS)") == path.read_text().count("raw_sql(")
        elif path.name == "interruption.py":  # asks a connection whether it is still there
            assert touched == {"raw_sql"}
            assert path.read_text().count('raw_sql("SELECT 1")') == path.read_text().count("raw_sql(")
        elif path.name == "stamp.py":  # reads how often a table was written, before anything is charged: no rows
            assert touched == {"connect", "execute"}
            assert path.read_text().count(".execute(") == 1
        elif path.name == "code_table.py":  # counts codes that the source has stored: cells and numbers come back
            assert touched == {"raw_sql"}
        elif path.name == "spark.py":  # keeps the source's codes in Spark, which computes them when they are counted
            assert touched == {"raw_sql"}
            assert path.read_text().count("raw_sql(") == 1
        elif path.name == "copies.py":  # names the files of a source to its engine
            assert not touched
            assert path.read_text().count("backend.read_") == 2
            assert not imported
        elif path.name == "parquet_file.py":  # reads the types that files declare: no rows
            assert touched == {"execute"}
            assert path.read_text().count(".execute(") == 1
            assert "parquet_schema" in path.read_text()
            assert not imported
        else:
            assert not touched, f"{path.name} calls {touched}"
            assert not imported
    for room in ("core", "noise", "mechanisms", "accounting", "ledger"):
        for path in (SOURCE / room).rglob("*.py"):
            assert "ibis" not in path.read_text(), path


def test_only_the_source_connects():
    # Who opens a source and who runs a plan is watched by tests/ledger/test_one_door.py.
    for path in SOURCE.rglob("*.py"):
        assert path.name == "source.py" or "._connected(" not in path.read_text()
        known = ("source.py", "connection.py", "pool.py", "copies.py", "metrics.py")  # the last one counts those lent
        assert path.name in known or "data.pool" not in path.read_text()
        assert path.name == "source.py" or "data.postgres" not in path.read_text()


def test_a_stored_truth_value_can_be_declared_a_number_on_postgres():
    """PostgreSQL has no cast from boolean to bigint: the reading rule must not need one."""
    psycopg = pytest.importorskip("psycopg")
    address = fresh_schema()
    with psycopg.connect(address) as connection:
        connection.execute("CREATE TABLE flags (p bigint, flag boolean)")
        connection.execute("INSERT INTO flags VALUES (1, true), (2, false), (3, NULL), (4, true)")
    query = Query().agg(n=count("flag"), s=total("flag"))
    for declared in (Integer(0, 1, nullable=True), Real(0, 1, nullable=True)):
        schema = Schema("flags", {"flag": declared}, Unit("p", groups=1, rows=1))
        found = engine(source_of(address, "flags"), query, schema)
        step = 2**20 if isinstance(declared, Real) else 1
        assert found == {0: [3, 2 * step]}


def test_a_line_counts_although_one_of_its_values_cannot_be_read(tmp_path):
    # An optimizer handed the cast to the reader of the file, which then left out the line.
    lines = "".join(f"{row},{'N/A' if row % 10 == 5 else 5}\n" for row in range(1000))
    (tmp_path / "y.csv").write_text("id,v\n" + lines)
    schema = Schema("t", {"v": Real(0, 10, nullable=True)})
    budget = discreet.Budget(10**9)
    curator = discreet.open(tmp_path / "y.csv", schema, ledger=tmp_path / "y.db", budget=budget, create=True)
    question = curator.table().agg(n=count(), values=count("v"), s=total("v"))
    answer = question.plan(epsilon=10**6).release()
    assert answer["n"] == [1000]
    assert answer["values"] == [900]
    assert curator.table().agg(n=count()).plan(epsilon=10**6).release()["n"] == [1000]
