"""Scores follow from losses of many models alone."""

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.learn.shadow_scores import Lira, confidence, score_each, score_first


def known(models=20, rows=50):
    chance = np.random.default_rng(1)
    inside = chance.random((models, rows)) < 0.5
    losses = chance.uniform(0.5, 3, rows) * np.where(inside, 0.8, 1) * chance.lognormal(0, 0.02, (models, rows))
    return losses, inside


def test_members_are_found_where_a_row_is_known_better_with_it():
    losses, inside = known()
    found = score_first(losses, inside)
    assert (found.members == inside[0]).all()
    assert found.advantage > 0.9
    assert (found.losses == losses[0]).all()
    assert Lira(-losses[0], inside[0]).advantage < 0.5  # a threshold on the loss


def test_each_model_in_turn_is_attacked_as_if_it_were_the_first():
    losses, inside = known(12, 30)
    every = score_each(losses, inside)
    assert len(every.scores) == 12 * 30
    order = [4, *(turn for turn in range(12) if turn != 4)]
    alone = score_first(losses[order], inside[order])
    assert every.scores[4 * 30 : 5 * 30] == pytest.approx(alone.scores)
    assert (every.members == inside.ravel()).all()


def test_nothing_is_found_where_rows_change_nothing():
    losses, inside = known(60, 400)
    same = np.broadcast_to(losses[0], losses.shape) * np.random.default_rng(2).lognormal(0, 0.1, losses.shape)
    assert score_each(same, inside).advantage < 0.05


def test_equal_scores_are_on_one_side_of_every_threshold():
    members = np.arange(10) < 5
    assert Lira(np.zeros(10), members).advantage == 0
    assert Lira(np.where(np.arange(10) < 8, 1.0, 0.0), members).advantage == pytest.approx(0.4)


def test_confidence_is_the_log_odds_of_the_chance_given_to_the_truth():
    assert confidence(np.array([np.log(2), np.log(4)])) == pytest.approx([0, -np.log(3)])
    assert np.isfinite(confidence(np.array([0.0, np.nan, np.inf, -1, 1e9]))).all()


@pytest.mark.parametrize(
    ("losses", "inside", "said"),
    [
        (np.ones((9, 5)), np.ones((9, 4)), "a row for each model"),
        (np.ones(9), np.ones(9), "a row for each model"),
        (np.ones((8, 5)), np.ones((8, 5)), "at least 8 models beside"),
        (np.ones((9, 3)), np.ones((9, 3)), "at least four rows"),
        (np.ones((9, 5)), np.ones((9, 5)), "and not all"),
        (np.ones((9, 5)), np.zeros((9, 5)), "and not all"),
    ],
)
def test_losses_that_cannot_be_compared_are_refused(losses, inside, said):
    with pytest.raises(InputError, match=said):
        score_first(losses, inside)


def test_shares_are_counted_as_stated():
    attack = Lira(np.array([5.0, 4.0, 3.0, 2.0, 1.0, 0.0]), np.array([True, False, True, True, False, False]))
    assert attack.found(0.0) == pytest.approx(1 / 3)
    assert attack.found(0.34) == 1.0
    assert attack.found(1.0) == 1.0
    assert attack.advantage == pytest.approx(2 / 3)
    with pytest.raises(InputError, match="between 0 and 1"):
        attack.found(2)
