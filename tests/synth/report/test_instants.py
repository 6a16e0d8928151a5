"""Times of a table in hand are the seconds that the engine reads."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow
import pytest

from discreet.data.column import Timestamp
from discreet.data.instant import changes
from discreet.data.read import as_declared
from discreet.data.source import source_of
from discreet.synth.report.instants import seconds_of

ZONES = ["UTC", "Europe/Vienna", "America/New_York", "Australia/Lord_Howe"]
TEXTS = [
    "2024-03-31 02:30:00",
    "2024-10-27 02:30",
    " 2024-05-05 ",
    "2024-05-05T10:11:12.987Z",
    "2024-05-05 10:11:12,5 +02:00",
    "2024-05-05 10:11:12 UTC",
    "2024-05-05t10:11-0530",
    "2024-02-30",
    "2024-05-05 25:00",
    "yesterday",
    "2023-01-01 00:00",
    "2026-01-01",
    "",
    None,
]


def near(zone):
    """Times around every change of clocks, and around the bounds."""
    of = Timestamp("2024-01-01", "2024-12-31 12:00", zone)
    points = [*changes(zone, int(of.lower), int(of.upper)).instants, int(of.lower), int(of.upper)]
    return [
        datetime.fromtimestamp(each + 900 * step, UTC) + timedelta(microseconds=999_999)
        for each in points
        for step in range(-10, 11)
    ]


def same(values, of):
    table = pyarrow.table({"i": range(len(values)), "x": values})
    with source_of(table).open() as connection:
        raw = connection.table
        read = connection.integers(raw.select(i=raw["i"].cast("int64"), v=as_declared(raw["x"], of).fill_null(-1)))
    engine = dict(zip(read["i"].tolist(), read["v"].tolist(), strict=True))
    mine = np.clip(seconds_of(table["x"], of), int(of.lower), int(of.upper))
    assert [-1 if np.isnan(one) else int(one) for one in mine] == [engine[i] for i in range(len(values))]
    return mine


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("naive", [None, "America/New_York"])
def test_seconds_are_those_of_the_engine(zone, naive):
    of = Timestamp("2024-01-01", "2024-12-31 12:00", zone, naive)
    stored = [*near(of.naive), None]
    same(pyarrow.array(stored, pyarrow.timestamp("us", "Asia/Kolkata")), of)
    local = [None if one is None else one.astimezone(ZoneInfo(of.naive)).replace(tzinfo=None) for one in stored]
    for unit in ("us", "ns"):
        same(pyarrow.array(local, pyarrow.timestamp(unit)), of)
    same(pyarrow.array([None if one is None else str(one) for one in local]), of)
    same(pyarrow.array([None if one is None else one.isoformat() for one in stored]), of)


def test_texts_and_days_are_read_as_the_engine_reads_them():
    of = Timestamp("2024-01-01", "2024-12-31 12:00", "Europe/Vienna")
    found = same(pyarrow.array(TEXTS), of)
    assert np.isnan(found).sum() == 5
    same(pyarrow.array([date(2024, 3, 31), date(2030, 1, 1), None]), of)
