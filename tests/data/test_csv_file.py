"""Whatever a CSV file holds, every record counts, and is what Python's own reader takes it for."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from dirty import engine
from discreet.data.column import Category, Integer, Text
from discreet.data.csv_file import QuoteCheck
from discreet.data.record import LONGEST, LineCheck, _records
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.query.aggregate import count, people, total
from discreet.query.question import Query

NAMES = ["a", "b", "c"]
CELLS = [b"", b"1", b"NULL", "Müller".encode(), "€".encode(), b"M\xfcller", b"\x80", b"\xe2\x82", b"\xff\xfe", b"\x9d"]
QUOTED = [b'"q"', b'"a,b"', b'"say ""hi"""', b'"two\nlines"', b'"two\r\nlines \xe9"', b'""']
CLUMSY = [b'x"y', b'x"y"', b' "z"']
lines = st.lists(st.sampled_from(CELLS + QUOTED), min_size=1, max_size=5).map(b",".join)


def by_hand(data: bytes) -> list[tuple[str | None, ...]]:
    """The records of a file, by Python's reader over its bytes, each cell decoded by itself."""
    records = list(csv.reader(io.StringIO(data.removeprefix(b"\xef\xbb\xbf").decode("latin-1"), newline="")))[1:]
    padded = [(record + [""] * len(NAMES))[: len(NAMES)] for record in records if record]
    return [tuple(decoded(cell.encode("latin-1")) or None for cell in record) for record in padded]


def decoded(cell: bytes) -> str:
    """UTF-8 as far as it is; of the rest each byte by itself."""
    text = ""
    while cell:
        size = next((n for n in (1, 2, 3, 4) if is_character(cell[:n])), 0)
        text += cell[:size].decode() if size else cell[:1].decode("cp1252", "ignore") or chr(cell[0])
        cell = cell[size or 1 :]
    return text


def is_character(part: bytes) -> bool:
    try:
        return len(part.decode()) == 1
    except UnicodeDecodeError:
        return False


def by_engine(path) -> list[tuple[str | None, ...]]:
    with source_of(path).open() as connection:
        return list(zip(*connection.values(connection.table).values(), strict=True))


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


def test_people_whose_names_are_not_utf8_stay_apart(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"id\n" + b"".join(b"M%cller\n" % letter for letter in range(0xE0, 0x100)))
    schema = Schema("t", {"id": Text()}, discreet.Unit("id", groups=1, rows=1))
    assert engine(source_of(path), Query().agg(n=people()), schema) == {0: [32]}


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


def test_copies_are_private_and_do_not_stay(tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.data.spill.state_folder", lambda: tmp_path)
    path = tmp_path / "t.csv"
    path.write_bytes(b"gr\xf6\xdfe\nM\xfcller\n")
    assert list(source_of(path).columns()) == ["größe"]
    assert not [*tmp_path.glob("spill/*/*")]  # names and types are read without a copy
    with source_of(path).open():
        (copy,) = tmp_path.glob("spill/*/*/*.csv")
        assert copy.read_text(encoding="utf-8") == "größe\nMüller\n"
        assert copy.parent.stat().st_mode & 0o77 == 0
    assert not [*tmp_path.glob("spill/*/*/*.csv")]


def test_a_byte_that_takes_its_neighbour_with_it_is_caught(tmp_path, monkeypatch):
    """A comma after a broken character is the end of its value, whatever came before."""
    path = tmp_path / "t.csv"
    data = b"a,b,c\n\xe9,2,3\n"
    path.write_bytes(data)
    assert by_engine(path) == by_hand(data)
    monkeypatch.setattr("discreet.data.copies.copy_as_utf8", lambda old, new: new.write_bytes(b"a,b,c\n\xc3\xa92,3\n"))
    assert by_engine(path) != by_hand(data)


def test_a_check_of_quotes_that_always_says_yes_is_caught(tmp_path, monkeypatch):
    """Several threads meet inside a value, and the engine stops."""
    path = tmp_path / "t.csv"
    data = b"a,b,c\n" + b'1,"x\ny"\n' * 400_000
    path.write_bytes(data)
    assert by_engine(path) == by_hand(data)
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


# --- long records ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
@pytest.mark.parametrize("before", [b"", b"z,1,2\n", b'z,"1\n2",3\n', b'z,1"2,3\n', b"z,\xff,3\n"])
def test_whether_a_long_record_counts_depends_on_its_length_alone(tmp_path, before, end):
    """The engine's own limit is another for the first record of a file: whoever stood before took others along."""
    path = tmp_path / "t.csv"
    for size in (LONGEST, LONGEST + 1):
        for letter in (b"x", b"\x80"):  # which is three bytes long as UTF-8
            path.write_bytes(b"a,b,c\n" + before + b"q,1," + letter * (size - 4) + end)
            with source_of(path).open() as connection:
                names = connection.values(connection.table.select("a"))["a"]
            assert names == ["z"] * bool(before) + ["q"] * (size <= LONGEST)


def test_a_record_of_many_lines_is_measured_as_a_whole(tmp_path):
    path = tmp_path / "t.csv"
    line = b"x" * 99_999 + b"\n"
    for lines in (19, 20, 21):
        for quote in (b"", b'r,x"y,1\n'):
            path.write_bytes(b'a,b,c\n1,"' + line * lines + b'",2\n' + quote + b"q,1,2\n")
            with source_of(path).open() as connection:
                names = connection.values(connection.table.select("a"))["a"]
            assert names == ["1"] * (lines < 20) + ["r"] * bool(quote) + ["q"]


@pytest.mark.parametrize(
    "text",
    [
        b'1,"a""b",2\n3\n',
        b'1,"a"b"c\n3\n',
        b'"a\n""\nb",1\n3\n',
        b'x"y,"a\nb"z"w\n3\n',
        b'"",""\r\n"a\rb"\r"c\r\nd",\n3',
        b'1,"a,"\n"b\n',
    ],
)
def test_records_are_divided_as_python_divides_them(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_bytes(text)
    found = [b"".join(lines).decode() for _, lines in _records(str(path), ",")]
    assert "".join(found) == text.decode()
    records = [list(csv.reader(io.StringIO(record, newline=""))) for record in found]
    assert [record for (record,) in records] == list(csv.reader(io.StringIO(text.decode(), newline="")))


def test_the_engine_s_own_limit_is_found(tmp_path, monkeypatch):
    """The planted bug: without a rule of ours one record more takes another with it."""
    path, counts = tmp_path / "t.csv", []
    monkeypatch.setattr(LineCheck, "holds", True, raising=False)
    monkeypatch.setattr("discreet.data.csv_file.LONGEST", LONGEST // 4)
    monkeypatch.setattr(LineCheck, "add", lambda *_: None)
    for before in (b"", b"z,1,2\n"):
        path.write_bytes(b"a,b,c\n" + before + b"q,1," + b"x" * (LONGEST - 4) + b"\n")
        with source_of(path).open() as connection:
            counts.append(len(connection.values(connection.table.select("a"))["a"]))
    assert counts != [1, 2]
