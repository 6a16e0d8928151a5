"""Attacks succeed where they should and fail under a stated epsilon."""

import math

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.risk.blocks import RACES, SEXES, _made_up, blocks_attacked
from discreet.risk.census import AGES, Block, _equations, _moved, coarse, noisy_tables, published, rebuild
from discreet.risk.difference import differencing
from discreet.risk.membership import membership
from discreet.risk.reconstruct import curator_answers, random_questions, rebuilt, reconstruction, sloppy_answers
from seam import Tape


@pytest.mark.parametrize("way", ["squares", "program"])
def test_bits_are_rebuilt_from_counts_and_not_under_a_budget(way):
    few, private = reconstruction(120, errors=(0.1,), epsilon=1, way=way)
    assert few.right > 0.95
    assert private.right < 0.85  # 120 coin flips: half, give or take 0.05, seven times over
    assert "square root" in str(few)


def test_more_error_finds_fewer_bits():
    found = [guess.right for guess in reconstruction(400, errors=(0.1, 1, 8), epsilon=None)]
    assert found[0] > found[1] > found[2] > 0.3  # 1, 0.78, 0.54, give or take 0.03: seven deviations and more


def test_answers_are_off_by_no_more_than_said_and_exact_counts_solve_exactly():
    asked = random_questions(50, 200)
    secret = np.arange(50) % 3 == 0
    exact = asked.astype(int) @ secret
    assert np.abs(sloppy_answers(asked, secret, 2.5) - exact).max() <= 2.5
    assert (rebuilt(asked, exact.astype(float)) == secret).all()
    assert np.abs(curator_answers(asked, secret, 1e6) - exact).max() == 0


@pytest.mark.parametrize("bad", [{"people": 1}, {"people": 10**6}, {"questions": 0}, {"epsilon": 0}, {"way": "luck"}])
def test_a_reconstruction_that_makes_no_sense_is_refused(bad):
    with pytest.raises(InputError, match=next(iter(bad))):
        reconstruction(**{"people": 20, **bad})


BLOCK = [(8, "F", "white"), (18, "M", "white"), (24, "F", "white"), (30, "M", "white"), (36, "F", "black")]
BLOCK += [(66, "F", "black"), (84, "M", "black")]


def test_a_block_is_rebuilt_from_its_tables():
    found = rebuild(published(BLOCK))
    assert found.right(BLOCK) >= len(BLOCK) - found.uncertain
    assert found.right(BLOCK) >= 3
    assert len(found.people) == 7


def test_what_is_rebuilt_satisfies_every_table():
    found = rebuild(published(BLOCK))
    again = {(one.sex, one.race, one.ages): one for one in published(found.people).statistics}
    for one in published(BLOCK).statistics:
        other = again[(one.sex, one.race, one.ages)]
        assert other.count == one.count
        if one.mean is not None:
            assert abs(other.mean - one.mean) <= 0.1 + 1e-9


def test_under_noise_the_same_solver_finds_few_people():
    hits = [
        rebuild(noisy_tables(BLOCK, 0.5, sexes=("F", "M"), races=("black", "white")), others=False).right(BLOCK)
        for _ in range(4)
    ]
    assert sum(hits) <= 14  # of 28


def test_a_block_that_noise_has_emptied_is_rebuilt_as_nobody():
    assert rebuild(published([])).people == ()
    assert rebuild(published([]), exact=False, others=False).right(BLOCK) == 0


def test_under_a_huge_budget_the_tables_are_the_exact_ones_and_less_of_it_finds_fewer(monkeypatch):
    """Always the same people, of whom tables tell more or less: of others in their place one run in 130 finds few."""
    tape = Tape("people")
    monkeypatch.setattr("discreet.risk.blocks.SystemBits", lambda: tape)
    people = _made_up(7)
    assert noisy_tables(people, 1e6, sexes=SEXES, races=RACES) == published(people)
    assert coarse(people) != published(people)
    found = blocks_attacked(6, 7, 0.5, curve=(1e6,))
    (low, few), (high, many) = found.curve
    assert (low, high) == (0.5, 1e6)
    assert many == found.right  # same statistics, same detail: what is left is the noise
    assert few == found.right_noisy <= 10  # of 42; by chance one or none
    assert found.right > 15
    assert found.right_coarse < found.right
    assert f"{found.right_coarse:,}" in found.explain()


def test_others_of_the_same_kinds_are_others_too():
    """Ages 20, 21, 21, 22 and 20, 20, 22, 22 print the same tables; the second has no kind that the first lacks."""
    ours, theirs = ([(age, "F", "x") for age in ages] for ages in ((20, 21, 21, 22), (20, 20, 22, 22)))
    assert published(ours) == published(theirs)
    cells = [(age, "F", "x") for age in range(AGES)]
    rows, low, high = _equations(published(ours), cells)
    narrow = rows * np.isin(np.arange(AGES), [20, 21, 22])  # no other ages
    missing = np.array([cell not in ours for cell in cells], dtype=float)
    assert (
        _moved(
            np.vstack([narrow, missing]),
            np.append(low, 0),
            np.append(high, 0),
            np.bincount([20, 21, 21, 22], minlength=AGES),
        )
        == 2
    )
    alone = published([(33, "F", "x")])
    rows, low, high = _equations(alone, cells)
    only = np.vstack([rows, np.eye(AGES)[33]])
    assert _moved(only, np.append(low, 1), np.append(high, 1), np.bincount([33], minlength=AGES)) == 0


def test_tables_that_nobody_satisfies_have_no_solution():
    block = published(BLOCK)
    wrong = Block(block.sexes, block.races, (*block.statistics[1:], type(block.statistics[0])(None, None, 9)))
    assert rebuild(wrong) is None
    with pytest.raises(InputError, match="age"):
        published([(120, "F", "white")])


def test_differences_tell_everything_or_as_little_as_epsilon_allows():
    secret = np.arange(4000) % 2 == 0
    found = differencing(secret[::-1].copy(), epsilon=0.5)
    assert found.right_exact == 1
    assert found.right_noisy < found.best + 0.05  # 6.5 deviations: once in 10^10
    assert found.best == pytest.approx(math.exp(0.5) / (1 + math.exp(0.5)))
    assert differencing(secret, epsilon=20).right_noisy > 0.99  # a large epsilon hides nobody
    for bad in ({"epsilon": 0}, {"targets": 9999}):
        with pytest.raises(InputError, match=next(iter(bad))):
            differencing(secret, **{"epsilon": 1, **bad})


def test_membership_is_judged_by_its_rates():
    inside, outside = np.array([3.0, 2.0, 2.0, 0.0]), np.array([1.0, 0.0, -1.0, 2.0])
    found = membership(inside, outside)
    pairs = [(a > b) + (a == b) / 2 for a in inside for b in outside]
    assert found.area == pytest.approx(np.mean(pairs))
    assert found.advantage == pytest.approx(0.5)
    assert dict(zip(found.accused, found.caught, strict=True))[0.5] == pytest.approx(0.75)
    assert membership(inside, inside).advantage == 0
    assert found.at_most(0) == 0
    assert found.at_most(math.log(3)) == pytest.approx(0.5)
    with pytest.raises(InputError, match="members"):
        membership(np.array([1.0]), outside)
    with pytest.raises(InputError, match="others"):
        membership(inside, np.array([1.0, np.nan]))
