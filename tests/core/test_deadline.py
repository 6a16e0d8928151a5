"""A time limit: what runs is stopped when it is reached, until it has ended, and never afterwards."""

import threading

from discreet.core.deadline import Deadline, limited, passed, stoppable

LONG = 60


def test_without_a_limit_nothing_is_stopped():
    with stoppable(lambda: 1 / 0):
        assert not passed()
    assert not passed()


def test_what_runs_is_stopped_again_until_it_has_ended():
    calls, third = [], threading.Event()

    def stop():
        calls.append(1)
        if len(calls) == 1:
            raise OSError("an engine that is gone")
        if len(calls) == 3:
            third.set()

    with limited(0), stoppable(stop):
        assert third.wait(LONG)
        assert passed()
    assert not passed()


def test_what_has_ended_is_stopped_no_more():
    first, second = [], []
    with limited(3600) as deadline:
        with stoppable(lambda: first.append(1)):
            pass
        stopper = threading.Thread(target=deadline.reach)
        ready = threading.Event()
        with stoppable(lambda: (second.append(1), ready.set())):
            stopper.start()
            assert ready.wait(LONG)
        before = len(second)
    stopper.join(LONG)
    assert not stopper.is_alive()
    assert (first, len(second)) == ([], before)


def test_whoever_leaves_waits_for_the_stop_that_is_under_way():
    inside, go, left = threading.Event(), threading.Event(), threading.Event()
    deadline = Deadline()

    def stop():
        inside.set()
        assert go.wait(LONG)
        assert not left.is_set()  # a connection that was given back may be another's by now

    deadline.add(stop)
    stopper = threading.Thread(target=deadline.reach)
    stopper.start()
    assert inside.wait(LONG)
    leaver = threading.Thread(target=lambda: (deadline.remove(stop), left.set(), deadline.end()))
    leaver.start()
    assert not left.wait(0.1)
    go.set()
    assert left.wait(LONG)
    stopper.join(LONG)
    assert not stopper.is_alive()


def test_a_limit_is_that_of_its_own_run():
    with limited(3600) as deadline:
        deadline.passed = True
        with limited(3600):
            assert not passed()
        assert passed()
        seen = []
        other = threading.Thread(target=lambda: seen.append(passed()))
        other.start()
        other.join()
        assert seen == [False]
