"""Conditions that no row meets: rows are changed as little as will do, and wrong ones are refused."""

from __future__ import annotations

import numpy as np
import pytest
from typed_rows import DOMAIN, SCHEMA, some_codes

from discreet.data.column import Category, Integer
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.marginals.domain import Domain
from discreet.query.predicate import col
from discreet.synth import exclusions
from discreet.synth.exclusions import compared_columns, holds, possible, read_conditions, repaired
from discreet.synth.rows import draw_rows

CONDITIONS = ["age < 16 and works", "flag is null and sex = 'm'", "size > 500 and not (pay > 1000)"]


def test_what_cannot_be_is_not():
    codes = some_codes()
    conditions = read_conditions(CONDITIONS, SCHEMA, DOMAIN)
    before = draw_rows(DOMAIN, SCHEMA.columns, codes)
    assert all(holds(condition, before, DOMAIN).any() for condition in conditions)
    fixed, drawn, changed = repaired(DOMAIN, SCHEMA.columns, codes, conditions)
    assert not any(holds(condition, drawn, DOMAIN).any() for condition in conditions)
    met = np.logical_or.reduce([holds(condition, before, DOMAIN) for condition in conditions])
    assert changed == met.sum()
    assert np.array_equal(fixed[~met], codes[~met])
    DOMAIN.check(fixed)
    # As little as will do: one column of a row that met one condition.
    assert (fixed != codes).sum() <= 1.3 * changed
    # Values and codes are still each other's.
    for place, attribute in enumerate(DOMAIN.attributes):
        if attribute.missing:
            assert np.array_equal(drawn[attribute.name].missing, fixed[:, place] == attribute.size - 1)
    assert np.array_equal(drawn["age"].values, fixed[:, DOMAIN.place("age")])


def test_when_no_row_is_possible_others_are_made():
    codes = some_codes(500)
    codes[:, DOMAIN.place("works")] = 1
    conditions = read_conditions([col("works") == True], SCHEMA, DOMAIN)  # noqa: E712
    fixed, drawn, changed = repaired(DOMAIN, SCHEMA.columns, codes, conditions)
    assert changed == 500
    assert not holds(conditions[0], drawn, DOMAIN).any()
    assert (fixed[:, DOMAIN.place("works")] == 0).all()


def test_nothing_is_changed_where_nothing_is_impossible():
    codes = some_codes(100)
    fixed, _, changed = repaired(DOMAIN, SCHEMA.columns, codes, ())
    assert changed == 0
    assert np.array_equal(fixed, codes)
    assert len(possible(DOMAIN, SCHEMA.columns, read_conditions(["age < 0"], SCHEMA, DOMAIN))) > 1000


@pytest.mark.parametrize(
    ("conditions", "told"),
    [
        (["age >= 0"], "leave some rows possible"),
        (["works", "not works"], "leave some rows possible"),
        (["nowhere = 3"], "declared column"),
        (["sex = 'x'"], "declared value of sex"),
        (["sex <"], "impossible"),
        ([5], "impossible"),
    ],
)
def test_conditions_are_refused_before_anything_is_spent(conditions, told):
    with pytest.raises(InputError, match=told) as problem:
        read_conditions(conditions, SCHEMA, DOMAIN)
    assert problem.value.field == "impossible"


def test_conditions_are_about_the_columns_that_are_made():
    with pytest.raises(InputError, match="must be about columns that are made: age"):
        read_conditions(["works"], SCHEMA, Domain.of(SCHEMA, ["age"]))


SMALL = Schema("t", {"a": Integer(0, 99, nullable=False), "c": Category(["x", "y"], nullable=False)})


@pytest.fixture
def tried(monkeypatch):
    """How many combinations each look at the domain tried."""
    sizes = []
    draw_parts = exclusions.draw_parts

    def counted(domain, made, columns, codes):
        sizes.append(len(codes))
        return draw_parts(domain, made, columns, codes)

    monkeypatch.setattr(exclusions, "draw_parts", counted)
    return sizes


def small_domain():
    return Domain.of(SMALL, ["a", "c"])


def test_a_plan_with_conditions_looks_at_few_combinations(tried):
    assert len(exclusions.read_conditions(["a < 15 and c = 'x'", "a > 90"], SMALL, small_domain())) == 2
    assert sum(tried) <= 2**10


def test_what_leaves_nothing_possible_is_refused_after_all_were_tried(tried):
    with pytest.raises(InputError, match="leave some rows possible"):
        exclusions.read_conditions(["a >= 0"], SMALL, small_domain())
    assert max(tried) == 2**17


NUMBERS = Schema("t", {"a": Integer(0, 9), "b": Integer(0, 9), "c": Category(["x", "y"]), "d": Category(["x", "y"])})


@pytest.mark.parametrize("condition", ["a < b", "not (a >= b)", "a < b and c = 'x'"])
def test_two_columns_may_be_compared(condition):
    domain = Domain.of(NUMBERS)
    codes = np.random.default_rng(1).integers(0, [11, 11, 3, 3], (2000, 4))
    (read,) = read_conditions([condition], NUMBERS, domain)
    before = draw_rows(domain, NUMBERS.columns, codes)
    values, known = before["a"].values < before["b"].values, ~before["a"].missing & ~before["b"].missing
    met = holds(read, before, domain)
    assert met.any()
    assert not (met & ~(values & known)).any()
    if "c" not in condition:
        assert np.array_equal(met, values & known)
    _, drawn, changed = repaired(domain, NUMBERS.columns, codes, [read])
    assert not holds(read, drawn, domain).any()
    assert changed == met.sum()


def test_columns_of_different_kinds_are_not_compared():
    for text in ("c = d", "a = c"):
        with pytest.raises(InputError):
            read_conditions([text], NUMBERS, Domain.of(NUMBERS))
    with pytest.raises(InputError, match="about columns that are made"):
        read_conditions(["a < b"], NUMBERS, Domain.of(NUMBERS, ["a", "c"]))
    assert compared_columns("a < b + 1") is None
