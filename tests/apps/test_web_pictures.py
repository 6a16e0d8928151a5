"""Pictures lie nowhere: bars end where their numbers say; and what is drawn can be read, light and dark."""

import re
from fractions import Fraction
from importlib.resources import files

import pytest

from discreet.core.release import Release

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")

from discreet.apps.web.pictures import MOST, bars, burn, limit, ticks, whisker

CSS = (files("discreet.apps.web") / "static" / "page.css").read_text("utf-8")


def released(values, lower=None, upper=None):
    columns = {
        "k": [f"g{i}" for i in range(len(values))],
        "n": values,
        "n_lower": lower or [None if v is None else v - 10 for v in values],
        "n_upper": upper or [None if v is None else v + 10 for v in values],
    }
    return Release("id", "d", columns, ("k",), ("n",), 0.95, "epsilon = 1", "noise", "digest")


def placed(drawn, value):
    """Where a value lies, read off the ticks of the axis."""
    (low, first), (high, last) = [
        (tick.at, float(tick.text.replace(",", ""))) for tick in (drawn.ticks[0], drawn.ticks[-1])
    ]
    return low + (value - first) * (high - low) / (last - first)


@pytest.mark.parametrize("values", [[100, 200, 300], [-50, 0, 70], [-300, -200], [0.25, 0.5], [10**9, 1]])
def test_bars_and_intervals_end_where_the_numbers_say(values):
    drawn = bars(released(values), "n")
    for value, bar in zip(values, drawn.bars, strict=True):
        assert bar.point == pytest.approx(placed(drawn, value), abs=0.02)
        assert bar.low == pytest.approx(placed(drawn, value - 10), abs=0.02)
        assert bar.high == pytest.approx(placed(drawn, value + 10), abs=0.02)
        ends = sorted((bar.start, bar.start + bar.width))
        assert ends == pytest.approx(sorted((drawn.zero, bar.point)), abs=0.01)
        assert -0.01 <= bar.low <= bar.high <= 100.01
    assert drawn.zero == pytest.approx(placed(drawn, 0), abs=0.02)


def test_what_cannot_be_drawn_is_not_and_what_is_left_out_is_said():
    assert bars(released(["2024-01-01"], ["2024-01-01"], ["2024-01-02"]), "n") is None
    assert bars(released([None], [None], [None]), "n") is None
    many = bars(released(list(range(MOST + 5))), "n")
    assert len(many.bars) == MOST
    assert many.left_out == 5
    assert bars(released([0], [0], [0]), "n").bars[0].width == 0
    infinite = bars(released([5.0], [float("-inf")], [float("inf")]), "n").bars[0]
    assert infinite.low == infinite.high == infinite.point


def test_an_error_to_come_is_drawn_to_scale_around_the_middle():
    drawn = whisker("n", "", 30)
    assert (drawn.low, drawn.high) == (20, 80)  # of an axis of 50 to either side
    assert drawn.ends == ("\u221250", "+50")
    narrow = whisker("n", "", 3, 30)
    assert (narrow.low, narrow.high) == (47, 53)


def test_the_stairs_of_a_budget_are_its_sums():
    drawn = burn("a", Fraction(2), [(Fraction(1, 2), "2024-01-01", ""), (Fraction(1), "2024-02-01", "")], "epsilon")
    assert [(step.before, step.after) for step in drawn.steps] == [(0, 25), (25, 75)]
    assert drawn.steps[0].until == drawn.steps[1].at
    assert drawn.steps[-1].until == pytest.approx(100, abs=0.01)
    assert {mark.text: mark.at for mark in drawn.marks} == {"0": 100, "0.5": 75, "1": 50, "1.5": 25, "2": 0}
    assert burn("a", Fraction(2), [], "epsilon").steps == ()


def test_round_numbers():
    assert [limit(x) for x in (0.3, 1, 1.01, 99, 100, float("inf"), -1)] == [0.5, 1, 2, 100, 100, 1, 1]
    for low, high in ((0, 1), (-7, 13), (0, 1e9), (-1e-3, 1e-3), (5, 5)):
        found = ticks(low, high)
        assert 1 <= len(found) <= 7
        assert all(low <= value <= high for value in found)


# --- the palette


def palette(text):
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", text))


LIGHT = palette(CSS[: CSS.index("@media")])
DARK = {**LIGHT, **palette(CSS[CSS.index("@media") : CSS.index("* {")])}


def contrast(one, other):
    """By the rule of the W3C's guidelines: from 1 to 21."""

    def light(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    brighter, darker = sorted((light(one), light(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


TEXT = [
    *((ink, ground) for ink in ("ink", "muted", "accent", "bad") for ground in ("ground", "paper", "soft")),
    ("accent-ink", "accent"),
    ("bad", "bad-soft"),
    ("good", "good-soft"),
    ("warn", "warn-soft"),
]
SHAPES = [
    ("edge", "paper"),
    ("edge", "ground"),
    ("bar", "paper"),
    ("whisker", "paper"),
    ("accent", "paper"),
    ("bad", "paper"),
]


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_text_and_shapes_stand_out_from_their_ground(colours):
    assert len(colours) >= 17
    for ink, ground in TEXT:
        assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    for shape, ground in SHAPES:
        assert contrast(colours[shape], colours[ground]) >= 3, (shape, ground)


def test_both_palettes_differ_and_nothing_is_fetched():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert LIGHT["paper"] != DARK["paper"]
    assert not re.search(r"url\(|@import|https?:", CSS)


def test_what_pages_are_made_of_is_shipped():
    folder = files("discreet.apps.web")
    for place, ending in (("templates", ".html"), ("static", (".css", ".js", ".svg"))):
        found = [one.name for one in (folder / place).iterdir()]
        assert found
        assert all(name.endswith(ending) for name in found)
