"""The times that loads are at: numbered, named, or every so many minutes of a day."""

from __future__ import annotations

from datetime import datetime, time

import numpy as np
import pytest

import discreet
from discreet.curator import hide_loads
from discreet.errors import InputError
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from discreet.power import Loads
from discreet.power.clock import read_times
from discreet.power.schema import GridSchema
from grid_files import lay_out_grid
from grids import ring


def test_a_day_in_equal_steps():
    assert [len(read_times(f"every {width}")[1]) for width in ("hour", "30 minutes", "15m", "5 min")] == [
        24,
        48,
        96,
        288,
    ]
    assert read_times("every 20 minutes from 7:30 to 8:30") == (3, ("07:30", "07:50", "08:10"))
    assert read_times("every 7 hours")[1] == ("00:00", "07:00", "14:00", "21:00")
    assert read_times([datetime(2024, 6, 1, 8, 30), time(9, 0, 5), " noon "])[1] == (
        "2024-06-01 08:30",
        "09:00:05",
        "noon",
    )


NUMBERS = [0, True, 10_001, 1.5, None, {}]
TEXTS = ["many", "every", "every 0 minutes", "every 90 seconds", "every hour from 25:00", "every hour to 10:60"]
LISTS = [[], ["a", "a"], ["a", 3], [""], ["x" * 41], ["a\n"]]


@pytest.mark.parametrize("value", [*NUMBERS, *TEXTS, "every hour from 10:00 to 9:00", *LISTS], ids=str)
def test_what_is_no_time_is_refused_by_name(value):
    with pytest.raises(InputError) as caught:
        read_times(value)
    assert caught.value.field == "grid.times"


def test_the_names_of_times_are_on_record_on_the_picture_and_in_totals(tmp_path):
    grid, drawn = ring(12)
    day = Loads([np.round(0.9 * drawn, 2), drawn], times=["08:00", "08:30"])
    draft = hide_loads(grid, day, Ledger.open(tmp_path / "ledger.db", create=True), alpha=1, budget=Budget(epsilon=9))
    offer = draft.plan(epsilon=2, cost="measured")
    hidden = offer.release()
    assert hidden.table["time"] == ["08:00"] * 12 + ["08:30"] * 12
    assert hidden.totals()["time"] == hidden.clock == ["08:00", "08:30"]
    assert hidden.at("08:30") == hidden.at(2) == hidden.loads[12:]
    assert hidden.table.query["clock"] == ["08:00", "08:30"]
    assert "08:30" in hidden.plot().to_svg()
    with pytest.raises(InputError, match=r"Did you mean `08:30`|08:00"):
        hidden.at("8:30")
    with pytest.raises(InputError, match="as many as there are lists of loads, 2"):
        Loads([drawn, drawn], times="every hour")


def test_a_schema_names_the_times_of_its_series(tmp_path, monkeypatch):
    lay_out_grid(tmp_path)
    schema = tmp_path / "discreet.toml"
    says = 'times = "every 12 hours"\nseries = "june.csv"\n'
    schema.write_text(schema.read_text().replace("[grid]\n", f"[grid]\n{says}"))
    (tmp_path / "june.csv").write_text("1,2,3\n12.5,7.25,20\n13,7,19\n")
    monkeypatch.chdir(tmp_path)
    curator = discreet.open("ring.m", create=True, who="ann")
    made = curator.loads().plan(cost="800, 790", epsilon=9).release(release="june")
    assert made.table["time"] == ["00:00"] * 3 + ["12:00"] * 3
    assert curator.release("june").columns == made.columns
    declared = {"dataset": {"name": "city"}, "grid": {"alpha": 1, "times": "every 12 hours", "series": "a.csv"}}
    found = GridSchema.from_dict(declared)
    assert found.to_dict()["grid"]["times"] == ["00:00", "12:00"]
    assert GridSchema.from_dict(found.to_dict()) == found
    with pytest.raises(InputError, match="one name for each of 3 times"):
        GridSchema("city", 1, times=3, clock=("a", "b"))
