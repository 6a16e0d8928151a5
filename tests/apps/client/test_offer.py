"""An offer of a server: refused, waited for, asked again."""

import pytest

import discreet
from discreet import count, mean
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
