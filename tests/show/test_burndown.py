"""A budget over time goes down by what was spent, at the time it was spent."""

import pytest
from svg_parts import parts, texts

from discreet.errors import InputError
from discreet.show import Moment, burndown

DAY = 86400.0


def test_what_is_left_stands_where_and_when_it_was():
    data = [Moment(0, 2, 2, "opened"), Moment(10 * DAY, 1, 2, "half"), Moment(30 * DAY, 3, 4, "raised")]
    picture = burndown("left", data, 40 * DAY, width=400, height=100)
    areas = [(float(one.get("width")), float(one.get("height"))) for one in parts(picture, "rect", "area")]
    assert areas == [pytest.approx(pair) for pair in ((100, 50), (200, 25), (100, 75))]
    assert {"8 Jan", "29 Jan"} & set(texts(picture))
    assert [row[1:] for row in picture.table.rows] == [("opened", "2", "2"), ("half", "1", "2"), ("raised", "3", "4")]
    assert len(parts(picture, "path", "dashed")) == 1


@pytest.mark.parametrize(
    ("seconds", "says"),
    [
        (1, "1970-01-01 00:00"),
        (3600, "00:15"),
        (8 * 3600, "03:00"),
        (20 * DAY, "8 Jan"),
        (100 * DAY, "Feb"),
        (3000 * DAY, "1974"),
    ],
)
def test_times_are_written_as_a_person_would(seconds, says):
    picture = burndown("left", [Moment(0, 1, 1)], seconds)
    assert says in texts(picture)
    assert len(texts(picture)) < 14


def test_nothing_to_draw_is_refused():
    for data in ([], [Moment(0, 0, 0)]):
        with pytest.raises(InputError, match="data"):
            burndown("left", data, 1)
