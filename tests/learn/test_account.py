"""The ledger arguments of whatever works on arrays: whole, or refused by the name of what is missing."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import pickle

from train_people import BUDGET

from discreet.errors import InputError
from discreet.learn.account import LedgerAccount, refuse_open_ledger
from discreet.ledger.ledger import Ledger


def test_no_ledger_is_no_account():
    assert LedgerAccount.read({"ledger": None, "dataset": None, "who": "ann"}) is None


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"dataset": "people"}, "ledger"),
        ({"release": "a"}, "ledger"),
        ({"allotment": "models"}, "ledger"),
        ({"ledger": "books.db"}, "dataset"),
        ({"ledger": 3, "dataset": "people"}, "ledger"),
        ({"ledger": "books.db", "dataset": "people", "release": 7}, "release"),
        ({"ledger": "books.db", "dataset": 7}, "dataset"),
    ],
)
def test_half_an_account_is_refused(given, field):
    with pytest.raises(InputError) as caught:
        LedgerAccount.read(given)
    assert caught.value.field == field


def test_a_curator_stands_for_its_ledger_under_its_name(curator):
    account = LedgerAccount.read({"ledger": curator})
    assert (account.ledger, account.dataset, account.who) == (curator.ledger, "people", "someone")
    other = LedgerAccount.read({"ledger": curator, "dataset": "digits", "who": "ann"})
    assert (other.dataset, other.who) == ("digits", "ann")
    with pytest.raises(InputError, match="not pickled"):
        refuse_open_ledger({"privacy": {"ledger": curator}})


def test_a_ledger_that_is_named_is_closed_again(tmp_path):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    ledger.create("people", BUDGET, who="test")
    with LedgerAccount.read({"ledger": ledger, "dataset": "people"}).opened() as same:
        assert same is ledger
    named = LedgerAccount.read({"ledger": str(tmp_path / "books.db"), "dataset": "people"})
    with named.opened() as opened:
        assert opened.account("people").dataset == "people"
    refuse_open_ledger({"ledger": pickle.loads(pickle.dumps(named.ledger))})
