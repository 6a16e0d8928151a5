"""Releases of hierarchies are attacked: a person counted twice is caught."""

import pytest

from audit_cases import caught, each_planted

pytestmark = pytest.mark.statistical
MODULE = "discreet.apps.audits.hierarchy"


@each_planted(MODULE)
def test_planted_bugs_are_caught(place):
    assert caught(MODULE, place)
