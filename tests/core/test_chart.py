"""A picture of a release by its shape: every group in it with its interval, and no number where nothing is known."""

import pytest
from svg_parts import parts, texts

from discreet.core.chart import chart, charts, drawable, format_of, undrawn, vague
from discreet.core.release import UNKNOWN, Release
from discreet.errors import InputError


def release(keys=("sex",), rows=(("f", 10, 5, 15), ("m", 20, 15, 25)), **values):
    columns = {name: [row[index] for row in rows] for index, name in enumerate(keys)}
    for offset, suffix in enumerate(("", "_lower", "_upper")):
        columns[f"visits{suffix}"] = [row[len(keys) + offset] for row in rows]
    head = {"id": "r1", "dataset": "visits", "confidence": 0.95, "cost": "epsilon = 1", "mechanism": "", "digest": "d"}
    return Release(columns=columns, keys=tuple(keys), outputs=("visits",), **head | values)


def crossed(*names, start=100):
    """Rows for every combination of some values."""
    rows = [()]
    for values in names:
        rows = [(*row, value) for row in rows for value in values]
    return [(*row, start + place, start + place - 5, start + place + 5) for place, row in enumerate(rows)]


BINS = ["0..10", "10..20", "20..30", "30..40"]


def test_every_group_is_in_the_picture_with_its_value_and_interval():
    text = chart(release(), "visits").to_svg()
    assert "visits by sex, with 95% confidence intervals" in text
    for part in ("f", "m", "10", "20", "25"):
        assert f">{part}<" in text or part in text


def test_a_group_of_which_nothing_is_known_says_so_and_is_no_zero():
    some = chart(release(rows=(("f", 10, 5, 15), ("m", None, None, None))), "visits")
    assert "m" in texts(some)
    assert UNKNOWN in texts(some)
    assert len(parts(some, "rect", "bar")) == 1
    none = chart(release(rows=(("f", None, None, None),)), "visits")
    assert "Too few rows in every group:" in texts(none)


def test_names_are_bars_and_many_names_are_thin_ones():
    few, many = (release(rows=crossed([f"g{i}" for i in range(size)])) for size in (12, 40))
    assert len(parts(chart(few, "visits"), "rect", "bar")) == 12
    drawn = chart(many, "visits")
    assert len(parts(drawn, "rect", "bar")) == 40
    assert drawn.height < 1000
    assert len(parts(charts(many, "visits", range(10, 20))[0], "rect", "bar")) == 10


def test_codes_made_of_digits_are_names():
    drawn = chart(release(("state",), crossed(["44", "09", "10"])), "visits")
    assert len(parts(drawn, "rect", "bar")) == 3
    assert not parts(drawn, "line", "line")


@pytest.mark.parametrize("values", [BINS, [1, 2, 3], ["2024-01-01..2024-02-01", "2024-02-01..2024-03-01", "x"][:2] * 2])
def test_ordered_bins_are_lines(values):
    drawn = chart(
        release(("age",), crossed(list(dict.fromkeys(values)) + ([None] if values == BINS else []))), "visits"
    )
    assert bool(parts(drawn, "line", "line")) == (len(set(values)) > 2)


def test_two_keys_are_lines_where_one_has_an_order():
    drawn = chart(release(("sex", "age"), crossed(["f", "m"], BINS)), "visits")
    assert len(parts(drawn, "line", "line")) == 2 * (len(BINS) - 1)
    assert {"f", "m", *BINS} <= set(texts(drawn))


def test_two_keys_are_bars_in_groups_or_a_heat_map():
    pairs = chart(release(("county", "sex"), crossed(["Ash", "Elm", "Oak"], ["f", "m"])), "visits")
    assert len(parts(pairs, "rect", "bar")) == 6 + 2  # and the two of the legend
    many = crossed([f"c{i}" for i in range(9)], [f"s{i}" for i in range(7)])
    heat = chart(release(("county", "schooling"), [*many[:-1], (*many[-1][:2], None, None, None)]), "visits")
    shades = [cell for step in range(9) for cell in parts(heat, "rect", f"p{step}")]
    assert len(shades) == 9 * 7 - 1
    assert len(parts(heat, "rect", "none")) == 1 + 1  # and what an outline means
    assert "intervals" in pairs.title
    assert heat.title == "visits by county and schooling"  # it draws no intervals


def test_three_keys_are_small_pictures_with_one_axis():
    made = release(("county", "sex", "age"), crossed(["Ash", "Elm", "Oak"], ["f", "m"], BINS))
    found = charts(made, "visits")
    assert [one.title for one in found] == ["county: Ash", "county: Elm", "county: Oak"]
    assert all(len(parts(one, "line", "line")) == 2 * (len(BINS) - 1) for one in found)
    whole = chart(made, "visits")
    assert {"county: Ash", "county: Elm", "county: Oak"} <= set(texts(whole))


def test_small_pictures_that_are_left_out_are_said():
    names = [f"n{place:02}" for place in range(14)]
    keys = ("town", "street", "shop")
    many = release(keys, crossed(names, names, names))
    assert len(charts(many, "visits")) == 12
    assert undrawn(many, "visits") == "The first 12 of 14 values of town are drawn; the table has all."
    assert undrawn(release(keys, crossed(names[:12], names, names)), "visits") == ""
    assert undrawn(release(), "visits") == ""


def test_an_interval_a_hundred_times_wider_does_not_squash_the_others():
    rows = [*crossed([f"g{i}" for i in range(8)], start=1000), ("wide", 800, -49_000, 51_000)]
    drawn = chart(release(("county",), rows), "visits")
    widest = max(float(body.get("width")[:-1]) for body in parts(drawn, "rect", "bar"))
    assert widest > 90  # percent of the axis
    assert UNKNOWN in texts(drawn)  # and the wide one is no number


def test_a_number_that_noise_took_to_its_end_says_nothing():
    rows = [("a", 30_000, 29_000, 31_000), ("b", 0, 0, 20_000), ("c", 0, 0, 900), ("d", 25_000, 24_500, 25_500)]
    assert vague(release(rows=rows), "visits") == {1}
    rows = [("a", 30_000, 29_000, 31_000), ("b", 29_000, 0, 150_000), ("c", 31_000, 30_500, 31_500)]
    assert vague(release(rows=rows), "visits") == {1}
    assert vague(release(rows=[("a", 3, -6, 12), ("b", 4, -5, 13), ("c", 0, -9, 9)]), "visits") == set()


def test_numbers_have_as_many_digits_as_their_intervals_leave_a_meaning():
    assert format_of(release(rows=[("a", 36966.21, 35703.3, 38154.7)]), "visits")(36966.21) == "36,966"
    assert format_of(release(rows=[("a", 0.51234, 0.50, 0.52)]), "visits")(0.51234) == "0.5123"
    assert format_of(release(), "visits")(10) == "10"


def test_a_row_about_all_values_of_a_key_is_named_so():
    rows = (("f", 1, 0, 2), (None, 2, 1, 3), (None, 3, 2, 4))
    made = release(rows=rows, absent={"sex": [2]})
    assert [row["sex"] for row in made.labelled()] == ["f", "(missing)", "(all)"]
    assert {"(missing)", "(all)"} <= set(texts(chart(made, "visits")))


@pytest.mark.parametrize(
    ("made", "output", "allowed"),
    [
        (release(), "vists", "visits"),
        (release(rows=(("f", "2024-01-01", "2024-01-01", "2024-01-02"),)), "visits", "an output of numbers"),
        (release(("a", "b", "c", "d"), (("a", "b", "c", "d", 1, 0, 2),)), "visits", "at most three keys"),
    ],
)
def test_what_has_no_picture_is_refused_by_name(made, output, allowed):
    with pytest.raises(InputError) as caught:
        chart(made, output)
    assert caught.value.field == "output"
    assert allowed in caught.value.allowed
    assert drawable(made) == (["visits"] if output == "vists" else [])


def test_months_are_written_as_months_and_missing_ones_stand_apart():
    months = ["2023-01-01..2023-02-01", "2023-02-01..2023-03-01", "2023-03-01..2023-04-01", None]
    drawn = chart(release(("seen",), [(month, 10, 5, 15) for month in months]), "visits")
    assert {"2023-01", "2023-02", "2023-03", "(missing)"} <= set(texts(drawn))
    assert len(parts(drawn, "line", "line")) == 2


def test_short_names_of_columns_are_not_turned():
    short, long = (crossed(list("abcdef"), [name * size for name in "uvwxyz"]) for size in (2, 12))
    assert "rotate" not in chart(release(("a", "b"), short), "visits").to_svg()
    assert "rotate" in chart(release(("a", "b"), long), "visits").to_svg()
