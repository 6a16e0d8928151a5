"""Columns of two tables as values, and what follows from times."""

from datetime import UTC, datetime

import numpy as np
import pytest
from report_rows import DOMAIN, SCHEMA, some_codes

from discreet.data.column import Real
from discreet.data.schema import Schema
from discreet.synth.report.values import Values, derived_values, local_seconds, paired_values
from discreet.synth.rows import ColumnValues, draw_rows


def at(*text):
    return np.array([datetime.fromisoformat(one).replace(tzinfo=UTC).timestamp() for one in text])


def instants(name, *text, zone="UTC"):
    return Values(name, "instant", at(*text), at(*text), timezone=zone)


def test_every_column_has_its_kind_and_nan_where_it_is_missing():
    drawn = draw_rows(DOMAIN, SCHEMA.columns, some_codes(500))
    found = paired_values(SCHEMA.columns, drawn, drawn)
    assert [one.kind for one in found] == ["category", "category", "whole", "whole", "number", "day"]
    assert [one.ordered for one in found] == [False, False, True, True, True, True]
    for one in found:
        assert np.array_equal(np.isnan(one.real), drawn[one.name].missing)
        assert one.missing[0] == drawn[one.name].missing.mean()
        assert len(one.known[0]) == (~drawn[one.name].missing).sum()
    sex, works, _, _, pay, day = found
    assert (sex.labels, works.labels) == (("f", "m", "x"), ("False", "True"))
    assert sex.text(2) == "x"
    assert pay.text(0.5) == "0.5"
    assert day.text(18320) == "2020-02-28"


def test_a_hundredth_is_a_hundredth_however_it_was_computed():
    # 57 * 0.01 is not 0.57 in binary fractions, and lattices are multiplied out.
    made = ColumnValues(57 * np.array([0.01]), np.array([False]))
    read = ColumnValues(np.array([0.57]), np.array([False]))
    assert made.values[0] != read.values[0]
    place = DOMAIN.place("pay")
    drawn = draw_rows(DOMAIN, SCHEMA.columns, some_codes(1))
    found = paired_values(SCHEMA.columns, {**drawn, "pay": read}, {**drawn, "pay": made})[place]
    assert found.real[0] == found.synthetic[0]


def test_times_have_weekdays_hours_and_differences():
    start = instants("start", "2024-07-01T22:30", "2024-07-02T12:00", zone="Europe/Vienna")
    end = instants("end", "2024-07-01T21:30", "2024-07-02T13:00", zone="Europe/Vienna")
    found = {one.name: one for one in derived_values([start, end])}
    # In Vienna it was half past midnight on a Tuesday.
    assert [found["weekday of start"].text(one) for one in found["weekday of start"].real] == ["Tuesday", "Tuesday"]
    assert found["hour of start"].real.tolist() == [0, 14]
    between = found["end \u2212 start"]
    assert between.real.tolist() == [-3600, 3600]
    assert [between.text(one) for one in between.real] == ["\u22121 h", "1 h"]
    same = found["start and end on one day"]
    assert [same.text(one) for one in same.real] == ["no", "yes"]
    assert all(one.derived for one in found.values())


def test_a_difference_is_taken_from_the_earlier_column():
    early, late = np.array([1.0, 5, 9]), np.array([2.0, 4, 12])
    one, two = Values("a", "day", late, late), Values("b", "day", early, early)
    names = [each.name for each in derived_values([one, two])]
    assert names == ["weekday of a", "weekday of b", "a \u2212 b"]
    # Numbers are not taken from each other, nor days from instants.
    assert len(derived_values([one, Values("c", "whole", early, early), instants("d", *["2024-01-01"] * 3)])) == 3


def test_what_is_missing_stays_missing():
    gone = np.array([np.nan, 1.0])
    names = derived_values([Values("a", "day", gone, gone), Values("b", "day", gone[::-1], gone)])
    assert [np.isnan(one.real).tolist() for one in names] == [[True, False], [False, True], [True, True]]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Vienna", "Asia/Kolkata", "Australia/Lord_Howe"])
def test_clocks_are_those_of_the_zone(zone):
    from zoneinfo import ZoneInfo

    seconds = np.arange(1_700_000_000, 1_740_000_000, 1_234_567, dtype=np.float64)
    shown = [datetime.fromtimestamp(one, ZoneInfo(zone)).replace(tzinfo=UTC).timestamp() for one in seconds.tolist()]
    assert local_seconds(seconds, zone).tolist() == shown


@pytest.mark.parametrize("upper", [1, 25, 200, 10**6, 10**9])
def test_every_multiple_of_a_hundredth_is_one_value(upper):
    schema = Schema("t", {"x": Real(0, upper, nullable=False)})
    whole = np.random.default_rng(1).integers(0, 100 * upper, 5000)
    none = np.zeros(5000, dtype=bool)
    made = {"x": ColumnValues(whole * 0.01, none)}
    read = {"x": ColumnValues(np.array([float(f"{one // 100}.{one % 100:02}") for one in whole.tolist()]), none)}
    (found,) = paired_values(schema.columns, read, made)
    assert np.array_equal(found.real, found.synthetic)
    # And a thousandth beside it is another.
    (other,) = paired_values(schema.columns, read, {"x": ColumnValues(whole * 0.01 + 0.001, none)})
    assert not np.any(other.real == other.synthetic)
