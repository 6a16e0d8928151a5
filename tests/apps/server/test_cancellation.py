"""What becomes of a job that was cancelled: by somebody, or by the time limit."""

import pytest

pytest.importorskip("fastapi")
from discreet import Budget
from discreet.apps.server.cancellation import TIME_LIMIT, cancelled_job
from discreet.apps.server.jobs import Job
from discreet.core.loss import Pure
from discreet.core.unit import Unit
from discreet.ledger.failure import CANCELLED, STOPPED
from discreet.ledger.ledger import Ledger

JOB = Job("visits", "one", "tree", "ann", "why", "running", "measuring", None, "", "now", "")


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    made = Ledger.open(tmp_path / "ledger.db", create=True)
    made.create("visits", Budget(1), unit=Unit(), who="carla")
    yield made
    made.close()


@pytest.mark.parametrize(("by", "reason", "who"), [(TIME_LIMIT, STOPPED, "ann"), ("eve", CANCELLED, "eve")])
def test_what_was_charged_stays_spent_and_the_record_says_why(ledger, by, reason, who):
    ledger.spend("visits", Pure(1), release="one", who="ann", digest="d")
    ended = cancelled_job(ledger, JOB, by)
    assert ended.state == "cancelled"
    assert ended.problem.startswith(f"Cancelled by {by}.")
    assert "stays spent" in ended.problem
    assert ledger.find("one").failure == reason
    assert [one.who for one in ledger.records("visits")][-1] == who
    assert ledger.standing("visits")[0].spent.amount == 1


def test_what_was_not_charged_costs_nothing(ledger):
    assert "Nothing was spent." in cancelled_job(ledger, JOB, TIME_LIMIT).problem
    assert ledger.standing("visits")[0].spent.amount == 0
