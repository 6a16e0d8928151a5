"""Two coins and a picture: numbers are those of the lecture, and the shape is in the averages."""

import numpy as np

from discreet.apps.demo.survey_lecture import draw_flips, flip_pixels, show
from discreet.noise.replay import Replay


def test_numbers_are_those_of_the_lecture():
    assert [one.here for one in show().numbers] == ["1.0986", "0.0577", "0.197 to 0.644", "0.51"]


def test_no_pixel_tells_and_averages_do():
    disc, flipped = flip_pixels(Replay(b"test"))
    assert abs((flipped != disc).mean() - 0.49) < 0.005
    inside, outside = flipped[disc == 1].mean(), flipped[disc == 0].mean()
    assert 0.015 < inside - outside < 0.025
    assert draw_flips(disc, flipped).width > 3 * 24 * 8
    assert np.isin(flipped, (0, 1)).all()
