"""Maps that stand still: the same colours as the page, every region once, its numbers in a table."""

import pytest
from svg_parts import parts

from discreet.errors import InputError
from discreet.show.map import Layer, choropleth
from discreet.show.map.shading import breaks

STATES = ["09", "23", "25", "33", "44", "50", "72"]
PEOPLE = [35, 13, 69, 14, 11, 6, 30]
BAND = (PEOPLE, [n - 2 for n in PEOPLE], [n + 3 for n in PEOPLE])
MAP = choropleth([Layer("state", STATES, {"people": BAND, "<b>": BAND})], title="New & England", confidence=0.95)


def regions(picture):
    return {one[0].text: one.get("class").split()[1] for one in parts(picture, "path", "region-shape")}


def test_every_region_with_a_shape_is_drawn_once_with_its_numbers():
    found = regions(MAP.picture())
    assert len(found) == 6  # Puerto Rico is not on the map, and in the table
    assert "Maine: 13, 11 to 16" in found
    assert len(MAP.picture().table.rows) == 7
    assert MAP.picture("state", "<b>").title == "New & England: <b>, by state"


def test_larger_values_are_never_paler():
    found = regions(MAP.picture())
    order = sorted(found, key=lambda words: int(words.split(": ")[1].split(",")[0]))
    steps = [int(found[words][1]) for words in order]
    assert steps == sorted(steps)
    assert (steps[0], steps[-1]) == (0, 6)


def test_breaks_are_quantiles_in_two_digits():
    assert breaks([1000 * n + 7 for n in range(1, 8)]) == [2000, 3000, 4000, 5000, 6000, 7000]
    assert breaks([5, 5, 5]) == []
    assert breaks([1]) == []


def test_levels_without_shapes_are_bars():
    bare = choropleth([Layer("shop", ["a", "b"], {"n": ([1, 2], None, None)})], title="Shops", geometry=None)
    picture = bare.picture()
    assert len(parts(picture, "rect", "bar")) == 2
    assert parts(picture, "path", "region-shape") == []


def test_files_by_their_endings(tmp_path):
    assert MAP.save(tmp_path / "map.svg").read_text(encoding="utf-8") == MAP.picture().to_svg()
    assert MAP.save(tmp_path / "map.html").read_text(encoding="utf-8") == MAP.html


@pytest.mark.parametrize(("level", "output", "field"), [("county", None, "level"), (None, "n", "output")])
def test_what_is_not_there_is_refused(level, output, field):
    with pytest.raises(InputError) as refused:
        MAP.picture(level, output)
    assert refused.value.field == field
