"""What comes of a paid release: the first measurement, the first outcome, and as many remarks as one likes."""

from __future__ import annotations

import pytest

from discreet.core.loss import Pure
from discreet.errors import InputError
from discreet.ledger.budget import Budget
from discreet.ledger.conclusion import outcomes_of
from discreet.ledger.ledger import Ledger


@pytest.fixture
def ledger(tmp_path):
    books = Ledger.open(tmp_path / "books.db", create=True)
    books.create("visits", Budget(10), who="ann")
    for release in ("one", "two"):
        books.spend("visits", Pure(1), release=release, who="ann", digest=release)
    return books


def test_the_first_measurement_stays_and_none_follows_an_outcome(ledger):
    for result in ("1", "2"):
        assert ledger.measurement("one", result, who="ann").measurement == "1"
    ledger.failed("two", "stopped", who="ann")
    assert ledger.measurement("two", "3", who="ann").measurement is None


def test_the_first_outcome_stays(ledger):
    assert [ledger.answer("one", result, who="ann") for result in ("1", "2")] == ["1", "1"]
    assert ledger.failed("one", "too late", who="ann").answer == "1"


def test_an_answer_as_measured_needs_a_measurement(ledger):
    with pytest.raises(InputError, match="nothing was measured"):
        ledger.answer("one", None, who="ann")
    ledger.measurement("one", "7", who="ann")
    assert ledger.answer("one", None, who="ann") == "7"


def test_remarks_change_no_outcome_and_releases_are_in_order(ledger):
    ledger.answer("two", "2", who="ann")
    for why in ("read again", "and again"):
        assert ledger.note("two", why, who="ben").answer == "2"
    found = outcomes_of(ledger.records("visits"))
    assert [(one.charged.release, one.answer) for one in found] == [("one", None), ("two", "2")]
    assert found == ledger.releases("visits")
