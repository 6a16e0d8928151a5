"""Questions through a curator, a ledger and an engine are attacked: they stand, and an unbounded person is caught."""

import pytest

from audit_cases import caught, each_planted
from discreet.audit.gate import ALARM, _attack, list_subjects

pytestmark = pytest.mark.statistical
MODULE = "discreet.apps.audits.questions"


def test_a_question_through_the_door_stands():
    places, _ = list_subjects([MODULE], only="people")
    assert not _attack((*places[0], 1, 1 - ALARM / 100)).violated


def test_of_what_several_noisy_numbers_make_most_of_the_claim_is_shown():
    """The numbers on the ledger are attacked: of what is published of them attacks showed nothing."""
    places, _ = list_subjects([MODULE], only="variance")
    found = _attack((*places[0], 1, 1 - ALARM / 100))
    assert not found.violated
    assert not found.weak
    assert not found.blind


@each_planted(MODULE)
def test_planted_bugs_are_caught(place):
    assert caught(MODULE, place)
