"""Every mechanism is attacked: honest ones stand, planted bugs are caught."""

from __future__ import annotations

import pickle

import pytest

import discreet.mechanisms as room
from audit_cases import caught, each_planted
from discreet.audit import subjects as mechanisms
from discreet.audit.gate import ALARM, _attack, _of, list_subjects

pytestmark = pytest.mark.statistical
MODULE = mechanisms.__name__

NOT_MECHANISMS = {"ContinualCountSession", "Quantile", "RankCurve", "SparseVectorSession", "lattice_distance"}
NOT_MECHANISMS |= {"sensitivity"}


def test_every_mechanism_is_attacked():
    assert {subject.name.split(",")[0].split(" ")[0] for subject in mechanisms.subjects()} == (
        set(room.__all__) - NOT_MECHANISMS
    )


@each_planted(MODULE)
def test_planted_bugs_are_caught(place):
    assert caught(MODULE, place)


@pytest.mark.parametrize("only", ["RandomizedResponse", "StabilityThreshold", "SparseVector"])
def test_honest_mechanisms_stand(only):
    places = [place for _, place in list_subjects([MODULE], only=only)[0] if not _of(MODULE)[place].planted]
    assert places
    for place in places:
        finding = _attack((MODULE, place, 1, 1 - ALARM / 100))
        assert not finding.violated
        assert finding.kind == "mechanism"
        assert pickle.loads(pickle.dumps(finding)).sentence() == finding.sentence()
