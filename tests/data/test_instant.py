"""Instants, and the changes of clocks: as the time zone database has them."""

from __future__ import annotations

import pickle
import random
from bisect import bisect_right
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from discreet.data.column import Timestamp, column_from, column_to
from discreet.data.instant import Instant, changes, check_timezone, instant_at, read_instant
from discreet.errors import InputError

ZONES = ["Europe/Vienna", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Africa/Casablanca", "UTC"]


@pytest.mark.parametrize("zone", ZONES)
def test_the_list_of_changes_gives_the_local_time_of_the_database(zone):
    first, last = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in (1950, 2060))
    moves, source = changes(zone, first, last), random.Random(zone)
    times = [source.randrange(first, last) for _ in range(300)]
    times += [each + near for each in moves.instants for near in (-1, 0, 1)]
    for second in times:
        offset = moves.offsets[bisect_right(moves.instants, second)]
        local = datetime.fromtimestamp(second, UTC).astimezone(ZoneInfo(zone))
        assert local.utcoffset().total_seconds() == offset
        assert Instant(second, zone).local == second + offset
        shown = second + offset
        meant = shown - moves.offsets[bisect_right(moves.local, shown)]
        assert meant == instant_at(shown, zone) == local.replace(fold=0).timestamp()


def test_a_local_time_that_is_repeated_is_the_first_and_one_that_is_left_out_is_later():
    assert str(read_instant("2024-10-27 02:30", "Europe/Vienna", "x")) == "2024-10-27T02:30:00+02:00"
    assert str(read_instant("2024-03-31 02:30", "Europe/Vienna", "x")) == "2024-03-31T03:30:00+02:00"
    assert str(read_instant("2024-04-07 01:45", "Australia/Lord_Howe", "x")) == "2024-04-07T01:45:00+11:00"


@pytest.mark.parametrize(
    "written", ["2024-06-01T10:00:00+02:00", "2024-06-01 08:00Z", "2024-06-01 08:00 UTC", "2024-06-01 13:30:00+0530"]
)
def test_an_offset_makes_it_an_instant(written):
    assert str(read_instant(written, "Europe/Vienna", "x")) == "2024-06-01T10:00:00+02:00"


@pytest.mark.parametrize(
    "written", ["soon", "2024-13-01", "2024-06-01 25:00", "2024-06-01 10:00:00.5", 5, None, "1500-01-01"]
)
def test_what_is_no_time_is_refused(written):
    with pytest.raises(InputError):
        read_instant(written, "UTC", "lower")


def test_a_day_is_its_midnight_or_its_last_second():
    day = date(2024, 3, 31)
    assert str(read_instant(day, "Europe/Vienna", "x")) == "2024-03-31T00:00:00+01:00"
    assert str(read_instant(day, "Europe/Vienna", "x", whole_day=True)) == "2024-03-31T23:59:59+02:00"


@pytest.mark.parametrize("name", ["Vienna", "Europe/Vienne", "localtime", "", "?", None, 3, "../x", "Europe", "CET+1"])
def test_a_zone_has_a_name_of_the_database(name):
    with pytest.raises(InputError, match="time zone"):
        check_timezone(name)


def test_a_misspelt_zone_is_answered_with_the_one_there_is():
    with pytest.raises(InputError, match=r"Did you mean `Europe/Vienna`\?"):
        check_timezone("Europe/Viena")


@pytest.mark.parametrize("zone", ["Europe/Vienna", "Africa/Monrovia", "Asia/Kolkata", "America/Bogota"])
def test_an_offset_with_seconds_is_read_back(zone):
    """Clocks showed local mean time before standard time."""
    for written in ("1850-01-01", "1890-07-01 12:00", "1900-01-01"):
        instant = read_instant(written, zone, "x")
        assert read_instant(str(instant), zone, "x") == instant
        column = Timestamp(written, "1990-01-01", zone)
        assert column_from("x", column_to(column) | {"nullable": True}) == column


def test_an_instant_is_a_number_that_travels():
    instant = Instant(86_400, "Asia/Kolkata")
    assert pickle.loads(pickle.dumps(instant)).timezone == "Asia/Kolkata"
    assert f"{instant}" == "1970-01-02T05:30:00+05:30"
    assert instant == 86_400
    assert instant.day == date(1970, 1, 2)
