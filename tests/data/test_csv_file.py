"""Whatever a CSV file holds, every record counts, and is what Python's own reader takes it for."""

from __future__ import annotations

from dataclasses import replace

import duckdb
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csv_reader import by_engine, by_hand
from dirty import engine
from discreet.data.column import Category, Integer
from discreet.data.csv_file import QuoteCheck
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import InputError
from discreet.query.aggregate import count, total
from discreet.query.question import Query

CELLS = [b"", b"1", b"NULL", "Müller".encode(), "€".encode(), b"M\xfcller", b"\x80", b"\xe2\x82", b"\xff\xfe", b"\x9d"]

QUOTED = [b'"q"', b'"a,b"', b'"say ""hi"""', b'"two\nlines"', b'"two\r\nlines \xe9"', b'""']

CLUMSY = [b'x"y', b'x"y"', b' "z"']

lines = st.lists(st.sampled_from(CELLS + QUOTED), min_size=1, max_size=5).map(b",".join)


@settings(max_examples=80, deadline=None, derandomize=True, database=None)
@given(st.lists(lines, max_size=12), st.sampled_from([b"\n", b"\r\n"]), st.booleans(), st.booleans())
def test_every_record_is_what_python_s_reader_takes_it_for(tmp_path_factory, records, end, mark, ended):
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    data = end.join([b"a,b,c", *records]) + (end if ended else b"")
    path.write_bytes(b"\xef\xbb\xbf" * mark + data)
    assert by_engine(path) == by_hand(data)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.lists(st.sampled_from([*CELLS, *QUOTED, *CLUMSY, b'"', b'""x', b"\r", b"\n", b","]), max_size=30))
def test_no_file_makes_a_run_fail(tmp_path_factory, parts):
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    path.write_bytes(b"a,b,c\n" + b"".join(parts))
    by_engine(path)


def test_a_large_file_is_the_same_however_it_is_broken(tmp_path):
    path = tmp_path / "t.csv"
    block = b"".join([b"1,M\xfcller,2\n", b"3,4\n", b'"5"\n', b'6,"x ""y""",7\n', b"8,\xc3\xa9,9,10\n"])
    for more in (b"", b'11,"two\nlines"\n', b'12,x"y,13\n'):
        path.write_bytes(b"a,b,c\n" + block * 10_000 + more + block * 10_000)
        schema = Schema("t", {"a": Integer(0, 20), "c": Integer(0, 20), "b": Category(["Müller", "é", "4"])})
        question = Query().agg(n=count(), a=count("a"), c=count("c"), sum=total("a"))
        last = 11 * (b"11" in more) + 12 * (b"12" in more)
        want = [100_000 + bool(more), 100_000 + bool(more), 60_000 + (b"12" in more), 20_000 * 23 + last]
        assert engine(source_of(path), question, schema) == {0: want}
        groups = engine(source_of(path), Query().group_by("b").agg(n=count()), schema)
        assert groups == {0: [20_000], 1: [20_000], 2: [20_000], 3: [40_000 + bool(more)]}


@pytest.mark.parametrize(
    ("text", "simple"),
    [
        (b"a,b\n1,2\n", True),
        (b'"a","b"\r\n"1","say ""x"""\n"",""\n', True),
        (b'a,b\n1,"x\ny"\n', False),
        (b'a,b\n1,"x\ry"\n', False),
        (b'a,b\n1,x"y\n', False),
        (b'a,b\n1, "y"\n', False),
        (b'a,b\n1,"y" \n', False),
        (b'a,b\n1,"open', False),
        (b'x"y,"a\nb"z"w\n', False),  # quotes in pairs at every line end but the one inside
    ],
)
def test_quotes_that_several_threads_may_read(text, simple):
    for size in (1, 2, 3, 5, 100):
        check = QuoteCheck(",")
        for start in range(0, len(text), size):
            check.add(text[start : start + size])
        assert check.holds is simple


def test_a_broken_line_more_moves_a_count_by_one_and_nothing_else(tmp_path):
    path = tmp_path / "t.csv"
    schema = Schema("t", {"a": Integer(0, 9), "b": Category(["x", "ü"])})
    counts = Query().agg(n=count(), a=count("a"), b=count("b"), sum=total("a"))
    good = b'1,x\n2,"\xc3\xbc"\n3,\xfc\n'
    path.write_bytes(b"a,b\n" + good)
    before = engine(source_of(path), counts, schema)[0]
    for broken in (b"4\n", b"4,\xff\n", b'4,"two\nlines"\n', b'"4"x,"\n', b"\xff,\xff\n", b"4,x,\xff,9\n"):
        path.write_bytes(b"a,b\n" + good + broken)
        after = engine(source_of(path), counts, schema)[0]
        change = [new - old for new, old in zip(after, before, strict=True)]
        assert change[0] == 1
        assert all(0 <= step <= 1 for step in change[1:3])
        assert 0 <= change[3] <= 9


def test_a_check_of_quotes_that_always_says_yes_is_caught(tmp_path, monkeypatch):
    """Several threads meet inside a value, and the engine stops."""
    path = tmp_path / "t.csv"
    many = 400_000
    path.write_bytes(b"a,b,c\n" + b'1,"x\ny"\n' * many)
    assert by_engine(path) == [("1", "x\ny", None)] * many
    monkeypatch.setattr(QuoteCheck, "holds", True)
    with pytest.raises(duckdb.Error):
        by_engine(path)


@pytest.mark.parametrize(
    "data",
    [
        b"zoe,7,extra\na,1\nb,2\n",
        b"a,1\nb,2\nzoe,7,extra\n",
        b"zoe\na,1\nb,2\n",
        b"\na,1\nb,2\nzoe,7\n",
        b"zo\xeb,7\na,1\nb,2\n",
        b'"zoe,7\na,1\n"\na,1\nb,2\n',
    ],
)
def test_without_a_header_no_line_decides_whether_anything_is_opened(tmp_path, data):
    """The first line is a person's. One value too many in it, and everything was refused, for free."""
    (tmp_path / "d.csv").write_bytes(data)
    source = replace(source_of(tmp_path / "d.csv"), names=("id", "x"))
    assert list(source.columns()) == ["id", "x"]
    with source.open() as connection:
        found = connection.values(connection.table)
    assert len(found["id"]) == 3
    assert [x for name, x in zip(found["id"], found["x"], strict=True) if name in ("a", "b")] == ["1", "2"]


@pytest.mark.parametrize("line", [",age,sex", '"","age","sex"', " ,age,sex"])
def test_numbers_of_rows_without_a_name_are_a_column(tmp_path, line):
    """As tables of pandas and R begin."""
    (tmp_path / "people.csv").write_text(f"{line}\n7,30,f\n8,40,m\n")
    source = source_of(tmp_path / "people.csv")
    assert tuple(source.columns()) == ("column_1", "age", "sex")
    schema = Schema("people", {"column_1": Integer(0, 9), "age": Integer(0, 99)})
    found = engine(source, Query().agg(rows=total("column_1"), age=total("age")), schema)
    assert found == engine(
        source_of(pyarrow.table({"column_1": [7, 8], "age": [30, 40]})),
        Query().agg(rows=total("column_1"), age=total("age")),
        schema,
    )


@pytest.mark.parametrize("line", [",column_1,sex", ",,sex", "age,,sex", ",", "age,"])
def test_other_columns_without_a_name_are_refused(tmp_path, line):
    (tmp_path / "people.csv").write_text(f"{line}\n7,30,f\n")
    with pytest.raises(InputError, match="name"):
        source_of(tmp_path / "people.csv").columns()
