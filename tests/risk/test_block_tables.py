"""Somebody's own tables, people and register, read from files and attacked."""

import pytest

from discreet.errors import InputError
from discreet.risk import read_blocks, read_register, read_residents, rebuild_blocks
from discreet.risk.census import exact_tables

PEOPLE = [(8, "F", "white"), (30, "M", "white"), (31, "M", "white"), (32, "M", "white"), (66, "F", "black")]


def printed(block):
    rows = {name: [] for name in ("block", "sex", "race", "from", "to", "count", "mean", "median")}
    for one in block.statistics:
        values = ("7", one.sex or "", one.race or "", *map(str, one.ages), str(one.count))
        values += tuple("" if number is None else str(number) for number in (one.mean, one.median))
        for column, value in zip(rows.values(), values, strict=True):
            column.append(value)
    return rows


def test_tables_are_read_as_they_were_printed():
    block = exact_tables(PEOPLE)
    assert read_blocks(printed(block)) == {"7": block}


def test_people_come_back_from_somebodys_own_tables_with_their_names():
    register = read_register({"block": ["7", "7"], "name": ["Ada", "Bob"], "age": [8, 60], "sex": ["F", "M"]})
    found = rebuild_blocks(read_blocks(printed(exact_tables(PEOPLE))), register)
    assert (found.blocks, found.solved, len(found.people)) == (1, 1, 5)
    assert "Bob" not in {person.name for person in found.people}
    assert all(person.block == "7" for person in found.people)
    assert f"{len(found.people)} people" in found.explain()
    assert found.picture().to_svg().startswith("<svg")


def test_tables_that_contradict_each_other_have_nobody():
    rows = printed(exact_tables(PEOPLE))
    rows["count"][0] = "9"
    assert rebuild_blocks(read_blocks(rows)).solved == 0


def test_people_and_register_are_put_together_by_block():
    rows = {"block": ["a", "b"], "age": [30, 40], "sex": ["F", "M"], "race": ["x", "y"], "name": ["Ann", "Bob"]}
    register = {"block": ["a"], "name": ["Ann"], "age": [30], "sex": ["F"]}
    found = read_residents(rows, register)
    assert found["a"].names == ("Ann",)
    assert (len(found["a"].register), len(found["b"].register)) == (1, 0)
    assert read_residents({name: rows[name] for name in ("block", "age", "sex", "race")})["a"].register == ()


@pytest.mark.parametrize(
    ("match", "column", "value"),
    [("count", "count", "-1"), ("from", "from", "200"), ("mean", "mean", "old")],
)
def test_a_table_with_a_wrong_cell_is_refused(match, column, value):
    rows = printed(exact_tables(PEOPLE))
    rows[column][2] = value
    with pytest.raises(InputError, match=f"row 3, {match}"):
        read_blocks(rows)


def test_a_table_without_a_column_that_is_needed_is_refused_by_its_name():
    rows = printed(exact_tables(PEOPLE))
    del rows["from"]
    with pytest.raises(InputError, match=r"`tables` must be a table with the columns block, .*; got one without from"):
        read_blocks(rows)
    with pytest.raises(InputError, match="`register` must be a table with the columns block, name, age, sex"):
        read_register({"block": ["7"], "name": ["Ada"]})
