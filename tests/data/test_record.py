"""Records of a CSV file that are too long: each is left out by its own length, wherever it stands."""

from __future__ import annotations

import csv
import io

import pytest

from discreet.data.record import LONGEST, LineCheck, _records
from discreet.data.source import source_of

BEFORE = [b"", b"z,1,2\n", b'z,"1\n2",3\n', b'z,1"2,3\n', b"z,\xff,3\n"]
ENDS = [b"\n", b"\r\n", b""]


@pytest.mark.parametrize(
    ("before", "end"),
    [
        pytest.param(before, end, marks=() if (place + turn) % len(ENDS) == 0 else pytest.mark.large)
        for place, before in enumerate(BEFORE)
        for turn, end in enumerate(ENDS)
    ],
)
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
