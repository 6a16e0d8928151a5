"""`discreet.connect`: a curator elsewhere answers as one here, over a real socket."""

import pytest

import discreet
from discreet import count, mean

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
from remote import (
    served_fixture,  # noqa: F401
)


def test_the_same_words_the_same_plan_the_same_books(served):
    url, service, curator = served
    there = discreet.connect(url, service.tokens.create("ann", "analyst"))
    ask = lambda table: table.where("age >= 18").group_by("county").agg(n=count(), age=mean("age"))  # noqa: E731
    offer = ask(there.table("people")).plan(epsilon=0.5)
    assert str(offer) == str(ask(curator.table("people")).plan(epsilon=0.5))
    answer = offer.release(release="one", why="a test")
    assert answer.columns == curator.release("one").columns
    assert there.release("one").to_csv() == answer.to_csv()
    assert there.releases() == ["one"]
    assert "1.5" in repr(there)
    assert "ann" not in repr(there.desk.transport)
    sql = there.sql("SELECT COUNT(*) AS n FROM people").plan(epsilon="0.25").release()
    assert sql.outputs == ("n",)
