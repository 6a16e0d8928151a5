"""Values that many rows share: found where they stand out, not where nothing does, at the stated price."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow
import pytest

from discreet.core.sensitivity import Sensitivity
from discreet.data.column import Category, Date, Integer, Real
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.domain import Domain, lattice_of
from discreet.marginals.engine import EngineCounts
from discreet.marginals.meter import Meter
from discreet.noise.bits import SystemBits
from discreet.synth import spikes as room
from discreet.synth.spikes import Spikes, find_spikes, least_rows, searched

SCHEMA = Schema(
    "t",
    {
        "toll": Real(0, 100, nullable=False, step=0.01),
        "pay": Integer(0, 200_000),
        "sex": Category(["f", "m"]),
        "age": Integer(0, 99),
        "day": Date("2020-01-01", "2020-12-31", nullable=False),
    },
)
DOMAIN = Domain.of(SCHEMA)
ONE = Sensitivity(1)


def counted(toll, pay):
    """Counts of two columns, given as points of their lattices."""

    def counts(fine):
        assert fine.names == ("toll", "pay", "step of\ntoll", "step of\npay")
        factors = [one.partition.factors for one in fine.attributes[2:]]
        classes = [_classes(points, steps) for points, steps in zip((toll, pay), factors, strict=True)]
        return ArrayCounts(fine, np.stack([toll, pay, *classes], axis=1))

    return counts


def _classes(points, factors):
    found = sum((points % factor == 0).astype(np.int64) for factor in factors)
    return np.where(points == 0, len(factors) + 1, found)


def rows(n=4000, seed=3):
    rng = np.random.default_rng(seed)
    toll = np.where(rng.random(n) < 0.9, 0, np.where(rng.random(n) < 0.5, 576, rng.integers(0, 10_001, n)))
    pay = np.where(rng.random(n) < 0.2, 50_000, rng.integers(0, 200_001, n))
    return toll, pay


def test_only_columns_whose_codes_hold_several_values_are_searched():
    assert searched(DOMAIN).names == ("toll", "pay")
    assert searched(Domain.of(SCHEMA, ["sex", "age", "day"])).names == ()
    assert searched(Domain.of(SCHEMA, ["pay"], bins=10)).names == ()  # whoever asks for bins gets bins


@pytest.mark.parametrize("currency", ["rho", "epsilon"])
def test_what_many_rows_share_is_found(currency):
    found = find_spikes(DOMAIN, counted(*rows()), ONE, currency, Fraction(1, 2), SystemBits())
    assert 576 in found.points["toll"]
    assert len(found.points["toll"]) <= 2  # zero, a bound, has a code anyway
    assert 50_000 in found.points["pay"]
    assert len(found.points["pay"]) <= 4  # noise alone lifts one in one run of ten
    assert found.steps == {}
    cut = found.applied(DOMAIN)
    labels = list(cut.attributes[0].labels)
    assert Fraction("5.76") in labels
    assert cut.sizes[0] > DOMAIN.sizes[0]
    assert cut.attributes[2:] == DOMAIN.attributes[2:]


def test_nothing_stands_out_of_even_values_or_of_none():
    rng = np.random.default_rng(1)
    even = rng.integers(0, 10_001, 50_000), rng.integers(0, 200_001, 50_000)
    nothing = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    for table in (even, nothing):
        found = [find_spikes(DOMAIN, counted(*table), ONE, "rho", Fraction(1, 10), SystemBits()) for _ in range(20)]
        # At 5% for each column, more than 8 of 40 by chance: one in 4,000 runs.
        assert sum(len(points) > 0 for one in found for points in one.points.values()) <= 8


def test_a_search_that_looks_without_noise_would_be_seen(monkeypatch):
    # A planted bug: exact counts. Three rows at one value would then be found, which noise must hide.
    few = np.r_[np.full(3, 576), np.zeros(16, dtype=np.int64)], np.zeros(19, dtype=np.int64)
    honest = [find_spikes(DOMAIN, counted(*few), ONE, "rho", Fraction(1, 10), SystemBits()) for _ in range(10)]
    assert not any(576 in one.points["toll"] for one in honest)

    class Exact(Meter):
        def measure(self, columns, amount):
            noisy = super().measure(columns, amount)
            return type(noisy)(columns, self._counts.marginal(columns) * 100, noisy.noise)

    monkeypatch.setattr(room, "Meter", Exact)
    assert 576 in find_spikes(DOMAIN, counted(*few), ONE, "rho", Fraction(1, 10), SystemBits()).points["toll"]


def test_the_price_is_spent_and_no_more(monkeypatch):
    made = []

    class Watched(Meter):
        def __init__(self, *args):
            super().__init__(*args)
            made.append(self)

    monkeypatch.setattr(room, "Meter", Watched)
    find_spikes(DOMAIN, counted(*rows()), ONE, "rho", Fraction(1, 2), SystemBits())
    assert [one.spent for one in made] == [Fraction(1, 2)]


def test_the_least_number_of_rows_is_said_beforehand():
    fine = searched(DOMAIN).attributes
    meter = Meter(ArrayCounts(DOMAIN, np.zeros((0, 5), dtype=np.int64)), ONE, "rho", Fraction(1))
    cheap, dear = (meter.noise(Fraction(amount)) for amount in ("0.001", "1"))
    assert least_rows(fine[0], dear) < least_rows(fine[0], cheap)
    assert least_rows(fine[0], cheap) < least_rows(fine[1], cheap)  # more values, of which one is lifted higher


def test_a_step_that_nearly_all_values_are_on_is_found():
    toll, pay = rows()
    toll = toll // 25 * 25  # quarters
    pay = np.where(np.arange(len(pay)) % 500 == 0, pay, pay // 500 * 500)  # all but a few
    found = find_spikes(DOMAIN, counted(toll, pay), ONE, "rho", Fraction(20), SystemBits())
    assert found.steps == {"toll": 5, "pay": 500}
    assert 575 in found.points["toll"]
    cut = found.applied(DOMAIN)
    assert [one.partition.unit for one in cut.attributes[:2]] == [Fraction("0.05"), 500]
    assert Fraction("5.75") in list(cut.attributes[0].labels)
    assert 50_000 in list(cut.attributes[1].labels)
    assert Spikes.from_json(found.to_json()) == found


def test_no_step_is_taken_for_found_where_rows_are_few_or_a_part_is_off_it():
    toll, pay = rows(4000)
    few = toll[:60] // 100 * 100, pay[:60] // 1000 * 1000
    # Nearly all are zero, which is a multiple of everything: the others tell.
    off = np.where(np.arange(4000) % 500 == 0, 1 + toll // 7 * 7, 0), np.where(np.arange(4000) % 30 == 0, pay, 0)
    for table in (few, off):
        found = find_spikes(DOMAIN, counted(*table), ONE, "rho", Fraction(1, 10), SystemBits())
        assert found.steps.get("pay", 1) == 1
        assert found.steps.get("toll", 1) == 1


def test_a_column_named_like_what_is_counted_of_another_is_not_taken_for_it():
    schema = Schema("t", {"x": Integer(0, 100_000, nullable=False), "step of x": Real(0, 1, nullable=False)})
    rng = np.random.default_rng(5)
    near = np.where(rng.random(4000) < 0.5, 0.5, rng.random(4000))
    table = pyarrow.table({"x": rng.integers(0, 1000, 4000) * 100, "step of x": near})

    def counts(fine):
        return EngineCounts(fine, schema, connection, SystemBits())

    with source_of(table).open() as connection:
        found = find_spikes(Domain.of(schema), counts, ONE, "rho", Fraction(10), SystemBits())
    assert found.steps == {"x": 100}
    half = Fraction(1, 2) / lattice_of(schema.column("step of x"))[1]
    assert half in found.points["step of x"]


def test_a_value_between_two_points_that_many_rows_share_is_found_at_the_nearer():
    schema = Schema("t", {"x": Real(-1, 1, nullable=False)})
    unit = lattice_of(schema.column("x"))[1]
    table = pyarrow.table({"x": np.where(np.arange(400) % 2, 0.05068011873981862, -0.044641636506989144)})
    with source_of(table).open() as connection:
        found = find_spikes(
            Domain.of(schema),
            lambda fine: EngineCounts(fine, schema, connection, SystemBits()),
            ONE,
            "rho",
            Fraction(1),
            SystemBits(),
        )
    nearest = {Fraction("0.05068"), Fraction("-0.04464")}
    points = {round(point * unit - 1, 5) for point in found.points["x"]}
    assert nearest <= points  # now and then noise names another one
