import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import after, posterior, posterior_curve
from discreet.errors import InputError

chances = st.fractions(0, 1, max_denominator=1000)


def test_the_coin_survey():
    assert after(0.02, 0.75, 0.25) == Fraction(3, 52)
    survey = posterior(0.02, math.log(3))
    assert float(survey.high) == pytest.approx(3 / 52)
    assert survey.sentence() == "Someone who thought it 2% likely can come to think it at most 5.8% likely."


@given(chances, st.fractions("0.01", 6, max_denominator=100), chances)
def test_no_answer_of_an_epsilon_private_survey_moves_anyone_further(prior, epsilon, share):
    # Any answer whose probability differs by a factor of at most e^epsilon (rounded inward).
    factor = Fraction(math.exp(float(epsilon)) * (1 - 1e-12))
    no = Fraction(1, 1000)
    yes = no * (1 + (factor - 1) * share)
    bound = posterior(prior, epsilon)
    assert bound.low <= after(prior, no, yes) <= after(prior, yes, no) <= bound.high
    assert bound.low <= prior <= bound.high


def test_half_the_epsilon_would_be_caught():
    assert after(0.4, 0.75, 0.25) > posterior(0.4, math.log(3) / 2).high


def test_certainty_and_no_privacy():
    assert posterior(0, 5).high == 0
    assert posterior(1, 5).low == 1
    assert posterior(0.4, 0).high == posterior(0.4, 0).low == Fraction(2, 5)
    assert posterior(0.4, 10**6).high == 1


def test_the_curve_is_ready_to_plot():
    prior, low, high = posterior_curve(1, points=11)
    assert len(prior) == len(low) == len(high) == 11
    assert np.all(low <= prior)
    assert np.all(prior <= high)


def test_what_is_not_allowed():
    with pytest.raises(InputError, match="prior"):
        posterior(1.2, 1)
    with pytest.raises(InputError, match="epsilon"):
        posterior(0.2, -1)
    with pytest.raises(InputError, match="can happen"):
        after(0.5, 0, 0)
    with pytest.raises(InputError, match="points"):
        posterior_curve(1, points=1)
