"""An attack on membership is judged by its rates."""

import math

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.risk.membership import judge_membership


def test_membership_is_judged_by_its_rates():
    inside, outside = np.array([3.0, 2.0, 2.0, 0.0]), np.array([1.0, 0.0, -1.0, 2.0])
    found = judge_membership(inside, outside)
    pairs = [(a > b) + (a == b) / 2 for a in inside for b in outside]
    assert found.area == pytest.approx(np.mean(pairs))
    assert found.advantage == pytest.approx(0.5)
    assert dict(zip(found.accused, found.caught, strict=True))[0.5] == pytest.approx(0.75)
    assert judge_membership(inside, inside).advantage == 0
    assert found.at_most(0) == 0
    assert found.at_most(math.log(3)) == pytest.approx(0.5)
    with pytest.raises(InputError, match="members"):
        judge_membership(np.array([1.0]), outside)
    with pytest.raises(InputError, match="others"):
        judge_membership(inside, np.array([1.0, np.nan]))
