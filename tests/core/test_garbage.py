"""The search for garbage is rare while libraries load, and as the program had it afterwards."""

import gc
import sys
import threading
import types
import weakref

import pytest

import discreet.core.garbage
from discreet.core.garbage import RARELY, rarely_collected


@pytest.fixture(autouse=True)
def thresholds():
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_it_is_rare_meanwhile_and_then_as_before():
    with rarely_collected():
        assert gc.get_threshold() == (RARELY, 10, 10)
        with rarely_collected():
            assert gc.get_threshold() == (RARELY, 10, 10)
        assert gc.get_threshold() == (RARELY, 10, 10)
    assert gc.get_threshold() == (700, 10, 10)


def test_an_error_ends_it_too():
    with pytest.raises(KeyError), rarely_collected():
        raise KeyError
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("young", [0, RARELY + 1])
def test_a_program_that_searches_never_or_more_rarely_is_let_be(young):
    gc.set_threshold(young, 5, 5)
    with rarely_collected():
        assert gc.get_threshold() == (young, 5, 5)
    assert gc.get_threshold() == (young, 5, 5)


def test_a_program_that_decides_meanwhile_has_the_last_word():
    with rarely_collected():
        gc.set_threshold(5000, 3, 3)
    assert gc.get_threshold() == (5000, 3, 3)


def test_threads_that_overlap_leave_it_as_it_was():
    inside, go = threading.Event(), threading.Event()

    def other():
        with rarely_collected():
            inside.set()
            assert go.wait(60)

    thread = threading.Thread(target=other)
    with rarely_collected():
        thread.start()
        assert inside.wait(60)
    assert gc.get_threshold()[0] == RARELY  # the other still loads
    go.set()
    thread.join(60)
    assert gc.get_threshold() == (700, 10, 10)


class Cycle:
    def __init__(self):
        self.own = self


def test_cycles_made_meanwhile_are_found_afterwards():
    with rarely_collected():
        seen = weakref.ref(Cycle())
    gc.collect()
    assert seen() is None


def test_what_the_program_has_frozen_stays_frozen(monkeypatch):
    before = gc.get_freeze_count()
    if not before:
        gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        assert frozen > 0
        with rarely_collected():
            monkeypatch.setitem(sys.modules, "loaded_meanwhile", types.ModuleType("loaded_meanwhile"))
        assert gc.get_freeze_count() > 0.9 * frozen
    finally:
        if not before:
            gc.unfreeze()


@pytest.mark.parametrize("loads", [False, True])
def test_nothing_is_counted_as_old_where_nothing_was_loaded(loads, monkeypatch):
    aged = []
    monkeypatch.setattr(discreet.core.garbage, "_age", lambda: aged.append(True))
    with rarely_collected():
        if loads:
            monkeypatch.setitem(sys.modules, "loaded_meanwhile", types.ModuleType("loaded_meanwhile"))
    assert bool(aged) is loads
