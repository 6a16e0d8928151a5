"""A piece of a page in a notebook: parts, a style, and nothing that runs or is fetched."""

import re

from discreet.show import Bar, bars, cell, element, facts, fold, verbatim


def test_a_cell_holds_its_parts_and_neither_script_nor_request():
    text = cell("A <b>", element("p", None, "2 & 3"), None, "", bars("n", [Bar("x", 3, 1, 5)]).figure(), kind="Release")
    assert '<p class="cell-head"><small>Release</small> A &lt;b&gt;</p><p>2 &amp; 3</p><figure>' in text
    assert "<script" not in text
    assert re.search(r"\s(on\w+|src|href)=", text) is None
    assert "http" not in text
    assert cell("", "x").count("cell-head") == 0


def test_a_picture_is_seen_with_its_style_alone():
    text = cell("", bars("n", [Bar("x", 3, 1, 5)]).figure())
    assert '<figure><span class="drawn" hidden="hidden"><svg' in text
    assert "</svg></span>" in text
    assert re.search(r"\.drawn \{ display: contents \}", text)


def test_facts_that_say_nothing_are_left_out():
    assert facts({"a": "1", "b": "", "c": None}) == '<dl class="facts"><dt>a</dt><dd>1</dd></dl>'
    assert facts({"b": ""}) is None


def test_what_opens_below_a_line_and_lines_as_they_are():
    assert fold("More", "x") == "<details><summary>More</summary>x</details>"
    assert verbatim("a\nb < c") == '<pre class="wrap">a\nb &lt; c</pre>'
