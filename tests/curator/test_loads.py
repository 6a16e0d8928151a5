"""Loads behind a ledger: a desk of their own, whose unit is a load that moves, and which is no table."""

from __future__ import annotations

import pytest

from discreet import Budget, Ledger
from discreet.curator import hide_loads
from discreet.curator.loads import LoadDesk
from discreet.errors import InputError
from discreet.power.loads import Loads
from grids import ring

pytest.importorskip("clarabel", reason="needs discreet[power]")


@pytest.fixture
def ledger(tmp_path):
    return Ledger.open(tmp_path / "ledger.db", create=True)


def opened(ledger, **how):
    grid, exact = ring()
    how = {"alpha": 1, "budget": Budget(epsilon=4), "who": "me", **how}
    return hide_loads(grid, Loads(exact), ledger, **how)


def test_the_desk_charges_its_own_account_and_lists_its_releases(ledger):
    draft = opened(ledger)
    desk = draft.desk
    assert isinstance(desk, LoadDesk)
    assert [standing.spent.amount for standing in desk.standing()] == [0]
    made = draft.plan(epsilon=1, cost=3000).release(release="first")
    assert desk.standing()[0].spent.amount == 1
    assert desk.releases() == ["first"]
    assert desk.release("first").loads == made.loads


def test_loads_are_no_table(ledger):
    with pytest.raises(InputError, match="a table"):
        opened(ledger).desk.schema  # noqa: B018
    with pytest.raises(InputError):
        opened(ledger).desk.release("nothing")


def test_how_far_a_load_may_move_is_part_of_the_account(ledger):
    opened(ledger).plan(epsilon=1, cost=3000).release()
    opened(ledger, budget=None)
    with pytest.raises(InputError, match="the distance that the account"):
        opened(ledger, alpha=2, budget=None)


@pytest.mark.parametrize("alpha", [0, -1, "much"])
def test_a_distance_that_is_none_is_refused(ledger, alpha):
    with pytest.raises(InputError) as caught:
        opened(ledger, alpha=alpha)
    assert caught.value.field == "alpha"
