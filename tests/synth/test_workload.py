"""Workloads: which marginals are preserved, and what to do about those too large."""

from __future__ import annotations

import math

import pyarrow
import pyarrow.parquet
import pytest

import discreet
from discreet import Budget, Category, Integer, Schema
from discreet.errors import InputError
from discreet.marginals.domain import Domain
from discreet.synth import workload as room
from discreet.synth.workload import MERGED, closure


def big(tmp_path, size: int = 5000):
    columns = {name: Category([f"{name}{place}" for place in range(size)], nullable=False) for name in ("zip", "job")}
    rows = pyarrow.table({"zip": ["zip1"], "job": ["job1"], "n": [1]})
    schema = Schema("t", {**columns, "n": Integer(0, 3, nullable=False)})
    return discreet.open(rows, schema, ledger=tmp_path / "t.db", budget=Budget(10), who="ann", create=True)


def test_too_large_a_domain_says_which_columns_and_what_to_do(tmp_path):
    curator = big(tmp_path)
    offer = curator.synthesize().plan(epsilon=1)
    assert offer.plan.left_out == ((0, 1),)
    assert "more than 1,000,000 cells: 1 marginal, zip x job" in str(offer)
    with pytest.raises(
        InputError, match=r"zip \(5,000\) x job \(5,000\) makes 25,000,000.*put values of zip together"
    ) as one:
        curator.synthesize(workload=[("zip", "job")])
    assert one.value.field == "workload"
    with pytest.raises(InputError, match="zip"):
        curator.synthesize(columns=["zip", "job"])


def test_triples_are_those_that_rows_can_fill(curator):
    few = curator.synthesize(workload="triples", rows=1000).plan(epsilon=1)
    sizes = [min(size, MERGED) for size in few.plan.domain.sizes]  # as methods merge them
    assert all(math.prod(sizes[column] for column in one) <= 1000 for one in few.plan.workload if len(one) == 3)
    pairs = {pair for one in few.plan.workload for pair in [one] if len(one) == 2}
    held = {frozenset(one) for one in few.plan.workload}
    assert pairs <= {tuple(sorted(one)) for one in held}
    covered = {(a, b) for one in few.plan.workload for a in one for b in one if a < b}
    assert len(covered) == 10  # every pair is in something
    assert len(few.plan.left_out) + sum(len(one) == 3 for one in few.plan.workload) == 10
    weights = curator.synthesize(workload={("age", "works"): 3, "sex": 1}).plan(epsilon=1).plan.workload
    assert weights == {(0, 2): 3.0, (1,): 1.0}


def test_marginals_too_large_for_a_domain_found_later_are_left_out(monkeypatch):
    domain = Domain.of(Schema("t", {name: Integer(0, 9, nullable=False) for name in "abc"}))
    asked = {(0, 1): 2.0, (0, 1, 2): 1.0}
    assert room.bearable(asked, domain) == asked
    monkeypatch.setattr(room, "LARGEST", 100)
    assert room.bearable(asked, domain) == {(0, 1): 2.0}
    monkeypatch.setattr(room, "LARGEST", 50)
    assert room.bearable(asked, domain) == {(0,): 1.0, (1,): 1.0, (2,): 1.0}


def test_a_marginal_bears_on_what_shares_columns_with_it():
    weights = {(0, 1, 2): 2.0, (1, 3): 0.5, (4,): 3.0}
    inside = closure(weights, least=2)
    assert list(inside) == [(0, 1), (0, 2), (1, 2), (1, 3), (0, 1, 2)]
    for columns, weight in inside.items():
        assert weight == sum(many * len({*columns} & {*marginal}) for marginal, many in weights.items())
