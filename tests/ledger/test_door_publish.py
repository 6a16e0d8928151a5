"""The free half of the door: what was measured is published later, again, or by another method, at no cost."""

import json
import sys

import pytest

from discreet.errors import BusyError, InputError, RunError
from discreet.ledger.budget import Budget
from discreet.ledger.door import check_how, publish, release
from discreet.ledger.ledger import Ledger
from jobs import CANARY, Data, Dated, Job, Quiet, held_in_memory, leaks, left, unmeasured


@pytest.fixture
def ledger(place):
    ledger = Ledger.open(place, create=True)
    ledger.create("visits", Budget(epsilon=100), who="ann")
    return ledger


class Halved(Job):
    """A count that is published as its half; `problem` stops it."""

    problem = None

    def publish(self, measured):
        if self.problem is not None:
            raise self.problem
        return {"half": measured["count"] // 2}


def check_that_a_draw_is_kept(ledger, problem, raised):
    """Publishing fails twice and works at last: one charge, one reading of the data, one draw."""
    plan, data = type("Failing", (Halved,), {"problem": problem})(), Data()
    for _ in range(2):
        with pytest.raises(raised):
            release(plan, data, ledger, who="ann", release="r1")
    drawn = json.loads(ledger.find("r1").measurement)
    type(plan).problem = None
    answer = release(plan, data, ledger, who="ann", release="r1")
    assert answer.result == {"half": drawn["count"] // 2}
    assert (answer.measured, answer.replayed, answer.kind, answer.version) == (drawn, True, "job", 1)
    assert (data.opened, ledger.find("r1").notes, left(ledger)) == (1, 0, 99)
    assert ledger.verify().problems == ()


@pytest.mark.parametrize(
    ("problem", "raised"),
    [(ValueError("no room"), RunError), (MemoryError(), RunError), (KeyboardInterrupt(), KeyboardInterrupt)],
)
def test_what_was_measured_is_published_later_at_no_cost(ledger, problem, raised):
    check_that_a_draw_is_kept(ledger, problem, raised)


def test_a_measurement_handed_on_before_it_is_recorded_is_caught(ledger, monkeypatch):
    monkeypatch.setattr(Ledger, "measurement", held_in_memory)
    with pytest.raises((AssertionError, TypeError)):
        check_that_a_draw_is_kept(ledger, ValueError("no room"), RunError)


def test_a_door_that_measures_again_is_caught(ledger, monkeypatch):
    monkeypatch.setattr(Ledger, "find", unmeasured(Ledger.find))
    with pytest.raises((AssertionError, TypeError)):
        check_that_a_draw_is_kept(ledger, ValueError("no room"), RunError)


def test_a_failure_to_publish_says_that_nothing_is_lost_and_why(ledger):
    plan = type("Failing", (Halved,), {"problem": ValueError("no room")})()
    with pytest.raises(RunError, match=r"\(ValueError\)\. Nothing is lost.*at no cost, without") as caught:
        release(plan, Quiet(), ledger, who="ann", release="r1")
    assert caught.value.release == "r1"
    assert isinstance(caught.value.__cause__, ValueError)
    assert not leaks(caught.value, CANARY, __file__)
    type(plan).problem = InputError("rows", -1, "0 or more")
    with pytest.raises(RunError, match="`rows` must be 0 or more"):
        release(plan, Quiet(), ledger, who="ann", release="r1")


def test_a_measurement_is_on_record_before_it_is_published_and_the_answer_after(ledger):
    class Watching(Halved):
        def publish(self, measured):
            seen.append(ledger.find("r1"))
            return super().publish(measured)

    seen = []
    answer = release(Watching(), Data(), ledger, who="ann", release="r1")
    assert seen[0].open
    assert json.loads(seen[0].measurement) == answer.measured
    assert [record.kind for record in ledger.records("visits")] == ["open", "charge", "measurement", "answer"]


def test_an_answer_that_is_the_measurement_is_recorded_once(ledger):
    answer = release(Job(), Data(), ledger, who="ann", release="r1")
    assert answer.measured is answer.result
    assert [record.result is None for record in ledger.records("visits") if record.kind == "answer"] == [True]
    assert ledger.find("r1").answer == ledger.find("r1").measurement


def test_what_was_measured_on_earlier_data_is_published_and_not_taken_for_an_answer_about_now(ledger):
    plan, data = type("Failing", (Halved,), {"problem": ValueError()})(), Dated()
    durable = type("Drawing", (Halved,), {"watched": False, "begun": lambda self: True, "drawn": lambda self: True})
    lasting = type("Failing", (durable,), {"problem": ValueError()})()
    for one, name in ((plan, "r1"), (lasting, "r2")):
        with pytest.raises(RunError):
            release(one, data, ledger, who="ann", release=name)
        type(one).problem = None
    data.at = "tuesday"
    with pytest.raises(InputError, match="a new id"):
        release(plan, data, ledger, who="ann", release="r1")
    assert ledger.find("r1").answer is not None
    assert release(lasting, data, ledger, who="ann", release="r2").data.value == "monday"
    assert data.opened == 2


class Scaled(Halved):
    """A count that is published as any share of it."""

    def publish(self, measured, *, parts=2):
        if parts == 0:
            raise InputError("parts", parts, "1 or more")
        return {"part": measured["count"] // parts}


def test_what_was_measured_is_published_again_by_another_method(ledger):
    answer = release(Scaled(), Data(), ledger, who="ann", release="r1")
    head = ledger.head()
    other = publish(Scaled(), ledger, "r1", {"parts": 3}, who="bob")
    assert other.result == {"part": answer.measured["count"] // 3}
    assert publish(Scaled(), ledger, "r1", who="bob").result == answer.result
    with pytest.raises(InputError, match="parts"):
        publish(Scaled(), ledger, "r1", {"parts": 0}, who="bob")
    for name in ("method", "who", "release", "plan", "ledger", "measured", "self"):
        with pytest.raises(InputError, match=rf"^`how\.{name}` must be left out: only parts can be chosen"):
            publish(Scaled(), ledger, "r1", {name: "other"}, who="bob")
    with pytest.raises(InputError, match="nothing can be chosen here"):
        check_how(Halved, {"parts": 2})
    with pytest.raises(InputError, match="answers another question"):
        publish(Scaled(digest="sha256:2"), ledger, "r1", who="bob")
    with pytest.raises(InputError, match="is recorded"):
        publish(Scaled(), ledger, "r2", who="bob")
    assert ledger.head() == head


def cut_short(plan, ledger, monkeypatch):
    """A release that was measured, and whose run was stopped before it was published."""
    with monkeypatch.context() as patch:
        patch.setattr(type(plan), "publish", lambda self, measured: sys.exit(1))
        with pytest.raises(SystemExit):
            release(plan, Data(), ledger, who="ann", release="r1")
    assert ledger.find("r1").open
    return json.loads(ledger.find("r1").measurement)["count"]


def test_what_is_recorded_is_the_answer_of_the_plan_however_it_is_published_first(ledger, monkeypatch):
    count = cut_short(Scaled(), ledger, monkeypatch)
    assert publish(Scaled(), ledger, "r1", {"parts": 3}, who="bob").result == {"part": count // 3}
    assert json.loads(ledger.find("r1").answer) == {"part": count // 2}
    assert release(Scaled(), Data(), ledger, who="ann", release="r1").result == {"part": count // 2}
    assert ledger.verify().problems == ()


def test_an_unknown_name_is_refused_before_anything_is_recorded(ledger, monkeypatch):
    cut_short(Scaled(), ledger, monkeypatch)
    with pytest.raises(InputError, match=r"`how\.method` must be left out"):
        publish(Scaled(), ledger, "r1", {"method": "other"}, who="bob")
    assert ledger.find("r1").open


def test_the_record_is_read_again_when_the_lock_is_had(ledger, monkeypatch):
    """Whoever held the lock has concluded it: it is not concluded twice, and what was asked for is made."""
    count, running = cut_short(Scaled(), ledger, monkeypatch), Ledger.running

    def concluded_meanwhile(self, name, **how):
        monkeypatch.setattr(Ledger, "running", running)
        publish(Scaled(), ledger, "r1", who="ann")
        return running(self, name, **how)

    made = []
    monkeypatch.setattr(Ledger, "running", concluded_meanwhile)
    monkeypatch.setattr(
        Scaled,
        "publish",
        lambda self, measured, *, parts=2, old=Scaled.publish: (made.append(parts), old(self, measured, parts=parts))[
            1
        ],
    )
    assert publish(Scaled(), ledger, "r1", {"parts": 3}, who="bob").result == {"part": count // 3}
    assert made == [2, 3]
    assert [record.who for record in ledger.records("visits") if record.kind == "answer"] == ["ann"]


def test_whoever_may_not_wait_for_a_release_that_runs_is_refused_at_once(ledger, monkeypatch):
    count = cut_short(Scaled(), ledger, monkeypatch)
    with ledger.running("r1"), pytest.raises(BusyError, match="'r1' is being run or published now"):
        publish(Scaled(), ledger, "r1", who="bob", wait=False)
    assert ledger.find("r1").open
    assert publish(Scaled(), ledger, "r1", who="bob", wait=False).result == {"part": count // 2}


def test_another_method_is_shown_where_the_first_one_fails_and_is_not_recorded(ledger):
    class Fragile(Scaled):
        def publish(self, measured, *, parts=None):
            if parts is None:
                raise ValueError("never")
            return super().publish(measured, parts=parts)

    with pytest.raises(RunError):
        release(Fragile(), Data(), ledger, who="ann", release="r1")
    answer = publish(Fragile(), ledger, "r1", {"parts": 4}, who="ann")
    assert answer.result == {"part": answer.measured["count"] // 4}
    assert ledger.find("r1").open
    with pytest.raises(RunError, match="Nothing is lost"):
        publish(Fragile(), ledger, "r1", who="ann")
