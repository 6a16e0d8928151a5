"""Columns made of parts: timestamps that are times, differences that have their sign, on every clock."""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow
import pytest

import discreet
from discreet import Budget
from discreet.data.column import Category, Date, Integer, Real, Timestamp
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.marginals.domain import Domain
from discreet.synth.parts import MadeColumn, agreed, assemble, draw_parts, made_columns, partitions_of
from discreet.synth.report.codes import encoded
from discreet.synth.rows import ColumnValues, to_arrow

VIENNA = "Europe/Vienna"
COLUMNS = {
    "start": Timestamp("2024-03-25", "2024-04-05", VIENNA, nullable=False, step=60),
    "end": Timestamp("2024-03-25", "2024-04-05", VIENNA, nullable=False, step=60),
    "later": Timestamp("2030-01-01", "2030-12-31", VIENNA),
    "born": Date("1950-01-01", "2000-12-31"),
    "hired": Date("1970-01-01", "2024-12-31"),
    "gone": Date("1970-01-01", "2025-12-31"),
    "net": Real(0, 100, nullable=False, step=0.01),
    "gross": Real(0, 150, nullable=False, step=0.01),
    "kind": Category(["a", "b"], nullable=False),
}
SCHEMA = Schema("t", COLUMNS)


def by_name(made):
    return {one.name: one for one in made}


def test_days_and_times_that_are_alike_are_made_from_the_first():
    made = by_name(made_columns(SCHEMA, None, None))
    assert made["start"].parts == ("CAST(start AS DATE)", "HOUR(start) * 60 + MINUTE(start)")
    assert made["end"] == MadeColumn("end", ('"end" - start',), "start")
    assert made["later"].base is None  # other years: nothing links them
    assert made["hired"].base is None  # most people are not hired in the years in which most are born
    assert made["gone"].base == "hired"
    assert made["gross"].plain
    assert by_name(made_columns(SCHEMA, None, {"gross": "net"}))["gross"].base == "net"
    assert by_name(made_columns(SCHEMA, None, {}))["gone"].plain
    assert by_name(made_columns(SCHEMA, None, {"hired": "born"}))["hired"].base == "born"


@pytest.mark.parametrize(
    ("differences", "field"),
    [
        ({"gross": "nett"}, "differences"),
        ({"gross": "kind"}, "differences.gross"),
        ({"gross": "gross"}, "differences.gross"),
        ({"kind": "kind"}, "differences.kind"),
        ({"gross": "net", "net": "gross"}, "differences.gross"),
        (["gross"], "differences"),
    ],
)
def test_differences_are_of_columns_of_one_kind(differences, field):
    with pytest.raises(InputError) as caught:
        made_columns(SCHEMA, None, differences)
    assert caught.value.field == field


def test_local_times_become_the_instants_that_clocks_mean():
    column = COLUMNS["start"]
    made = made_columns(SCHEMA, ["start"], None)
    domain = Domain.of(SCHEMA, made[0].parts, None, partitions_of(made, SCHEMA))
    day, minute = made[0].parts
    rng = np.random.default_rng(2)
    count = 3000
    days = rng.integers(0, 12, count) + (datetime(2024, 3, 25) - datetime(1970, 1, 1)).days
    minutes = rng.integers(0, 1440, count)
    nowhere = np.zeros(count, dtype=bool)
    drawn = {day: ColumnValues(days, nowhere), minute: ColumnValues(minutes, nowhere)}
    drawn["seconds of\nstart"] = ColumnValues(np.zeros(count, dtype=np.int64), nowhere)
    found = assemble(made, SCHEMA.columns, drawn)["start"].values
    zone = ZoneInfo(VIENNA)
    for place in range(count):
        local = datetime(1970, 1, 1) + timedelta(days=int(days[place]), minutes=int(minutes[place]))
        wanted = min(max(int(local.replace(tzinfo=zone).timestamp()), int(column.lower)), int(column.upper))
        assert found[place] == wanted, local  # also in the hour that is left out on 31 March
    assert len(domain) == 2


def trips(rows=3000, seed=4):
    rng = np.random.default_rng(seed)
    start = datetime(2024, 3, 26) + np.array([timedelta(minutes=int(one)) for one in rng.integers(0, 8 * 1440, rows)])
    length = np.array([timedelta(minutes=int(one)) for one in rng.integers(2, 40, rows)])
    net = rng.integers(0, 9000, rows) / 100
    return pyarrow.table(
        {
            "start": pyarrow.array(start.tolist(), pyarrow.timestamp("us")),
            "end": pyarrow.array((start + length).tolist(), pyarrow.timestamp("us")),
            "net": net,
            "gross": np.round(net * 1.2, 2),
        }
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    schema = Schema("trips", {name: COLUMNS[name] for name in ("start", "end", "net", "gross")})
    ledger = tmp_path_factory.mktemp("parts") / "l.db"
    desk = discreet.open(trips(), schema, ledger=ledger, budget=Budget(epsilon=100), create=True)
    ask = desk.synthesize(differences={"end": "start", "gross": "net"}, impossible=["end < '2024-03-26 00:10'"])
    return ask.plan(epsilon=20).release(release="made"), desk


def test_made_rows_have_times_in_order_and_on_their_step(made):
    release, desk = made
    rows = release.to_pandas()
    assert list(rows) == ["start", "end", "net", "gross"]
    assert (rows["end"] > rows["start"]).mean() > 0.98
    assert (rows["start"].dt.second == 0).all()
    assert ((rows["end"] - rows["start"]).dt.total_seconds() % 60 == 0).all()
    assert (rows["gross"] >= rows["net"]).mean() > 0.95
    assert np.allclose(rows["net"] * 100, np.rint(rows["net"] * 100))
    assert rows["end"].min() >= datetime(2024, 3, 26, 0, 10)
    assert abs((rows["end"] - rows["start"]).dt.total_seconds().median() / 60 - 20.5) < 2
    assert desk.release("made").to_pandas().equals(rows)


def test_rows_that_were_made_are_read_back_under_the_same_schema(made, tmp_path):
    release, _ = made
    path = release.save(tmp_path / "rows.csv")
    schema = Schema("trips", {name: COLUMNS[name] for name in ("start", "end", "net", "gross")})
    desk = discreet.open(path, schema, ledger=tmp_path / "l.db", budget=Budget(epsilon=10**6), create=True)
    late = desk.table().where("end > start").agg(n=discreet.count()).plan(epsilon=10**5).release()
    rows = release.to_pandas()
    assert late.to_pandas()["n"][0] == (rows["end"] > rows["start"]).sum()


def test_parts_may_be_asked_for_by_the_name_of_their_column(made):
    _, desk = made
    offer = desk.synthesize(workload=[("start", "net")], columns=["start", "net"]).plan(epsilon=1)
    assert sorted(offer.plan.workload) == [(0, 2), (1, 2)]


def test_what_is_missing_in_a_part_is_missing_in_the_column():
    made = (MadeColumn("a", ("a",)), MadeColumn("b", ("b - a",), "a"))
    columns = {"a": Integer(0, 9), "b": Integer(0, 9)}
    gone = np.array([True, False, False]), np.array([False, True, False])
    drawn = {
        name: ColumnValues(np.array([1, 2, 3]), missing) for name, missing in zip(("a", "b - a"), gone, strict=True)
    }
    found = assemble(made, columns, drawn)
    assert to_arrow(columns["b"], found["b"]).to_pylist() == [None, None, 6]
    assert to_arrow(columns["a"], found["a"]).to_pylist() == [None, 2, 3]


def test_seconds_are_drawn_on_the_declared_step():
    for step, most in ((None, 60), (15, 4), (60, 1)):
        schema = Schema("t", {"at": Timestamp("2024-01-01", "2024-01-09", "UTC", nullable=False, step=step)})
        made = made_columns(schema, None, None)
        domain = Domain.of(schema, made[0].parts, None, partitions_of(made, schema))
        codes = np.zeros((2000, 2), dtype=np.int64)
        seconds = draw_parts(domain, made, {**schema.columns, **{n: schema.column(n) for n in domain.names}}, codes)
        values = set((seconds["seconds of\nat"].values).tolist())
        assert len(values) == most
        assert all(value % (step or 1) == 0 for value in values)


def test_a_difference_is_told_apart_in_the_step_of_both():
    made = made_columns(SCHEMA, ["start", "end", "net", "gross"], {"end": "start", "gross": "net"})
    cuts = partitions_of(made, SCHEMA)
    assert cuts['"end" - start'].unit == 60
    assert cuts["gross - net"].unit == Fraction(1, 100)


def test_a_column_that_is_complete_is_not_made_from_one_that_may_be_missing():
    days = {
        "died": Date("2024-01-01", "2024-12-31"),
        "admitted": Date("2024-01-01", "2024-12-31", nullable=False),
        "left": Date("2024-01-01", "2024-12-31"),
    }
    made = by_name(made_columns(Schema("t", days), None, None))
    assert made["admitted"].base is None  # where died is missing, so would it be
    assert made["left"].base == "admitted"  # the complete one of two that are as like
    with pytest.raises(InputError, match="declared complete") as caught:
        made_columns(Schema("t", days), None, {"admitted": "died"})
    assert caught.value.field == "differences.admitted"
    assert by_name(made_columns(Schema("t", days), None, {"left": "died"}))["left"].base == "died"


@pytest.mark.parametrize("names", [("drop", "add"), ("all", "any"), ("join", "with"), ("into", "for")])
def test_columns_may_be_named_by_words_of_sql(names):
    first, second = names
    schema = Schema("t", {name: Timestamp("2024-01-01", "2024-12-31", "UTC", nullable=False) for name in names})
    made = by_name(made_columns(schema, None, None))
    assert made[second].base == first
    for part in (*made[first].parts, *made[second].parts):
        assert schema.canonical(part, "columns") == part


@pytest.mark.parametrize("step", [40, 45, 90, 5400, 86400])
def test_times_are_on_a_step_that_is_no_part_of_a_minute_or_an_hour(step):
    column = Timestamp("2024-01-01", "2024-12-31", "UTC", nullable=False, step=step)
    schema = Schema("t", {"at": column, "at, seconds": Integer(500, 510, nullable=False)})
    made = made_columns(schema, None, {})
    domain = Domain.of(schema, [part for one in made for part in one.parts], None, partitions_of(made, schema))
    declared = {name: schema.column(name) for name in (*domain.names, "at")}
    codes = np.stack([np.arange(300) % size for size in domain.sizes], axis=1)
    found = assemble(made, declared, draw_parts(domain, made, declared, codes))
    assert not (found["at"].values % step).any()
    assert len(set(found["at"].values.tolist())) > 10
    assert found["at, seconds"].values.min() == 500  # a column of that name is not the seconds of another


def test_times_are_missing_as_often_as_they_are_where_columns_are_made_alone(tmp_path):
    rng = np.random.default_rng(4)
    seconds = rng.integers(0, 86400 * 300, 4000) + 1704067200
    table = pyarrow.table({"at": pyarrow.array(seconds, mask=rng.random(4000) < 0.3).cast(pyarrow.timestamp("s"))})
    schema = Schema("t", {"at": Timestamp("2024-01-01", "2024-12-31", "UTC")})
    books = {"ledger": tmp_path / "books.db", "create": True, "budget": Budget(100)}
    found = discreet.open(table, schema, **books).synthesize("independent").plan(epsilon=20).release()
    share = found.to_arrow()["at"].null_count / len(found)
    assert abs(share - 0.3) < 0.04  # either of two parts would be missing in half of the rows
    codes, (day, time) = found.codes, (size - 1 for size in found.domain.sizes)
    assert ((codes[:, 0] == day) == (codes[:, 1] == time)).all()


def test_a_day_without_a_time_of_day_anywhere_is_missing():
    schema = Schema("t", {"at": Timestamp("2024-01-01", "2024-12-31", "UTC")})
    made = made_columns(schema, None, None)
    domain = Domain.of(schema, made[0].parts, None, partitions_of(made, schema))
    day, time = (size - 1 for size in domain.sizes)
    assert agreed(domain, made, np.array([[3, time], [day, 5]])).tolist() == [[day, time]] * 2
    assert agreed(domain, made, np.array([[3, time], [day, 5], [2, 7]])).tolist() == [[3, 7], [day, time], [2, 7]]


def test_a_column_is_missing_as_often_as_it_is_and_not_with_its_base(tmp_path):
    """A fifth of pickups and a tenth of dropoffs: made as a sum alone, more than a quarter of dropoffs would be."""
    rng = np.random.default_rng(3)
    first = np.datetime64("2024-01-02") + rng.integers(0, 300 * 1440, 4000).astype("timedelta64[m]")
    last = first + rng.integers(5, 90, 4000).astype("timedelta64[m]")
    gone = [rng.random(4000) < share for share in (0.2, 0.1)]
    times = {"pickup": first, "dropoff": last}
    masks = dict(zip(times, gone, strict=True))
    data = pyarrow.table(
        {name: pyarrow.array(one.astype("datetime64[s]"), mask=masks[name]) for name, one in times.items()}
    )
    time = Timestamp("2024-01-01", "2024-12-31", "UTC", nullable=True)
    schema = Schema("trips", {"pickup": time, "dropoff": time})
    curator = discreet.open(data, schema, ledger=tmp_path / "b.db", budget=Budget(10**6), who="ann", create=True)
    made = curator.synthesize().plan(epsilon=2000).release()
    again = encoded(made.to_arrow(), made.domain, made.declared, made.parts)
    rows = made.to_arrow().to_pydict()
    no_first, no_last = (np.array([one is None for one in rows[name]]) for name in ("pickup", "dropoff"))
    assert abs(no_first.mean() - gone[0].mean()) < 0.01
    assert abs(no_last.mean() - gone[1].mean()) < 0.01
    assert abs((no_first & no_last).mean() - (gone[0] & gone[1]).mean()) < 0.01
    minutes = [
        (one - two).total_seconds() / 60
        for one, two in zip(rows["dropoff"], rows["pickup"], strict=True)
        if one is not None and two is not None
    ]
    assert min(minutes) >= 3
    assert max(minutes) <= 92
    assert len(again.codes) == len(rows["pickup"])  # taken apart again, every row has its codes
    whole = made.domain.place("dropoff IS NULL")
    assert (again.codes[:, whole] == no_last).all()
