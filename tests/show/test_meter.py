"""One number against a limit: as long as its share, and never longer than the line."""

import re

import pytest

from discreet.errors import InputError
from discreet.show import Reach, meter, reach, reach_axis


def widths(markup):
    return [float(width) for width in re.findall(r'width="([\d.]+)%"', markup)]


def test_a_meter_is_as_long_as_its_share():
    assert widths(meter(0.4, "left")) == [100, 40]
    assert widths(meter(0.8, "left", going=0.5)) == [100, 80, 50]
    assert widths(meter(None, "not known")) == [100]
    assert widths(meter(7, "full")) == [100, 100]
    assert "low" in meter(0.05, "left", low=True)
    assert "&lt;" in meter(0.5, "<")


def test_a_reach_ends_where_its_share_says_and_at_the_end_if_it_is_beyond():
    inside, beyond = reach(Reach(0.75, "w")), reach(Reach(float("inf"), "w", bad=True))
    assert 'cx="50%"' in inside  # of an axis that goes half as far again as the limit
    assert "<circle" not in beyond
    assert 'x2="100%" y1="10" y2="10"' in beyond
    assert "<circle" not in reach(Reach(None, "w"))
    with pytest.raises(InputError, match="share"):
        reach(Reach(-0.1, "w"))
    assert "claimed" in reach_axis("nothing", "claimed", "more")
