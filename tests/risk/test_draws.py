"""Made-up numbers are even, and follow from their bits."""

import numpy as np

from discreet.risk.draws import draw_even
from seam import Tape


def test_numbers_are_from_zero_up_to_one_and_follow_from_their_bits():
    drawn = draw_even(Tape("even"), 40, 50)
    assert drawn.shape == (40, 50)
    assert 0 <= drawn.min() < 0.01
    assert 0.99 < drawn.max() < 1
    assert np.array_equal(drawn, draw_even(Tape("even"), 40, 50))
    assert not np.array_equal(drawn, draw_even(Tape("other"), 40, 50))
