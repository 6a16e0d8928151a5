"""A stream goes on: at the price it was bought for when the budget changes, and where its ledger is moved to."""

import pyarrow
import pytest

from discreet import Budget, Date, Schema, Unit, bins, people
from discreet.curator import open_curator
from discreet.errors import InputError, LedgerError
from discreet.ledger.budget import Allotment
from discreet.ledger.ledger import Ledger

MONTHS = bins("day", every="month")
SCHEMA = Schema("t", {"day": Date("2024-01-01", "2024-12-31", nullable=False)}, Unit("p", groups=1, rows=1))
DAYS = pyarrow.table({"p": [1, 2, 3], "day": ["2024-01-05", "2024-01-09", "2024-02-01"]})


def desk(ledger, budget=None):
    return open_curator(DAYS, SCHEMA, ledger=ledger, budget=budget, create=True)


def stream(curator, **price):
    return curator.table().agg(n=people()).stream(MONTHS).plan(**price).start("year")


def pure(epsilon):
    return Budget(epsilon=epsilon)


def zcdp(rho):
    return Budget(rho=rho, allotments=[Allotment("answers", "zcdp", rho=rho)])


@pytest.mark.parametrize("budget", [pure, zcdp])
@pytest.mark.parametrize("caps", [(10**6, 2 * 10**6), (10**6, 3 * 10**6, 7 * 10**6)])
def test_a_stream_bought_for_a_share_goes_on_when_the_budget_is_raised(tmp_path, budget, caps):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    first = stream(desk(ledger, budget(caps[0])), share=0.5).release()
    for cap in caps[1:]:
        ledger.raise_budget("t", budget(cap), who="ann", why="more")
    spent = ledger.standing("t")[0].spent
    second = stream(desk(ledger, budget(caps[-1])), share=0.5).release()
    assert (first["n"], second["n"], second["n_total"]) == ([2], [1], [3])
    assert second.cost == first.cost
    assert ledger.standing("t")[0].spent == spent
    assert ledger.verify().ok


def test_a_stream_bought_for_a_share_goes_on_when_the_budget_is_lowered(tmp_path):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    stream(desk(ledger, pure(10)), share=0.5).release()
    ledger.lower_budget("t", pure(6), who="ann", why="less")
    assert stream(desk(ledger, pure(6)), share=0.5).release().id == "year/2"


def test_another_share_is_another_stream(tmp_path):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    stream(desk(ledger, pure(10)), share=0.2).release()
    ledger.raise_budget("t", pure(20), who="ann", why="more")
    with pytest.raises(InputError, match="belongs to another stream"):
        stream(desk(ledger, pure(20)), share=0.3).release()


def test_a_stream_goes_on_where_its_ledger_is_moved_to(tmp_path):
    old = Ledger.open(tmp_path / "old.db", create=True)
    stream(desk(old, pure(10**6)), epsilon=10**5).release()
    new = old.move(tmp_path / "new.db", who="ann", why="a new machine")
    assert not (tmp_path / "old.db.private").exists()
    later = stream(desk(new), epsilon=10**5).release()
    assert (later["n"], later["n_total"]) == ([1], [3])
    with pytest.raises(LedgerError):
        stream(desk(old), epsilon=10**5).release()


def test_a_stream_whose_memory_is_left_behind_would_end(tmp_path, monkeypatch):
    """The planted bug: a move that carries the records alone."""
    from discreet.ledger import move

    monkeypatch.setattr(move, "copy_states", lambda old, new: None)
    old = Ledger.open(tmp_path / "old.db", create=True)
    stream(desk(old, pure(10)), epsilon=1).release()
    new = old.move(tmp_path / "new.db", who="ann", why="a new machine")
    with pytest.raises(LedgerError, match="cannot go on with period 2"):
        stream(desk(new), epsilon=1).release()


@pytest.mark.parametrize("name", ["", None, 3, "a\nb"])
def test_a_stream_without_a_proper_name_is_refused_before_anything_is_spent(tmp_path, name):
    curator = desk(Ledger.open(tmp_path / "books.db", create=True), pure(10))
    left = curator.standing()[0].left
    with pytest.raises(InputError, match=r"`name` .*must be a printable text"):
        curator.table().agg(n=people()).stream(MONTHS).plan(epsilon=1).start(name)
    assert curator.standing()[0].left == left


def test_an_allotment_that_is_none_is_refused_by_that_name(tmp_path):
    curator = desk(Ledger.open(tmp_path / "books.db", create=True), pure(10))
    with pytest.raises(InputError, match="`allotment` must be"):
        curator.table().agg(n=people()).plan(epsilon=1, allotment=3)
