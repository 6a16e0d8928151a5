"""What selections share: the rate that follows from the price, and what is no price."""

from fractions import Fraction

import pytest

from discreet.errors import InputError
from discreet.mechanisms import Exponential, NoisyMax, PermuteAndFlip
from discreet.mechanisms.selection import Selection


@pytest.mark.parametrize("kind", [Selection, Exponential, NoisyMax, PermuteAndFlip])
def test_monotone_scores_are_chosen_among_at_twice_the_rate(kind):
    assert kind(0.1).rate == Fraction(1, 20)
    assert kind(0.1, monotone=True).rate == Fraction(1, 10)
    assert kind(0.1, sensitivity=4).rate == kind(0.1).rate / 4


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": 1, "sensitivity": 0}, "sensitivity"),
        ({"epsilon": 1, "sensitivity": 1.5}, "sensitivity"),
        ({"epsilon": 1, "monotone": 1}, "monotone"),
    ],
)
def test_what_is_not_allowed_is_named(values, field):
    with pytest.raises(InputError) as caught:
        Selection(**values)
    assert caught.value.field == field
