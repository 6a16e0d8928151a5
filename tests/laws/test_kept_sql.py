"""The same integers from SQL that was kept as from SQL that is compiled anew, for every kind of job and any salt.

What is kept is of one state of the data: files that are replaced, and tables that change in memory, are seen.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from unittest import mock

import duckdb
import numpy as np
import pandas as pd
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest

import discreet.data.files
from discreet import Budget, Category, Integer, Real, Schema, Unit, count, mean, total
from discreet import open as open_curator
from discreet.core.deadline import limited
from discreet.data.connection import Connection
from discreet.data.source import Source, source_of
from discreet.data.statement import Statement, probe_salt
from same_integers import ALL, Job, job_of, small
from seam import Tape, captured

PLACES = ("memory", "parquet")


@pytest.fixture(autouse=True)
def files_of_this_moment(monkeypatch):
    """Files count as settled once they are written: tests need not wait until they are."""
    monkeypatch.setattr(discreet.data.files, "_YOUNG", 0)


@contextlib.contextmanager
def watched() -> Iterator[list[Statement]]:
    """The statements that ran as they were kept."""
    ran: list[Statement] = []
    run = Connection._stated

    def stated(self: Connection, statement: Statement, salt: Any) -> Any:
        found = run(self, statement, salt)
        ran.append(statement)
        return found

    with mock.patch.object(Connection, "_stated", stated):
        yield ran


@functools.cache
def tables(place: str) -> tuple[Any, Any]:
    world = small("whole")
    if place == "memory":
        return world.arrow(), world.other()
    folder = Path(mkdtemp())
    for name, table in (("rows", world.arrow()), ("beside", world.other())):
        pyarrow.parquet.write_table(table, folder / f"{name}.parquet")
    return folder / "rows.parquet", folder / "beside.parquet"


def source_for(job: Job, place: str) -> Source:
    """A source that knows nothing yet."""
    rows, beside = map(source_of, tables(place))
    return replace(rows if job.view is None else rows.beside({"beside": beside}), view=job.view)


def integers(source: Source, job: Job, salt: str) -> list[Any]:
    """What mechanisms are handed in one run; the noise follows from the salt's name, so adaptive jobs stay together."""
    bits = Tape(salt)
    with source.open() as data, captured(bits) as steps:
        answer = job.run(data, bits)
    return [*steps] or [answer]


def every_kind() -> list[Any]:
    """Every kind of job, of a table in memory or of files by turns; the rest is the larger tier."""
    return [
        pytest.param(kind, place, marks=() if (turn + other) % 2 == 0 else pytest.mark.large)
        for turn, kind in enumerate(ALL)
        for other, place in enumerate(PLACES)
    ]


@pytest.mark.parametrize(("kind", "place"), every_kind())
def test_what_was_kept_counts_the_same_integers(kind, place):
    job = job_of(kind)
    source = source_for(job, place)
    with watched() as ran:
        anew = {salt: integers(source, job, salt) for salt in ("first", "second")}
        assert ran == [] or kind == "batches"  # whose parts may be one question
        kept = {salt: integers(source, job, salt) for salt in ("first", "third")}
    assert kept["first"] == anew["first"]
    assert kept["third"] == integers(source_for(job, place), job, "third")


@pytest.mark.parametrize(
    ("kind", "place"),
    [("every aggregate", "memory"), ("vectors", "memory"), ("vectors", "parquet"), ("drawn rows", "parquet")],
)
def test_questions_are_kept(kind, place):
    source = source_for(job_of(kind), place)
    with watched() as ran:
        for _ in range(3):
            integers(source, job_of(kind), "salt")
    assert ran


SCHEMA = Schema(
    "people",
    {"person": Integer(0, 10**6), "pay": Real(0, 1000), "county": Category(["Ash", "Elm", "Oak"])},
    unit=Unit("person", groups=1, rows=2),
)


def people(rows: int, pay: float = 500.0, persons: int = 40) -> pyarrow.Table:
    county = np.array(["Ash", "Elm", "Oak"])[np.arange(rows) % 3]
    return pyarrow.table({"person": np.arange(rows) % persons, "pay": np.full(rows, pay), "county": county})


def curator_of(data: Any, folder: Path) -> Any:
    return open_curator(data, SCHEMA, ledger=folder / "books.db", budget=Budget(10**9), who="t", create=True)


def by_county(curator: Any) -> Any:
    """Answers with noise so small that they are exact to a thousandth."""
    question = curator.table().group_by("county").agg(n=count(), paid=total("pay"), m=mean("pay"))
    return question.plan(epsilon=10**6).release()


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_files_that_are_replaced_are_seen(tmp_path, ending):
    write = pyarrow.parquet.write_table if ending == "parquet" else pyarrow.csv.write_csv
    path = tmp_path / "data" / f"people.{ending}"
    path.parent.mkdir()
    write(people(90, persons=90), path)
    curator = curator_of(str(path), tmp_path)
    with watched() as ran:
        for _ in range(4):
            assert sum(by_county(curator)["n"][:3]) == pytest.approx(90, abs=1)
        assert len(ran) == 2
        write(people(60, persons=60), path)
        assert sum(by_county(curator)["n"][:3]) == pytest.approx(60, abs=1)
        assert len(ran) == 2
        for pay in (100.0, 900.0, 300.0):  # as long as before, and said to be as old
            before = path.stat()
            write(people(60, pay, persons=60), path)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
            assert by_county(curator)["m"][:3] == pytest.approx([pay] * 3, rel=0.01)


def test_columns_of_files_that_are_replaced_are_checked(tmp_path):
    path = tmp_path / "data" / "people.parquet"
    path.parent.mkdir()
    pyarrow.parquet.write_table(people(90), path)
    curator = curator_of(str(path), tmp_path)
    for _ in range(3):
        by_county(curator)
    pyarrow.parquet.write_table(people(90).drop_columns("pay"), path)
    with pytest.raises(discreet.errors.InputError, match="pay"):
        by_county(curator)
    changed = people(60, persons=60)
    text = changed.set_column(1, "pay", pyarrow.array(["250"] * 60))  # other types: other SQL
    pyarrow.parquet.write_table(text, path)
    assert by_county(curator)["m"][:3] == pytest.approx([250] * 3, rel=0.01)


def test_a_file_of_this_very_moment_is_looked_at_each_time(tmp_path, monkeypatch):
    monkeypatch.setattr(discreet.data.files, "_YOUNG", 10**12)
    path = tmp_path / "people.parquet"
    pyarrow.parquet.write_table(people(90), path)
    source = source_of(str(path))
    assert source.place.mark() is None
    source.columns()
    assert len(source.cache) == 0


def test_a_table_that_changes_in_memory_is_seen(tmp_path):
    frame = people(90, persons=90).to_pandas()
    curator = curator_of(frame, tmp_path)
    with watched() as ran:
        for pay in (100.0, 200.0, 300.0, 400.0, 500.0):
            frame["pay"] = pay
            assert by_county(curator)["m"][:3] == pytest.approx([pay] * 3, rel=0.01)
        assert len(ran) == 3
        frame["pay"] = pd.Series(["750"] * 90, dtype=object)
        assert by_county(curator)["m"][:3] == pytest.approx([750] * 3, rel=0.01)
        assert len(ran) == 3


def test_every_release_has_its_own_salt_and_none_is_kept(tmp_path):
    curator = curator_of(people(300), tmp_path)
    drawn: list[tuple[int, ...]] = []
    run = Connection.counted

    def counted(self: Connection, shape: str, compiled: Any, salt: Any) -> Any:
        drawn.append(tuple(salt))
        return run(self, shape, compiled, salt)

    with mock.patch.object(Connection, "counted", counted), watched() as ran:
        for _ in range(6):
            by_county(curator)
    assert len(ran) == 4
    assert len(set(drawn)) == 6
    (kept,) = {id(each): each for each in ran}.values()
    for salt in drawn:
        assert not any(str(word) in "".join(kept.texts) for word in salt)
    assert kept.parameters(drawn[0]) != kept.parameters(drawn[1])


def test_a_text_that_fails_is_forgotten_and_the_question_answered(tmp_path):
    curator = curator_of(people(90, persons=90), tmp_path)
    for _ in range(3):
        by_county(curator)
    cache = curator.desk.source.cache
    ((key, known),) = [(key, entry) for (_, key), (entry, _) in cache._entries.items() if isinstance(entry, Statement)]
    cache.put(key, replace(known, views=("CREATE TEMP VIEW broken AS SELECT * FROM nowhere",)))
    with watched() as ran:
        for _ in range(3):
            assert sum(by_county(curator)["n"][:3]) == pytest.approx(90, abs=1)
    assert ran == []


def test_threads_share_what_is_kept(tmp_path):
    path = tmp_path / "data" / "people.parquet"
    path.parent.mkdir()
    pyarrow.parquet.write_table(people(120, persons=120), path)
    curator = curator_of(str(path), tmp_path)
    found: list[Any] = []

    def work() -> None:
        found.extend(by_county(curator) for _ in range(4))

    with watched() as ran:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 16
    assert all(sum(each["n"][:3]) == pytest.approx(120, abs=1) for each in found)
    assert ran


LAST = 2**31 - 1
WORDS = {
    "nothing": [0] * 10,
    "all": [LAST] * 10,
    "the probe": probe_salt(10),
    "the probe, backwards": probe_salt(10)[::-1],
    "numbers of the text": [3, 31, 11, 15, 2, 1, 127, 128, 2**30, 2**29 | 1],
}


@contextlib.contextmanager
def salted(salt: list[int]) -> Iterator[None]:
    """Every question is counted under this salt."""
    run = Connection.counted

    def counted(self: Connection, shape: str, compiled: Any, words: Any) -> Any:
        return run(self, shape, compiled, salt[: len(words)])

    with mock.patch.object(Connection, "counted", counted):
        yield


@pytest.mark.parametrize("kind", ["every aggregate", "drawn rows", "top"])
def test_words_that_stand_elsewhere_in_the_text_are_no_exception(kind):
    job = job_of(kind)
    source = source_for(job, "memory")
    for salt in ("first", "second"):
        integers(source, job, salt)
    for words in WORDS.values():
        with salted(words):
            with watched() as ran:
                kept = integers(source, job, "salt")
            assert ran
            assert kept == integers(source_for(job, "memory"), job, "salt")


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_a_person_less_moves_what_is_kept_within_the_limits(words, tmp_path):
    frame = people(400, persons=23).to_pandas()
    source = source_of(frame)
    plan = curator_of(frame, tmp_path).table().group_by("county").agg(n=count(), paid=total("pay")).plan(epsilon=1).plan
    whole = len(frame)

    def counted() -> list[Any]:
        with source.open() as data, salted(words), captured(bits := Tape("salt")) as steps:
            plan.measure(data, bits)
        return [np.array(step.values) for step in steps]

    counted(), counted()
    with watched() as ran:
        before = counted()
        frame.drop(frame.index[frame["person"] == 7], inplace=True)
        after = counted()
    assert len(ran) == 2
    assert whole - len(frame) == 18
    moves = [one - other for one, other in zip(before, after, strict=True)]
    assert [len(np.flatnonzero(move)) for move in moves] == [1, 1]
    assert abs(moves[0]).max() == 2
    assert all(abs(move).sum() <= moved.l1 for move, moved in zip(moves, plan.moved, strict=True))


@pytest.mark.parametrize("place", PLACES)
def test_questions_of_one_job_share_what_is_kept(tmp_path, place):
    """A question that is asked again in the job that keeps it, and one beside another that was kept before."""
    data: Any = people(90, persons=90)
    if place == "parquet":
        pyarrow.parquet.write_table(data, tmp_path / "people.parquet")
        data = str(tmp_path / "people.parquet")
    curator = curator_of(data, tmp_path)
    first = curator.table().group_by("county").agg(n=count())
    other = curator.table().agg(n=count(), m=mean("pay"))
    with watched() as ran:
        tables = curator.batch(a=first, b=first, c=first, d=other).plan(epsilon=10**6).release()
        assert len(ran) == 1
        curator.batch(a=first, d=other).plan(epsilon=10**6).release()
        assert len(ran) == 2
        tables = curator.batch(d=other, c=first).plan(epsilon=10**6).release()
        assert len(ran) == 4
    assert sum(tables["c"]["n"][:3]) == pytest.approx(90, abs=1)
    assert tables["d"]["n"] == pytest.approx([90], abs=1)
    found = [entry for entry, _ in curator.desk.source.cache._entries.values() if isinstance(entry, Statement)]
    assert [len(each.views) + len(each.frames) for each in found] == [1, 1]


def test_all_questions_of_a_job_see_the_same_rows(tmp_path):
    frame = people(90, persons=90).to_pandas()
    curator = curator_of(frame, tmp_path)
    asked = {name: curator.table().where(f"pay > {name[1:]}").agg(m=mean("pay")) for name in ("a1", "b2", "c3")}
    for _ in range(2):
        for each in asked.values():
            each.plan(epsilon=10**6).release()
    run = Connection._stated

    def changing(self: Connection, statement: Statement, salt: Any) -> Any:
        frame["pay"] = frame["pay"] + 100
        found = run(self, statement, salt)
        frame["pay"] = frame["pay"] + 100
        return found

    with mock.patch.object(Connection, "_stated", changing):
        tables = curator.batch(**asked).plan(epsilon=10**6).release()
    assert [tables[name]["m"][0] for name in asked] == pytest.approx([600] * 3, rel=0.01)


@pytest.mark.parametrize("part", ["_stated", "integers"])
def test_who_stops_a_run_stops_it(tmp_path, part):
    curator = curator_of(people(90), tmp_path)
    for _ in range(3 if part == "_stated" else 0):
        by_county(curator)
    stopped = mock.Mock(side_effect=RuntimeError("Query interrupted"))
    name = "_stated" if part == "_stated" else "_integers"
    with mock.patch.object(Connection, name, stopped), watched_runs() as runs, pytest.raises(KeyboardInterrupt):
        by_county(curator)
    assert stopped.call_count == 1
    assert runs == ([] if part == "_stated" else ["integers"])


@pytest.mark.parametrize("part", ["_stated", "_integers"])
def test_a_run_that_its_time_limit_stops_is_one_that_failed(tmp_path, part):
    curator = curator_of(people(90), tmp_path)
    for _ in range(3 if part == "_stated" else 0):
        by_county(curator)

    with limited(3600) as deadline:

        def stopped(*_: Any) -> Any:
            deadline.passed = True
            raise duckdb.InterruptException("INTERRUPT Error: Interrupted!")

        with mock.patch.object(Connection, part, stopped), pytest.raises(discreet.errors.RunError):
            by_county(curator)
    assert sum(by_county(curator)["n"][:3]) > 0


@contextlib.contextmanager
def watched_runs() -> Iterator[list[str]]:
    """The runs of expressions that were compiled for them."""
    runs: list[str] = []
    run = Connection.integers

    def integers(self: Connection, expression: Any) -> Any:
        runs.append("integers")
        return run(self, expression)

    with mock.patch.object(Connection, "integers", integers):
        yield runs


def test_what_cannot_be_kept_takes_no_answer_back(tmp_path):
    curator = curator_of(people(90, persons=90), tmp_path)
    broken = mock.Mock(side_effect=ValueError)
    with mock.patch.object(Connection, "_statement", broken), watched() as ran:
        for _ in range(4):
            assert sum(by_county(curator)["n"][:3]) == pytest.approx(90, abs=1)
    assert broken.call_count == 1
    assert ran == []


def test_what_is_seen_while_data_changes_is_not_remembered(tmp_path):
    """A link that shows another file for as long as it is looked at, and then the first one again."""
    first, second, link = (tmp_path / f"{name}.parquet" for name in ("first", "second", "link"))
    pyarrow.parquet.write_table(people(90), first)
    pyarrow.parquet.write_table(people(90).drop_columns("pay"), second)

    def shows(path: Path) -> None:
        link.unlink(missing_ok=True)
        link.symlink_to(path)

    shows(first)
    source = source_of(str(link))
    run = Source._stored

    def stored(self: Source) -> Any:
        shows(second)
        return run(self)

    with mock.patch.object(Source, "_stored", stored):
        assert "pay" not in source.columns()
    shows(first)
    assert "pay" in source.columns()


def test_expressions_share_one_bounded_memory(tmp_path):
    curator = curator_of(people(90), tmp_path)
    for number in range(3):
        for _ in range(3):
            curator.table().where(f"pay * 2 > {number}").agg(n=total(f"pay + {number}")).plan(epsilon=1).release()
    cache = curator.desk.source.cache
    kept = [entry for entry, _ in cache._entries.values() if isinstance(entry, Statement)]
    assert len(kept) == 3
    assert all(letters == (entry.letters if entry in kept else 0) for entry, letters in cache._entries.values())


def test_a_salt_that_was_kept_is_found(monkeypatch):
    """Planted: the text of one salt, kept as it is."""
    job = job_of("drawn rows")
    kept = lambda probe, words, sql, salt: Statement((sql,), ())  # noqa: E731
    monkeypatch.setattr("discreet.data.connection.statement_of", kept)
    source = source_for(job, "memory")
    for salt in ("first", "second"):
        integers(source, job, salt)
    assert integers(source, job, "second") == integers(source_for(job, "memory"), job, "second")
    assert integers(source, job, "third") != integers(source_for(job, "memory"), job, "third")


def test_a_mark_that_overlooks_writes_is_found(tmp_path, monkeypatch):
    """Planted: all states of a file are one."""
    path = tmp_path / "data" / "people.parquet"
    path.parent.mkdir()
    pyarrow.parquet.write_table(people(90), path)
    monkeypatch.setattr(discreet.data.files.Files, "mark", lambda self: "always the same")
    source = source_of(str(path))
    assert "pay" in source.columns()
    pyarrow.parquet.write_table(people(90).drop_columns("pay"), path)
    assert "pay" in source.columns()
