"""Pure charges may be counted by their plain sum, past the cap on rho, if nothing else was ever charged."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.core.loss import ZCDP, Approx, LaplaceNoise, Pure
from discreet.errors import BudgetError, LedgerError
from discreet.ledger import chain, pure_sum
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.ledger import Ledger
from discreet.ledger.pure_sum import PureSum
from discreet.ledger.quote import quote_loss

HALF = Pure("1/2")


@pytest.fixture
def ledger(tmp_path):
    opened = Ledger.open(tmp_path / "books.db", create=True)
    opened.create("visits", Budget(epsilon=3, delta="1e-6"), who="custodian")
    return opened


def spend(ledger, loss, release, dataset="visits"):
    return ledger.spend(dataset, loss, release=release, digest=release, who="ann")


def test_a_budget_pays_for_as_many_pure_releases_as_its_epsilon_holds(ledger):
    for number in range(6):
        assert ledger.pure_left("visits") == 3 - Fraction(number, 2)
        spend(ledger, HALF, f"r{number}")
    assert ledger.remaining("visits").amount == 0
    assert ledger.verify().problems == ()
    with pytest.raises(BudgetError):
        spend(ledger, Pure("1/1000"), "one more")
    assert len(ledger.releases("visits")) == 6


def test_nothing_but_pure_releases_is_taken_past_the_cap(ledger):
    spend(ledger, HALF, "first")
    spend(ledger, HALF, "second")
    for loss in (ZCDP("1/1000"), Approx("1/2", "1e-9")):
        with pytest.raises(BudgetError):
            spend(ledger, loss, "other")


def test_after_anything_else_the_plain_sum_does_not_count(ledger):
    spend(ledger, ZCDP("1/1000"), "first")
    assert ledger.pure_left("visits") is None
    spend(ledger, HALF, "second")
    with pytest.raises(BudgetError):
        spend(ledger, HALF, "third")


def test_budgets_of_rho_and_other_kinds_count_as_before(tmp_path):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    ledger.create("rho", Budget(rho="1/8"), who="custodian")
    ledger.create("pure", Budget(epsilon=1), who="custodian")
    assert ledger.pure_left("rho") is None
    assert ledger.pure_left("pure") is None
    spend(ledger, HALF, "a", "rho")
    with pytest.raises(BudgetError):
        spend(ledger, HALF, "b", "rho")


def test_an_offer_says_what_pays(ledger):
    part = ledger.account("visits").budget.allotments[0]

    def quoted(loss):
        return quote_loss(ledger, "visits", part, part.price(loss), loss)

    assert quoted(HALF).pure is None
    assert quoted(HALF).fits
    spend(ledger, HALF, "first")
    quote = quoted(HALF)
    assert quote.pure == 2
    assert quote.fits
    assert "plain sum of pure epsilons, epsilon = 2 after" in quote.lines()[-1]
    assert not quoted(Pure(3)).fits
    assert not quoted(ZCDP(1)).fits


def test_noise_counts_by_its_own_epsilon(ledger):
    spend(ledger, LaplaceNoise(2, 1), "first")
    assert ledger.pure_left("visits") == Fraction(5, 2)


HIDDEN = [
    "DELETE FROM discreet_record WHERE release = 'r1'",
    "UPDATE discreet_record SET dataset = 'elsewhere' WHERE release = 'r1'",
    "UPDATE discreet_record SET kind = 'note' WHERE release = 'r1'",
]


def hide(ledger, statement):
    with closing(sqlite3.connect(ledger._store.path)) as books:
        for verb in ("update", "delete"):
            books.execute(f"DROP TRIGGER IF EXISTS discreet_no_{verb}")
        books.execute(statement)
        books.commit()


@pytest.mark.parametrize("statement", HIDDEN)
def test_a_hidden_charge_does_not_pay(ledger, statement):
    """The last record binds the plain sums: a record out of sight takes nothing off them."""
    for number in range(6):
        spend(ledger, HALF, f"r{number}")
    hide(ledger, statement)
    with pytest.raises(BudgetError):
        spend(ledger, HALF, "again")


EDITED = [
    "UPDATE discreet_epsilon SET epsilon = '0'",
    "DELETE FROM discreet_epsilon",
    "INSERT INTO discreet_epsilon VALUES ('x', 'questions', '-9')",
]


@pytest.mark.parametrize("statement", EDITED)
def test_an_edited_sum_is_refused(ledger, statement):
    for number in range(6):
        spend(ledger, HALF, f"r{number}")
    hide(ledger, statement)
    with pytest.raises(LedgerError, match="sums of epsilons"):
        spend(ledger, HALF, "again")
    assert "sums of epsilons" in ledger.verify().problems[0]


def test_without_the_comparison_an_edited_sum_would_pay(ledger, monkeypatch):
    """The planted bug."""
    for number in range(6):
        spend(ledger, HALF, f"r{number}")
    hide(ledger, EDITED[0])
    monkeypatch.setattr(chain, "hash_of_epsilons", lambda sums: next(iter(ledger.records("visits"))).epsilons)
    monkeypatch.setattr(chain, "epsilon_sums", lambda reader: reader.epsilons())
    monkeypatch.setattr("discreet.ledger.pure_left.epsilon_sums", lambda reader: reader.epsilons())
    assert not spend(ledger, HALF, "again").already_paid


@pytest.fixture
def first(ledger):
    """The ledger in format 1, which binds no sums: they are added up after a walk of the chain."""
    hide(ledger, "UPDATE discreet_head SET format = 1")
    ledger.close()
    for number in range(6):
        spend(ledger, HALF, f"r{number}")
    return ledger


@pytest.mark.parametrize("statement", HIDDEN)
def test_in_format_1_a_record_out_of_sight_stops_the_write(first, statement):
    hide(first, statement)
    with pytest.raises(LedgerError):
        spend(first, HALF, "again")


def test_without_the_walk_a_hidden_charge_would_pay(first, monkeypatch):
    """The planted bug."""
    hide(first, HIDDEN[0])
    monkeypatch.setattr(chain, "check_chain", lambda reader: None)
    assert not spend(first, HALF, "again").already_paid


def test_what_an_older_process_wrote_after_an_upgrade_is_added_up(first):
    hide(first, "UPDATE discreet_head SET format = 2")
    assert first.pure_left("visits") == 0
    with pytest.raises(BudgetError):
        spend(first, HALF, "again")
    first.note("r1", "by the version of now", who="ann")
    assert first.pure_left("visits") == 0
    assert first.verify().problems == ()


def test_verify_names_a_charge_beyond_both_sums(ledger, monkeypatch):
    """The planted bug: a filter that takes anything pure."""
    monkeypatch.setattr("discreet.ledger.ledger.covers", lambda left, loss: True)
    for number in range(7):
        spend(ledger, HALF, f"r{number}")
    monkeypatch.undo()
    (problem,) = ledger.verify().problems
    assert "exceeds allotment" in str(problem)


def test_what_cannot_be_read_or_was_written_off_has_no_epsilon(ledger):
    spend(ledger, HALF, "first")
    (record,) = [one for one in ledger.records("visits") if one.kind == "charge"]
    for changed in (replace(record, digest=""), replace(record, loss={"unknown": 1})):
        total = PureSum()
        total.add(changed)
        assert total.total is None
        total.add(record)
        assert not total.within(Allotment("questions", "zcdp", epsilon=3, delta="1e-6"))
    assert pure_sum.epsilon_of(None) is None
