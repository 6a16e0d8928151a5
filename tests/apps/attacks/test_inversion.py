"""Pictures of people come out of a network without a budget only."""

import numpy as np
import pytest

pytest.importorskip("jax")

from discreet.apps.attacks.faces import SIDE, draw_faces
from discreet.apps.attacks.inversion import _beside, _compare, _prior, invert_faces
from discreet.errors import InputError
from seam import Tape


@pytest.fixture(scope="module")
def found():
    tape = Tape("faces")  # the same people each time; the noise is the trainer's own
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("discreet.apps.attacks.people.SystemBits", lambda: tape)
        return invert_faces(people=12, epsilon=0.5)


def test_faces_come_out_of_a_network_without_a_budget_only(found):
    assert found.plain.identified > 0.9  # chance is a twelfth
    assert found.plain.alike > 0.75
    assert found.plain.alike > found.raw.alike  # what faces look like helps
    assert found.private.alike < 0.7  # 0.05, give or take 0.1: six deviations
    assert found.private.identified < found.plain.identified


def test_a_network_that_hides_people_does_not_recognise_them(found):
    assert found.plain.recognised > 0.5
    assert found.plain.recognised > found.private.recognised + 0.2
    # The same recipe with next to no noise: what the noise does, and not clipping.
    assert found.control.alike > found.private.alike
    assert found.control.identified > 0.4


def test_what_was_found_is_said_without_the_pictures(found):
    assert set(found.to_dict()) == {"people", "epsilon", "delta", "plain", "raw", "private", "control", "conclusion"}
    assert found.to_dict()["plain"]["identified"] == found.plain.identified
    assert "good for nothing" in found.conclusion()
    assert "which hides nobody" in found.explain()
    assert "The price" in found.explain()
    assert next(iter(found.pictures)) == "people"
    assert len(found.pictures) == 5
    assert found.picture().to_svg().startswith("<svg")


def test_pictures_lie_beside_each_other_in_shades():
    rows = _beside(draw_faces(3))
    assert (len(rows), len(rows[0])) == (SIDE, 3 * (SIDE + 2))
    assert all(0 <= shade <= 1 for row in rows for shade in row)


def test_a_prior_spans_faces_that_it_never_saw():
    middle, axes = _prior(draw_faces(400))
    fresh = draw_faces(20) - middle
    seen = fresh @ np.linalg.pinv(axes) @ axes
    assert ((fresh - seen) ** 2).sum() < 0.3 * (fresh**2).sum()


def test_a_picture_of_oneself_is_identified_and_a_flat_one_is_like_nobody():
    faces = draw_faces(6) - draw_faces(200).mean(axis=0)
    assert _compare(faces, faces) == (1.0, pytest.approx(1))
    assert _compare(0 * faces, faces)[1] == 0
    assert _compare(faces[::-1], faces)[0] == 0


@pytest.mark.parametrize(("field", "wrong"), [("people", {"people": 1}), ("epsilon", {"epsilon": 0})])
def test_an_attack_that_makes_no_sense_is_refused(field, wrong):
    with pytest.raises(InputError, match=field):
        invert_faces(**wrong)
