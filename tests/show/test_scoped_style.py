"""The style of a piece of a page reaches its own elements alone, and is what these need of the one style sheet."""

import re

import pytest

from discreet.show import Bar, Table, bars, element, style
from discreet.show.scoped_style import SCOPE, scoped_style
from discreet.show.style import palettes

ROOT = f".{SCOPE}" * 3
FIGURE = bars("People", [Bar("a", 3, 1, 5)]).figure()
TABLE = element("div", {"class": "cell"}, Table.of(("a", "n"), [("x", 1)], "Numbers"))


def rules(text):
    return re.findall(r"([^{}]+)\{([^{}]*)\}", text)


@pytest.mark.parametrize("markup", [FIGURE, TABLE, FIGURE + TABLE])
def test_every_selector_begins_inside(markup):
    selectors = [one.strip() for one, _ in rules(scoped_style(markup))]
    assert len(selectors) > 10
    light, dark, *others = selectors
    assert light == ROOT
    assert all(one.strip().endswith(ROOT) for one in dark.split(", "))
    assert all(one.startswith(ROOT) for one in others)


def test_only_rules_of_elements_that_are_there_are_taken_and_only_their_colours():
    figure, table = scoped_style(FIGURE), scoped_style(TABLE)
    assert f"{ROOT} .chart .bar " in figure
    assert ".bar" not in table
    assert f"{ROOT} td " in table
    assert "--s0" in figure
    assert "--s0" not in table
    for text in (figure, table):
        used = set(re.findall(r"var\(--([\w-]+)\)", text))
        assert used == set(re.findall(r"--([\w-]+):", text))
        assert "@media" not in text  # the theme of the notebook decides, not that of the machine
        assert "url(" not in text
        assert "rem" not in re.sub(r"[\w-]*rem[a-z]+", "", text)  # a host has its own idea of that
        assert len(text) < len(style()) / 4


def test_dark_colours_are_those_of_dark_pages_where_the_host_says_it_is_dark():
    light, dark = palettes()
    first, second, *_ = rules(scoped_style(TABLE))
    assert f"--paper: {light['paper']};" in first[1]
    assert f"--paper: {dark['paper']};" in second[1]
    assert '[data-jp-theme-light="false"]' in second[0]
    assert ".vscode-dark" in second[0]


def test_what_the_host_says_of_our_elements_is_undone_and_pictures_keep_their_attributes():
    reset = next(one for one, body in rules(scoped_style(FIGURE + TABLE)) if "all: revert" in body and "where" in one)
    named = re.search(r":where\(([^)]*)\)", reset)[1].split(", ")
    assert {"table", "td", "figure"} <= set(named)
    assert not {"svg", "rect", "line", "text"} & set(named)
