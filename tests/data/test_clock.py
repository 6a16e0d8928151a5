"""The same instants are the same seconds from every source, and no stored time makes an engine fail."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pyarrow
import pyarrow.parquet
import pytest

import reference
from discreet.data import clock
from discreet.data.column import Date, Timestamp
from discreet.data.instant import Changes, changes
from discreet.data.read import as_declared, as_stored, problem, with_seconds
from discreet.data.source import source_of
from servers import fresh_schema

ZONES = ["Europe/Vienna", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"]


def column(zone, naive=None):
    return Timestamp("2024-01-01", "2024-12-31 12:00", zone, naive)


def instants(zone):
    """Quarters of hours around every change of clocks, and around the bounds."""
    of = column(zone)
    near = [*changes(zone, int(of.lower), int(of.upper)).instants, int(of.lower), int(of.upper)]
    seconds = [each + 900 * step for each in near for step in range(-10, 11)] + [each - 1 for each in near]
    return [datetime.fromtimestamp(each, UTC) + timedelta(microseconds=999_999) for each in seconds]


def local(zone):
    return [each.astimezone(ZoneInfo(zone)).replace(tzinfo=None) for each in instants(zone)]


def read(place, of, rule=as_declared):
    """The seconds that an engine reads, by the number of the row."""
    with source_of(place).open() as connection:
        table = connection.table
        made = table.select(i=table["i"].cast("int64"), v=rule(table["x"], of).fill_null(-1))
        found = connection.integers(made)
    values = dict(zip(found["i"].tolist(), found["v"].tolist(), strict=True))
    return [None if values[i] == -1 else values[i] for i in range(len(values))]


def expected(values, of):
    return [reference.declared(value, of) for value in values]


def table(values, kind):
    return pyarrow.table({"i": range(len(values)), "x": pyarrow.array(values, pyarrow.timestamp("us", kind.tz))})


SOURCES = {
    "arrow": lambda made, folder: made,
    "pandas": lambda made, folder: made.to_pandas(),
    "polars": lambda made, folder: pytest.importorskip("polars").from_arrow(made),
    "parquet": lambda made, folder: _written(made, folder),
}


def _written(made, folder):
    pyarrow.parquet.write_table(made, folder / "t.parquet")
    return str(folder / "t.parquet")


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(("source", "unit"), [("arrow", "s"), ("pandas", "ns"), ("polars", "us"), ("parquet", "ms")])
def test_instants_and_local_times_are_the_seconds_that_python_says(zone, source, unit, tmp_path):
    for values, kind in (
        (instants(zone), pyarrow.timestamp(unit, "Asia/Tokyo")),
        (local(zone), pyarrow.timestamp(unit)),
    ):
        made = table(values, kind)
        made = made.set_column(1, "x", made["x"].cast(kind, safe=False))
        assert read(SOURCES[source](made, tmp_path), column(zone)) == expected(values, column(zone))


@pytest.mark.parametrize("zone", ZONES)
def test_text_is_read_with_and_without_an_offset(zone, tmp_path):
    forms = [
        lambda at: at.isoformat(),
        lambda at: at.astimezone(ZoneInfo(zone)).isoformat(sep=" "),
        lambda at: at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        lambda at: at.astimezone(ZoneInfo("Asia/Kolkata")).strftime(" %Y-%m-%d %H:%M:%S%z "),
    ]
    written = [forms[place % 4](at) for place, at in enumerate(instants(zone))] + [str(at) for at in local(zone)]
    (tmp_path / "t.csv").write_text("\n".join(["i,x", *(f"{i},{text}" for i, text in enumerate(written))]))
    assert read(str(tmp_path / "t.csv"), column(zone)) == expected([*instants(zone), *local(zone)], column(zone))


def test_what_is_no_time_is_missing_and_what_is_far_away_is_at_a_bound(tmp_path):
    of = column("Europe/Vienna")
    low, high = int(of.lower), int(of.upper)
    written = {"": None, "soon": None, "2024-02-30": None, "2024-06-01 25:00": None, "2024-06-01 10:60": None}
    written |= {"10:00": None, "1717228800": None, "2024-06-01T10:00+2": None, "0000-01-01": low, "0001-01-01": low}
    written |= {"9999-12-31 23:59:59": high, "2024-01-01": low}
    (tmp_path / "t.csv").write_text("\n".join(["i,x", *(f"{i},{text}" for i, text in enumerate(written))]))
    assert read(str(tmp_path / "t.csv"), of) == list(written.values())


def test_days_are_midnights_and_naive_times_may_be_those_of_another_zone():
    days = pyarrow.table(
        {"i": [0, 1, 2], "x": pyarrow.array([date(2024, 3, 31), date(1, 1, 1), None], pyarrow.date32())}
    )
    of = column("Europe/Vienna")
    assert read(days, of) == expected([date(2024, 3, 31), datetime(2000, 1, 1), None], of)
    made = table([datetime(2024, 6, 1, 12)], pyarrow.timestamp("us"))
    assert read(made, column("Europe/Vienna", "UTC")) == [int(datetime(2024, 6, 1, 12, tzinfo=UTC).timestamp())]


def test_postgres_reads_them_alike_whatever_the_zone_of_the_server_and_fails_on_none():
    import psycopg

    address, of = fresh_schema(), column("America/New_York")
    low, high = int(of.lower), int(of.upper)
    aware, naive = instants(of.timezone), local(of.timezone)
    odd = {"infinity": high, "-infinity": low, "4713-01-01 00:00:00 BC": low, "294276-12-31": high}
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("SET TimeZone = 'Asia/Tokyo'")
        connection.execute("CREATE TABLE a (i int8, x timestamptz)")
        connection.execute("CREATE TABLE b (i int8, x timestamp(3))")
        connection.execute("CREATE TABLE c (i int8, x date)")
        for name, values in (("a", aware), ("b", [at.replace(microsecond=999_000) for at in naive])):
            rows = [*enumerate(values), *((len(values) + place, text) for place, text in enumerate(odd))]
            connection.cursor().executemany(f"INSERT INTO {name} VALUES (%s, %s)", rows)
        connection.execute("INSERT INTO c VALUES (0, 'infinity'), (1, '-infinity'), (2, NULL), (3, '2024-03-10')")
    address += "%20-cTimeZone%3DAsia/Tokyo"
    assert read(f"{address}&table=a", of) == [*expected(aware, of), *odd.values()]
    assert read(f"{address}&table=b", of) == [*expected(naive, of), *odd.values()]
    assert read(f"{address}&table=c", of) == [high, low, None, reference.declared(date(2024, 3, 10), of)]


def test_duckdb_fails_on_no_time(tmp_path):
    import duckdb

    of, path = column("Australia/Lord_Howe"), tmp_path / "t.duckdb"
    odd = {"infinity": of.upper, "-infinity": of.lower, "290000-01-01": of.upper, "0044-01-01 (BC) 00:00:00": of.lower}
    with duckdb.connect(str(path)) as connection:
        for kind in ("TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_S", "TIMESTAMP_MS"):
            connection.execute(f"CREATE TABLE {kind.lower()}_ (i BIGINT, x {kind})")
            for place, text in enumerate(odd):
                connection.execute(f"INSERT INTO {kind.lower()}_ VALUES (?, CAST(? AS {kind}))", [place, text])
    for kind in ("timestamp_", "timestamptz_", "timestamp_s_", "timestamp_ms_"):
        source = source_of(str(path), table=kind)
        with source.open() as connection:
            made = connection.table.select("i", v=as_declared(connection.table["x"], of).fill_null(-1))
            found = connection.integers(made)
        assert dict(zip(found["i"].tolist(), found["v"].tolist(), strict=True)) == dict(enumerate(odd.values()))


@pytest.mark.parametrize("zone", [None, "Asia/Tokyo"])
@pytest.mark.parametrize("source", ["arrow", "pandas", "parquet"])
def test_nanoseconds_are_left_out_and_never_rounded_up(zone, source, tmp_path):
    """The last nanosecond of a day, as pandas writes the end of a period; and of 1969."""
    of, day = Timestamp("1960-01-01", "2024-12-31", "UTC"), Date("1960-01-01", "2024-12-31")
    ticks = [1_709_251_199_999_999_999, -1, -500, 0, 1_709_251_199_999_999_500]
    made = pyarrow.table({"i": range(5), "x": pyarrow.array(ticks, pyarrow.timestamp("ns", zone))})
    place = SOURCES[source](made, tmp_path)
    seconds = [tick // 10**9 for tick in ticks]
    assert [value if value is not None else -1 for value in read(place, of)] == seconds
    found = read(place, day, lambda raw, column: as_declared(raw, column).day().cast("int64"))
    assert found == [29, 31, 31, 1, 29]


def test_a_condition_tells_instants_apart_up_to_a_year_beyond_the_bounds():
    of = column("Europe/Vienna")
    values = [datetime(2023, 6, 1, 12), datetime(2025, 6, 1, 12), datetime(1950, 1, 1), datetime(2100, 1, 1)]
    found = read(table(values, pyarrow.timestamp("us")), of, as_stored)
    assert found == [reference.stored(value, of) for value in values]
    assert int(of.compared("2100-01-01", "x")) > found[3] > found[1] > int(of.upper)


def test_a_table_with_seconds_reads_as_the_table_itself():
    of = column("Australia/Lord_Howe")
    made = table(local(of.timezone), pyarrow.timestamp("us"))
    with source_of(made).open() as connection:
        inner = with_seconds(connection.table, {"x": of, "absent": of})
        found = connection.integers(inner.select("i", v=as_declared(inner["x"], of)))
    assert sorted(found["v"].tolist()) == sorted(expected(local(of.timezone), of))


def test_numbers_are_refused_and_text_where_an_engine_cannot_read_it():
    import ibis

    of = column("UTC")
    assert "does not say what it counts" in problem(of, ibis.dtype("int64"), tries=True)
    assert "cannot read text" in problem(of, ibis.dtype("string"), tries=False)
    assert problem(of, ibis.dtype("float64"), tries=True)
    assert problem(of, ibis.dtype("date"), tries=False) is None


def test_an_engine_that_forgets_a_change_of_clocks_is_noticed(monkeypatch):
    """The planted bug: the offset of the first day of the year, all year."""

    def forgetful(timezone, first, last):
        found = changes(timezone, first, last)
        return Changes((), found.offsets[:1])

    monkeypatch.setattr(clock, "changes", forgetful)
    of = column("Europe/Vienna")
    assert read(table(local(of.timezone), pyarrow.timestamp("us")), of) != expected(local(of.timezone), of)


@pytest.mark.parametrize("end", ["2024-03-31 01:30", "2024-03-31 03:30", "2024-10-27 02:30", "2024-10-27 03:30"])
@pytest.mark.parametrize("first", [True, False])
def test_a_bound_beside_a_change_of_clocks_is_one_of_instants(end, first):
    """Clocks put forward show times in another order than that of what they mean."""
    days = (end, "2024-12-31") if first else ("2024-01-01", end)
    of = Timestamp(*days, "Europe/Vienna")
    start = datetime.fromisoformat(end[:10])
    values = [start + timedelta(minutes=10 * step) for step in range(36)]
    assert read(table(values, pyarrow.timestamp("us")), of) == expected(values, of)
    texts = [str(value) for value in values]
    assert read(pyarrow.table({"i": range(len(texts)), "x": texts}), of) == expected(values, of)
