"""A price named by an accuracy: every error that is stated lies within it, and no smaller price would do."""

from __future__ import annotations

from fractions import Fraction

import pyarrow
import pytest

import discreet
from discreet import Allotment, Budget, Category, Integer, Schema, bins, count
from discreet.accounting.words import readable
from discreet.errors import InputError
from discreet.query.price import amount_within

TABLE = pyarrow.table({"age": [3, 40, 70], "from": ["a", "b", "a"], "to": ["b", "b", "a"]})
PLACES = Category(["a", "b"])
COLUMNS = {"age": Integer(0, 99), "from": PLACES, "to": PLACES}
BUDGETS = {
    "pure": Budget(100),
    "zcdp": Budget(epsilon=100, delta="1e-6", allotments=[Allotment("q", "zcdp", epsilon=100, delta="1e-6")]),
}
ASKS = {
    "top": lambda curator: curator.table().top("from", 1),
    "stream": lambda curator: curator.table().agg(n=count()).stream(bins("age", [0, 50, 99])),
    "tree": lambda curator: curator.tree(["from"], by=["to"]),
    "detail": lambda curator: curator.detail(["from"], groups={"b": "to = 'b'"}, details={"to": ["to"]}),
    "census": lambda curator: curator.census(
        ["from"], {"a": {"counts": "persons"}, "b": {"counts": "households", "by": ["to"]}}, household="age"
    ),
    "flows": lambda curator: curator.mobility(origin="from", destination="to"),
    "commute": lambda curator: curator.commute(
        origin="from", destination="to", coordinates={"a": (0.0, 0.0), "b": (1.0, 0.0)}
    ),
    "synth": lambda curator: curator.synthesize(),
}


@pytest.fixture(scope="module", params=BUDGETS)
def curator(request, tmp_path_factory):
    place = tmp_path_factory.mktemp(request.param) / "l.db"
    schema = Schema("t", COLUMNS)
    return discreet.open(TABLE, schema, ledger=place, budget=BUDGETS[request.param], who="ann", create=True)


def largest(offer):
    return max(one.half_width for one in offer.expected)


@pytest.mark.parametrize("kind", ASKS)
def test_every_error_is_within_and_the_price_is_the_least(curator, kind):
    asked = ASKS[kind](curator)
    offer = asked.plan(within=20)
    assert 0 < largest(offer) <= 20
    currency = offer.quote.allotment.currency
    paid = Fraction(readable(offer.plan.charge.amount, 3, "near"))
    step = Fraction(10) ** (len(str(int(paid))) - 3 if paid >= 1 else -5)
    less = asked.plan(**{currency: paid - max(step, paid / 50)})
    assert largest(less) > 20
    assert curator.standing()[0].spent.amount == 0


def test_the_search_ends_where_no_price_buys_it():
    part = Allotment("q", "pure", epsilon=1)
    assert amount_within(lambda price: 1 / float(price), 4, part) == Fraction(1, 4)
    with pytest.raises(InputError, match="some price buys"):
        amount_within(lambda price: 10.0, 4, part)
    with pytest.raises(InputError, match="more than zero"):
        amount_within(lambda price: 1.0, 0, part)


def test_where_no_error_is_known_beforehand_a_price_is_asked_for(curator):
    sized = {"a": 1, "b": 2}
    asked = curator.commute(
        origin="from", destination="to", coordinates={"a": (0.0, 0.0), "b": (1.0, 0.0)}, sizes=sized
    )
    with pytest.raises(InputError, match="unless the method is modern"):
        asked.plan(within=5, method="classic")
