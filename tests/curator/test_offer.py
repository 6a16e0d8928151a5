"""An offer: everything there is to know before it is paid, the one way to pay, and publishing again for free."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest

from discreet import count, mean
from discreet.curator.offer import Checkpointed, Offer
from discreet.errors import BudgetError, InputError, RunError
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.question_ask import QuestionAsk
from small_desk import open_desk

ASK = QuestionAsk(Query().group_by("county").agg(n=count(), m=mean("age")))


@pytest.fixture
def offer(tmp_path):
    return open_desk(tmp_path).offer(ASK, None, Price.read(epsilon=4), None)


def test_it_says_cost_errors_and_what_is_left_and_spends_nothing(offer):
    text = str(offer)
    assert "epsilon = 4" in text
    assert "Releases 2 rows" in text
    assert [error.output for error in offer.expected] == ["n", "m"]
    assert "print it" in repr(offer)
    assert "Errors to expect, with 95% confidence" in offer._repr_html_()
    assert offer.quote.fits
    assert offer.quote.left.amount == 10
    entry = json.loads(json.dumps(offer.to_dict()))
    assert entry["digest"] == offer.plan.digest
    assert entry["query"] == offer.plan.query
    assert offer.desk.standing()[0].spent.amount == 0


@pytest.mark.filterwarnings("ignore:.*may describe earlier data")  # a table in memory has no version
def test_an_id_is_paid_once(offer):
    first = offer.release(release="a")
    assert offer.release(release="a").columns == first.columns
    offer.release()
    assert offer.desk.standing()[0].spent.amount == 8
    assert not offer.quote.fits
    assert "refused" in str(offer)
    with pytest.raises(BudgetError):
        offer.release()
    assert offer.release(release="a").columns == first.columns


def test_what_was_measured_is_published_again_without_fresh_noise(offer):
    first = offer.release(release="a")
    wider = offer.publish("a", confidence=0.999)
    assert wider["n"] == first["n"]
    assert wider["n_lower"][0] < first["n_lower"][0]
    assert offer.desk.release("a").columns == first.columns  # the answer on record stays as it is
    assert offer.desk.standing()[0].spent.amount == 4
    with pytest.raises(InputError):
        offer.publish("nothing")


class Resumable:
    """A plan of a question that is kept in a file while it runs."""

    def __init__(self, plan, path, fails=False):
        self._plan, self.checkpoint, self.fails, self.done = plan, path, fails, []

    def __getattr__(self, name):
        return getattr(self._plan, name)

    def stored_in(self, checkpoint):
        return Resumable(self._plan, checkpoint, self.fails)

    @contextmanager
    def kept(self, *, answered):
        self.done.append("answered" if answered else "new")
        if self.fails == "file":
            raise InputError("checkpoint", "f", "a file of this plan")
        try:
            yield
        except RunError:
            self.done.append("failed")
            raise
        self.done.append("over")

    def measure(self, data, bits):
        if self.fails == "measure":
            raise ValueError
        return self._plan.measure(data, bits)


@pytest.mark.parametrize(
    ("fails", "error", "done"),
    [(False, None, ["new", "over"]), ("measure", RunError, ["new", "failed"]), ("file", InputError, ["new"])],
)
def test_a_checkpoint_is_kept_around_the_charge_and_the_run(offer, tmp_path, fails, error, done):
    plan = Resumable(offer.plan, tmp_path / "run", fails)
    assert isinstance(plan, Checkpointed)
    kept = Offer(offer.desk, plan, offer.read)
    if error is None:
        kept.release(release="a")
    else:
        with pytest.raises(error):
            kept.release(release="a")
    assert plan.done == done
    assert offer.desk.standing()[0].spent.amount == (0 if fails == "file" else 4)


@pytest.mark.filterwarnings("ignore:.*may describe earlier data")
def test_a_checkpoint_need_not_be_read_where_there_is_an_answer(offer, tmp_path):
    plan = Resumable(offer.plan, tmp_path / "run")
    kept = Offer(offer.desk, plan, offer.read)
    kept.release(release="a")
    kept.release(release="a")
    assert plan.done == ["new", "over", "answered", "over"]
