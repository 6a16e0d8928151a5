"""The register of functions: every class once, under names of its own, in one order for every list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from discreet.errors import InputError
from discreet.query import function
from discreet.query.function import Argument, Function, functions, kind_of, kinds, listed_functions, register


def test_every_function_has_one_class_and_stands_once_in_lists():
    names = [each.name for each in functions()]
    assert len(set(names)) == len(names)
    assert [each.place for each in functions()] == sorted(each.place for each in functions())
    for kind in kinds():
        assert all(kind_of(each.name) is kind for each in kind.functions)
    assert set(listed_functions()) == {each.name for each in functions() if each.listed}


def test_no_name_in_sql_belongs_to_two_functions():
    words = [name for each in functions() for name in each.sql]
    assert len(set(words)) == len(words)


def test_a_name_that_is_taken_is_refused(monkeypatch):
    monkeypatch.setattr(function, "_REGISTERED", dict(function._REGISTERED))

    @dataclass
    class Depth:
        functions: ClassVar[tuple[Function, ...]] = (Function(name="depth", call="depth()", words="depth of"),)

    assert register(Depth) is Depth
    assert kind_of("depth") is Depth
    with pytest.raises(InputError, match="no other class"):
        register(Depth)


@pytest.mark.parametrize("name", ["depths", "", None, ["mean"]])
def test_a_function_that_is_none_is_refused_with_those_there_are(name):
    with pytest.raises(InputError, match="median"):
        kind_of(name)


def test_a_misspelt_function_is_met_with_the_nearest():
    with pytest.raises(InputError, match="Did you mean `mean`"):
        kind_of("mena")


def test_it_is_written_as_the_command_line_reads_it():
    plain = Function(name="sum", call="total()", words="sum of", sql={"SUM": {}})
    assert (plain.written(), plain.written("pay"), plain.sql_words) == ("sum", "sum(pay)", ("SUM",))
    rank = Function(
        name="quantile",
        call="quantile()",
        words="quantile of",
        shown=("QUANTILE_CONT(column, 0.9)",),
        argument=Argument("q", "0.9", "a number", required=True, usual="0.5"),
    )
    assert rank.written("pay") == "quantile(pay,0.5)"
    assert rank.written("pay", "0.9") == "quantile(pay,0.9)"
    assert rank.sql_words == ("QUANTILE_CONT(column, 0.9)",)
