"""An attack on membership is judged by its rates."""

import math

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.risk.membership import judge_membership, most_named


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


def test_what_an_epsilon_allows_is_the_line_of_its_definition_and_the_mirror_image():
    assert most_named(0.01, 1, 1e-3) == pytest.approx(0.01 * math.e + 1e-3)
    assert most_named(0.9, 1) == pytest.approx(1 - 0.1 / math.e)
    assert most_named(0.2, 0) == pytest.approx(0.2)
    assert most_named(0.01, 2000) == 1
    # The largest gap over all rates is the largest advantage.
    gaps = [most_named(rate / 1000, 1) - rate / 1000 for rate in range(1001)]
    assert max(gaps) == pytest.approx(judge_membership(np.arange(3.0), np.arange(3.0)).at_most(1), abs=1e-3)


def test_members_named_are_read_at_a_stated_rate():
    found = judge_membership(np.arange(1000.0) + 500, np.arange(1000.0))
    assert found.at(0.01) == pytest.approx(0.51)
    assert "at a false positive rate of 1%, the attack identifies 51.0% of members" in str(found)
    with pytest.raises(InputError, match="accused"):
        found.at(0.3333)
    few = judge_membership(np.arange(3.0), np.arange(3.0))
    assert "positive rate of 35%" in str(few)
