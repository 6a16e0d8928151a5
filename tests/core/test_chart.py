"""A picture of a release: every group a bar with its interval, and no picture of what has no height."""

import pytest

from discreet.core.chart import chart
from discreet.core.release import Release
from discreet.errors import InputError


def release(keys=("sex",), rows=(("f", 10, 5, 15), ("m", 20, 15, 25)), **values):
    columns = {name: [row[index] for row in rows] for index, name in enumerate(keys)}
    for offset, suffix in enumerate(("", "_lower", "_upper")):
        columns[f"visits{suffix}"] = [row[len(keys) + offset] for row in rows]
    head = {"id": "r1", "dataset": "visits", "confidence": 0.95, "cost": "epsilon = 1", "mechanism": "", "digest": "d"}
    return Release(columns=columns, keys=tuple(keys), outputs=("visits",), **head | values)


def test_every_group_is_in_the_picture_with_its_value_and_interval():
    text = chart(release(), "visits").to_svg()
    assert "visits, 95% intervals; cost epsilon = 1" in text
    for part in ("f", "m", "10", "20", "25"):
        assert f">{part}<" in text or part in text


def test_groups_without_a_number_are_left_out_and_none_at_all_is_said():
    some = chart(release(rows=(("f", 10, 5, 15), ("m", None, None, None))), "visits").to_svg()
    assert ">m<" not in some
    assert "No numbers to draw." in chart(release(rows=(("f", None, None, None),)), "visits").to_svg()


def test_a_third_key_makes_parts_and_a_missing_key_is_named():
    rows = (("f", "a", "x", 1, 0, 2), ("m", "a", "y", 2, 1, 3), ("f", None, "x", 3, 2, 4))
    text = chart(release(("sex", "region", "year"), rows), "visits").to_svg()
    assert "(missing)" in text
    assert text.index(">x<") < text.index(">y<")


def test_a_row_about_all_values_of_a_key_is_named_so():
    rows = (("f", 1, 0, 2), (None, 2, 1, 3), (None, 3, 2, 4))
    made = release(rows=rows, absent={"sex": [2]})
    assert [row["sex"] for row in made.labelled()] == ["f", "(missing)", "(all)"]
    text = chart(made, "visits").to_svg()
    assert "(missing)" in text
    assert "(all)" in text


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
