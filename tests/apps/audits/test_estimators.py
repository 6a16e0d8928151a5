"""Sums in the leaves of random trees are attacked: a row that counts twice is caught."""

import pytest

from audit_cases import caught, each_planted

pytest.importorskip("sklearn")
pytestmark = pytest.mark.statistical
MODULE = "discreet.apps.audits.estimators"


@each_planted(MODULE)
def test_planted_bugs_are_caught(place):
    assert caught(MODULE, place)
