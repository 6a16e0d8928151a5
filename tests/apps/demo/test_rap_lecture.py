"""Synthetic rows: a higher price makes the largest error smaller."""

import pytest

pytest.importorskip("jax")

from discreet.apps.demo import rap_lecture
from discreet.apps.demo.rap_lecture import _largest


def test_a_higher_price_makes_the_largest_error_smaller(monkeypatch):
    monkeypatch.setattr(rap_lecture, "_PRICES", ("0.0002", "0.02"))
    dear, cheap = (float(one.here.split(",")[0]) for one in rap_lecture.show().numbers)
    assert dear < cheap < 0.5


def test_the_largest_error_of_a_pair():
    true = {"a": ["x", "x", "y", "y"], "b": ["u", "u", "u", "v"]}
    assert _largest(true, true) == 0
    assert _largest({"a": ["x"] * 4, "b": ["u"] * 4}, true) == 0.5
