"""Copies give their people away; a synthesiser does at an epsilon that protects nobody, and not at a stated one."""

import numpy as np
import pytest

pytest.importorskip("jax")

from discreet.apps.attacks.row_membership import COLUMNS, CONTROL, _more_frequent, _nearest, _shares, attack_rows
from discreet.errors import InputError


@pytest.fixture(scope="module")
def found():
    return attack_rows(people=100, epsilon=1, tables=2)


def test_copies_are_found_and_called_a_strawman(found):
    copied = found.targets[0]
    assert copied.found.advantage > 0.4  # two members in three are there as they are
    assert copied.attack == "the nearest row"
    assert "a strawman" in copied.label
    assert "a strawman" in found.conclusion()


def test_the_synthesiser_gives_members_away_where_its_epsilon_protects_nobody(found):
    _, control, private = found.targets
    assert (control.epsilon, private.epsilon) == (CONTROL, 1)
    assert control.found.area > 0.6  # .75, give or take .025: six deviations
    assert control.found.area > private.found.area
    assert private.found.advantage < found.most + 0.3
    assert control.use > private.use  # what the epsilon costs
    assert "agreement on pairs of columns" in found.explain()


def test_the_nearest_row_is_counted_by_columns_that_differ():
    rows = np.array([[1, 2, 3], [4, 5, 6]])
    people = np.array([[1, 2, 3], [1, 2, 9], [4, 9, 9], [7, 7, 7]])
    assert _nearest(people, rows).tolist() == [0, 1, 2, 3]


def test_pairs_that_are_more_frequent_in_the_rows_score_higher():
    ones, others = np.ones((10, COLUMNS), dtype=np.int64), np.zeros((10, COLUMNS), dtype=np.int64)
    everybody = _shares(np.concatenate([ones, others]))
    assert everybody[:, 1, 1].tolist() == [0.5] * len(everybody)
    score = _more_frequent(_shares(ones), everybody)
    assert (score(ones) > 0).all()
    assert (score(others) < 0).all()


@pytest.mark.parametrize(
    ("field", "wrong"), [("people", {"people": 10}), ("epsilon", {"epsilon": 0}), ("tables", {"tables": 0})]
)
def test_an_attack_that_makes_no_sense_is_refused(field, wrong):
    with pytest.raises(InputError, match=field):
        attack_rows(**wrong)
