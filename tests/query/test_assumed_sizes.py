"""Decisions tried out before a question is paid: on sizes that somebody assumes."""

import pytest

from discreet.curator.curator import Curator
from discreet.errors import InputError
from discreet.query.aggregate import count, mean
from small_desk import open_desk


@pytest.fixture
def question(tmp_path):
    return Curator(open_desk(tmp_path)).table().group_by("county")


def test_less_noise_decides_better_and_nothing_is_spent(question, tmp_path):
    rough, fine = (question.agg(n=count()).plan(epsilon=epsilon) for epsilon in ("0.01", 1))
    sizes = {"Ash": 300, "Elm": 100}
    found = [offer.decide(sizes, fund=1000, by="county").misallocated for offer in (rough, fine)]
    assert found[0] > 20 * found[1] > 0
    assert rough.decide(sizes, fund=1000).misallocated == found[0]
    assert fine.decide([300, 100], threshold=200).wrong < 0.001 < rough.decide(sizes, threshold=200).wrong
    assert rough.quote.left == rough.desk.ledger.standing("people")[0].left


def test_a_release_decides_as_its_plan_said_it_would(question):
    offer = question.agg(n=count()).plan(epsilon="0.1")
    said = offer.decide({"Ash": 300, "Elm": 100}, fund=1000)
    found = offer.release().decide(fund=1000, by="county")
    assert said.simulated
    assert not found.simulated
    assert list(found.columns) == list(said.columns)


@pytest.mark.parametrize(
    "sizes",
    [{"Ash": 1}, [1], "Ash", b"ab", [10**400, 1], 3, {"Ash": -1, "Elm": 2}, {"Ash": float("nan"), "Elm": 2}],
    ids=str,
)
def test_sizes_are_a_number_for_each_group(question, sizes):
    with pytest.raises(InputError, match="sizes"):
        question.agg(n=count()).plan(epsilon=1).decide(sizes, fund=1)


def test_what_errs_by_more_than_noise_is_not_simulated(question):
    with pytest.raises(InputError, match="output"):
        question.agg(pay=mean("pay")).plan(epsilon=1).decide({"Ash": 1, "Elm": 1}, fund=1)
