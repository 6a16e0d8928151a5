"""Intervals are drawn to scale, and everything a span has to show lies on its line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from svg_parts import parts, share, texts

from discreet.errors import InputError
from discreet.show import Error, Span, errors, span, span_key


def test_an_error_to_come_is_drawn_to_scale_around_the_middle():
    picture = errors("e", [Error("n", "", 30)])
    (band,) = parts(picture, "rect", "band")
    assert (share(band.get("x")), share(band.get("width"))) == (0.2, 0.6)  # of an axis of 50 to either side
    assert {"\u221250", "+50"} <= set(texts(picture))


def test_errors_to_be_compared_share_an_axis():
    picture = errors("e", [Error("n", "", 3, 30), Error("m", "", 30, 30)])
    widths = [share(band.get("width")) for band in parts(picture, "rect", "band")]
    assert widths == pytest.approx([0.06, 0.6])


def test_what_can_only_be_below_is_drawn_to_one_side():
    picture = errors("e", [Error("option", "", 30, below=True), Error("n", "", 30)], middle="whatever it is")
    first, second = parts(picture, "rect", "band")
    assert (share(first.get("x")), share(first.get("width"))) == (0.4, 0.6)
    assert (share(second.get("x")), share(second.get("width"))) == (0.2, 0.6)
    assert texts(picture).count("the best") == 1
    assert texts(picture).count("whatever it is") == 1


def test_the_middle_is_said_once():
    picture = errors("e", [Error("n", "", 3, 30), Error("m", "", 30, 30)], middle="whatever it is")
    assert texts(picture).count("whatever it is") == 1


def test_no_errors_are_refused():
    with pytest.raises(InputError, match="data"):
        errors("e", [])


NUMBER = st.floats(-1e6, 1e6)


@given(NUMBER, st.tuples(NUMBER, NUMBER), st.lists(NUMBER, max_size=4), NUMBER)
def test_everything_lies_inside_the_line(answer, known, draws, real):
    data = Span(answer, (min(known), max(known)), None, tuple(draws), real)
    scale = data.reach(False)
    for value in (answer, *known, *draws, real):
        assert scale.low <= value <= scale.high


def test_a_part_stays_between_zero_and_one_and_is_written_in_percent():
    picture = span("s", Span(0.99, (0.9, 1.0)), part=True)
    assert "100%" in texts(picture)
    assert len(parts(picture, "path", "diamond")) == 1
    assert len(parts(picture, "path", "interval")) == 1
    assert parts(picture, "path", "reference") == []


def test_the_key_names_only_what_is_drawn():
    assert span_key(known="k").count("<li>") == 2
    assert span_key(known="k", about="a", draws="d", real="<r>").count("<li>") == 5
    assert "&lt;r&gt;" in span_key(known="k", real="<r>")
