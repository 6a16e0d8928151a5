"""Codes are merged where noise hides them, and rows get them back in the right proportions."""

import time

import numpy as np
import pytest

from discreet.data.column import Category, Integer
from discreet.data.schema import Schema
from discreet.marginals.domain import Attribute, Domain
from discreet.noise.replay import Replay
from discreet.query.key import Key
from discreet.synth.compression import compress
from discreet.synth.descent import Target
from planted import domain_of

LONG = Domain.of(Schema("t", {"n": Integer(0, 99, nullable=False)}))
GAPS = Domain.of(Schema("t", {"n": Integer(0, 9, nullable=True)}))
NAMES = Domain.of(Schema("t", {"n": Category(list("abcdefgh"), nullable=False)}))


def squeezed(domain, counts, sigma=10.0):
    counts = np.asarray(counts, dtype=float)
    return compress(domain, [Target((0,), counts, np.array(sigma**2))], max(float(counts.sum()), 1.0))


def test_neighbours_share_a_bin_until_it_holds_enough():
    made = squeezed(LONG, np.full(100, 32.0))
    bins = made.bins[0]
    assert (np.diff(bins) >= 0).all()
    assert set(np.diff(bins)) == {0, 1}
    np.testing.assert_array_equal(np.bincount(bins), [4] * 25)  # 128 is the first sum above 3,200 / 32
    np.testing.assert_allclose(made.targets[0].variance, 400.0)
    np.testing.assert_allclose(made.targets[0].values, 128.0)


def test_short_columns_are_merged_only_where_noise_hides_them():
    counts = np.array([500.0, 31, 20, 18, 1000, 2, -3, 1, 0, 4, 40])
    bins = squeezed(GAPS, counts).bins[0]
    np.testing.assert_array_equal(bins, [0, 1, 2, 2, 3, 2, 2, 2, 2, 2, 4])  # a tail of noise joins; missing is alone


def test_a_missing_value_is_nobodys_neighbour():
    bins = squeezed(GAPS, [100.0] * 10 + [0.0]).bins[0]
    assert bins[-1] == 10
    bins = squeezed(GAPS, [0.0] * 10 + [1000.0]).bins[0]
    np.testing.assert_array_equal(bins, [0] * 10 + [1])


def test_rare_values_without_order_go_into_one_bin():
    made = squeezed(NAMES, [400.0, 5, 300, 29, 31, -8, 0, 12])
    np.testing.assert_array_equal(made.bins[0], [0, 3, 1, 3, 2, 3, 3, 3])
    np.testing.assert_allclose(made.targets[0].values, [400, 300, 31, 38])
    np.testing.assert_allclose(made.targets[0].variance, [100, 100, 100, 500])


@pytest.mark.parametrize(
    "counts", [np.zeros(100), np.full(100, -5.0), np.r_[1e6, np.zeros(99)], np.r_[np.zeros(99), 1e6]]
)
def test_empty_and_lopsided_columns(counts):
    made = squeezed(LONG, counts)
    size = made.sizes[0]
    assert 1 <= size <= 2
    sums = np.bincount(made.bins[0], weights=made.shares[0])
    np.testing.assert_allclose(sums, 1.0)
    assert (made.shares[0] >= 0).all()


def test_noise_inside_a_bin_is_taken_back_and_what_stands_out_is_not():
    rng = np.random.default_rng(2)
    flat = squeezed(LONG, 2 + rng.normal(size=100) * 10, sigma=10.0)
    assert flat.sizes[0] <= 2
    assert np.ptp(flat.shares[0]) < 0.06  # of pure noise little is left; as measured it would be 0.2 or more
    counts = 2 + rng.normal(size=100) * 10
    counts[40] = 500
    spiked = squeezed(LONG, counts)
    assert spiked.shares[0][40] * spiked.targets[0].values[spiked.bins[0][40]] > 400


def test_a_code_that_noise_lifted_does_not_get_all_that_its_bin_holds():
    counts = np.full(100, 0.5)
    counts[40] = 33  # 3.3 deviations: of a hundred codes one is there every tenth time
    lifted = compress(LONG, [Target((0,), counts, np.array(100.0))], 3200.0)
    assert lifted.sizes == (1,)
    assert lifted.shares[0][40] < 0.2


def test_rows_get_their_codes_back():
    counts = np.r_[np.arange(50.0) * 40, np.full(50, 3.0)]
    made = squeezed(LONG, counts, sigma=5.0)
    rows = np.repeat(np.arange(made.sizes[0]), np.maximum(made.targets[0].values, 0).astype(int))[:, None]
    codes = made.expand(rows, Replay(b"codes"))
    np.testing.assert_array_equal(made.bins[0][codes[:, 0]], rows[:, 0])
    found = np.bincount(codes[:, 0], minlength=100)
    expected = made.shares[0] * np.bincount(rows[:, 0])[made.bins[0]]
    assert np.abs(found - expected).max() < 1 + 1e-6


def test_bins_in_another_order_than_codes_are_undone_too():
    made = squeezed(NAMES, [400.0, 5, 300, 200, 100, 150, 120, 90])  # one rare value: as many bins as codes
    assert made.sizes[0] == 8
    rows = np.arange(8)[:, None].repeat(3, axis=0)
    codes = made.expand(rows, Replay(b"codes"))
    np.testing.assert_array_equal(made.bins[0][codes[:, 0]], rows[:, 0])
    assert (codes != rows).any()


def test_all_columns_together_say_how_many_rows_the_rare_codes_have():
    domain, truth = domain_of((700, 3)), np.r_[np.full(3, 10_000.0), np.full(697, 10.0)]
    off = []
    for seed in range(60):
        chance = np.random.default_rng(seed)
        counts = truth + chance.normal(0, 200, 700)
        other = np.full(3, truth.sum() / 3) + chance.normal(0, 200, 3)
        targets = [Target((0,), counts, np.array(200.0**2)), Target((1,), other, np.array(200.0**2))]
        found = compress(domain, targets, 0.0)
        exact = np.bincount(found.bins[0], weights=truth)
        values, variance = found.targets[0].values, found.targets[0].variance
        rare = np.bincount(found.bins[0]).argmax()
        # By itself the column would say it to about 200 * sqrt(697), ten times less well.
        assert variance[rare] < (200 * 697**0.5 / 8) ** 2
        off.append((values[rare] - exact[rare]) / variance[rare] ** 0.5)
        assert values.sum() == pytest.approx(found.targets[1].values.sum())
    # Its errors are as large as it says. Codes that noise made seem frequent are not in the bin: that is a bias.
    assert 0.5 < np.std(off) < 1.5
    assert abs(np.mean(off)) < 3


def test_a_heavy_code_stands_alone_and_its_neighbours_without_it():
    counts = np.full(100, 20.0)
    counts[40] = 2000
    made = squeezed(LONG, counts, sigma=5.0)
    bins = made.bins[0]
    assert (bins == bins[40]).sum() == 1
    assert made.targets[0].values[bins[40]] == 2000
    assert bins[39] != bins[41]  # both sides are clear of noise, and are kept apart


def test_many_thousand_codes_with_a_few_heavy_ones():
    size, heavy = 65_536, [0, 500, 1000, 30_000, 65_535]
    chance = np.random.default_rng(3)
    counts = chance.normal(0, 10, size)
    counts[heavy] += 8000
    counts[10_000:12_000] += 5
    domain = Domain((Attribute("n", Key("n"), tuple(range(size)), True, False),))
    start = time.process_time()
    made = compress(domain, [Target((0,), counts, np.array(100.0))], 50_000.0)
    bins = made.bins[0]
    for code in heavy:
        assert (bins == bins[code]).sum() == 1
    assert made.sizes[0] <= 100
    rows = np.repeat(np.arange(made.sizes[0]), 500)[:, None]
    codes = made.expand(rows, Replay(b"codes"))
    np.testing.assert_array_equal(bins[codes[:, 0]], rows[:, 0])
    assert time.process_time() - start < 5  # a table of bins by codes takes longer
    np.testing.assert_allclose(np.bincount(bins, weights=made.shares[0]), 1.0)


def test_numbers_of_either_sign_are_never_put_together():
    schema = Schema("t", {"gap": Integer(-500, 500, nullable=False)})
    domain = Domain.of(schema)
    cut = domain.attributes[0].partition
    counts = np.random.default_rng(3).normal(0, 5, domain.sizes[0])
    counts[cut.starts >= 500] += 40  # from zero on
    found = compress(domain, [Target((0,), counts, np.array(25.0))], float(counts.sum()))
    below, above = (set(found.bins[0][side].tolist()) for side in (cut.starts < 500, cut.starts >= 500))
    assert not below & above
    assert len(below) < 4 < len(above)
