"""Codes stored in the engine for one run: counted exactly, mapped exactly, and gone with the connection."""

from __future__ import annotations

import ibis
import numpy as np
import pyarrow
import pytest

from discreet.data.source import source_of

CODES = pyarrow.table({"c0": [0, 1, 1, 2, 2, 2], "c1": [0, 0, 3, 3, 3, 1]})


def opened():
    return source_of(CODES).open()


def test_cells_are_counted_and_mapped():
    with opened() as connection:
        stored = connection.store(connection.table)
        cells, counts = stored.tally((0, 1), (3, 4))
        assert dict(zip(cells.tolist(), counts.tolist(), strict=True)) == {0: 1, 4: 1, 7: 1, 9: 1, 11: 2}
        mapped = stored.mapped([np.array([0, 1, 0]), np.arange(4)])
        cells, counts = mapped.tally((0,), (2, 4))
        assert dict(zip(cells.tolist(), counts.tolist(), strict=True)) == {0: 4, 1: 2}
        assert [count.tolist() for count in stored.tally((), (3, 4))] == [[0], [6]]


def test_the_last_of_as_many_codes_as_short_numbers_hold_is_mapped():
    with source_of(pyarrow.table({"c0": pyarrow.array([0, 2**15 - 1], pyarrow.int16())})).open() as connection:
        mapped = connection.store(connection.table).mapped([np.arange(2**15) // 2**14])
        assert [found.tolist() for found in mapped.tally((0,), (2,))] == [[0, 1], [1, 1]]


def test_rows_count_as_many_as_they_say():
    with opened() as connection:
        limited = connection.table.mutate(many=ibis.literal(3))
        cells, counts = connection.store(limited).tally((0,), (3, 4))
        assert dict(zip(cells.tolist(), counts.tolist(), strict=True)) == {0: 3, 1: 6, 2: 9}


def test_nothing_is_left_behind():
    with opened() as connection:
        name = connection.store(connection.table)._name
        assert connection._backend.raw_sql(f"SELECT count(*) FROM {name}").fetchall() == [(6,)]
    with opened() as connection, pytest.raises(Exception, match=name):
        connection._backend.raw_sql(f"SELECT * FROM {name}")
