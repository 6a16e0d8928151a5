"""Descent: less noise, more right answers, a larger epsilon."""

import pytest

pytest.importorskip("jax")

from discreet.apps.demo import sgd_lecture


def test_less_noise_is_more_accurate(monkeypatch):
    monkeypatch.setattr(sgd_lecture, "_EPOCHS", 2)
    monkeypatch.setattr(sgd_lecture, "_LEVELS", (400, 1))
    run, *levels = sgd_lecture.show().numbers
    assert run.here.startswith("0.95")
    most, least = (float(one.here.rstrip("%")) for one in levels)
    assert most < 80 < least
