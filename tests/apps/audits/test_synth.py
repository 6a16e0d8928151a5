"""Synthetic rows are attacked: planted bugs are caught."""

import pytest

from audit_cases import caught, each_planted

pytest.importorskip("jax")
pytestmark = pytest.mark.statistical
MODULE = "discreet.apps.audits.synth"


@each_planted(MODULE)
def test_planted_bugs_are_caught(place):
    assert caught(MODULE, place)
