"""An offer of a server: refused, waited for, asked again."""

import pytest

import discreet
from discreet import bins, count, mean
from discreet.errors import BudgetError, DiscreetError, InputError, RunError

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")


from remote import served_fixture  # noqa: F401


def test_refusals_are_the_same_errors(served):
    url, service, _ = served
    there = discreet.connect(url, service.tokens.create("ann", "analyst"))
    with pytest.raises(BudgetError, match="Nothing was spent"):
        there.table().agg(n=count()).plan(epsilon=3).release()
    with pytest.raises(InputError, match="shoe") as told:
        there.table().agg(n=mean("shoe")).plan(epsilon=1)
    assert (told.value.field, "age" in told.value.allowed) == ("mean", True)
    with pytest.raises(InputError, match="stored release"):
        there.release("nothing")
    with pytest.raises(DiscreetError, match="401"):
        discreet.connect(url, "dsc_0_wrong")
    with pytest.raises(InputError, match="dataset"):
        discreet.connect(url, service.tokens.create("bob", "viewer"), "other")
    with pytest.raises(InputError, match="https"):
        discreet.connect("http://curator.example", "dsc_token")
    with pytest.raises(InputError, match="address"):
        discreet.connect("ftp://x")
    with pytest.raises(InputError, match="answers"):
        discreet.connect("http://127.0.0.1:9")


def test_an_answer_that_takes_long_is_waited_for(served, monkeypatch):
    url, service, _ = served
    there = discreet.connect(url, service.tokens.create("ann", "analyst"))
    offer = there.table().agg(n=count()).plan(epsilon="0.1")
    said = [{"release": "slow", "text": "Not done yet."}] * 2
    real = type(there.desk.transport).send
    monkeypatch.setattr(type(there.desk.transport), "send", lambda *words: said.pop() if said else real(*words))
    assert offer.release(release="slow").outputs == ("n",)
    said.extend([{"release": "slow", "text": "Not done yet."}] * 2)
    with pytest.raises(RunError, match="Not done yet") as late:
        offer.release(release="late", wait=0)
    assert late.value.release == "late"


def test_a_stream_goes_on_there_as_it_does_here(served):
    url, service, curator = served
    there = discreet.connect(url, service.tokens.create("ann", "analyst"))
    offer = there.table().agg(n=count()).stream(bins("age", width=40)).plan(epsilon=1)
    stream = offer.start("ages")
    first = stream.release()
    assert (first.id, list(first.columns)) == ("ages/1", list(curator.release("ages/1").columns))
    assert "n_total" in first.columns
    assert offer.release(release="ages").id == "ages/2"
    assert offer.release(release="ages/2").columns == curator.release("ages/2").columns
    assert stream.released == 2
    assert offer.begin(release="ages").wait().id == "ages/3"
    assert there.job("ages/3").wait().id == "ages/3"
    assert there.releases() == curator.releases() == ["ages/1", "ages/2", "ages/3"]
    assert stream.release(1).columns == first.columns


def test_a_period_out_of_turn_is_refused_there(served):
    url, service, curator = served
    there = discreet.connect(url, service.tokens.create("ann", "analyst"))
    stream = there.table().agg(n=count()).stream(bins("age", width=40)).plan(epsilon=1).start("ages")
    with pytest.raises(InputError, match="in order"):
        stream.release(2)
    with pytest.raises(InputError, match="a period from 1 to"):
        stream.release(9)
    assert curator.releases() == []
