"""Pictures of people come out of the weights of a model without a budget only."""

import pytest

pytest.importorskip("jax")

from discreet.apps.attacks.inversion import SIDE, _beside, _faces, invert_faces
from discreet.errors import InputError


@pytest.fixture(scope="module")
def found():
    return invert_faces(people=6, epsilon=1)


def test_faces_come_out_of_the_weights_without_a_budget_only(found):
    assert found.like_plain > 0.5  # 0.85, give or take 0.04: eight deviations
    assert found.like_private < 0.4
    assert found.right_plain > found.right_private


def test_what_was_found_is_said_without_the_pictures(found):
    assert "pictures" not in found.to_dict()
    assert "cannot tell them apart" in found.explain()
    assert list(found.pictures) == ["people", "without a budget", "epsilon = 1"]
    assert found.picture().to_svg().startswith("<svg")


def test_faces_are_of_one_size_and_their_pictures_lie_beside_each_other():
    faces = _faces(3)
    assert faces.shape == (3, SIDE * SIDE)
    assert abs(faces.mean(axis=1)).max() < 1e-9
    rows = _beside(faces)
    assert (len(rows), len(rows[0])) == (SIDE, 3 * (SIDE + 2))
    assert all(0 <= shade <= 1 for row in rows for shade in row)


@pytest.mark.parametrize(("field", "wrong"), [("people", {"people": 1}), ("epsilon", {"epsilon": 0})])
def test_an_attack_that_makes_no_sense_is_refused(field, wrong):
    with pytest.raises(InputError, match=field):
        invert_faces(**wrong)
