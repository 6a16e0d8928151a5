"""Secret bits come back from counts that are a little wrong, and not under a stated epsilon."""

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.risk.reconstruction import curator_answers, random_questions, rebuild_bits, reconstruct, sloppy_answers


@pytest.mark.parametrize("way", ["squares", "program"])
def test_bits_are_rebuilt_from_counts_and_not_under_a_budget(way):
    few, private = reconstruct(120, errors=(0.1,), epsilon=1, way=way)
    assert few.right > 0.95
    assert private.right < 0.85  # 120 coin flips: half, give or take 0.05, seven times over
    assert "square root" in str(few)


def test_more_error_finds_fewer_bits():
    found = [guess.right for guess in reconstruct(400, errors=(0.1, 1, 8), epsilon=None)]
    assert found[0] > found[1] > found[2] > 0.3  # 1, 0.78, 0.54, give or take 0.03: seven deviations and more


def test_answers_are_off_by_no_more_than_said_and_exact_counts_solve_exactly():
    asked = random_questions(50, 200)
    secret = np.arange(50) % 3 == 0
    exact = asked.astype(int) @ secret
    assert np.abs(sloppy_answers(asked, secret, 2.5) - exact).max() <= 2.5
    assert (rebuild_bits(asked, exact.astype(float)) == secret).all()
    assert np.abs(curator_answers(asked, secret, 1e6) - exact).max() == 0


@pytest.mark.parametrize("bad", [{"people": 1}, {"people": 10**6}, {"questions": 0}, {"epsilon": 0}, {"way": "luck"}])
def test_a_reconstruction_that_makes_no_sense_is_refused(bad):
    with pytest.raises(InputError, match=next(iter(bad))):
        reconstruct(**{"people": 20, **bad})
