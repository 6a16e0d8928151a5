"""Independent columns: each is right alone, nothing joins them, and the price is spent in equal parts."""

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.synth.independent import independent, outline
from planted import distance, meter_of, planted


@pytest.mark.parametrize("currency", ["rho", "epsilon"])
def test_every_column_is_measured_once_for_an_equal_part_of_the_price(currency):
    domain, codes = planted()
    meter = meter_of(domain, codes, currency)
    made = independent(meter, [(0, 1)], 500)
    assert meter.left == 0
    assert [noisy.columns for noisy in made.measured] == [(column,) for column in range(len(domain))]
    assert {noisy.noise for noisy in made.measured} == {meter.noise(meter.price / len(domain))}
    assert made.codes.shape == (500, len(domain))


def test_columns_are_right_alone_and_have_nothing_to_do_with_each_other():
    domain, codes = planted()
    made = independent(meter_of(domain, codes), [(0, 1)], 20_000)
    assert all(distance(made.codes, codes, domain, (column,)) < 0.1 for column in range(len(domain)))
    one, two = (np.bincount(made.codes[:, column], minlength=domain.sizes[column]) for column in (0, 1))
    expected = np.outer(one, two) / len(made.codes)
    seen = np.zeros_like(expected)
    np.add.at(seen, (made.codes[:, 0], made.codes[:, 1]), 1)
    # Half the L1 distance of shares from those of independent columns: chance alone leaves about 1%.
    assert np.abs(seen - expected).sum() / (2 * len(made.codes)) < 0.03


def test_a_workload_that_is_none_is_refused_before_anything_is_spent():
    domain, codes = planted()
    meter = meter_of(domain, codes)
    with pytest.raises(InputError, match="workload"):
        independent(meter, [(0, 99)])
    assert meter.left == meter.price


def test_the_outline_says_how_far_a_count_is_off():
    domain, codes = planted()
    meter = meter_of(domain, codes)
    off = meter.noise(meter.price / len(domain)).error(0.95)
    assert f"+-{off:,}" in outline(meter, [(0, 1)], 0.95)[0]
    assert meter.left == meter.price
