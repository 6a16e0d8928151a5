"""Which columns single people out, by counting."""

import itertools

import numpy as np
import pytest

from discreet.risk import singling
from discreet.risk.records import Records
from discreet.risk.singling import single_out, smallest_set, spared_without


def _table(rows=400, columns=5):
    draw = np.random.default_rng(2)
    return Records.read({f"c{place}": draw.integers(0, 3 + 4 * place, rows) for place in range(columns)})


def _alone(table, names):
    rows = list(zip(*(table[name].codes.tolist() for name in names), strict=True))
    return sum(rows.count(row) == 1 for row in rows)


def test_every_set_of_few_columns_is_counted_the_worst_first():
    table = _table()
    told = single_out(table, list(table.columns), 2)
    sets = [names for many in (1, 2) for names in itertools.combinations(table.columns, many)]
    assert {one.columns: one.alone for one in told} == {names: _alone(table, names) for names in sets}
    assert [one.alone for one in told] == sorted((one.alone for one in told), reverse=True)


def test_where_there_are_too_many_sets_those_that_tell_most_are_grown(monkeypatch):
    table = _table(300, 12)
    every = single_out(table, list(table.columns), 3)
    monkeypatch.setattr(singling, "_SETS", 110)
    some = single_out(table, list(table.columns), 3)
    assert len(some) <= 110 < len(every)
    assert (some[0].alone, len(some[0].columns)) == (every[0].alone, 3)


def test_the_smallest_set_and_what_is_spared_without_a_column():
    table = Records.read({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "c": [1, 1, 1, 1]})
    told = single_out(table, ["a", "b", "c"], 3)
    assert smallest_set(told, 4, 0.5).columns == ("a", "b")
    assert smallest_set(told[-1:], 4, 0.5) is None
    assert spared_without(table, ["a", "b", "c"]) == {"a": 0, "b": 0, "c": 4}


def test_people_with_many_rows_count_once():
    """Ann has three rows that nobody else has; by rows nothing is alone, by people she is."""
    table = Records.read({"who": ["ann", "ann", "ann", "bob", "cem"], "ward": [1, 1, 1, 2, 2]})
    assert single_out(table, ["ward"], 1)[0].alone == 0
    assert single_out(table, ["ward"], 1, "who")[0].alone == 1


@pytest.mark.parametrize("few", [1, 9])
def test_sets_are_no_larger_than_there_are_columns(few):
    assert max(len(one.columns) for one in single_out(_table(50, 2), ["c0", "c1"], few)) == min(few, 2)
