"""Nothing that was paid for is lost: methods that stop on their way, totals out of all bounds, tables without rows."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow
import pytest

import discreet
from discreet import Budget, Category, Integer, Schema
from discreet.core.sensitivity import Sensitivity
from discreet.errors import InputError, MissingExtraError, RunError
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.domain import Domain
from discreet.marginals.meter import Meter
from discreet.noise.replay import Replay
from discreet.synth import methods, synthetic
from discreet.synth import mosaic as mosaics
from discreet.synth import plan as planning
from discreet.synth.compression import compress
from discreet.synth.descent import Target
from discreet.synth.junction import Passing, junction
from discreet.synth.measurement import Measurement
from discreet.synth.methods import METHODS, method_named
from discreet.synth.model import LARGEST, Model, fit, noisy_total, target_of
from discreet.synth.mosaic import mosaic
from discreet.synth.record import synthetic_from, synthetic_to
from discreet.synth.rescue import run_with_rescue
from discreet.synth.sample import deal
from planted import distance, domain_of, meter_of, planted

ALL = [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]
QUICK = [name for name in METHODS if name != "rap"]


# A method that stops.


@pytest.mark.parametrize("currency", ["rho", "epsilon"])
def test_what_was_measured_is_kept_when_a_method_stops(currency, monkeypatch):
    domain, codes = planted()
    meter = meter_of(domain, codes, currency)
    fitted = mosaics.fit
    calls = []

    def failing(*args, **how):
        calls.append(args)
        if len(calls) > 1:  # after pairs were measured
            raise MemoryError("a table on the way was too large")
        return fitted(*args, **how)

    monkeypatch.setattr(mosaics, "fit", failing)
    made = run_with_rescue(lambda *job: mosaic(*job, way="flat"), meter, ALL, None)
    assert meter.left == 0
    assert made.codes.shape == (round(made.total), 4)
    assert "stopped on its way" in made.notes[0]
    assert {len(one.columns) for one in made.measured} == {1, 2}  # pairs too: reports can use them
    assert len(made.measured) == len(meter.answers)
    sizes = [int(bins.max()) + 1 for bins in made.bins]
    for place, one in enumerate(made.measured):
        wanted = domain.sizes if place < made.fine else sizes
        assert one.values.shape == tuple(wanted[column] for column in one.columns)
    for column in range(4):
        assert distance(made.codes, codes, domain, (column,)) < 0.08
    assert distance(made.codes, codes, domain, (0, 3)) < 0.2  # pairs were paid for, and are used
    record = Measurement(meter.answers, meter.choices)
    again = synthetic_from(synthetic_to(made, record), record.to_json())
    np.testing.assert_array_equal(again.codes, made.codes)


def test_what_is_left_goes_to_single_columns():
    domain, codes = planted()
    meter = meter_of(domain, codes)

    def stops(meter, workload, rows):
        meter.measure((2,), meter.price / 10)
        raise ZeroDivisionError

    made = run_with_rescue(stops, meter, ALL, 500)
    assert meter.left == 0
    assert [one.columns for one in made.measured] == [(2,), (0,), (1,), (2,), (3,)]
    assert len(made.codes) == 500
    assert all(distance(made.codes, codes, domain, (column,)) < 0.08 for column in range(4))


def test_errors_from_where_exact_counts_are_seen_are_not_covered_up():
    domain, codes = planted()

    class Lost(ArrayCounts):
        def marginal(self, columns):
            if len(columns) > 1:
                raise ConnectionError("the engine is gone")
            return super().marginal(columns)

    for name in ("mosaic", "aim", "mst"):
        meter = Meter(Lost(domain, codes), Sensitivity(1), "rho", Fraction(1))
        with pytest.raises(ConnectionError):
            run_with_rescue(method_named(name), meter, ALL, None)
        assert meter.broken
        assert meter.answers  # although something was measured


def test_errors_while_codes_are_put_together_are_not_covered_up_either():
    domain, codes = planted()

    class Lost(ArrayCounts):
        def merged(self, bins):
            raise ConnectionError("the engine is gone")

    for name in ("mosaic", "aim", "mst"):
        meter = Meter(Lost(domain, codes), Sensitivity(1), "rho", Fraction(1))
        with pytest.raises(ConnectionError):
            run_with_rescue(method_named(name), meter, ALL, None)
        assert meter.broken


def test_a_method_that_measured_nothing_fails_as_it_did():
    domain, codes = planted()
    meter = meter_of(domain, codes)
    with pytest.raises(InputError, match="workload"):
        run_with_rescue(mosaic, meter, [(0, 9)], None)
    assert meter.spent == 0


def test_a_paid_release_gives_rows(tmp_path, monkeypatch):
    schema = Schema("t", {"a": Category(["x", "y"], nullable=False), "n": Integer(0, 3, nullable=False)})
    rows = pyarrow.table({"a": ["x", "y", "y"] * 200, "n": [0, 1, 2] * 200})
    curator = discreet.open(rows, schema, ledger=tmp_path / "t.db", budget=Budget(10), who="ann", create=True)

    def stops(meter, workload, rows=None):
        meter.measure((0,), meter.price / 2)
        raise RuntimeError("a private word")

    def loses(meter, workload, rows=None):
        meter._counts.marginal = None  # as if the engine were gone
        meter.measure((0,), meter.price / 2)

    with monkeypatch.context() as patched:
        patched.setattr(planning, "method_named", lambda name: stops)
        release = curator.synthesize("mst").plan(epsilon=2).release(release="r")
    assert 500 < len(release) < 700
    assert any("stopped on its way" in note for note in release.notes)
    assert "private word" not in repr(release.made)
    assert curator.release("r").to_csv() == release.to_csv()
    assert release.report(copies=0)
    monkeypatch.setattr(planning, "method_named", lambda name: loses)
    with pytest.raises(RunError, match="stays spent"):
        curator.synthesize("mst").plan(epsilon=2).release()
    assert curator.standing()[0].spent.amount == 4


def test_a_missing_extra_is_missed_before_the_charge(tmp_path, monkeypatch):
    schema = Schema("t", {"a": Category(["x", "y"], nullable=False), "n": Integer(0, 3, nullable=False)})
    rows = pyarrow.table({"a": ["x"], "n": [0]})
    curator = discreet.open(rows, schema, ledger=tmp_path / "t.db", budget=Budget(10), who="ann", create=True)
    monkeypatch.setattr(methods, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="jax"):
        curator.synthesize("rap")
    curator.synthesize("mst")
    assert curator.standing()[0].spent.amount == 0


# How many rows.


@pytest.mark.parametrize("method", QUICK)
def test_noise_does_not_say_how_large_a_table_may_get(method, monkeypatch):
    domain, codes = planted(rows=300)
    monkeypatch.setattr(synthetic, "MOST_ROWS", 1000)
    seen = []
    for key in range(4):  # noise of some hundred thousand a column: either sign
        meter = meter_of(domain, codes, price=Fraction(1, 10**11), key=b"%d" % key)
        seen.append(len(method_named(method)(meter, ALL, None).codes))
        assert meter.left == 0
    assert max(seen) == 1000
    assert min(seen) <= 1  # the total came out below zero


@pytest.mark.parametrize("method", QUICK)
@pytest.mark.parametrize("currency", ["rho", "epsilon"])
def test_no_rows_at_all(method, currency):
    domain, codes = planted(sizes=(40, 5, 30, 4), rows=500)
    meter = meter_of(domain, codes, currency)
    made = method_named(method)(meter, ALL, 0)
    assert made.codes.shape == (0, 4)
    record = Measurement(meter.answers, meter.choices)
    assert synthetic_from(synthetic_to(made, record), record.to_json()).codes.shape == (0, 4)


def test_dealing_and_opening_bins_of_no_rows():
    assert deal(np.ones((2, 3)), np.zeros(0, dtype=np.int64), Replay(b"x")).shape == (0,)
    domain = domain_of((40, 3))
    targets = [Target((0,), np.zeros(40), np.array(4.0)), Target((1,), np.array([90.0, 0, 0]), np.array(4.0))]
    bins = compress(domain, targets, 90.0)
    assert bins.sizes != domain.sizes
    assert bins.expand(np.zeros((0, 2), dtype=np.int64), Replay(b"x")).shape == (0, 2)


def test_more_rows_than_were_weighed_are_drawn_anew(monkeypatch):
    rng = np.random.default_rng(5)
    one, two = rng.integers(0, 8, (2, 2000))
    codes = np.column_stack([one, two, *(np.where(rng.random(2000) < 0.5, one, two) for _ in range(2))])
    domain = domain_of((8, 8, 8, 8))
    monkeypatch.setattr(mosaics, "CELLS", 192)  # a tree of pairs: the rest is met by weights
    monkeypatch.setattr(mosaics, "_MOST_ROWS", 6000)
    made = mosaic(meter_of(domain, codes, price=Fraction(2)), ALL, rows=20_000, way="flat")
    assert made.codes.shape == (20_000, 4)
    assert any("weighted rows" in note for note in made.notes)
    for pair in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]:
        assert distance(made.codes, codes, domain, pair) < 0.1
    # Rows weighed once make no more different ones than they are, and every one many times.
    monkeypatch.setattr(mosaics._Mosaic, "_rows", lambda self, model, known, count, bits: known.rows(count, bits))
    once = mosaic(meter_of(domain, codes, price=Fraction(2)), ALL, rows=20_000, way="flat")
    assert len(np.unique(made.codes, axis=0)) > 1.5 * len(np.unique(once.codes, axis=0))


# Numbers at the edge of what floats can hold.


def test_measurements_without_noise():
    domain, codes = planted(rows=200)
    counts = ArrayCounts(domain, codes)
    exact = [Target((column,), counts.marginal((column,)).astype(float), np.array(0.0)) for column in range(4)]
    assert noisy_total(exact) == pytest.approx(200)
    model = fit(domain.sizes, [*exact, *exact])
    for target in exact:
        np.testing.assert_allclose(model.marginal(target.columns), target.values, atol=2)
    assert (target_of(exact[0]).variance > 0).all()


def test_potentials_that_contradict_each_other_leave_a_model():
    sizes, marginals = (2, 2, 2), [(0, 1), (1, 2)]
    base = [np.log([0.5, 0.5])] * 3
    passing = Passing(sizes, junction(sizes, marginals), marginals, base)
    one, two = np.zeros((2, 2)), np.zeros((2, 2))
    one[:, 0], two[1, :] = 5000.0, 5000.0  # the middle column is surely 0, and surely 1
    beliefs = passing.beliefs([one, two])
    assert any(np.isnan(belief).any() for belief in beliefs)  # a step of descent that gets there is taken back
    model = Model(passing, [one, two], 10.0)
    assert model.marginal((1,)).sum() == pytest.approx(10)
    assert len(model.rows(7)) == 7


@pytest.mark.parametrize("method", ["mosaic", "aim", "mst"])
def test_marginals_too_large_to_work_out_are_counted_in_rows(method, monkeypatch):
    import discreet.synth.model as module

    domain, codes = planted()
    monkeypatch.setattr(module, "LARGEST", 4)
    assert LARGEST > 4
    meter = meter_of(domain, codes)
    made = method_named(method)(meter, ALL, None)
    assert meter.left == 0
    assert distance(made.codes, codes, domain, (0, 3)) < 0.2


# What is declared and asked for.


def test_bins_for_columns_of_few_whole_numbers():
    schema = Schema(
        "t",
        {
            "age": Integer(0, 99, nullable=False),
            "kids": Integer(0, 9, nullable=False),
            "year": Integer(1900, 2100, nullable=False),
        },
    )
    assert Domain.of(schema).sizes == (100, 10, 52)
    assert Domain.of(schema, bins=20).sizes == (20, 10, 20)
    assert Domain.of(schema, bins={"age": 10}).sizes == (10, 10, 52)
    assert Domain.of(schema, bins={"kids": 2, "age": 200}).sizes == (100, 2, 52)


def test_a_domain_of_a_million_million_cells_says_which_columns_and_what_to_do(tmp_path):
    wide = {
        name: Category([f"{name}{place}" for place in range(1000)], nullable=False)
        for name in ("zip", "job", "town", "shop")
    }
    schema = Schema("t", {**wide, "pay": Integer(0, 10**6, nullable=False)})
    rows = pyarrow.table({**{name: [f"{name}1"] for name in wide}, "pay": [3]})
    curator = discreet.open(rows, schema, ledger=tmp_path / "t.db", budget=Budget(10), who="ann", create=True)
    with pytest.raises(InputError, match=r"zip \(1,000\) x job \(1,000\) x town \(1,000\) x shop .*1,000,000,000,000"):
        curator.synthesize(workload=[tuple(wide)])
    made = curator.synthesize(columns=["zip", "job", "pay"], rows=50).plan(epsilon=1).release()
    assert len(made) == 50
