"""Bits from counts: nearly all, and coin flips under a budget."""

from discreet.apps.demo.reconstruction_lecture import show


def test_bits_come_back_without_a_budget_alone():
    exact, private = (float(one.here.rstrip("%")) for one in show().numbers)
    assert exact > 95
    assert private < 70
