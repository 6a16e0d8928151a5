"""Tests fit the same models again and again, on invented rows: they need not be told what that adds up to."""

import warnings

import pytest

from discreet.learn.estimators.fit_history import RepeatedFitWarning


@pytest.fixture(autouse=True)
def fits_add_up():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RepeatedFitWarning)
        yield
