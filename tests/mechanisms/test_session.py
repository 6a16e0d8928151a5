"""Sessions of interactive mechanisms: one answer at a time, in one process, and no copies."""

import copy
import os
import pickle
import threading

import pytest

from discreet.errors import ExhaustedError
from discreet.mechanisms.session import Session


class Counter(Session):
    """Counts its answers, slowly."""

    __slots__ = ("count",)

    def __init__(self):
        super().__init__()
        self.count = 0

    def answer(self):
        with self._turn():
            seen = self.count
            threading.Event().wait(0.001)
            self.count = seen + 1


class Unguarded(Counter):
    """The planted bug: no turn is waited for."""

    __slots__ = ()

    def answer(self):
        seen = self.count
        threading.Event().wait(0.001)
        self.count = seen + 1


def counted(session, times=40):
    threads = [threading.Thread(target=session.answer) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return session.count


def test_threads_take_turns_and_without_turns_that_would_be_seen():
    assert counted(Counter()) == 40
    assert counted(Unguarded()) < 40


@pytest.mark.parametrize("attempt", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_session_cannot_be_copied(attempt):
    with pytest.raises(TypeError, match="Counter cannot be copied"):
        attempt(Counter())


def test_an_answer_that_fails_leaves_the_turn_to_the_next():
    session = Counter()
    with pytest.raises(RuntimeError), session._turn():
        raise RuntimeError("no answer")
    session.answer()
    assert session.count == 1


def test_another_process_gets_no_answer(monkeypatch):
    session = Counter()
    session._lock.acquire()  # as another thread may have when this process was forked
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(ExhaustedError, match="the process that started it"):
        session.answer()
