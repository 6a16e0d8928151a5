"""What a method measured is on record before rows are made of it, and gives the rows that it would have made."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.sensitivity import Sensitivity
from discreet.core.wire import canonical
from discreet.errors import InputError
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.meter import Meter
from discreet.noise.replay import Replay
from discreet.synth import mosaic as mosaics
from discreet.synth import rescue
from discreet.synth.measurement import Measurement, RecordedMeter, measured, no_counts
from discreet.synth.methods import METHODS, method_named
from discreet.synth.record import synthetic_from, synthetic_to
from discreet.synth.rescue import independent_rows, run_with_rescue
from planted import PRICE, distance, meter_of, planted

ALL = [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]


def blank(domain, currency="rho", price=None):
    return Meter(no_counts(domain), Sensitivity(1), currency, price or PRICE[currency])


def on_record(name, domain, codes, currency="rho", price=None):
    """What a method measured, as it is read from the ledger."""
    method = name if callable(name) else method_named(name)
    found = measured(method, ArrayCounts(domain, codes), blank(domain, currency, price), Replay(b"any"), ALL)
    return Measurement.from_json(json.loads(canonical(found.to_json())))


@pytest.mark.parametrize(
    ("name", "currency"),
    [
        # What rap compiles takes long, and is the same for both.
        pytest.param(name, currency, marks=pytest.mark.large if (name, currency) == ("rap", "epsilon") else ())
        for name in METHODS
        for currency in ("rho", "epsilon")
    ],
)
def test_rows_from_the_record_are_those_the_method_makes(name, currency):
    if name == "rap":
        pytest.importorskip("jax")
    domain, codes = planted()
    meter = meter_of(domain, codes, currency)
    straight = method_named(name)(meter, ALL, 700)
    record = on_record(name, domain, codes, currency)
    assert len(record.answers) == len(meter.answers)
    assert record.choices == meter.choices
    made = method_named(name)(RecordedMeter(blank(domain, currency), record), ALL, 700)
    np.testing.assert_array_equal(made.codes, straight.codes)
    assert (made.total, made.notes, made.fine) == (straight.total, straight.notes, straight.fine)
    again = synthetic_from(json.loads(canonical(synthetic_to(made, record))), record.to_json())
    np.testing.assert_array_equal(again.codes, straight.codes)
    for one, other in zip(again.measured, straight.measured, strict=True):
        assert (one.columns, one.noise) == (other.columns, other.noise)
        np.testing.assert_array_equal(one.values, other.values)


def test_measuring_ends_with_the_last_answer():
    """No rows are made, and no model is fitted after it."""
    domain, codes = planted()
    later = []

    def two(meter, workload, rows):
        for column in range(2):
            meter.measure((column,), meter.price / 2)
        later.append(rows)

    assert len(on_record(two, domain, codes).answers) == 2
    assert later == []


def test_a_method_that_stops_is_replayed_to_where_it_stopped():
    domain, codes = planted()

    def stops(meter, workload, rows):
        meter.measure((2,), meter.price / 10)
        raise ZeroDivisionError

    record = on_record(stops, domain, codes)
    assert [noisy.columns for _, noisy in record.answers] == [(2,), (0,), (1,), (2,), (3,)]
    made = run_with_rescue(stops, RecordedMeter(blank(domain), record), ALL, 500)
    straight = run_with_rescue(stops, meter_of(domain, codes), ALL, 500)
    np.testing.assert_array_equal(made.codes, straight.codes)
    assert made.notes == straight.notes


@pytest.mark.parametrize("name", ["mosaic", "mst"])
def test_what_a_method_cannot_go_through_again_is_fitted(name):
    """On a machine that computes otherwise it may ask for something else than is on record."""
    domain, codes = planted()
    record = on_record(name, domain, codes)
    turned = Measurement(record.answers[::-1], record.choices)
    made = run_with_rescue(method_named(name), RecordedMeter(blank(domain), turned), ALL, None)
    assert "stopped on its way" in made.notes[0]
    assert all(distance(made.codes, codes, domain, (column,)) < 0.2 for column in range(4))
    assert distance(made.codes, codes, domain, (0, 3)) < 0.2  # 0.75 if they were independent


def divided_evenly(domain, codes, monkeypatch, **how):
    """What `mosaic` measures if every marginal costs the same, as in earlier versions."""
    with monkeypatch.context() as patched:
        patched.setattr(mosaics, "allocate", lambda amount, cells, uses: [amount / len(cells)] * len(cells))
        return on_record("mosaic", domain, codes, **how)


@pytest.mark.parametrize(
    ("sizes", "how"),
    [((4, 5, 3, 4), {}), ((60, 5, 40, 30), {"price": Fraction(1)}), ((4, 5, 3, 4), {"currency": "epsilon"})],
)
def test_dependence_on_record_is_kept_where_the_price_was_divided_otherwise(sizes, how, monkeypatch):
    domain, codes = planted(rows=6000, sizes=sizes)
    record = divided_evenly(domain, codes, monkeypatch, **how)

    def replayed():
        return RecordedMeter(blank(domain, **how), record)

    with pytest.raises(InputError, match="measurement"):
        method_named("mosaic")(replayed(), ALL, None)
    made = run_with_rescue(method_named("mosaic"), replayed(), ALL, None)
    assert "fitted to all that was measured" in made.notes[0]
    assert {len(one.columns) for one in made.measured} >= {1, 2}
    assert all(distance(made.codes, codes, domain, (column,)) < 0.1 for column in range(4))
    assert distance(made.codes, codes, domain, (0, 3)) < 0.15
    again = run_with_rescue(method_named("mosaic"), replayed(), ALL, None)
    np.testing.assert_array_equal(again.codes, made.codes)
    assert len(run_with_rescue(method_named("mosaic"), replayed(), ALL, 9000).codes) == 9000
    # Every column alone has none of it: what was paid for pairs would be lost.
    alone = independent_rows(replayed(), None, "alone")
    assert distance(alone.codes, codes, domain, (0, 3)) > 0.5


def test_where_no_fit_comes_of_the_record_columns_are_independent(monkeypatch):
    domain, codes = planted()
    record = divided_evenly(domain, codes, monkeypatch)

    def fails(*asked):
        raise MemoryError

    monkeypatch.setattr(rescue, "fit_codes", fails)
    made = run_with_rescue(method_named("mosaic"), RecordedMeter(blank(domain), record), ALL, None)
    assert "every column alone" in made.notes[0]
    assert all(distance(made.codes, codes, domain, (column,)) < 0.1 for column in range(4))


def test_another_number_of_rows_and_independent_columns_are_free():
    domain, codes = planted()
    record = on_record("mst", domain, codes)
    many = method_named("mst")(RecordedMeter(blank(domain), record), ALL, 5000)
    assert many.codes.shape == (5000, 4)
    alone = independent_rows(RecordedMeter(blank(domain), record), 5000, "alone")
    assert distance(many.codes, codes, domain, (0, 3)) < 0.15 < distance(alone.codes, codes, domain, (0, 3))


def test_a_record_answers_nothing_else():
    domain, codes = planted()
    record = on_record("independent", domain, codes)
    with pytest.raises(InputError, match="measurement"):
        RecordedMeter(blank(domain), record).measure((1,), Fraction(1, 40))
    with pytest.raises(InputError, match="measurement"):
        RecordedMeter(blank(domain), record).measure((0,), Fraction(1, 50))
    with pytest.raises(InputError, match="measurement"):
        RecordedMeter(blank(domain), record).choose([(0, 1)], lambda columns: None, Fraction(1, 40))
    meter = RecordedMeter(blank(domain), record)
    for column in range(4):
        meter.measure((column,), Fraction(1, 40))
    with pytest.raises(InputError, match="left"):
        meter.measure((0,), Fraction(1, 40))


def test_errors_from_private_counts_are_passed_on():
    domain, codes = planted()

    class Lost(ArrayCounts):
        def marginal(self, columns):
            if len(columns) > 1:
                raise ConnectionError
            return super().marginal(columns)

    with pytest.raises(ConnectionError):
        measured(method_named("mst"), Lost(domain, codes), blank(domain), Replay(b"any"), ALL)
    with pytest.raises(InputError, match="workload"):
        measured(method_named("mst"), ArrayCounts(domain, codes), blank(domain), Replay(b"any"), [(0, 9)])
