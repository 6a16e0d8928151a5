"""What a census may be asked: fields in every form, and what is refused before anything is spent."""

from __future__ import annotations

import pytest
from homes import COLUMNS, HOME, LEAVES, ROW, TABLES, asked, roster

from discreet import Schema, Unit
from discreet.errors import InputError
from discreet.trees.census import CensusAsk
from discreet.trees.census.table import TABLES as FORM
from discreet.trees.census.table import CensusTable

SCHEMA = Schema("t", COLUMNS)


def test_an_ask_is_the_same_after_json():
    ask = asked(ROW)
    again = CensusAsk.from_dict(ask.to_dict(), SCHEMA)
    assert plain(again) == plain(ask)
    assert plain(CensusAsk.from_dict(again.to_dict(), SCHEMA)) == plain(ask)


def plain(ask: CensusAsk) -> list[object]:
    made = ask.checked(SCHEMA).roster
    return [made.head, *((name, part.to_dict()) for name, part in made.parts.items())]


def test_tables_are_read_from_toml_and_json():
    toml = FORM.parse('[types]\ncounts = "households"\nby = ["type", "age/0,40,99"]\nshare = 2\n')
    tables = FORM.settle(FORM.read(toml, SCHEMA))
    again = FORM.settle(FORM.read(FORM.write(tables), SCHEMA))
    assert again["types"].share == tables["types"].share == 2
    assert plain(asked(ROW, again)) == plain(asked(ROW, tables))
    assert FORM.parse('{"a": {"counts": "persons"}}') == {"a": {"counts": "persons"}}


def test_a_table_may_be_given_as_an_object():
    assert asked(ROW, {"a": CensusTable("persons", ["sex"])}).tables == asked(ROW, {"a": TABLES["people"]}).tables


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"tables": {}}, "tables"),
        ({"tables": "people"}, "tables"),
        ({"tables": {"a b": {"counts": "persons"}}}, "tables"),
        ({"tables": {"a": 3}}, "tables.a"),
        ({"tables": {"a": {}}}, "tables.a.counts"),
        ({"tables": {"a": {"counts": "dogs"}}}, "tables.a.counts"),
        ({"tables": {"a": {"counts": "persons", "of": "sex"}}}, "tables.a.of"),
        ({"tables": {"a": {"counts": "households", "household": ["type"]}}}, "tables.a.household"),
        ({"tables": {"a": {"counts": "sizes"}}}, "tables.a.largest"),
        ({"tables": {"a": {"counts": "sizes", "largest": 3, "by": ["sex"]}}}, "tables.a.by"),
        ({"tables": {"a": {"counts": "sizes", "largest": 0}}}, "tables.a.largest"),
        ({"tables": {"a": {"counts": "persons", "largest": 3}}}, "tables.a.largest"),
        ({"tables": {"a": {"counts": "persons", "share": 0}}}, "tables.a.share"),
        ({"tables": {"a": {"counts": "persons", "by": ["sexx"]}}}, "tables.a.by"),
        ({"tables": {"a": {"counts": "persons", "by": 3}}}, "tables.a.by"),
        ({"tables": {"a": {"counts": "persons", "by": [3.5]}}}, "tables.a.by"),
        ({"tables": {"a": {"counts": ["persons"]}}}, "tables.a.counts"),
        ({"tables": {"a": {"counts": "persons", "share": "half"}}}, "tables.a.share"),
        ({"household": "nowhere"}, "household"),
        ({"household": "county"}, "household"),
        ({"most": 0}, "most"),
        ({"most": None}, "most"),
        ({"head": "nowhere = 1"}, "head"),
        ({"head": "age >"}, "head"),
        ({"where": "nowhere = 1"}, "where"),
        ({"method": "best"}, "method"),
        ({"split": "accurate"}, "split"),
    ],
)
def test_wrong_descriptions_are_refused(change, field):
    given = {"tables": TABLES, "household": "home", "geography": LEAVES, "most": 2} | change
    with pytest.raises(InputError) as problem:
        CensusAsk.of({"state": 1, "county": 2}, **given).checked(SCHEMA)
    assert problem.value.field == field


def test_rows_of_nobody_knows_whom_are_refused():
    with pytest.raises(InputError, match="counted together"):
        asked(ROW).checked(Schema("t", COLUMNS, Unit(rows=3)))


def test_the_most_persons_of_a_household_that_is_the_unit_are_the_schemas():
    assert roster(HOME, most=None).first.most == HOME.most_total


def test_a_file_of_something_else_is_not_quoted():
    with pytest.raises(InputError) as error:
        FORM.parse("county,home,type\nN2,h0,family,29\n")
    assert "family" not in str(error.value)
    assert "TOML or JSON" in str(error.value)
