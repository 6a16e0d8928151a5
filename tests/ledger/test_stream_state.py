"""The memory of a stream: written whole, never begun again, and no id is in it."""

import os
import sqlite3
from contextlib import closing

import pytest

from discreet.errors import LedgerError
from discreet.ledger.stream_state import StreamState

PEOPLE = [b"ann", b"bob", b"carla"]


@pytest.fixture
def stream(tmp_path):
    stream = StreamState(tmp_path / "private", "year", "digest")
    stream.begin("VARCHAR")
    return stream


def test_periods_follow_each_other_and_their_sums_and_results_come_back(stream):
    ann, bob, carla = stream.hashes(PEOPLE)
    stream.record(1, [[3, 0]], [ann, bob, ann], {"month": [3]})
    stream.record(2, [[1, 1]], [bob, carla], {"month": [1]})
    assert stream.sums(0, 2) == [[[3, 0]], [[1, 1]]]
    assert stream.sums(1, 2) == [[[1, 1]]]
    assert [stream.result(period) for period in (1, 2, 3)] == [{"month": [3]}, {"month": [1]}, None]
    for period in (2, 4):
        with pytest.raises(LedgerError, match="does not follow 2 others"):
            stream.record(period, [[0, 0]], [], {})


def test_people_are_spent_after_as_many_periods_as_the_limit(stream):
    ann, bob, carla = stream.hashes(PEOPLE)
    stream.record(1, [[1]], [ann, bob], {})
    stream.record(2, [[1]], [bob], {})
    assert stream.spent([ann, bob, carla], 1) == {ann, bob}
    assert stream.spent([ann, bob, carla], 2) == {bob}
    assert stream.spent([carla], 1) == set()


def test_what_was_not_recorded_whole_is_not_there(stream):
    (ann,) = stream.hashes([b"ann"])
    with pytest.raises(TypeError):
        stream.record(1, [[object()]], [ann], {})
    assert stream.spent([ann], 1) == set()
    stream.check(1)


def test_a_stream_goes_on_only_from_where_it_stands(stream):
    stream.check(1, "VARCHAR")
    stream.record(1, [[1]], [], {})
    for period in (1, 2):  # a crash may have come after the record
        stream.check(period, "VARCHAR")
    with pytest.raises(LedgerError, match="holds 1 periods"):
        stream.check(3, "VARCHAR")
    with pytest.raises(LedgerError, match="stored as VARCHAR"):
        stream.check(2, "UUID")


def test_a_lost_file_is_refused_and_beginning_again_changes_nothing(stream):
    stream.record(1, [[1]], [], {})
    before = stream.hashes(PEOPLE)
    stream.begin("BIGINT")
    assert stream.hashes(PEOPLE) == before
    stream.path.unlink()
    with pytest.raises(LedgerError, match="holds 0 periods"):
        stream.check(2)
    with pytest.raises(LedgerError, match="cannot be used"):
        stream.hashes(PEOPLE)
    assert not stream.path.exists()


def test_no_id_is_in_the_file_and_another_stream_hashes_it_otherwise(stream, tmp_path):
    hashes = stream.hashes([b"ann@example.org"])
    stream.record(1, [[1]], hashes, {})
    with closing(sqlite3.connect(stream.path)) as connection:
        connection.execute("PRAGMA wal_checkpoint")
    assert b"ann@example" not in stream.path.read_bytes()
    other = StreamState(tmp_path / "private", "month", "digest")
    other.begin("VARCHAR")
    assert other.path != stream.path
    assert other.hashes([b"ann@example.org"]) != hashes


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_the_file_and_its_folder_are_for_their_owner(stream):
    assert [path.stat().st_mode & 0o077 for path in (stream.folder, stream.path)] == [0, 0]


def test_a_damaged_file_is_said_without_its_content(stream):
    stream.path.write_bytes(b"no database" * 100)
    with pytest.raises(LedgerError, match="DatabaseError") as caught:
        stream.sums(0, 1)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
