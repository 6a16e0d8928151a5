"""Members are told from others without a budget; under one, no better than its epsilon allows."""

import numpy as np
import pytest

from discreet.apps.attacks.membership import _nearest, attack_model, attack_rows, roc_picture
from discreet.errors import InputError


@pytest.fixture(scope="module")
def model():
    pytest.importorskip("jax")
    return attack_model(people=200, epsilon=1)


def test_a_model_without_a_budget_gives_its_members_away(model):
    assert model.plain.advantage > 0.3
    assert model.private.area < model.plain.area
    assert (model.plain.members, model.plain.others) == (200, 200)
    # 200 a side: the advantage of a guess is below 0.3, seven deviations and more, beyond what epsilon allows.
    assert model.private.advantage < model.plain.at_most(model.epsilon, model.delta) + 0.3


def test_what_was_found_is_said_with_what_no_attack_exceeds(model):
    plain = model.to_dict()
    assert plain["most"] == model.plain.at_most(1, model.delta)
    assert set(plain["accuracy"]) == {"plain", "private"}
    assert "No attack has an advantage of more than" in model.explain()
    drawn = roc_picture(model).to_svg()
    assert "without a budget" in drawn
    assert "most that epsilon allows" in drawn


def test_rows_copied_at_random_give_members_away():
    pytest.importorskip("jax")
    found = attack_rows(people=200, epsilon=1)
    assert found.plain.advantage > 0.4  # two members in three are there as they are
    assert found.plain.area > found.private.area
    assert found.use == "agreement on pairs of columns"


def test_the_nearest_row_is_counted_by_columns_that_differ():
    rows = np.array([[1, 2, 3], [4, 5, 6]])
    people = np.array([[1, 2, 3], [1, 2, 9], [4, 9, 9], [7, 7, 7]])
    assert _nearest(people, rows).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("field", "wrong"), [("people", {"people": 10}), ("people", {"people": True}), ("epsilon", {"epsilon": 0})]
)
def test_an_attack_that_makes_no_sense_is_refused(field, wrong):
    pytest.importorskip("jax")
    for attack in (attack_model, attack_rows):
        with pytest.raises(InputError, match=field):
            attack(**wrong)
