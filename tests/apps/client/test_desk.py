"""A desk on a server: what it knows of the data, and what was released."""

import pytest

import discreet
from discreet import col, count
from discreet.errors import DiscreetError, InputError

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
from remote import served_fixture, wide_fixture  # noqa: F401


def test_the_rest_of_the_surface(wide):
    there, here = wide
    assert there.standing() == here.standing()
    assert there.schema == here.schema
    price = {"epsilon": "0.1", "allotment": "team"}
    for ask in (
        lambda table: table.top("county", 2),
        lambda table: table.histogram("age", [0, 5, 10]),
        lambda table: table.median("age"),
        lambda table: table.quantiles("age", [0.25, 0.75]),
        lambda table: table.suggest_bounds("age"),
        lambda table: table.range("age"),
        lambda table: table.where(col("works") == True).agg(n=count()),  # noqa: E712
    ):
        assert str(ask(there.table()).plan(**price)) == str(ask(here.table()).plan(**price))
    with pytest.raises(InputError, match="question of its own"):
        there.table().group_by("county").top("age")
    with pytest.raises(DiscreetError, match="custodians"):
        there.charges()


def test_what_is_no_output_or_key_is_refused_before_it_is_sent(served):
    url, service, _ = served
    there = discreet.connect(url, service.tokens.create("ann", "analyst"))
    with pytest.raises(InputError, match=r"`outputs` must be .*; got 'count'"):
        there.table().agg(n="count").plan(epsilon=1)


def test_a_part_of_one_table_is_refused_there_and_here(served):
    url, service, curator = served
    there = discreet.connect(url, service.tokens.create("ann", "analyst"))
    there.table().agg(n=count()).plan(epsilon="0.1").release(release="q")
    for one in (there, curator):
        with pytest.raises(InputError, match="`part` must be left out: this release has no tables with names; got 'a'"):
            one.release("q", "a")
