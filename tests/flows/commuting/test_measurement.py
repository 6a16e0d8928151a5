"""Commuters counted with intervals, from plan to every surface: true in the whole way, and said where they are not."""

from dataclasses import replace

import numpy as np
import pytest
from commute_desk import PLACES, SIZES, ask, commuters, curator, truth

from chance import at_most
from discreet import Budget
from discreet.curator import read_release
from discreet.errors import InputError
from discreet.flows.commuting.measurement import COUNTED

TRUE = truth(commuters())


def missed(table, true):
    pairs = zip(table["count_lower"], true.ravel().tolist(), table["count_upper"], strict=True)
    return sum(not low <= one <= high for low, one, high in pairs)


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"sizes": {place: int(many) for place, many in zip(PLACES, TRUE.sum(axis=0), strict=True)}},
        {"farthest": 20},
    ],
    ids=["measured", "public sizes", "farthest"],
)
def test_intervals_hold_on_the_whole_way(tmp_path, how):
    desk, many = curator(tmp_path, budget=Budget(epsilon=10**4)), 25
    offer, found = ask(desk, **how).plan(epsilon=1), dict.fromkeys(COUNTED, 0)
    for _ in range(many):
        release = offer.release()
        for name, true in zip(COUNTED, (TRUE, TRUE.sum(axis=1), TRUE.sum(axis=0)), strict=True):
            found[name] += missed(release.table(name), true)
    assert at_most(found["flows"], 16 * many, 0.05)
    assert at_most(found["origins"], 4 * many, 0.05)
    assert at_most(found["destinations"], 4 * many, 0.05)


@pytest.mark.parametrize("sizes", [SIZES | {"A": 900, "B": 900, "C": 900, "D": 900}, None], ids=["public", "measured"])
def test_intervals_of_urns_hold_on_the_whole_way(tmp_path, sizes):
    desk, many = curator(tmp_path, budget=Budget(epsilon=10**4)), 8
    offer = ask(desk, sizes=sizes).plan(epsilon=4, method="classic")
    wrong = 0
    for _ in range(many):
        table = offer.release().table("flows")
        wrong += missed(table, TRUE)
        assert any("share a cell" in str(note) for note in table.notes)
    assert at_most(wrong, 16 * many, 0.05)


def test_tables_are_read_again_and_published_at_another_confidence(tmp_path):
    desk = curator(tmp_path)
    made = ask(desk).plan(epsilon=2).release(release="jobs")
    assert list(made.tables()) == ["rows", *COUNTED]
    assert made.table("flows").keys == ("home", "work")
    assert made.table("flows")["count"] == made.flows.ravel().tolist()
    assert made.table("origins")["home"] == PLACES
    assert made.table("destinations")["work"] == PLACES
    again = read_release(desk.ledger, "jobs")
    assert again.table("flows").columns == made.table("flows").columns
    wider = desk.publish("jobs", confidence=0.999).table("flows")
    assert wider.confidence == 0.999
    assert np.all(np.array(wider["count_upper"]) >= np.array(made.table("flows")["count_upper"]))
    with pytest.raises(InputError, match="table"):
        made.table("rows of houses")


def test_records_of_earlier_versions_have_rows_alone(tmp_path):
    made = replace(ask(curator(tmp_path)).plan(epsilon=2).release(), measured=None)
    assert list(made.tables()) == ["rows"]
    with pytest.raises(InputError, match="Publish it again"):
        made.table("flows")
