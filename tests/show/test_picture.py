"""A picture: the same on a page, in a file and in a notebook, for those who see it and those who do not."""

import sys

import pytest
from svg_parts import parts, texts, tree

from discreet.errors import InputError, MissingExtraError
from discreet.show import Bar, Line, Picture, bars, element, lines, stack

PEOPLE = bars("People <of> Kent", [Bar("a", 3, 1, 5)])
CURVE = lines("A curve", [Line("a", ((0, 1), (1, 2)))])


@pytest.mark.parametrize("picture", [PEOPLE, CURVE, stack("Both", [PEOPLE, CURVE, PEOPLE], columns=2)])
def test_a_file_is_well_formed_has_words_and_needs_nothing_else(picture):
    root = tree(picture)
    assert root.find("{http://www.w3.org/2000/svg}title").text == picture.title
    assert root.find("{http://www.w3.org/2000/svg}desc").text
    text = picture.to_svg()
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "prefers-color-scheme: dark" in text
    assert "<script" not in text
    assert picture.to_svg() == text  # the same every time


def test_on_a_page_it_is_an_element_with_a_title_and_its_numbers_in_a_table():
    text = element("p", None, PEOPLE)
    assert text.startswith('<p><svg class="chart bars" role="img" width="100%"')
    assert "<title>People &lt;of&gt; Kent</title>" in text
    figure = PEOPLE.figure("Caption & all", note="a note")
    assert "<figcaption>Caption &amp; all</figcaption>" in figure
    assert "<details><summary>Table</summary>" in figure
    assert "<table" not in PEOPLE.figure(table=False)


def test_several_in_one_lie_side_by_side_and_none_is_refused():
    both = stack("Both", [CURVE, CURVE, CURVE], columns=2)
    corners = {(one.get("x"), one.get("y")) for one in parts(both, "svg") if one.get("overflow")}
    assert len(corners) == 4  # three, and the whole in its margins
    assert texts(both).count("A curve") == 3
    with pytest.raises(InputError, match="pictures"):
        stack("None", [])


def test_a_caption_stands_below_in_lines_as_wide_as_the_pictures():
    bare, said = stack("Both", [CURVE, CURVE], columns=2), "Darker where more of them live, " * 8
    captioned = stack("Both", [CURVE, CURVE], columns=2, caption=said)
    lines = [line for line in texts(captioned) if "Darker" in line or "live" in line]
    assert " ".join(lines) == said.strip()
    assert len(lines) > 1
    assert captioned.width == bare.width
    assert captioned.height > bare.height
    assert captioned.description == said


def test_a_caption_below_one_picture_leaves_its_words_and_its_table():
    captioned = CURVE.captioned("Darker where more of them live, " * 4)
    assert captioned.description == CURVE.description
    assert captioned.table is CURVE.table
    assert captioned.height > CURVE.height
    assert [line for line in texts(captioned) if "Darker" in line]
    assert CURVE.captioned("") == CURVE


def test_files_by_their_endings(tmp_path):
    assert PEOPLE.save(tmp_path / "a.svg").read_text(encoding="utf-8") == PEOPLE.to_svg()
    assert PEOPLE.save(tmp_path / "a.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(InputError, match="path"):
        PEOPLE.save(tmp_path / "a.gif")
    with pytest.raises(InputError, match="folder that exists"):
        PEOPLE.save(tmp_path / "absent" / "a.svg")


def test_other_files_need_an_extra(tmp_path, monkeypatch):
    pytest.importorskip("vl_convert")
    assert PEOPLE.save(tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert CURVE.save(tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingExtraError, match=r"discreet\[charts\]"):
        PEOPLE.save(tmp_path / "b.png")


def test_a_notebook_shows_the_picture_itself():
    shown = PEOPLE._repr_html_()
    assert '<svg class="chart bars"' in shown
    assert "<iframe" not in shown
    assert repr(Picture("t", 1, 1, ())).startswith("Picture(title='t'")
