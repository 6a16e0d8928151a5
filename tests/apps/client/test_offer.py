"""An offer of a server: refused, waited for, asked again."""

import pytest

import discreet
from discreet import bins, count, mean
from discreet.errors import BudgetError, DiscreetError, InputError, RunError

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")


from remote import served_fixture  # noqa: F401

COUNTIES = ("Ash", "Elm")


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


def test_an_answer_that_is_there_already_is_named_by_the_server(served):
    url, service, _ = served
    there = discreet.connect(url, service.tokens.create("ann", "analyst"))
    question = there.table().agg(n=count())
    offer = question.plan(epsilon=1)
    assert offer.answered is None
    offer.release(release="first")
    again = question.plan(epsilon=1)
    assert again.answered.release == "first"
    assert "You have this answer already (free): release 'first'" in str(again)
    assert there.release(again.answered.release)["n"]


def test_an_answer_that_takes_long_is_waited_for(served, monkeypatch):
    url, service, _ = served
    there = discreet.connect(url, service.tokens.create("ann", "analyst"))
    offer = there.table().agg(n=count()).plan(epsilon="0.1")
    said = [{"release": "slow", "text": "Not finished yet."}] * 2
    real = type(there.desk.transport).send
    monkeypatch.setattr(type(there.desk.transport), "send", lambda *words: said.pop() if said else real(*words))
    assert offer.release(release="slow").outputs == ("n",)
    said.extend([{"release": "slow", "text": "Not finished yet."}] * 2)
    with pytest.raises(RunError, match="Not finished yet") as late:
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


def test_a_decision_is_tried_out_there_as_it_is_here(served):
    """The same numbers, names of groups that are no texts included; refusals too."""
    url, service, curator = served
    there = discreet.connect(url, service.tokens.create("ann", "analyst"))
    before = curator.ledger.head()
    offers = [desk.table().group_by("county").agg(n=count()).plan(epsilon="0.1") for desk in (there, curator)]
    sizes = {name: 100 * place for place, name in enumerate(COUNTIES)}
    ways = [
        {"fund": 1000, "by": "county"},
        {"fund": 1000, "by": dict.fromkeys(COUNTIES, 7), "repair": "groups"},
        {"threshold": 150, "by": "size"},
    ]
    for how in ways:
        far, near = (offer.decide(sizes, **how) for offer in offers)
        assert far.to_dict() == near.to_dict()
        assert (repr(far), far.simulated) == (repr(near), True)
    assert (
        offers[0].decide(list(sizes.values()), fund=1).to_dict()
        == offers[1].decide(list(sizes.values()), fund=1).to_dict()
    )
    trees = [desk.tree(["county"]).plan(epsilon="0.1") for desk in (there, curator)]
    far, near = (offer.decide(sizes, fund=10, by="size", draws=3) for offer in trees)
    assert far.to_dict() == near.to_dict()
    wrong = [
        {"fund": 1, "threshold": 2},
        {"fund": -1},
        {"fund": 1, "by": "shoe"},
        {"fund": 1, "level": "x"},
        {"fnd": 1},
    ]
    for how in wrong:
        messages = []
        for offer in offers:
            with pytest.raises(InputError) as told:
                offer.decide(sizes, **how)
            messages.append(str(told.value))
        assert messages[0] == messages[1]
    for offer in offers:
        with pytest.raises(InputError, match="sizes"):
            offer.decide({"nowhere": 1}, fund=1)
        with pytest.raises(InputError, match="sizes"):
            offer.decide(3, fund=1)
    with pytest.raises(InputError, match="decisions cannot be tried"):
        there.table().agg(n=count()).stream(bins("age", width=40)).plan(epsilon=1).decide(sizes, fund=1)
    assert curator.ledger.head() == before


def test_a_plan_that_is_too_large_to_be_tried_out_is_refused(served, monkeypatch):
    url, service, _ = served
    there = discreet.connect(url, service.tokens.create("ann", "analyst"))
    monkeypatch.setattr("discreet.apps.server.limits._REPLICATED", 10)
    with pytest.raises(InputError, match="over HTTP"):
        there.tree(["county"]).plan(epsilon="0.1").decide(dict.fromkeys(COUNTIES, 5), fund=1)
