"""Made-up numbers are even, and follow from their bits."""

import numpy as np

from discreet.risk.draws import draw_bits, draw_even, draw_order
from seam import Tape


def test_numbers_are_from_zero_up_to_one_and_follow_from_their_bits():
    drawn = draw_even(Tape("even"), 40, 50)
    assert drawn.shape == (40, 50)
    assert 0 <= drawn.min() < 0.01
    assert 0.99 < drawn.max() < 1
    assert np.array_equal(drawn, draw_even(Tape("even"), 40, 50))
    assert not np.array_equal(drawn, draw_even(Tape("other"), 40, 50))


def test_bits_are_fair_and_orders_have_every_number_once():
    bits = draw_bits(Tape("bits"), 10_000)
    assert bits.dtype == bool
    assert abs(bits.mean() - 0.5) < 0.03
    order = draw_order(Tape("order"), 100)
    assert sorted(order.tolist()) == list(range(100))
    assert order.tolist() != list(range(100))
