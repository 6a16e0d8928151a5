"""The style sheet: two palettes in which everything can be read, and nothing from elsewhere."""

import re

import pytest

from discreet.show.style import palettes, picture_style, style

LIGHT, DARK = palettes()


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
    *(("ink", f"{sign}{step}") for sign in "pn" for step in range(5) if (sign, step) != ("n", 0)),
    *(("paper", f"{sign}{step}") for sign in "pn" for step in range(5, 9)),
]
SHAPES = [
    *(("edge", ground) for ground in ("paper", "ground")),
    *((shape, "paper") for shape in ("whisker", "accent", "bad", "good", "answer", "reference")),
    *((f"s{series}", "paper") for series in range(6)),
]


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_text_and_shapes_stand_out_from_their_ground(colours):
    for ink, ground in TEXT:
        assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    for shape, ground in SHAPES:
        assert contrast(colours[shape], colours[ground]) >= 3, (shape, ground)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_steps_of_a_scale_can_be_told_apart_in_order(colours):
    for scale, steps in (("p", 9), ("v", 7), ("e", 7)):
        ladder = [contrast(colours[f"{scale}{step}"], colours["paper"]) for step in range(steps)]
        assert ladder == sorted(ladder), scale


def test_both_palettes_have_the_same_names_and_differ():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert set(LIGHT) == set(DARK)
    assert LIGHT["paper"] != DARK["paper"]
    used = set(re.findall(r"var\(--([\w-]+)\)", style()))
    assert used == set(LIGHT)


def test_nothing_is_fetched_and_nothing_could_end_the_element():
    assert not re.search(r"url\(|@import|https?:|</", style())


def test_the_style_of_a_file_has_no_variables_and_both_palettes():
    text = picture_style()
    assert "var(" not in text
    assert LIGHT["s0"] in text
    assert DARK["s0"] in text
    assert text.count("{") == text.count("}")
