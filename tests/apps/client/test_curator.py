"""`discreet.connect`: a curator elsewhere answers as one here, over a real socket."""

import pytest

import discreet
from discreet import count, mean
from discreet.constraints import Equal
from discreet.errors import InputError
from numbers_files import lay_out_prices
from servers import serving

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
from remote import (
    served_fixture,  # noqa: F401
)

from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Tokens
from discreet.apps.web.site import application


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


def test_private_numbers_are_hidden_there_as_here(tmp_path):
    pytest.importorskip("clarabel", reason="needs discreet[constraints]")
    data = lay_out_prices(tmp_path)
    here = discreet.open(str(data), tmp_path / "discreet.toml", ledger=tmp_path / "l.db", create=True)
    service = Service({"prices": here}, Tokens(tmp_path / "tokens.db"))
    terms = {"epsilon": 1, "highest": 100, "step": "0.25", "optimum": "30.3", "beta": "0.05"}
    with serving(application(service)) as url:
        there = discreet.connect(url, service.tokens.create("ann", "analyst"))
        assert there.desk.declared.to_dict() == here.declared.to_dict()
        offer = there.hide().plan(**terms)
        assert str(offer) == str(here.hide().plan(**terms))
        answer = offer.release(release="may", why="a test")
        assert answer.values == here.release("may").values
        assert sum(answer.values) == pytest.approx(100, abs=1e-4)
        assert there.publish("may", beta="0.5").report["beta"] == 0.5
        with pytest.raises(InputError, match="no JSON"):
            there.hide(constraints=[Equal("total", [[1, 1, 1, 1]], [90])]).plan(**terms)
        with pytest.raises(InputError, match="the schema declares it"):
            there.hide(alpha=3)
        with pytest.raises(InputError, match="private numbers"):
            there.table().agg(n=count()).plan(epsilon=1)
    assert len(list(here.ledger.releases("prices"))) == 1
