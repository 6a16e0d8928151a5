"""What columns are taken for, by name, by spelling and by how many share a value."""

import numpy as np
import pytest

from discreet.risk.records import Records
from discreet.risk.roles import DIRECT, OTHER, QUASI, SENSITIVE, guess_roles

MANY = 60
NUMBERS = np.arange(MANY)


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("contact", [f"p{n}@mail.example" for n in NUMBERS], DIRECT),
        ("x", [f"{n % 9 + 1:03d}-{n % 90 + 10}-{n:04d}" for n in NUMBERS], DIRECT),
        ("where_from", [f"10.0.{n}.1" for n in NUMBERS], DIRECT),
        ("ring", [f"+44 20 7946 {n:04d}" for n in NUMBERS], DIRECT),
        ("token", [f"{n:08x}-0000-4000-8000-{n:012x}" for n in NUMBERS], DIRECT),
        ("surname", ["Ng", "Ito"] * (MANY // 2), DIRECT),
        ("row_id", NUMBERS * 7, DIRECT),
        ("patient", NUMBERS // 2, DIRECT),
        ("individual", NUMBERS // 2 * 1.0, DIRECT),
        ("patient id", NUMBERS // 2, DIRECT),
        ("patient_id", [None, *(NUMBERS[1:] // 2 * 1.0)], DIRECT),  # whole numbers, floats where one is missing
        ("line", NUMBERS, DIRECT),
        ("remark", [f"text {n}" for n in NUMBERS], DIRECT),
        ("signed", [f"{['Ann', 'Bob', 'Cy', 'Di', 'Eve'][n % 5]} {'ABCDEFGHIJKL'[n // 5]}oe" for n in NUMBERS], DIRECT),
        ("birthDate", ["1990-01-01", "1991-01-01"] * (MANY // 2), QUASI),
        ("zip-code", ["02139", "02140"] * (MANY // 2), QUASI),
        ("marital_status", ["m", "s"] * (MANY // 2), QUASI),
        ("seen", [f"2024-01-{n % 28 + 1:02d} 10:{n:02d}" for n in NUMBERS], QUASI),
        ("diagnosis", ["flu", "gout"] * (MANY // 2), SENSITIVE),
        ("annual income", NUMBERS * 1000.5, SENSITIVE),
        ("pay", NUMBERS, SENSITIVE),
        ("colour", ["red", "blue"] * (MANY // 2), OTHER),
        ("measure", NUMBERS * 0.37, OTHER),
        ("name", ["the same"] * MANY, OTHER),
        ("age", [None] * MANY, OTHER),
    ],
)
def test_a_column_is_taken_for_what_it_is(name, values, role):
    table = Records.read({name: values, "sex": ["f", "m"] * (MANY // 2), "age_group": ["a", "b"] * (MANY // 2)})
    found = {one.name: one for one in guess_roles(table)}
    assert found[name].role == role, found[name]
    assert found[name].why


def test_who_has_several_rows_is_found_by_the_rows():
    people, years = np.repeat(np.arange(50), 4), np.tile(np.arange(2020, 2024), 50)
    panel = {"nr": people * 7, "year": years, "origin": people % 3, "score": (people * years) % 17}
    found = {one.name: one for one in guess_roles(Records.read(panel))}
    assert found["nr"].role == DIRECT
    assert "one for each year, and the same origin in all: see --person" in found["nr"].why
    assert found["year"].role != DIRECT != found["origin"].role
    named = {one.name: one for one in guess_roles(Records.read(panel), quasi=["nr"], sensitive=["score"])}
    assert named["nr"].role == QUASI
    lost = panel | {"nr": [None, *people[1:] * 7.0]}
    assert next(one for one in guess_roles(Records.read(lost)) if one.name == "nr").role == DIRECT


@pytest.mark.parametrize(
    "changed",
    [
        {"origin": np.arange(200) % 3},  # nothing stays the same for anybody
        {"year": np.arange(200) // 100},  # nothing tells the rows of one apart
        {"nr": np.repeat(np.arange(50), 4) + 0.5},  # a measure, no number of a person
        {"nr": np.repeat(np.arange(10), 20)},  # too few to be people
    ],
)
def test_other_columns_are_not_taken_for_people(changed):
    people, years = np.repeat(np.arange(50), 4), np.tile(np.arange(2020, 2024), 50)
    found = {
        one.name: one
        for one in guess_roles(Records.read({"nr": people, "year": years, "origin": people % 3} | changed))
    }
    assert all(one.role != DIRECT for one in found.values()), found


def test_what_is_named_is_not_guessed():
    table = Records.read({"age": [1, 2], "colour": ["r", "b"], "mail": ["a@b.cd", "c@d.ef"]})
    found = guess_roles(table, quasi=["colour"], sensitive=["age"], person="mail")
    assert [one.role for one in found] == [SENSITIVE, QUASI, DIRECT]
    assert all("by you" in one.why for one in found)
    alone = {one.name: one for one in guess_roles(table, quasi=["colour"])}
    assert alone["age"].role == OTHER


def test_where_no_name_helps_everything_that_is_no_secret_may_be_known():
    table = Records.read({f"v{place}": np.arange(40) % (place + 1) for place in range(16)})
    found = guess_roles(table)
    assert sum(one.role == QUASI for one in found) == 12
    assert {one.name for one in found if one.constant} == {"v0"}
    assert next(one for one in found if one.name == "v0").role == OTHER


def test_missing_values_are_counted():
    (found,) = guess_roles(Records.read({"age": [1, None, 2, None]}))
    assert (found.distinct, found.missing) == (2, 0.5)
