"""Durations as people write them."""

from datetime import timedelta

import pytest

from discreet.apps.server.durations import read_duration, read_lifetime
from discreet.errors import InputError


@pytest.mark.parametrize(
    ("text", "seconds"), [("10m", 600), ("1h30m", 5400), ("500ms", 0.5), ("2d", 172800), (" 90 s ", 90), (0, 0)]
)
def test_units_add_up(text, seconds):
    assert read_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "m", "10x", "-1", "nan", "inf", "10m5", True, None, "1e99"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(ValueError, match=r"^(|could not convert .*)$"):
        read_duration(text)


def test_a_token_lasts_a_whole_number_of_one_unit():
    assert [read_lifetime(text, "expires") for text in ("90d", "12w", " 24 H ")] == [
        timedelta(90),
        timedelta(weeks=12),
        timedelta(1),
    ]
    assert read_lifetime("0", "grace", nothing=True) == timedelta(0)
    for text in ("0", "0d", "1h30m", "2.5d", "90", "99999w", "soon", "10s"):
        with pytest.raises(InputError, match="whole number of minutes"):
            read_lifetime(text, "expires")
