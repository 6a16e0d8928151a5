"""Ids as people type them: whole, or the beginning of one that no other begins like."""

import pytest

from discreet import count
from discreet.curator.question import Question
from discreet.curator.release_id import SHORTEST, full_id, short_ids
from discreet.errors import InputError
from discreet.query.question import Query
from small_desk import open_desk

DRAWN = ("3f2a" * 8, "3f2b" * 8, "9b01" * 8)


@pytest.fixture(name="ledger")
def ledger_fixture(tmp_path):
    desk = open_desk(tmp_path)
    offer = Question(desk, Query().agg(n=count())).plan(epsilon=0.1)
    for name in (*DRAWN, "counties", "county", "ages/1"):
        offer.release(release=name)
    return desk.ledger


def test_the_beginning_of_an_id_stands_for_it_where_one_release_begins_so(ledger):
    assert full_id(ledger, "9b01") == DRAWN[2]
    assert full_id(ledger, "3f2a3") == DRAWN[0]
    assert full_id(ledger, "counti") == "counties"
    assert full_id(ledger, "ages/") == "ages/1"


def test_a_whole_id_is_itself_though_another_begins_with_it(ledger):
    assert full_id(ledger, "county") == "county"


def test_a_beginning_of_several_is_refused_with_what_tells_them_apart(ledger):
    with pytest.raises(InputError, match=r"It begins 2 of them: counties, county\. Type more of it"):
        full_id(ledger, "coun")


@pytest.mark.parametrize("typed", ["3f2", "9", "", "9b02", "people"])
def test_too_little_and_what_begins_nothing_is_refused(ledger, typed):
    assert len(typed) < SHORTEST or typed in ("9b02", "people")
    with pytest.raises(InputError, match="`release` must be the id of a stored release"):
        full_id(ledger, typed)


def test_the_name_of_a_stream_stands_for_none_of_its_periods(ledger):
    with pytest.raises(InputError, match="Periods of a stream have ids of their own: ages/1"):
        full_id(ledger, "ages")


def test_releases_of_another_dataset_are_not_there(ledger):
    assert full_id(ledger, "9b01", dataset="people") == DRAWN[2]
    for typed in ("9b01", DRAWN[2], "counties"):
        with pytest.raises(InputError, match="the id of a stored release"):
            full_id(ledger, typed, dataset="others")


def test_lists_show_as_much_of_a_drawn_id_as_tells_it_apart():
    near = DRAWN[0][:-1] + "b"
    shown = short_ids([*DRAWN, near, "counties"])
    assert shown[DRAWN[2]] == DRAWN[2][:8]
    assert shown[DRAWN[0]] == DRAWN[0]
    assert shown["counties"] == "counties"
    assert len(set(shown.values())) == 5
