"""Secret bits come back from counts that are a little wrong, and not under a stated epsilon."""

import math

import pytest

from discreet.errors import InputError
from discreet.noise.replay import Replay
from discreet.risk.reconstruction import Guess, Reconstruction, reconstruct


@pytest.mark.parametrize("way", ["squares", "program"])
def test_bits_are_rebuilt_from_counts_and_not_under_a_budget(way):
    found = reconstruct(120, errors=(0.1,), epsilon=1, way=way)
    assert found.sloppy[0].right > 0.95
    assert found.private.right < 0.85  # 120 coin flips: half, give or take 0.05, seven times over
    assert getattr(found.sloppy[0], way) == found.sloppy[0].right
    assert {found.sloppy[0].squares, found.sloppy[0].program} > {None}


def test_more_error_finds_fewer_bits_and_the_program_finds_more_of_them():
    found = reconstruct(400, errors=(0.1, 1, 8), epsilon=None, bits=Replay(b"errors")).sloppy
    assert found[0].squares > found[1].squares > found[2].squares > 0.3
    assert found[1].program > found[1].squares


def test_the_targets_of_a_thousand_people_are_reached():
    """With the same draws every time: 1, .999, .939, .788 and .579 of the bits, and coin flips under a budget of 1."""
    found = reconstruct(1000, bits=Replay(b"targets"))
    reached = [guess.right for guess in found.sloppy]
    assert all(here >= goal for here, goal in zip(reached, (1, 0.999, 0.939, 0.788, 0.579), strict=True))
    assert abs(found.private.right - 0.5) < 0.05


def test_the_same_noise_at_a_large_epsilon_stops_nothing():
    """It is the size of the noise that makes the attack fail: otherwise the control would fail as well."""
    found = reconstruct(300, errors=(0.25,), epsilon=1, bits=Replay(b"control"))
    assert found.control.epsilon > 100
    assert found.control.error == pytest.approx(found.sloppy[0].error, rel=0.15)
    assert found.control.right > 0.95
    assert found.private.right < 0.7


def test_words_and_picture_have_both_ways_the_bound_and_the_price():
    found = Reconstruction(100, 400, (Guess(2.5, 0.99, 1.0),), Guess(1200, 0.5, 0.51, 1.0), Guess(3, 1, 1, 500), 3)
    assert found.most == pytest.approx(math.e / (1 + math.e))
    words = found.explain()
    for part in ("99.0% by least squares", "100.0% by the linear program", "more than 73.1%", "off by up to 3.", "500"):
        assert part in words
    assert found.conclusion().startswith("100% of the secrets follow")
    assert found.to_dict()["most"] == found.most
    drawn = found.picture().to_svg()
    assert "epsilon = 500 for all counts, both solvers" in drawn
    assert "epsilon = 1 for all counts, both solvers" in drawn
    assert "coin flips" in drawn
    alone = Reconstruction(100, 400, (Guess(2.5, None, 1.0),), None, None, None)
    assert "epsilon" not in alone.explain()
    assert "least squares" not in alone.picture().to_svg()


@pytest.mark.parametrize(
    "bad",
    [{"people": 1}, {"people": 10**6}, {"questions": 0}, {"epsilon": 0}, {"way": "luck"}, {"errors": (-1,)}],
)
def test_a_reconstruction_that_makes_no_sense_is_refused(bad):
    with pytest.raises(InputError, match=next(iter(bad))):
        reconstruct(**{"people": 20, **bad})


def test_nothing_to_attack_is_refused():
    with pytest.raises(InputError, match="errors"):
        reconstruct(20, errors=(), epsilon=None)
