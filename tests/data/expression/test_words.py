"""Free text is compared alike on every engine, and no pattern makes a run fail."""

from __future__ import annotations

import re

import pytest
from engine_cases import ENGINES, rows
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.column import Category, Text
from discreet.data.expression import Call, Constant, read_expression, resolve
from discreet.data.expression.compile import with_expressions
from discreet.data.expression.domain import Domains, domain_of, value_of
from discreet.data.expression.words import pattern
from discreet.errors import InputError

COLUMNS = {"who": Text()}
PATTERNS = ["%a%", "_", "a", "%", "__", "%'%", '%"%', "${env%", "%oë", "日_", " %"]
PARTS = ["a", "\\", "'", '"', "$", "{", "ë", "本", " ", "", "%", "_"]
FREE = [f"who LIKE '{text.replace(chr(39), chr(39) * 2)}'" for text in PATTERNS]
FREE += [
    f"{name}(who, '{part.replace(chr(39), chr(39) * 2)}')"
    for name in ("contains", "starts_with", "ends_with")
    for part in PARTS
]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_compares_free_text_as_python_does(engine):
    expressions = [resolve(read_expression(text), COLUMNS) for text in FREE]
    with engine().open() as connection:
        names = {f"c{i}": each for i, each in enumerate(expressions)}
        table = with_expressions(names, connection.table, COLUMNS)
        counted = {name: table[name].ifelse(1, 0).sum().cast("int64") for name in names}
        found = connection.integers(table.aggregate(**counted))
    for place, expression in enumerate(expressions):
        expected = sum(bool(value_of(expression, {"who": row["who"]})) for row in rows())
        assert found[f"c{place}"].tolist() == [expected], str(expression)


@pytest.mark.parametrize("how", ["LIKE", "ILIKE"])
@pytest.mark.parametrize("pattern", ["abc\\", "a\\_c", "\\", "\\%"])
def test_a_pattern_with_a_backslash_is_refused(how, pattern):
    """At the end of a pattern it made PostgreSQL fail, and only where a row's text was long enough: an answer about
    one row without noise."""
    with pytest.raises(InputError, match="without backslashes"):
        resolve(read_expression(f"who {how} '{pattern}'"), COLUMNS)


def test_texts_that_grow_without_end_are_refused_before_they_are_made():
    columns = {"code": Category([str(number) for number in range(100, 300)])}
    grown = "code"
    for _ in range(6):
        grown = f"REPLACE({grown}, '1', '{'1' * 500}')"
    for text in (grown, " || ".join([f"'{'x' * 1000}'"] * 20 + ["code"])):
        with pytest.raises(InputError, match="at most 10,000 characters"):
            resolve(read_expression(text), columns)
    longest = resolve(read_expression(f"LENGTH(REPLACE(code, '1', '{'1' * 50}'))"), columns)
    assert domain_of(longest, Domains(columns)).upper == 150


def test_a_label_that_would_grow_without_end_is_missing():
    grown = read_expression("k")
    for _ in range(6):
        grown = Call("replace", (grown, Constant("a"), Constant("a" * 100)))
    assert value_of(grown, {"k": "a"}) is None
    assert value_of(grown, {"k": "b"}) == "b"


def test_a_pattern_of_many_parts_is_matched_from_the_left_without_trying_every_place():
    assert pattern("%a" * 40 + "%b").fullmatch("a" * 3000) is None
    assert pattern("%a" * 40 + "%b").fullmatch("a" * 300 + "b") is not None
    with pytest.raises(InputError, match="at most 1,000 characters"):
        resolve(read_expression(f"who LIKE '{'%a' * 600}'"), COLUMNS)


@given(st.text("ab%_", max_size=8), st.text("ab\n", max_size=8))
def test_a_pattern_matches_what_trying_every_place_would(like, text):
    parts = [".*" if mark == "%" else "." if mark == "_" else mark for mark in like]
    tried = re.compile("".join(parts), re.DOTALL).fullmatch(text)
    assert (pattern(like).fullmatch(text) is None) == (tried is None)
