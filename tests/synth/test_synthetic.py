"""From a model to rows: as many as asked, the same each time, and opened from bins where it has them."""

import math

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.mechanisms import Gaussian, Laplace
from discreet.synth.compression import compress
from discreet.synth.model import fit, target_of
from discreet.synth.synthetic import MOST_ROWS, draw_synthetic, mean_noise, read_rows, row_count
from planted import meter_of, planted


def measured():
    domain, codes = planted()
    meter = meter_of(domain, codes)
    each = meter.left / len(domain)
    return domain, [meter.measure((column,), each) for column in range(len(domain))]


def test_rows_follow_from_the_model_alone():
    domain, noisy = measured()
    model = fit(domain.sizes, noisy)
    one, two = (draw_synthetic("x", model, 300, noisy, ["a note"]) for _ in range(2))
    np.testing.assert_array_equal(one.codes, two.codes)
    assert (one.total, one.notes, one.bins) == (model.total, ("a note",), None)
    assert not np.array_equal(one.codes, draw_synthetic("y", model, 300, noisy, []).codes)


def test_rows_of_bins_are_codes_again():
    domain, noisy = measured()
    bins = compress(domain, [target_of(one) for one in noisy], 0.0)
    made = draw_synthetic("x", fit(bins.sizes, bins.targets), 300, noisy, [], bins, len(noisy))
    assert (made.codes < np.array(domain.sizes)).all()
    assert made.fine == len(noisy)
    for column, merged in enumerate(made.bins):
        np.testing.assert_array_equal(merged, bins.bins[column])


@pytest.mark.parametrize(
    ("rows", "total", "count"),
    [(None, 7.4, 7), (None, -3.0, 0), (None, 1e12, MOST_ROWS), (None, math.nan, 0), (None, math.inf, 0), (9, -1.0, 9)],
)
def test_noise_does_not_decide_how_large_a_table_gets(rows, total, count):
    assert row_count(rows, total) == count


@pytest.mark.parametrize("rows", [-1, 1.5, True, "many"])
def test_a_number_of_rows_is_a_whole_one(rows):
    with pytest.raises(InputError, match="rows"):
        read_rows(rows)
    assert read_rows(None) is None


@pytest.mark.parametrize("noise", [Laplace(9), Gaussian(9)])
def test_mean_noise_is_the_mean_of_its_size(noise):
    drawn = np.abs(noise.release(np.zeros(20_000, np.int64)))
    # Six standard errors: sizes of such noise vary by no more than their mean times 1.1.
    assert abs(drawn.mean() - mean_noise(noise)) < 6 * 1.1 * mean_noise(noise) / math.sqrt(20_000)
