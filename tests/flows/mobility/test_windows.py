"""Windows of the day: half hours by the clocks of a zone, from timestamps."""

import json
from datetime import datetime, timedelta

import numpy as np
import pyarrow
import pytest

import discreet
from discreet import Budget, Category, Schema, Timestamp, Unit, bins
from discreet.errors import InputError
from discreet.flows.mobility import plan as plan_module
from discreet.flows.mobility.ask import MOST_CELLS
from discreet.flows.mobility.windows import DayWindows
from discreet.query.key import Bin

PLACES = ["A", "B"]
EXACT = {"epsilon": 10**6}


def schema_for(unit=None, places=PLACES, **more):
    at = Timestamp("2024-03-30", "2024-03-31", "Europe/Vienna", **more)
    here = Category(places, nullable=False)
    return Schema("trips", {"at": at, "start": here, "end": here, "kind": Category(["x"])}, unit or Unit())


def desk(tmp_path, times, unit=None, riders=None, **more):
    rows = {"at": pyarrow.array(times, pyarrow.timestamp("s")), "start": ["A"] * len(times), "end": ["B"] * len(times)}
    rows |= {"kind": ["x"] * len(times), "rider": riders if riders is not None else list(range(len(times)))}
    schema, books = schema_for(unit, **more), tmp_path / "books.db"
    return discreet.open(pyarrow.table(rows), schema, ledger=books, budget=Budget(epsilon=10**7), create=True)


def ask(curator, **how):
    return curator.mobility(**{"origin": "start", "destination": "end", "window": "at", "every": "30min", **how})


def counted(found):
    table = found["windows"]
    return {window: many for window, many in zip(table["at"], table["count"], strict=True) if many}


def test_half_hours_are_those_of_the_clock_whatever_the_day(tmp_path):
    times = [datetime(2024, 3, 30, 8, 29, 59), datetime(2024, 3, 31, 8, 0), datetime(2024, 3, 31, 8, 30)]
    times += [datetime(2024, 3, 30, 0, 0), datetime(2024, 3, 31, 23, 59, 59)]
    found = ask(desk(tmp_path, times)).plan(**EXACT).release()
    assert counted(found) == {"00:00-00:30": 1, "08:00-08:30": 2, "08:30-09:00": 1, "23:30-24:00": 1}
    assert len(found["windows"]) == 48
    assert found["cells"].keys == ("start", "end", "at")
    columns = [found["cells"][name] for name in (*found["cells"].keys, "count")]
    assert ("A", "B", "08:00-08:30", 2) in zip(*columns, strict=True)


@pytest.mark.parametrize("nullable", [True, False])
def test_a_time_out_of_bounds_or_missing_is_in_no_window(tmp_path, nullable):
    # Moved to a bound it would be a trip at midnight.
    times = [datetime(2024, 3, 30, 8), datetime(2024, 5, 1, 8), datetime(2023, 12, 1, 8), None]
    found = ask(desk(tmp_path, times, nullable=nullable)).plan(**EXACT).release()
    assert counted(found) == {"08:00-08:30": 1}
    notes = [note.text for note in found["windows"].notes if note.text.startswith("Rows whose at ")]
    assert len(notes) == 1
    assert "missing, are left out" in notes[0]


def test_a_condition_of_ones_own_stays_in_force(tmp_path):
    times = [datetime(2024, 3, 30, 8), datetime(2024, 3, 31, 8)]
    found = ask(desk(tmp_path, times), where="at >= '2024-03-31'").plan(**EXACT).release()
    assert counted(found) == {"08:00-08:30": 1}


def test_no_more_trips_of_a_person_count_than_the_unit_allows(tmp_path):
    times = [datetime(2024, 3, 30) + timedelta(minutes=10 * place) for place in range(140)]
    riders = [place % 7 for place in range(140)]
    unit = Unit("rider", groups=4, rows=4, rows_total=4)
    offer = ask(desk(tmp_path, times, unit, riders)).plan(**EXACT)
    assert offer.release()["total"]["count"] == [7 * 4]
    # One rider moves cells, and any sums of them, by four trips in all: that is what the noise is for.
    assert {measure.moved.l1 for measure in offer.plan.stages.measures} == {4}


def test_the_ask_survives_json_and_says_every_only_where_it_is_given(tmp_path):
    curator = desk(tmp_path, [datetime(2024, 3, 30, 8)])
    draft = ask(curator)
    assert draft.ask.to_dict()["every"] == "30min"
    again = curator.ask(type(draft.ask).from_dict(draft.ask.to_dict(), curator.schema))
    assert again.plan(epsilon=1).plan.digest == draft.plan(epsilon=1).plan.digest
    assert "every" not in ask(curator, window=None, every=None).ask.to_dict()


@pytest.mark.parametrize(
    ("how", "field"),
    [
        ({"every": "7 minutes"}, "every"),
        ({"every": "90 seconds"}, "every"),
        ({"every": "2 days"}, "every"),
        ({"every": "now and then"}, "every"),
        ({"every": ""}, "every"),
        ({"window": None}, "window"),
        ({"window": "kind"}, "window"),
        ({"window": "HOUR(at)"}, "window"),
        ({"window": "nowhere"}, "window"),
        ({"window": bins("at", width="6 hours")}, "every"),
    ],
)
def test_windows_that_make_no_sense_are_refused_before_anything_is_spent(tmp_path, how, field):
    curator = desk(tmp_path, [datetime(2024, 3, 30, 8)])
    with pytest.raises(InputError) as caught:
        ask(curator, **how)
    assert caught.value.field == field
    assert "charge" not in {record.kind for record in curator.ledger.records()}


def test_thirty_thousand_pairs_in_half_hours_have_a_price_and_more_cells_are_refused(tmp_path):
    place = [f"z{number}" for number in range(174)]
    curator = desk(tmp_path, [datetime(2024, 3, 30, 8)], places=place)
    assert np.prod(ask(curator).plan(epsilon=1).plan.layout.shape) == 174 * 174 * 48
    with pytest.raises(InputError, match=f"at most {MOST_CELLS:,} groups"):
        ask(curator, every="15 minutes")


def test_long_tables_are_recorded_in_short_and_read_as_they_were(tmp_path, monkeypatch):
    times = [datetime(2024, 3, 30, 8), datetime(2024, 3, 30, 17)]
    curator = desk(tmp_path, times)
    offer = ask(curator).plan(**EXACT)
    plain = offer.release(release="plain")
    monkeypatch.setattr(plan_module, "_LONG", 50)
    short = offer.release(release="short")
    assert short["cells"].columns == plain["cells"].columns
    assert curator.release("short", "cells").columns == plain["cells"].columns
    recorded = json.loads(curator.ledger.find("short").answer)
    parts = {name: set(part) for name, part in recorded["parts"].items()}
    assert {name for name, held in parts.items() if "packed" in held} == {"cells", "origins", "destinations"}


def test_a_window_is_written_as_people_write_it():
    assert DayWindows("at", 15).label(Bin(1425, 1440)) == "23:45-24:00"
