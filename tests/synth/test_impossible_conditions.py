"""Conditions on rows are read at the price of a few combinations, and refused only after all were tried."""

import pytest

from discreet.data.column import Category, Integer
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.marginals.domain import Domain
from discreet.synth import exclusions

SCHEMA = Schema("t", {"a": Integer(0, 99, nullable=False), "c": Category(["x", "y"], nullable=False)})


@pytest.fixture
def tried(monkeypatch):
    """How many combinations each look at the domain tried."""
    sizes = []
    draw_rows = exclusions.draw_rows

    def counted(domain, columns, codes):
        sizes.append(len(codes))
        return draw_rows(domain, columns, codes)

    monkeypatch.setattr(exclusions, "draw_rows", counted)
    return sizes


def domain():
    return Domain.of(SCHEMA, ["a", "c"])


def test_a_plan_with_conditions_looks_at_few_combinations(tried):
    assert len(exclusions.read_conditions(["a < 15 and c = 'x'", "a > 90"], SCHEMA, domain())) == 2
    assert sum(tried) <= 2**10


def test_what_leaves_nothing_possible_is_refused_after_all_were_tried(tried):
    with pytest.raises(InputError, match="leave some rows possible"):
        exclusions.read_conditions(["a >= 0"], SCHEMA, domain())
    assert max(tried) == 2**17
