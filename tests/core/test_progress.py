"""Progress of long work: heard by whoever listens, by nobody else, and never by two at once."""

import threading

import pytest

from discreet.core.progress import listening, notify


def test_what_is_told_is_heard_inside_and_not_after():
    heard = []
    with listening(lambda stage, done: heard.append((stage, done))):
        notify("counting")
        notify("solving", 0.5)
    notify("too late")
    assert heard == [("counting", None), ("solving", 0.5)]


def test_the_inner_listener_hears_and_the_outer_one_again_afterwards():
    outer, inner = [], []

    def work():
        with listening(lambda stage, done: inner.append(stage)):
            notify("inside")
            raise RuntimeError("the work failed")

    with listening(lambda stage, done: outer.append(stage)):
        with pytest.raises(RuntimeError):
            work()
        notify("outside")
    assert (outer, inner) == (["outside"], ["inside"])


def test_another_thread_is_not_heard():
    heard = []
    with listening(lambda stage, done: heard.append(stage)):
        other = threading.Thread(target=notify, args=("elsewhere",))
        other.start()
        other.join()
    assert heard == []
