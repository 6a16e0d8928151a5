"""What an expression can be follows from the schema alone."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.data.column import Boolean, Category, Date, Integer, Real, Text
from discreet.data.expression import read_expression, resolve
from discreet.data.expression.domain import column_of, domain_of, domain_of_column
from discreet.errors import InputError

COLUMNS = {
    "age": Integer(0, 120),
    "kids": Integer(0, 9, nullable=False),
    "cost": Real(0, 1000),
    "hours": Real(1, 100, nullable=False),
    "sex": Category(["F", "M"], nullable=False),
    "day": Date("2020-01-15", "2020-04-03", nullable=False),
    "flag": Boolean(nullable=False),
    "note": Text(),
}
DOMAINS = {name: domain_of_column(column) for name, column in COLUMNS.items()}


def domain(text):
    return domain_of(resolve(read_expression(text), COLUMNS), DOMAINS)


def column(text):
    return column_of(domain(text), text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cost * hours", Real(0, 100_000)),
        ("cost / hours", Real(0, 1000)),
        ("kids - 4", Integer(-4, 5, nullable=False)),
        ("least(cost, 100)", Real(0, 100, nullable=False)),
        ("coalesce(cost, 0)", Real(0, 1000, nullable=False)),
        ("abs(kids - 4)", Integer(0, 5, nullable=False)),
        ("cost >= 5", Boolean()),
        ("kids >= 5", Boolean(nullable=False)),
        ("upper(sex)", Category(["F", "M"], nullable=False)),
        ("case when age < 18 then 'young' else 'old' end", Category(["young", "old"], nullable=False)),
        ("date_trunc('month', day)", Date("2020-01-01", "2020-04-01", nullable=False)),
        ("year(day)", Integer(0, 2020, nullable=False)),
        ("age / kids", Real(0, 120)),
        ("sqrt(cost)", Real(0, Fraction(31.622776601683793))),
        ("round(cost)", Integer(0, 1000)),
    ],
)
def test_a_declaration_follows_from_the_columns(text, expected):
    assert column(text) == expected


@pytest.mark.parametrize(
    ("text", "values", "missing"),
    [
        ("age // 10 * 10", tuple(range(0, 121, 10)), True),
        ("kids % 3", (0, 1, 2), False),
        ("case when kids > 20 then 'many' when kids > 1 then 'some' end", ("some",), True),
        ("month(day)", (1, 2, 3, 4), False),
        ("sex || '!'", ("F!", "M!"), False),
        ("kids - kids", (0,), False),
        ("kids >= 0", (True,), False),
        ("flag is null", (False,), False),
        ("nullif(kids, 0)", tuple(range(1, 10)), True),
    ],
)
def test_few_values_are_listed_just_as_they_can_come_out(text, values, missing):
    assert (domain(text).values, domain(text).missing) == (values, missing)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("age / cost", "near zero"),
        ("ln(cost)", "at most 4,096 values"),
        ("sex + 1", "of numbers, not of text"),
        ("sex > 3", "one type"),
        ("upper(note)", "whose values are declared"),
        ("power(cost, 0.5)", "a power from 0 to 8"),
        ("power(power(power(cost, 8), 8), 8)", "bounded"),
        ("case when age > 3 then 1 else 'x' end", "of one type"),
        ("cost % 3", "of whole numbers"),
        ("floor(cost * 1e14)", r"of a number within \+-4.5e\+15"),
        ("ceil(cost * 1e14)", r"of a number within \+-4.5e\+15"),
        ("trunc(-cost * 1e14)", r"of a number within \+-4.5e\+15"),
        ("cast(cost * 1e14 as int)", r"of a number within \+-4.5e\+15"),
        ("round(cost * 1e14)", r"of a number within \+-4.5e\+15"),
        ("round(cost * 1e14, -3)", r"of a number within \+-4.5e\+15"),
        ("round(cost, 15)", r"of a number with 15 digits within \+-4"),
        ("not sex", "made of conditions"),
        ("year(age)", "of a date"),
        ("nosuch + 1", "a declared column"),
        ("day + 100000000", "between the years"),
    ],
)
def test_what_has_no_bounds_or_no_sense_is_refused(text, words):
    with pytest.raises(InputError, match=words):
        domain(text)


def test_a_constant_and_numbers_too_large_to_be_exact():
    assert column("5") == Integer(0, 5, nullable=False)
    assert column("0") == Integer(0, 1, nullable=False)
    assert domain("kids * 1000000000000 * 10000").kind == "real"
    with pytest.raises(InputError, match=r"within \+-2\*\*52"):
        column("kids * 1000000000000 * 10000")


def test_ends_of_powers_of_powers_have_few_digits_and_hold_all_values():
    text = "GREATEST(cost / 1000, 0.001)"
    for _ in range(8):
        text = f"POWER({text}, 8)"
    found = domain(text)
    assert (found.lower, found.upper) == (0, 1)
    twice = domain("POWER(POWER(POWER(GREATEST(cost / 1000, 0.001) * -1.01, 8), 8), 3)")
    low, high = Fraction(1.01) ** 192, Fraction(0.001 * 1.01) ** 192
    assert twice.lower <= high < low <= twice.upper <= low * (1 + Fraction(1, 2**190))
    assert twice.upper.numerator.bit_length() < 2_000


def test_rounded_reals_are_listed_where_they_are_few():
    assert domain("ROUND(hours / 20, 1)").values == tuple(number / 10 for number in range(1, 51))
    assert domain("ROUND(cost, 1)").values is None
    assert domain("LN(ROUND(hours / 20, 1))").values is not None
    for text, hint in (("LN(cost)", "LN(ROUND(x / 10) * 10)"), ("EXP(hours / 100)", "EXP(ROUND(x, 2))")):
        with pytest.raises(InputError, match="last digit") as caught:
            domain(text)
        assert hint in caught.value.hint
    assert domain("LN(ROUND(cost / 10) * 10)").values is not None
    assert domain("EXP(ROUND(hours / 100, 2))").values is not None
