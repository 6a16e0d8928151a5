"""Numbers beside a table, on the ledger of its curator."""

from dataclasses import replace

import pytest

from discreet import Budget
from discreet.constraints.hidden import PrivateValues
from discreet.curator.curator import Curator
from discreet.curator.draft import Draft
from discreet.errors import InputError
from small_desk import open_desk


def test_a_curator_hides_numbers_on_its_own_ledger(tmp_path):
    curator = Curator(open_desk(tmp_path))
    draft = curator.hide({"a": 3, "b": 4.5}, alpha=1, budget=Budget(epsilon=2), measure="EUR")
    made = draft.plan(epsilon=1, highest=10, step="0.5").release(release="n")
    assert made.columns["name"] == ["a", "b"]
    assert all(0 <= value <= 10 for value in made.values)
    assert curator.ledger.standing("values")[0].spent.amount == 1
    assert curator.ledger.account("values").unit == "one value, moved by at most 1 EUR"
    with pytest.raises(InputError, match="private numbers"):
        draft.desk.schema  # noqa: B018
    with pytest.raises(InputError, match="id of a stored release"):
        curator.release("n")  # of another dataset
    assert draft.desk.release("n").values == made.values


def test_other_numbers_than_declared_are_refused(tmp_path):
    curator = Curator(open_desk(tmp_path))
    draft = curator.hide([3, 4], alpha=1, budget=Budget(epsilon=2))
    other = Draft.of(replace(draft.desk, values=PrivateValues([3])), draft.ask)
    with pytest.raises(InputError, match="values"):
        other.plan(epsilon=1, highest=10).release()
    assert curator.ledger.standing("values")[0].spent.amount == 0
