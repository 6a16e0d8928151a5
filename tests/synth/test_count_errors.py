"""Stated errors are those of the noise: of columns at their own price, and of the number of rows over many draws."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pyarrow
import pytest

import discreet
from chance import at_most
from discreet import Budget, Integer, Schema
from discreet.core.sensitivity import Sensitivity
from discreet.data.column import Text
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.meter import Meter
from discreet.synth import methods
from discreet.synth.count_errors import one_way_errors, pair_error, total_error
from discreet.synth.measurement import Measurement
from discreet.synth.methods import column_prices_of
from discreet.synth.model import noisy_total
from discreet.synth.mosaic import mosaic
from planted import domain_of

ROWS, DRAWS = 500, 1_500
SHAPES = {"short": (2, 2), "long": (300, 90), "short and long": (2, 90, 300), "one": (1,)}


def meter_of(sizes: tuple[int, ...], currency: str, price: str = "1/5") -> Meter:
    codes = np.stack([np.arange(ROWS) % size for size in sizes], axis=1)
    return Meter(ArrayCounts(domain_of(sizes), codes), Sensitivity(1), currency, Fraction(price))


def pairs_of(sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [(0, place) for place in range(1, len(sizes))] or [(0,)]


def misses(sizes: tuple[int, ...], currency: str, method: str, part: float = 1.0) -> tuple[int, int]:
    """In how many of the draws the number of rows is farther off than `part` of what is stated; and the first column.

    The first column's cells are looked at one at a time: the error is stated for a single count.
    """
    meter = meter_of(sizes, currency)
    prices = column_prices_of(method, meter, pairs_of(sizes))
    half = part * (total_error(meter, prices, 0.95).half_width or 0)
    alone = part * meter.noise(prices[0]).error(0.95)
    far = off = 0
    for _ in range(DRAWS):
        fresh = meter_of(sizes, currency)
        measured = [fresh.measure((place,), price) for place, price in enumerate(prices)]
        far += abs(noisy_total(measured) - ROWS) > half
        off += abs(int(measured[0].values[0]) - len(range(0, ROWS, sizes[0]))) > alone
    return far, off


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_number_of_rows_is_as_far_off_as_is_stated(shape, currency):
    far, off = misses(SHAPES[shape], currency, "mosaic")
    assert at_most(far, DRAWS, 0.05)
    assert at_most(off, DRAWS, 0.05)


@pytest.mark.parametrize("shape", SHAPES)
def test_an_error_stated_a_third_too_small_is_noticed(shape):
    far, off = misses(SHAPES[shape], "epsilon", "mosaic", part=2 / 3)
    assert not at_most(far, DRAWS, 0.05)
    assert not at_most(off, DRAWS, 0.05)


def test_short_columns_are_not_stated_as_if_the_price_were_shared_evenly():
    meter = meter_of((2, 3, 300), "epsilon")
    prices = column_prices_of("mosaic", meter, pairs_of((2, 3, 300)))
    best, worst = one_way_errors(meter, prices, meter.domain.names, 0.95)
    assert best.output == "a one-way count, by c2, the most precise of 3 marginals"
    assert worst.output == "a one-way count, by c1, the least precise of 3 marginals"
    assert worst.half_width > 5 * meter.noise(meter.price / 3).error(0.95) > best.half_width
    assert pair_error(meter, meter.price - sum(prices), 2, 0.95).output == "a two-way count, one of 2 marginals"


@pytest.mark.parametrize("method", methods.METHODS)
def test_columns_are_measured_with_the_noise_that_is_stated(curator, method):
    offer = curator.synthesize(method, columns=["age", "sex", "works"]).plan(epsilon=1)
    offer.release(release="one")
    stated = {one.output: one.half_width for one in offer.expected}
    record = Measurement.from_json(json.loads(curator.ledger.find("one").measurement))
    single = [noisy.noise.error(0.95) for bins, noisy in record.answers if bins is None][:3]
    one_way = [half for name, half in stated.items() if name.startswith("a one-way count")]
    assert (min(one_way), max(one_way)) == (min(single), max(single))
    assert ("two-way" in " ".join(stated)) == (method != "independent")
    assert stated["the number of rows"] >= min(single)


def test_pairs_make_the_number_of_rows_more_precise():
    """Not by chance: the mean square of 60 errors as large as columns alone have exceeds a third of what is expected.

    60 squares of normal errors have a mean below a third of theirs in fewer than 1 of 10^9 cases.
    """
    sizes = (2, 3, 40)
    meter = meter_of(sizes, "rho", "1/1000")
    prices = column_prices_of("mosaic", meter, [(0, 1), (0, 2)])
    deviation = (total_error(meter, prices, 0.95).half_width or 0) / NormalDist().inv_cdf(0.975)
    offs = [mosaic(meter_of(sizes, "rho", "1/1000"), [(0, 1), (0, 2)], 1).total - ROWS for _ in range(60)]
    assert np.mean(np.square(offs)) < deviation**2 / 3


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
def test_a_price_that_buys_no_noise_has_errors_too(currency):
    meter = meter_of((2, 90), currency, "100000")
    assert meter.noise(meter.price).variance == 0
    assert total_error(meter, column_prices_of("mosaic", meter, [(0, 1)]), 0.95).half_width <= 1


def test_columns_whose_values_are_still_to_be_found_say_nothing_of_the_number_of_rows(tmp_path):
    schema = Schema("t", {"zip": Text(), "age": Integer(0, 59, nullable=False)})
    rows = pyarrow.table({"zip": ["a", "b"], "age": [3, 4]})
    ledger = discreet.open(
        rows, schema, ledger=tmp_path / "books.db", budget=Budget(10, delta="1e-3"), who="ann", create=True
    )
    both, alone = (
        ledger.synthesize("independent", columns=columns, discover=["zip"]).plan(epsilon=1, delta="1e-6")
        for columns in (["zip", "age"], ["zip"])
    )
    meter = both.plan.blank()
    deviation = math.sqrt(60 * meter.noise(meter.price / 2).variance)
    assert both.expected[0].half_width == math.ceil(NormalDist().inv_cdf(0.975) * deviation)  # Gaussian noise
    assert alone.expected[0].half_width is None
    assert "the number of rows" in str(alone.explain())
    assert "Values that are found get codes" not in str(both.explain())


def test_that_values_found_change_the_prices_is_said(curator):
    notes = {method: str(curator.synthesize(method).plan(epsilon=1).explain()) for method in ("mosaic", "mst")}
    assert "larger than stated" in notes["mosaic"]
    assert "larger than stated" not in notes["mst"]
    assert "larger than stated" not in str(
        curator.synthesize("mosaic", columns=["age", "sex"]).plan(epsilon=1).explain()
    )
