"""Reports on whole timestamps: what the rows answer, what is known, and tables with conditions on them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow
import pytest

import discreet
from discreet import Budget, Real, Schema, Timestamp, Unit
from discreet.data.instant import DAY
from discreet.synth.report.cells import _instants

ZONE = "Europe/Vienna"
ASKS = [
    "pickup >= '2024-03-31 00:00'",
    "pickup >= '2024-02-10 12:00' and fare > 20",
    "pickup < '2024-03-01'",
    "dropoff >= '2024-03-01'",
    "dropoff < pickup",
]


@pytest.fixture(scope="module")
def trips(tmp_path_factory):
    rng = np.random.default_rng(4)
    first = np.datetime64("2024-01-02T00:00:00") + rng.integers(0, 110 * DAY // 60, 4000).astype("timedelta64[m]")
    last = first + rng.integers(5, 90, 4000).astype("timedelta64[m]")
    fare = np.round(rng.gamma(3, 8, 4000), 2)
    data = pyarrow.table({"pickup": first, "dropoff": last, "fare": fare})
    times = {
        name: Timestamp("2024-01-01", "2024-05-01", ZONE, naive=ZONE, nullable=False) for name in data.column_names[:2]
    }
    schema = Schema("trips", {**times, "fare": Real(0, 200, nullable=False)}, Unit())
    folder = tmp_path_factory.mktemp("trips")
    curator = discreet.open(data, schema, ledger=folder / "b.db", budget=Budget(1000), who="ann", create=True)
    made = curator.synthesize(impossible=["dropoff < pickup"]).plan(epsilon=200).release()
    return data, made


def test_a_report_answers_about_whole_timestamps(trips):
    data, made = trips
    told = made.compare(data, ASKS, not_private=True, copies=2)
    answers = told.figures.asks
    for one in answers:
        assert one.real is not None
        assert abs(one.answer - one.real) < 0.02, one.text
        assert len(one.draws) == 2
        assert abs(one.draws[0] - one.real) < 0.05, one.text
    for one in answers[:3]:
        assert one.known is not None
        assert one.known.lower <= one.real <= one.known.upper, one.text
        assert one.known.upper - one.known.lower < 0.2, one.text
    assert answers[3].known is None  # made from another column: no count of its own
    assert answers[4].answer == 0


def test_days_end_when_clocks_say_so():
    """The day on which clocks are put forward has 23 hours, the one on which they are put back 25."""
    column = Timestamp("2024-01-01", "2024-12-31", ZONE)
    for day, hours in ((date(2024, 3, 30), 24), (date(2024, 3, 31), 23), (date(2024, 10, 27), 25)):
        first, last, reached = _instants(day, date.fromordinal(day.toordinal() + 1), column)
        start = datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(ZONE)).astimezone(UTC)
        assert (first, last - first + 1, reached) == (start.timestamp(), hours * 3600, True)
