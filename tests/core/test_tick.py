"""Ends of runs on a grid: the next multiple of the pace since 1970, whoever waits."""

import pytest

from discreet.core import tick
from discreet.core.tick import paced, until_tick, wait_for_tick


@pytest.mark.parametrize(
    ("now", "pace", "wait"),
    [(1000.03125, 0.125, 0.09375), (1000.125, 0.125, 0.0), (1000.25, 0.5, 0.25), (1_750_000_000.75, 60, 19.25)],
)
def test_the_next_multiple_is_waited_for(monkeypatch, now, pace, wait):
    assert until_tick(now, pace) == wait
    slept = []
    monkeypatch.setattr(tick, "time", lambda: now)
    monkeypatch.setattr(tick, "sleep", slept.append)
    with paced(pace):
        wait_for_tick()
    assert slept == [wait]


def test_without_a_pace_nobody_waits(monkeypatch):
    monkeypatch.setattr(tick, "sleep", lambda seconds: pytest.fail("waited"))
    wait_for_tick()
    with paced(0):
        wait_for_tick()
    with paced(5), paced(0):  # the inner one counts
        wait_for_tick()
