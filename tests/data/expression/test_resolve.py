"""One form for every way to write an expression, with names and constants as the columns have them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from discreet.data.column import Boolean, Category, Date, Integer, Real
from discreet.data.expression import col, read_expression, resolve
from discreet.errors import InputError

COLUMNS = {
    "age": Integer(0, 120),
    "Cost": Real(0, 1000),
    "code": Category(["1", "2"]),
    "day": Date("2020-01-01", "2020-12-31"),
    "flag": Boolean(),
    "zip code": Integer(0, 99),
}


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("AGE*2", "age * 2"),
        ("cost", "Cost"),
        ('"ZIP CODE" + 1', '"zip code" + 1'),
        ("(age + 1) * 2", "(age + 1) * 2"),
        ("age + 1 * 2", "age + 2"),
        ("age - (1 - age)", "age - (1 - age)"),
        ("day >= '2020-02-01'", "day >= DATE '2020-02-01'"),
        ("code = 1", "code = '1'"),
        ("age > '18'", "age > 18"),
        ("flag + 1", "CAST(flag AS BIGINT) + 1"),
        ("flag = 1", "flag = TRUE"),
        ("age and flag", "age <> 0 AND flag"),
        ("not (age > 1 and flag)", "NOT (age > 1 AND flag)"),
        ("age between 1 and 3", "age >= 1 AND age <= 3"),
        ("if(flag, 'a', 'b')", "CASE WHEN flag THEN 'a' ELSE 'b' END"),
        ("age -- years\n * 2;", "age * 2"),
        ("day + interval '2' month", "day + INTERVAL 2 MONTH"),
        ("age * -2", "age * -2"),
        ("-(-age)", "-(-age)"),
    ],
)
def test_an_expression_has_one_form_which_reads_as_itself(text, form):
    made = resolve(read_expression(text), COLUMNS)
    assert str(made) == form
    assert str(resolve(read_expression(str(made)), COLUMNS)) == str(made)


def test_a_name_that_differs_in_case_alone_must_be_the_only_one():
    columns = {"Age": Integer(0, 1), "AGE": Integer(0, 2)}
    assert str(resolve(read_expression("AGE + 1"), columns)) == "AGE + 1"
    with pytest.raises(InputError, match="a declared column"):
        resolve(read_expression("age + 1"), columns)


def test_constants_beyond_what_floats_tell_apart_and_deep_nests_are_refused():
    for text in ("age + 1e30", "age * 1e-20", "age + " + "9" * 20, "(" * 70 + "age" + "+1)" * 70):
        with pytest.raises(InputError):
            resolve(read_expression(text), COLUMNS)


@pytest.mark.parametrize(
    "text",
    [
        "age * 1e999999999",
        "age * 1e-999999999",
        "age * 0e999999999",
        "age > '1e999999999'",
        "age > '1e400'",
        "age + " + "9" * 5000,
        "CAST(age AS DECIMAL(10, " + "9" * 5000 + "))",
        "day + interval '" + "9" * 5000 + "' day",
    ],
)
def test_a_number_of_few_letters_and_very_many_digits_is_never_written_out(text):
    with pytest.raises(InputError):
        resolve(read_expression(text), COLUMNS)


def test_numbers_of_very_many_digits_are_refused_from_python_too():
    for number in (Decimal("1e999999999"), Decimal("0e-999999999"), float("inf"), float("nan")):
        with pytest.raises(InputError):
            resolve(col("age") * number, COLUMNS)
