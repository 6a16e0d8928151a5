"""A finding as plain values, and in words that promise nothing."""

import math
from dataclasses import replace

import pytest

from audit_cases import additive
from discreet.audit import Rates, audit
from discreet.core.loss import Pure
from discreet.mechanisms import Laplace


@pytest.fixture(scope="module")
def finding():
    return audit(additive(Laplace(20), 20), Pure(1), runs=5_000, confidence=1 - 1e-10, name="noise")


def test_a_finding_as_plain_values(finding):
    found = finding.to_dict()
    assert found["claimed_epsilon"] == 1
    assert found["violated"] is False
    assert found["name"] == "noise"
    assert 0 <= found["alarmed_at_most"] <= 1
    assert replace(finding, found=math.inf, violated=True).to_dict()["found_epsilon"] is None  # JSON has no infinity


def test_what_was_not_refuted_is_not_proved(finding):
    assert "We tried 5,000 times" in finding.sentence()
    assert "does not prove" in finding.sentence()


def test_a_refuted_claim_says_what_was_seen_on_which_side(finding):
    seen = replace(finding, violated=True, swapped=False, attack=Rates(0.9, 0.1), event="the answer is 3 or more")
    assert "The answer is 3 or more in at least 90% of the runs with the person" in seen.sentence()
    assert "at most 10% of those without them" in seen.sentence()
    assert "runs without the person" in replace(seen, swapped=True).sentence()
    early = replace(seen, attack=Rates(0.1, 0.1))  # sure by its bets, not by these rates
    assert "Bets on one sign" in early.sentence()
