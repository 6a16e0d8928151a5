"""Two distributions: heights on one scale, single values as lines, both shares where a pointer asks."""

import pytest
from svg_parts import parts, texts

from discreet.errors import InputError
from discreet.show import Twin, twin_bars, twins

BINS = [Twin(0, 1, "0 to 1", 0.1, 0.4), Twin(1, 2, "1 to 2", 0.2, 0.6)]


def heights(picture, kind):
    return [float(body.get("height")) for body in parts(picture, "rect", kind)]


def test_both_histograms_have_one_scale():
    picture = twins("x", BINS)
    first, second = heights(picture, "s1"), heights(picture, "s0")
    assert second[1] == max(first + second)
    assert [*first, *second] == pytest.approx([second[1] * share / 0.6 for share in (0.1, 0.2, 0.4, 0.6)], abs=0.02)
    assert {"real", "synthetic", "0", "1", "2"} <= set(texts(picture))
    assert "1 to 2: 20%, 60%" in picture.to_svg()
    assert picture.table.rows == (("0 to 1", "10%", "40%"), ("1 to 2", "20%", "60%"))


def test_single_values_are_lines_on_the_same_scale():
    picture = twins("x", BINS, spikes=[Twin(0.5, 0.5, "0.5", 0.7, 0)], names=("left", "right"))
    (line,) = parts(picture, "line", "s1")
    assert not parts(picture, "line", "s0")
    tall = float(line.get("y1")) - float(line.get("y2"))
    assert tall == pytest.approx(heights(picture, "s0")[1] * 0.7 / 0.6, abs=0.02)
    assert {"left", "right", "70.0% on lines", "0.0% on lines"} <= set(texts(picture))


def test_of_many_lines_only_the_tallest_has_a_dot():
    few = [Twin(i / 10, i / 10, str(i), 0.01 * i, 0) for i in range(1, 7)]
    assert len(parts(twins("x", BINS, spikes=few), "circle")) == 6
    assert len(parts(twins("x", BINS, spikes=[*few, Twin(0.9, 0.9, "9", 0.2, 0)]), "circle")) == 1


def test_square_roots_let_small_shares_be_seen():
    data = [Twin(0, 1, "a", 0.81, 0.81), Twin(1, 2, "b", 0.01, 0.01)]
    plain, root = heights(twins("x", data), "s1"), heights(twins("x", data, root=True), "s1")
    assert plain[1] / plain[0] == pytest.approx(1 / 81, abs=0.001)
    assert root[1] / root[0] == pytest.approx(1 / 9, abs=0.001)


def test_ticks_may_be_given():
    assert {"Monday", "Friday"} <= set(texts(twins("x", BINS, ticks=[(0, "Monday"), (2, "Friday")])))


def test_bars_in_pairs_have_both_shares_beside_the_label():
    picture = twin_bars("x", [Twin(0, 1, "cash", 0.25, 0.5), Twin(1, 2, "card", 0.75, 0.5)])
    wide = [float(body.get("width")) for body in parts(picture, "rect", "bar")]
    assert [one / max(wide) for one in wide] == pytest.approx([1 / 3, 2 / 3, 1, 2 / 3], abs=0.001)
    assert {"cash", "25.0% \u00b7 50.0%"} <= set(texts(picture))


@pytest.mark.parametrize("draw", [twins, twin_bars])
def test_no_data_is_refused(draw):
    with pytest.raises(InputError, match="data"):
        draw("x", [])
