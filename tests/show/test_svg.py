"""Whatever comes from outside is text inside an element, and nothing else."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.show import Markup, clean, element, shorten
from discreet.show.svg import coordinate, path


@given(st.text(), st.text())
def test_any_text_comes_back_as_the_text_it_was_and_as_no_element(attribute, content):
    found = ElementTree.fromstring(element("b", {"title": attribute}, content))
    assert list(found) == []
    assert (found.text or "") == clean(content)
    assert found.get("title") == clean(attribute)


def test_markup_is_not_escaped_twice_and_plain_text_always_is():
    inner = element("i", None, "a & b")
    assert element("b", None, inner) == "<b><i>a &amp; b</i></b>"
    assert element("b", None, str.__str__(inner)) == "<b>&lt;i&gt;a &amp;amp; b&lt;/i&gt;</b>"


def test_templates_take_markup_as_it_is():
    jinja2 = pytest.importorskip("jinja2")
    template = jinja2.Environment(autoescape=True).from_string("{{ one }}{{ two }}")
    assert template.render(one=Markup("<b>"), two="<b>") == "<b>&lt;b&gt;"


def test_attributes_without_a_value_are_left_out():
    assert element("b", {"class": None, "id": "x"}) == '<b id="x"></b>'


@pytest.mark.parametrize("letter", ["\x00", "\x1b", "\ud800", "\u202e", "\ufeff"])
def test_letters_that_a_page_cannot_show_or_that_turn_it_around_are_replaced(letter):
    assert clean(f"a{letter}b") == "a\ufffdb"


def test_letters_that_people_write_stay():
    for text in ("Grüße", "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "1\u00a0000", "日本", "a b"):
        assert clean(text) == text
    assert clean("a\nb\tc") == "a b c"


def test_coordinates_are_short_and_have_no_exponent():
    assert [coordinate(value) for value in (1.0, 1 / 3, 12345.678, 1e-9, 1234567.8)] == [
        "1",
        "0.33",
        "12345.68",
        "0",
        "1234568",
    ]
    assert path([(0, 0), (1e-7, 99999.999)]) == "M0 0L0 100000"


def test_what_is_cut_off_is_marked():
    assert shorten("abcdef", 6) == "abcdef"
    assert shorten("abcdefg", 6) == "abcde\u2026"
