"""The hybrid of one bit and a number nearby: never worse than either."""

from fractions import Fraction

import pytest

from discreet.errors import InputError
from discreet.local import (
    Duchi,
    Hybrid,
    Piecewise,
)


def test_hybrid_is_never_worse_than_either_part():
    for epsilon in (0.3, 0.5, 1, 2, 4, 8):
        alone = min(Duchi(epsilon).variance(1), Piecewise(epsilon).variance(1))
        assert Hybrid(epsilon).variance(1) <= alone * (1 + 1e-9)
    assert Hybrid(1, 0, 10).half_width(400) == pytest.approx(Hybrid(1, 0, 10).half_width(100) / 2)
    assert Hybrid(1, 0, 10).variance(100) == pytest.approx(25 * Hybrid(1).variance(100))


def test_a_report_says_which_part_made_it():
    mean = Hybrid(1, 0, 10, steps=5, share="1/3")
    near, bit = Piecewise(1, 0, 10, steps=5), Duchi(1, 0, 10, steps=5)
    assert mean.reports == near.reports + 2
    law = mean.law(8)
    assert {report: 3 * chance for report, chance in law.items() if report < near.reports} == near.law(8)
    assert {
        report - near.reports: chance * Fraction(3, 2) for report, chance in law.items() if report >= near.reports
    } == bit.law(8)
    assert Hybrid(1, share=0).variance(7) == Duchi(1).variance(7)
    assert Hybrid(1, share=1).variance(7) == Piecewise(1).variance(7)


def test_a_share_is_a_probability():
    for wrong in (2, -1, "x"):
        with pytest.raises(InputError):
            Hybrid(1, share=wrong)
