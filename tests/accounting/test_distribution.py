"""Privacy loss distributions: from probabilities by hand, with a margin, and in a sentence."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.accounting import PrivacyLoss, privacy_loss, training_loss
from discreet.core.loss import (
    Approx,
    Pure,
    Repeated,
)
from discreet.errors import InputError, LossError

REFERENCE = training_loss(1.1, 0.01, 6000)


def test_what_floating_point_cannot_see_is_refused():
    with pytest.raises(LossError, match="rounding"):
        privacy_loss(REFERENCE).epsilon(1e-12)
    with pytest.raises(LossError, match="reveal everything"):
        privacy_loss(Approx(1, 1e-3)).epsilon(1e-6)
    with pytest.raises(InputError, match="interval"):
        privacy_loss(Pure(1), interval=0)


def test_arrays_are_ready_to_plot():
    side = privacy_loss(Repeated(Pure(0.1), 20)).remove
    assert side.losses.shape == side.probabilities.shape
    assert np.all(np.diff(side.losses) > 0)
    assert np.all(side.probabilities >= 0)
    assert side.probabilities.sum() + side.infinity == pytest.approx(1)


def test_explicit_probabilities():
    survey = PrivacyLoss.of([0.75, 0.25], [0.25, 0.75])
    assert math.log(3) <= survey.epsilon(0) <= math.log(3) + 1e-8
    assert float(survey.delta(0)) == pytest.approx(0.5)
    leaky = PrivacyLoss.of([Fraction(9, 10), Fraction(1, 10)], [1, 0])
    assert leaky.delta(5) == pytest.approx(0.1)
    with pytest.raises(LossError):
        leaky.epsilon(0.01)
    assert leaky.epsilon(0.2) == 0
    with pytest.raises(InputError, match="sum to 1"):
        PrivacyLoss.of([0.5, 0.1], [0.5, 0.5])
    with pytest.raises(InputError, match="as long as p"):
        PrivacyLoss.of([1], [0.5, 0.5])


def test_the_sentence_can_be_read():
    text = privacy_loss(REFERENCE, 1e-3).sentence(1e-5)
    assert "plus 1e-5" in text
    assert "epsilon 3.902" in text
