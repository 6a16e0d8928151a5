"""Domains: every declared column a short list of codes, and nothing that a schema does not make public."""

from __future__ import annotations

import re
from datetime import date
from fractions import Fraction

import numpy as np
import pytest

from discreet import Boolean, Category, Date, Integer, Real, Schema, Text, Timestamp, Unit
from discreet.errors import InputError
from discreet.marginals.domain import Domain, lattice_of

SCHEMA = Schema(
    "t",
    {
        "person": Text(),
        "age": Integer(0, 99, nullable=False),
        "pay": Real(0, 1000),
        "wide": Integer(0, 10**6, nullable=False),
        "day": Date(date(2024, 1, 1), date(2024, 12, 31), nullable=False),
        "sex": Category(["f", "m"]),
        "away": Boolean(nullable=False),
    },
    unit=Unit("person", groups=1, rows=1),
)


def test_a_code_for_each_value_or_bin_and_one_more_where_values_may_be_missing():
    domain = Domain.of(SCHEMA)
    sizes = dict(zip(domain.names, domain.sizes, strict=True))
    assert "person" not in sizes
    assert (sizes["age"], sizes["sex"], sizes["away"]) == (100, 3, 2)
    assert 64 < sizes["pay"] < 400
    assert 64 < sizes["wide"] < 400
    assert sizes["day"] == 366
    assert domain.attributes[domain.names.index("pay")].labels[-1] is None


def test_bins_are_cut_as_said_and_few_whole_numbers_only_on_request():
    domain = Domain.of(SCHEMA, ["age", "pay", "day"], bins={"age": 10, "pay": 64, "day": 12})
    assert domain.sizes == (10, 65, 12)
    assert Domain.of(SCHEMA, ["age"], bins=200).sizes == (100,)
    assert [attribute.ordered for attribute in Domain.of(SCHEMA, ["age", "sex"]).attributes] == [True, False]


def test_cells_multiply_and_columns_are_found_by_name():
    domain = Domain.of(SCHEMA, ["age", "sex"])
    assert domain.cells((0, 1)) == 300
    assert domain.cells(()) == 1
    assert len(domain) == 2


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"columns": ["person"]}, "columns.person"),
        ({"columns": ["aeg"]}, "columns"),
        ({"columns": ["age", "age"]}, "columns"),
        ({"columns": []}, "columns"),
        ({"columns": "age"}, "columns"),
        ({"bins": 1}, "bins.age"),
        ({"bins": True}, "bins.age"),
        ({"bins": 1001}, "bins.age"),
        ({"bins": {"agee": 5}}, "bins"),
    ],
)
def test_what_is_not_public_or_not_there_is_refused_by_name(values, field):
    with pytest.raises(InputError) as caught:
        Domain.of(SCHEMA, **values)
    assert caught.value.field == field


def test_merged_codes_carry_the_labels_of_all_they_stand_for():
    domain = Domain.of(SCHEMA, ["sex", "away"]).merged([np.array([0, 1, 0]), np.array([0, 0])])
    assert domain.sizes == (2, 1)
    assert domain.attributes[0].labels == (("f", None), ("m",))


@pytest.mark.parametrize("bins", [[[0, 1, 0]], [[0, 1], [0, 0]], [[0, 2, 0], [0, 0]], [[1, 1, 1], [0, 0]]])
def test_bins_that_leave_codes_or_numbers_out_are_refused(bins):
    with pytest.raises(InputError, match="`bins"):
        Domain.of(SCHEMA, ["sex", "away"]).merged([np.array(each) for each in bins])


def test_a_timestamp_is_refused_with_parts_of_it_that_are_not():
    schema = Schema("t", {"at": Timestamp("2024-01-01", "2024-03-31", "Europe/Vienna"), "g": Category(["a", "b"])})

    def read(column):
        return Domain.of(schema, [column], 4)

    with pytest.raises(InputError) as caught:
        read("at")
    offered = re.findall(r"[A-Z_]+\([^)]*\)", caught.value.hint)
    assert len(offered) == 3
    for column in offered:
        assert read(column)


def test_values_are_multiples_of_a_declared_step_wherever_the_bounds_lie():
    assert lattice_of(Integer(1, 120, step=5)) == (5, 5, 23)
    assert lattice_of(Real(0.01, 1, step=0.05)) == (Fraction(1, 20), Fraction(1, 20), 19)
    assert lattice_of(Real(-0.02, 1, step=0.05)) == (0, Fraction(1, 20), 20)
    assert lattice_of(Integer(0, 2**50))[1] == 10**6
