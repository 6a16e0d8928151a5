"""A job being put together: checked at once, one condition, priced in the words and terms of its kind."""

from __future__ import annotations

import pytest

from discreet.curator.draft import Draft
from discreet.errors import InputError
from discreet.trees.ask import TreeAsk
from small_desk import open_desk


@pytest.fixture
def draft(tmp_path):
    return Draft.of(open_desk(tmp_path), TreeAsk.of(["county"]))


def test_a_mistake_is_said_when_it_is_made(tmp_path):
    with pytest.raises(InputError, match="county"):
        Draft.of(open_desk(tmp_path), TreeAsk.of(["conty"]))


def test_one_condition_is_added_and_no_second(draft):
    narrowed = draft.where("age > 35")
    assert draft.ask.where is None
    assert narrowed.ask.where == "age > 35"
    assert type(narrowed) is Draft
    with pytest.raises(InputError, match="join several"):
        narrowed.where("age < 50")
    with pytest.raises(InputError):
        draft.where("agee > 5")


def test_it_is_priced_in_one_way_and_with_the_terms_of_its_kind(draft):
    assert draft.plan(epsilon=1).plan.charge.amount == 1
    assert draft.plan(share="1/5").plan.charge.amount == 2
    within = draft.plan(within=20)
    assert max(error.half_width for error in within.expected) <= 20
    with pytest.raises(InputError, match="exactly one"):
        draft.plan()
    with pytest.raises(InputError, match="exactly one"):
        draft.plan(epsilon=1, rho=1)
    with pytest.raises(InputError, match="methd"):
        draft.plan(epsilon=1, methd="bayes")
    assert draft.plan(epsilon=1, method="topdown").plan.digest != draft.plan(epsilon=1).plan.digest


def test_nothing_is_spent_by_a_draft(draft):
    draft.plan(epsilon=1)
    assert draft.desk.standing()[0].spent.amount == 0
