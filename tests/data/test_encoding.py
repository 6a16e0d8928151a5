"""Text that is not all UTF-8: every byte is read as something, and none takes its neighbour with it."""

from __future__ import annotations

import discreet
from csv_reader import by_engine, by_hand
from dirty import engine
from discreet.data.column import Text
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.query.aggregate import people
from discreet.query.question import Query


def test_people_whose_names_are_not_utf8_stay_apart(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"id\n" + b"".join(b"M%cller\n" % letter for letter in range(0xE0, 0x100)))
    schema = Schema("t", {"id": Text()}, discreet.Unit("id", groups=1, rows=1))
    assert engine(source_of(path), Query().agg(n=people()), schema) == {0: [32]}


def test_a_byte_that_takes_its_neighbour_with_it_is_caught(tmp_path, monkeypatch):
    """A comma after a broken character is the end of its value, whatever came before."""
    path = tmp_path / "t.csv"
    data = b"a,b,c\n\xe9,2,3\n"
    path.write_bytes(data)
    assert by_engine(path) == by_hand(data)
    monkeypatch.setattr("discreet.data.copies.copy_as_utf8", lambda old, new: new.write_bytes(b"a,b,c\n\xc3\xa92,3\n"))
    assert by_engine(path) != by_hand(data)
