"""The queue in the ledger's database: turns, limits, processes that die, cancelling, and the end of a server."""

import threading
import time
from dataclasses import replace

import pytest

pytest.importorskip("fastapi")
from discreet.apps.server import job_queue, job_table
from discreet.apps.server.cancellation import TIME_LIMIT
from discreet.apps.server.job_queue import JobLimits, Queue
from discreet.apps.server.jobs import Job
from discreet.errors import BusyError, InputError, LedgerError, RunError
from discreet.ledger.ledger import Ledger
from servers import place  # noqa: F401

WAIT = 60


def job(release, who="ann", priority="normal", dataset="d"):
    return Job(dataset, release, "tree", who, "why", "waiting", "waiting", None, "", "now", "", priority=priority)


@pytest.fixture
def queues(place, tmp_path, monkeypatch):  # noqa: F811
    """`queues(**limits)`: another process's view of the jobs of one ledger, each with `did`, what it has done."""
    monkeypatch.setattr(job_queue, "_PAUSE", 0.02)
    monkeypatch.setattr(job_queue, "_RETRY", 0.02)
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    Ledger.open(place, create=True).close()
    made = []

    def another(work=lambda ticket, report: None, **limits):
        queue = Queue(Ledger.open(place), JobLimits(**limits))
        queue.did = []

        def perform(ticket, report):
            queue.did.append(ticket.job.release)
            work(ticket, report)

        queue.perform, queue.serves = perform, lambda: ("d",)
        queue.ended = lambda ticket, by: replace(ticket.job, state="cancelled", problem=f"by {by}")
        made.append(queue)
        return queue

    yield another
    for queue in made:
        queue.pause()


def send(queue, *jobs):
    for one in jobs:
        queue.submit(one, request="{}", digest="x")


def until(true):
    end = time.monotonic() + WAIT
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def idle(queue):
    queue.start = lambda: None
    return queue


def test_jobs_begin_in_the_order_that_positions_show(queues):
    queue = idle(queues(caller_waiting=600))
    send(queue, *(job(f"a{n}") for n in range(30)), job("b0", "bob"), job("b1", "bob"))
    send(queue, job("low", "cyd", "low"), job("high", "eve", "high"))
    shown = sorted((one.position, one.release) for one in queue.listed("d"))
    assert [position for position, _ in shown] == list(range(1, 35))
    assert [name for _, name in shown[:5]] == ["high", "a0", "b0", "a1", "b1"]
    assert shown[-1][1] == "low"
    while queue.step():
        pass
    assert queue.did == [name for _, name in shown]
    assert {one.state for one in queue.listed("d")} == {"done"}
    assert {one.position for one in queue.listed("d")} == {None}


def test_one_analyst_with_500_jobs_does_not_starve_another(queues):
    queue = idle(queues(caller_waiting=500, waiting=1000))
    with queue._table() as table:
        for n in range(500):
            table.add(job(f"a{n}"), request="{}", digest="x")
    with pytest.raises(BusyError, match="500 of your jobs are waiting"):
        send(queue, job("one more"))
    for _ in range(3):
        queue.step()
    send(queue, job("urgent", "bob"))
    assert queue.find("d", "urgent").position == 1
    queue.step()
    assert queue.did[-1] == "urgent"


def test_limits_are_per_caller_and_for_all(queues):
    gate, running = threading.Event(), threading.Semaphore(0)

    def work(ticket, report):
        running.release()
        assert gate.wait(WAIT)

    queue = queues(work, running=3, each=1, waiting=2)
    send(queue, job("a0"))
    assert running.acquire(timeout=WAIT)
    send(queue, job("a1"), job("b0", "bob"))
    assert running.acquire(timeout=WAIT)  # bob's: of ann no second runs, though there is room
    until(lambda: queue.find("d", "b0").state == "running")
    assert queue.find("d", "a1").state == "waiting"
    send(queue, job("a2"))
    with pytest.raises(BusyError, match="Too many jobs"):
        send(queue, job("c0", "cyd"))
    gate.set()
    until(lambda: all(one.state == "done" for one in queue.listed("d")))


def test_long_requests_do_not_fill_the_database_of_the_ledger(queues, monkeypatch):
    monkeypatch.setattr(job_queue, "_LARGEST", 100)
    monkeypatch.setattr(job_table, "_LONG", 10)
    monkeypatch.setattr(job_table, "_LONG_KEPT", 2)
    queue = idle(queues())
    for number in range(4):
        queue.submit(job(f"a{number}"), request="x" * 25, digest="x")
    with pytest.raises(BusyError, match="too large together"):
        queue.submit(job("a4"), request="x", digest="x")
    queue.submit(job("b0", "bob"), request="{}", digest="x")
    while queue.step():
        pass
    queue.submit(job("a5"), request="x" * 25, digest="x")  # what it takes the place of is over
    sizes = {name: len(queue.request("d", name).request) for name in ("a0", "a1", "a2", "a3", "b0", "a5")}
    assert sizes == {"a0": 0, "a1": 0, "a2": 25, "a3": 25, "b0": 2, "a5": 25}
    assert queue.find("d", "a0").state == "done"


def test_an_id_is_one_job_for_one_question_of_one_person(queues):
    queue = idle(queues())
    send(queue, job("one"))
    assert queue.submit(job("one"), request="{}", digest="x").position == 1
    with pytest.raises(InputError, match="a job of this id is running"):
        queue.submit(job("one"), request="{}", digest="y")
    with pytest.raises(InputError, match="another person"):
        queue.submit(job("one", "bob"), request="{}", digest="x")
    assert queue.submit(job("one", "eve"), request="{}", digest="x", custodian=True).who == "ann"
    assert len(queue.listed("d")) == 1


def test_every_process_sees_a_job_and_one_of_them_does_it(queues):
    first, second = idle(queues()), idle(queues())
    send(first, *(job(f"a{n}") for n in range(6)))
    assert [one.release for one in second.listed("d")] == [one.release for one in first.listed("d")]
    for _ in range(3):
        first.step(), second.step()
    assert len(first.did) == len(second.did) == 3
    assert not {*first.did} & {*second.did}
    assert not first.step()
    assert first.counts() == {("d", "done"): 6}


def test_the_job_of_a_process_that_died_is_taken_over_and_not_that_of_one_that_lives(queues):
    gate = threading.Event()
    living = queues(lambda ticket, report: gate.wait(WAIT), running=1, lease=0.2)
    send(living, job("lives"))
    until(lambda: living.find("d", "lives").state == "running")
    dead, other = idle(queues(lease=0.2)), idle(queues(lease=0.2))
    send(other, job("orphan", "bob"))
    with dead._table() as table:
        dead._claimed(table)  # and then it is gone, without a word
    assert other.find("d", "orphan").state == "running"
    until(lambda: other.step() or other.did)
    assert other.did == ["orphan"]
    assert (other.find("d", "orphan").state, other.find("d", "orphan").attempts) == ("done", 1)
    assert other.find("d", "lives").state == "running"  # it beats
    gate.set()
    until(lambda: living.find("d", "lives").state == "done")


def test_a_job_that_kills_every_process_is_given_up(queues):
    for number in range(job_queue._ATTEMPTS + 1):
        dead = idle(queues(lease=0.05))
        if not number:
            send(dead, job("deadly"))
        found = []
        until(lambda dead=dead, found=found: _claim(dead, found) or dead.find("d", "deadly").over)
    assert dead.find("d", "deadly").state == "failed"
    assert "charged once" in dead.find("d", "deadly").problem


def _claim(queue, found):
    with queue._table() as table:
        row = queue._claimed(table)
    if row is not None:
        found.append(row)
    time.sleep(0.01)
    return found


def test_a_job_waits_for_a_ledger_that_does_not_answer(queues):
    tries = []

    def work(ticket, report):
        tries.append(ticket)
        if len(tries) < 3:
            raise LedgerError("away, at host 10.0.0.1")

    queue = queues(work)
    send(queue, job("one"))
    until(lambda: queue.find("d", "one").over)
    assert (queue.find("d", "one").state, len(tries)) == ("done", 3)


def test_what_goes_wrong_is_told_in_our_words_alone(queues):
    def work(ticket, report):
        raise ValueError("Xyzzy-7431") if ticket.job.release == "one" else RunError("Its cost stays spent.", release="")

    queue = queues(work)
    send(queue, job("one"), job("two"))
    until(lambda: all(one.over for one in queue.listed("d")))
    assert queue.find("d", "one").problem == "something went wrong"
    assert queue.find("d", "two").problem == "Its cost stays spent."


def test_a_job_that_waits_is_cancelled_at_once_and_one_that_runs_by_its_process(queues):
    running = threading.Semaphore(0)

    def work(ticket, report):
        report("measuring", None)
        running.release()
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            report("measuring", None)
            time.sleep(0.01)

    here, there = queues(work, lease=0.2, each=1), idle(queues())
    send(here, job("one"), job("two"))
    assert running.acquire(timeout=WAIT)
    assert there.cancel("d", "two", "eve").state == "cancelled"
    assert there.cancel("d", "two", "eve") is None
    assert there.cancel("d", "one", "eve").stage == "stopping"
    until(lambda: there.find("d", "one").over)
    assert there.find("d", "one").state == "cancelled"
    assert there.find("d", "one").problem == "by eve"
    assert here.did == ["one"]


def test_a_job_that_runs_for_too_long_is_cancelled_and_one_without_a_limit_is_not(queues):
    def work(ticket, report):
        end = time.monotonic() + (WAIT if ticket.job.release == "one" else 0.5)
        while time.monotonic() < end:
            report("measuring", None)
            time.sleep(0.01)

    here = queues(work, lease=0.2, longest=0.1)
    send(here, job("one"))
    until(lambda: here.find("d", "one").over)
    assert (here.find("d", "one").state, here.find("d", "one").problem) == ("cancelled", f"by {TIME_LIMIT}")
    here.limits = JobLimits(lease=0.2)
    send(here, job("two"))
    until(lambda: here.find("d", "two").over)
    assert here.find("d", "two").state == "done"


def test_a_job_whose_process_died_before_it_was_stopped_ends_as_cancelled(queues):
    dead, other = idle(queues(lease=0.05)), idle(queues(lease=0.05))
    send(dead, job("one"))
    with dead._table() as table:
        dead._claimed(table)
    other.cancel("d", "one", "eve")
    until(lambda: other.step() or other.find("d", "one").over)
    assert (other.find("d", "one").state, other.did) == ("cancelled", [])


def test_a_server_that_stops_lets_running_jobs_end_and_leaves_the_rest_to_the_next(queues):
    gate, running = threading.Event(), threading.Semaphore(0)

    def work(ticket, report):
        running.release()
        gate.wait(WAIT)

    queue = queues(work, running=1)
    send(queue, job("runs"), job("waits"))
    assert running.acquire(timeout=WAIT)
    ended = threading.Thread(target=queue.drain, args=(time.monotonic() + WAIT, threading.Event()))
    ended.start()
    gate.set()
    ended.join(WAIT)
    assert not ended.is_alive()
    assert (queue.find("d", "runs").state, queue.find("d", "waits").state) == ("done", "waiting")
    after = queues()
    after.start()
    until(lambda: after.find("d", "waits").state == "done")


def test_what_does_not_end_in_time_goes_back_to_the_queue(queues):
    gate, running = threading.Event(), threading.Semaphore(0)

    def work(ticket, report):
        running.release()
        gate.wait(WAIT)

    queue = queues(work, running=1)
    send(queue, job("long"))
    assert running.acquire(timeout=WAIT)
    queue.drain(time.monotonic(), threading.Event())
    assert queue.find("d", "long").state == "waiting"
    after = idle(queues())
    after.step()
    gate.set()  # what the old process still does changes nothing: the job is another's by now
    assert (after.did, after.find("d", "long").state) == (["long"], "done")


def test_jobs_of_datasets_that_are_not_served_here_stay(queues):
    queue = idle(queues())
    send(queue, job("far", dataset="elsewhere"))
    assert not queue.step()
    assert queue.find("elsewhere", "far").state == "waiting"


def test_a_cancelled_job_of_a_dataset_that_is_not_served_here_stops_nobody_elses(queues):
    dead, other = idle(queues(lease=0.05)), idle(queues(lease=0.05))
    dead.serves = lambda: ("elsewhere",)
    send(dead, job("far", dataset="elsewhere"))
    with dead._table() as table:
        dead._claimed(table)
    other.cancel("elsewhere", "far", "eve")
    other.step()  # from here on it is watched
    time.sleep(0.06)
    send(other, job("near"))
    assert other.step()
    assert (other.did, other.find("elsewhere", "far").state) == (["near"], "running")


def test_a_job_whose_end_cannot_be_told_is_not_taken_up_for_ever(queues):
    queue = idle(queues())
    queue.perform = lambda ticket, report: queue.cancel("d", "one", "eve")

    def broken(ticket, by):
        raise KeyError(by)

    queue.ended = broken
    send(queue, job("one"))
    assert queue.step()
    assert queue.find("d", "one").state == "failed"
    assert not queue.step()


def test_what_ended_just_before_the_server_stopped_is_not_begun_again(queues):
    queue = idle(queues(lambda ticket, report: None))
    send(queue, job("one"))
    with queue._table() as table:
        row = queue._claimed(table)
    queue._run(row)
    queue._mine[row.key] = (row, None)  # its thread has written the end, and not yet forgotten the job
    queue.drain(time.monotonic(), threading.Event())
    assert queue.find("d", "one").state == "done"


def test_what_jobs_asked_for_is_read_with_one_job_and_not_with_the_list(queues):
    asked = []
    queue = idle(queues(lambda ticket, report: asked.append(ticket.request)))
    send(queue, job("one"), job("two"))
    with queue._table(write=False) as table:
        lists = (table.in_state("waiting"), table.of_dataset("d"), table.ordered())
        assert [row.request for rows in lists for row in rows] == [""] * 6
        assert table.find("d", "one").request == "{}"
    assert queue.step()
    assert queue.step()
    assert asked == ["{}", "{}"]
