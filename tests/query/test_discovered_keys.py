"""Keys nobody listed, at the desk: charged with their delta, and what one person alone has never leaves."""

from __future__ import annotations

from fractions import Fraction

import pyarrow
import pytest
from word_crowd import CANARY, many

from discreet.core.unit import Unit
from discreet.curator import open_curator
from discreet.data.column import Category, Text
from discreet.data.schema import Schema
from discreet.errors import BudgetError, InputError, RunError
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from discreet.mechanisms import PartitionSelection
from discreet.query.aggregate import count, people
from discreet.query.key import discover
from discreet.query.quantile import median


@pytest.fixture
def books(tmp_path):
    return Ledger.open(tmp_path / "books.db", create=True)


def curator_of(books, budget, words=("a", "b"), crowd=200):
    table = many(words, crowd)
    lone = pyarrow.table({"id": ["lone"], "zip": [CANARY], "sex": ["f"]})
    schema = Schema(
        "people", {"zip": Text(), "sex": Category(["f", "m"], nullable=False)}, Unit("id", groups=2, rows=1)
    )
    return open_curator(
        pyarrow.concat_tables([table, lone]), schema, ledger=books, budget=budget, who="ann", create=True
    )


def test_charges_are_exact_in_rho_and_delta_and_run_out(books):
    curator = curator_of(books, Budget(rho=1, delta="2e-7"))
    asked = curator.table().group_by(discover("zip")).agg(n=count())
    for turn in (1, 2):
        offer = asked.plan(rho="0.2", delta="1e-7")
        answer = offer.release()
        assert set(answer["zip"]) <= {"a", "b", CANARY}
        (standing,) = books.standing("people")
        assert standing.spent.amount == turn * offer.plan.charge.amount
        assert standing.spent.delta == turn * Fraction(1, 10**7)
    assert "refused" in str(asked.plan(rho="0.2", delta="1e-7"))
    with pytest.raises(BudgetError, match="delta"):
        asked.plan(rho="0.2", delta="1e-7").release()
    curator.table().group_by("sex").agg(n=count()).plan(rho="0.2").release()  # which needs no delta
    assert books.verify().ok


def test_an_epsilon_budget_pays_the_delta_from_its_share_for_failures(books):
    curator = curator_of(books, Budget(3, delta="1e-6"))
    offer = curator.table().group_by(discover("zip")).agg(n=count()).plan(share=0.1, delta="4e-7")
    offer.release()
    (standing,) = books.standing("people")
    assert standing.left.delta == Fraction(1, 10**7)


@pytest.mark.parametrize(
    "ask",
    [
        lambda c: c.table().group_by(discover("zip")).agg(n=count()).plan(epsilon=1),
        lambda c: c.table().group_by(discover("zip")).agg(n=count()).plan(within=5, delta=1e-7),
        lambda c: c.table().group_by("zip").agg(n=count()).plan(epsilon=1),
        lambda c: c.table().group_by("sex").agg(n=count()).plan(epsilon=1, delta=1e-7),
        lambda c: c.table().top("sex", 1).plan(epsilon=1, delta=1e-7),
        lambda c: c.table().group_by(discover("id")).agg(n=count()).plan(epsilon=1, delta=1e-7),
        lambda c: c.batch(a=c.table().group_by(discover("zip")).agg(n=count())).plan(epsilon=1),
        lambda c: c.batch(a=c.table().group_by(discover("zip")).agg(m=median("age"))).plan(epsilon=1),
        lambda c: c.sql("SELECT zip, COUNT(*) FROM people GROUP BY zip").plan(epsilon=1),
        lambda c: c.sql("SELECT id, COUNT(*) FROM people GROUP BY id"),
    ],
)
def test_a_mistake_costs_nothing_and_tells_nothing(books, ask):
    curator = curator_of(books, Budget(rho=1, delta="1e-6"))
    head = books.head()
    with pytest.raises(InputError) as caught:
        ask(curator)
    assert books.head() == head
    assert CANARY not in str(caught.value)


def test_a_pure_budget_says_why_not(books):
    curator = curator_of(books, Budget(1))
    with pytest.raises(InputError, match=r"zcdp allotment.*pure one has none"):
        curator.table().group_by(discover("zip")).agg(n=count()).plan(epsilon=1, delta=1e-7)


def test_sql_groups_by_text_with_a_delta(books):
    curator = curator_of(books, Budget(rho=100, delta="1e-6"), words=("b", "a", "it's"))
    asked = curator.sql("SELECT zip, COUNT(*) AS n FROM people WHERE sex = 'f' GROUP BY zip ORDER BY zip DESC LIMIT 2")
    assert asked.plan(rho=50, delta="1e-14").release()["zip"] == ["it's", "b"]


def test_a_key_that_one_person_has_stays_inside(books, tmp_path, caplog, capsys):
    caplog.set_level(0)
    curator = curator_of(books, Budget(rho=3, delta="1e-6"))
    asked = curator.table().group_by(discover("zip"), "sex").agg(n=count(), who=people())
    shown = []
    for _ in range(3):
        offer = asked.plan(rho="0.5", delta="1e-14")
        shown += [str(offer), repr(offer.plan), offer.plan.digest, str(offer.plan.query)]
        answer = offer.release()
        shown += [repr(answer), answer.to_json(), answer.to_csv()]
        assert set(answer["zip"]) == {"a", "b"}
    assert CANARY not in "".join(shown)
    assert CANARY not in caplog.text
    assert CANARY not in "".join(capsys.readouterr())
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or CANARY.encode() not in path.read_bytes()


def test_a_run_that_fails_tells_nothing(books, tmp_path, monkeypatch):
    curator = curator_of(books, Budget(rho=3, delta="1e-6"))

    def broken(self, counts, *, bits=None):
        raise ValueError(CANARY)

    monkeypatch.setattr(PartitionSelection, "select", broken)
    with pytest.raises(RunError) as caught:
        curator.table().group_by(discover("zip")).agg(n=count()).plan(rho=1, delta="1e-7").release()
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or CANARY.encode() not in path.read_bytes()
