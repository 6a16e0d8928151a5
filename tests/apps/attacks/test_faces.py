"""Drawn faces differ from person to person, and less from picture to picture."""

import numpy as np

from discreet.apps.attacks.faces import MEASURES, SIDE, draw_faces, photograph


def test_faces_are_shades_and_every_measure_changes_them():
    faces = draw_faces(5)
    assert faces.shape == (5, SIDE * SIDE)
    assert 0 <= faces.min() <= faces.max() <= 1
    base = np.full((1, MEASURES), 0.5)
    plain = draw_faces(1, base)
    for measure in range(MEASURES):
        other = base.copy()
        other[0, measure] = 0.9
        assert np.abs(draw_faces(1, other) - plain).max() > 0.02, measure


def test_pictures_of_one_person_are_likelier_than_those_of_two():
    faces = draw_faces(2)
    shots = photograph(faces, 30)
    assert shots.shape == (2, 30, SIDE * SIDE)
    mean = shots.mean(axis=1)
    assert np.abs(mean - faces).mean() < 0.08  # light and grain even out: 0.03, give or take 0.01
