"""Every responder is attacked, and planted bugs are caught."""

import pytest

from audit_cases import caught, each_planted
from discreet.apps.audits import local as responders
from discreet.local.survey import KINDS

MODULE = responders.__name__


def test_every_responder_is_attacked():
    expected = {kind.__name__ for kind in KINDS.values()} | {"Rappor", "HeavyHitters", "Longitudinal"}
    assert expected <= {subject.name for subject in responders.subjects()}


@pytest.mark.statistical
@each_planted(MODULE)
def test_planted_bugs_are_caught(place):
    assert caught(MODULE, place)
