"""A canary in private cells is seen nowhere: not in errors, tracebacks, logs, warnings, reprs, exports or the books.

The canary sits in a category column, a text column, a person's name, a number column of a CSV and a header-less place;
runs succeed, are refused, and are made to fail inside the engine.
"""

from __future__ import annotations

import csv
import io
import logging
import pickle
import traceback
import warnings
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from discreet.core.unit import Unit
from discreet.curator import open_curator
from discreet.data.column import Category, Date, Integer, Real, Text
from discreet.data.schema import Schema
from discreet.data.source import Connection, source_of
from discreet.errors import BudgetError, InputError, RunError
from discreet.ledger.budget import Budget
from discreet.ledger.export import export
from discreet.query.aggregate import count, mean, people, total
from discreet.query.key import bins

CANARY = "canary-4b1d-jane-roe"
NUMBER = 918273645  # a number that stands for itself

COLUMNS = {
    "county": Category(["Ash", "Elm"], nullable=True),
    "note": Text(),
    "age": Integer(0, 120, nullable=False),
    "pay": Real(0, 1000, nullable=True),
    "day": Date("2024-01-01", "2024-12-31", nullable=True),
}
SCHEMA = Schema("people", COLUMNS, Unit("name", groups=2, rows=2))
HEADER = ["name", "county", "note", "age", "pay", "day"]
ROWS = [
    ["ann", "Ash", "x", "30", "10.5", "2024-02-01"],
    [CANARY, CANARY, CANARY, CANARY, CANARY, CANARY],
    ["bob", "Elm", f'"{CANARY}', str(NUMBER), str(NUMBER), "2024-05-05"],
]


def csv_file(folder: Path) -> Path:
    with (folder / "people.csv").open("w", newline="") as file:
        csv.writer(file).writerows([HEADER, *ROWS * 5])
    return folder / "people.csv"


def frame(folder: Path):
    import pandas

    return pandas.DataFrame({name: [row[i] for row in ROWS * 5] for i, name in enumerate(HEADER)}, dtype=object)


def mixed_frame(folder: Path):
    import pandas

    cells = [1, CANARY, None, 2.5, b"bytes", {"a": CANARY}] * 3
    return pandas.DataFrame({name: pandas.Series(cells, dtype=object) for name in HEADER})


def parquet_file(folder: Path) -> Path:
    import pyarrow
    import pyarrow.parquet

    columns = {name: [row[i] for row in ROWS * 5] for i, name in enumerate(HEADER)}
    pyarrow.parquet.write_table(pyarrow.table(columns), folder / "people.parquet")
    return folder / "people.parquet"


SOURCES = [csv_file, frame, mixed_frame, parquet_file]


class Watch:
    """Everything that could be seen while something ran."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def see(self, *things: object) -> None:
        for thing in things:
            self.seen += [str(thing), repr(thing)]

    def caught(self, error: BaseException) -> None:
        """An exception with all that hangs on it, its frames' locals too."""
        self.see(error, error.args, vars(error), getattr(error, "__notes__", ""))
        for one in (error, error.__cause__, error.__context__):
            if one is not None:
                told = traceback.TracebackException.from_exception(one, capture_locals=True)
                for frame in told.stack:
                    if frame.name.startswith("test_"):
                        frame.locals = None  # the test itself knows the canary
                self.seen += list(told.format(chain=False))

    def clean(self) -> None:
        text = "\n".join(self.seen)
        assert text
        assert CANARY not in text
        assert str(NUMBER) not in text


@pytest.fixture
def watch(tmp_path):
    """Logs, warnings and both streams are watched, and the books at the end, byte by byte."""
    watched, out, log = Watch(), io.StringIO(), io.StringIO()
    handler = logging.StreamHandler(log)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    for name in ("discreet", "ibis", "duckdb", "sqlglot"):
        logging.getLogger(name).setLevel(logging.DEBUG)
    try:
        with warnings.catch_warnings(record=True) as warned, redirect_stdout(out), redirect_stderr(out):
            warnings.simplefilter("always")
            yield watched
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    watched.see(*[w.message for w in warned], out.getvalue(), log.getvalue())
    for path in (path for path in tmp_path.rglob("*") if path.is_file() and "books" in str(path)):
        content = path.read_bytes()
        assert CANARY.encode() not in content
        assert str(NUMBER).encode() not in content
    watched.clean()


@contextmanager
def watching(watched: Watch, *kinds: type[BaseException]):
    try:
        yield
    except kinds as error:
        watched.caught(error)
        del error
    else:
        raise AssertionError("nothing was raised")


def curator_of(kind, folder: Path, budget=50):
    return open_curator(kind(folder), SCHEMA, ledger=folder / "books.db", budget=Budget(budget), who="me", create=True)


def questions(curator):
    table = curator.table()
    return [
        table.group_by("county").agg(n=count(), who=people(), pay=mean("pay")),
        table.where("county is null or age > 100").agg(n=count(), s=total("age")),
        table.group_by(bins("day", every="month")).agg(n=count("pay")),
        table.where("note is null").agg(n=count()),
    ]


@pytest.mark.parametrize("kind", SOURCES, ids=lambda kind: kind.__name__)
def test_answers_and_exports_do_not_sing(kind, tmp_path, watch):
    curator = curator_of(kind, tmp_path)
    watch.see(curator, curator.local.source, curator.local.source.columns(), curator.schema, curator.table())
    for question in questions(curator):
        offer = question.plan(epsilon=1)
        watch.see(offer, offer.plan, offer.explain(), offer.plan.query, offer.plan.digest, offer.plan.mechanism)
        release = offer.release()
        watch.see(release, release.to_dict(), release.to_json(), release.to_csv(), release.to_markdown())
        watch.see(release.to_arrow(), release.to_pandas(), pickle.dumps(release))
    ledger = curator.ledger
    watch.see(
        ledger,
        *ledger.records(),
        ledger.verify(),
        *ledger.releases(),
        *[export(ledger, form) for form in ("json", "csv", "registry")],
    )


@pytest.mark.parametrize("kind", SOURCES, ids=lambda kind: kind.__name__)
def test_refusals_do_not_sing(kind, tmp_path, watch):
    curator = curator_of(kind, tmp_path, budget=1)
    offer = curator.table().agg(n=count()).plan(epsilon=3)
    with watching(watch, BudgetError):
        offer.release()
    for make in (
        lambda: curator.table().agg(n=total("nothing")).plan(epsilon=1),
        lambda: curator.table().where("county = 'Oak'").agg(n=count()).plan(epsilon=1),
        lambda: curator.release("none"),
    ):
        with watching(watch, InputError):
            make()


def broken_engine(self, expression):
    """Fails as an engine does: with the values in hand, and in its words."""
    rows = self._backend.to_pyarrow(self.table).to_pylist()
    logging.getLogger(__name__)  # nothing is logged: an engine that logs values is out of our hands
    raise ValueError(f"could not convert {rows!r}")


@pytest.mark.parametrize("kind", SOURCES, ids=lambda kind: kind.__name__)
def test_a_run_that_fails_inside_the_engine_does_not_sing(kind, tmp_path, watch, monkeypatch):
    curator = curator_of(kind, tmp_path)
    offer = curator.table().agg(n=count()).plan(epsilon=1)
    monkeypatch.setattr(Connection, "integers", broken_engine)
    with watching(watch, RunError):
        offer.release(release="failed")
    monkeypatch.undo()
    with watching(watch, RunError):
        offer.release(release="failed")
    watch.see(*curator.ledger.records(), *curator.ledger.releases())


def test_an_error_of_the_real_engine_does_not_sing(tmp_path, watch, monkeypatch):
    import discreet.query.compile as room

    curator = curator_of(parquet_file, tmp_path)

    def careless(question, schema, measures, table, salt):
        return table.select(group=table["age"].cast("int64"), m0=table["pay"].cast("int64"))

    offer = curator.table().agg(n=count()).plan(epsilon=1)
    monkeypatch.setattr(room, "compile_query", careless)
    with curator.local.source.open() as connection, pytest.raises(Exception, match=CANARY):
        connection.integers(careless(None, None, None, connection.table, None))  # so it does say it
    with watching(watch, RunError):
        offer.release()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        CANARY.encode(),
        f'"{CANARY}'.encode(),
        f"name,name\n{CANARY},{CANARY}\n".encode(),
        f"a,b\n1,{CANARY},2,3\n".encode(),
        f"a\n\xff{CANARY}".encode("latin-1"),
    ],
)
def test_files_that_cannot_be_read_do_not_sing(content, tmp_path, watch):
    # A file whose first line is private has no header: that line is what a custodian declares public.
    for ending in ("csv", "parquet", "duckdb"):
        path = tmp_path / f"x.{ending}"
        path.write_bytes(content)
        if ending == "csv" and content.startswith((b'"', b"canary")):
            continue
        with watching(watch, InputError):
            open_curator(path, SCHEMA, ledger=tmp_path / "books.db", budget=Budget(1), table="t", create=True)


def test_objects_that_are_no_tables_do_not_sing(tmp_path, watch):
    for thing in ([CANARY], {"a": CANARY}, frozenset([CANARY])):
        with watching(watch, InputError):
            source_of(thing)


def test_a_frame_that_does_not_fit_its_schema_does_not_sing(tmp_path, watch):
    with watching(watch, InputError):
        open_on_another_schema(tmp_path)


def open_on_another_schema(folder):
    return open_curator(
        frame(folder),
        Schema("t", {"x": Integer(0, 1, nullable=False)}),
        ledger=folder / "books.db",
        budget=Budget(1),
        create=True,
    )


def test_passwords_do_not_sing_either(tmp_path, watch):
    with watching(watch, InputError):
        source_of(f"postgresql://me:{CANARY}@127.0.0.1:1/db?table=t").columns()
    watch.see(source_of(f"postgresql://me:{CANARY}@127.0.0.1:1/db?table=t"))


def test_the_watch_has_ears():
    for kind in ("local", "message", "context"):
        watched = Watch()
        try:
            sing(kind)
        except (ValueError, KeyError) as error:
            watched.caught(error)
        with pytest.raises(AssertionError):
            watched.clean()


def sing(kind):
    if kind == "message":
        raise ValueError(CANARY)
    if kind == "local":
        cell = CANARY
        raise ValueError(len(cell))
    try:
        raise KeyError(CANARY)
    except KeyError:
        raise ValueError("hidden") from None
