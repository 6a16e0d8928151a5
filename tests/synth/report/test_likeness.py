"""Distances are those of brute force; spikes and rounding are seen, and only where they are."""

import numpy as np
import pytest
from scipy import stats

from discreet.synth.report.likeness import atoms_of, chance_gap, kolmogorov_smirnov, likeness_of, wasserstein
from discreet.synth.report.values import Values


def numbers(real, synthetic, kind="number", **more):
    return Values("x", kind, np.asarray(real, dtype=float), np.asarray(synthetic, dtype=float), **more)


def test_the_largest_gap_is_said_where_it_is():
    found = likeness_of(numbers([1, 2, 3, 4], [1, 5, 6, 7]))
    assert found.farthest == ("4", 1, 0.25)
    assert found.ks == 0.75


@pytest.mark.parametrize("seed", range(4))
def test_distances_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    one, two = np.sort(rng.gamma(2, 3, 300).round(1)), np.sort(rng.normal(5, 4, 410).round(1))
    assert kolmogorov_smirnov(one, two) == pytest.approx(stats.ks_2samp(one, two).statistic)
    assert wasserstein(one, two) == pytest.approx(stats.wasserstein_distance(one, two))
    assert kolmogorov_smirnov(one, one) == wasserstein(one, one) == 0


def test_the_distance_of_chance_is_exceeded_in_one_of_a_hundred_cases():
    rng = np.random.default_rng(3)
    gaps = [kolmogorov_smirnov(np.sort(rng.random(150)), np.sort(rng.random(260))) for _ in range(3000)]
    share = np.mean(np.array(gaps) > chance_gap(150, 260))
    assert 0.003 < share < 0.02


def test_a_smeared_spike_is_the_first_value_named():
    rng = np.random.default_rng(1)
    real = np.where(rng.random(4000) < 0.95, 0, 5.76)
    synthetic = rng.uniform(0, 0.4, 4000)
    first = likeness_of(numbers(real, synthetic)).atoms[0]
    assert (first.text, first.synthetic) == ("0", 0)
    assert first.real == pytest.approx(0.95, abs=0.02)
    # The other way round: a value that only the synthetic rows share.
    first = likeness_of(numbers(synthetic, real)).atoms[0]
    assert (first.text, first.real) == ("0", 0)
    assert not likeness_of(numbers(synthetic, rng.uniform(0, 0.4, 4000))).atoms


def test_shares_of_values_count_missing_rows():
    values = numbers([0, 0, 0, np.nan, 1, 2, 3, 4], [0, np.nan])
    (atom,) = atoms_of(values)
    assert (atom.real, atom.synthetic, atom.gap) == (3 / 8, 1 / 2, 1 / 8)
    assert likeness_of(values).missing == (1 / 8, 1 / 2)


def test_the_heaviest_values_are_kept_and_those_that_differ_most_come_first():
    real = np.repeat(np.arange(5), [50, 20, 15, 10, 5])
    synthetic = np.repeat(np.arange(5), [50, 10, 15, 20, 5])
    assert [atom.value for atom in atoms_of(numbers(real, synthetic, "whole"), most=4)] == [1, 3, 0, 2]
    assert [atom.value for atom in atoms_of(numbers(real, synthetic, "whole"), least=0.2)] == [1, 3, 0]


def test_rounding_is_the_share_of_values_on_steps():
    found = likeness_of(numbers([1, 1.5, 2.25, 0.57], [57 * 0.01, 2, 0.123, 1e9 + 0.005])).roundings
    assert [(one.step, one.real, one.synthetic) for one in found] == [
        ("whole numbers", 1 / 4, 1 / 4),
        ("tenths", 2 / 4, 1 / 4),
        ("hundredths", 1, 2 / 4),
    ]
    ages = likeness_of(numbers([20, 30, 35, 41], [21, 30, 33, 43], "whole")).roundings
    assert [(one.step, one.real, one.synthetic) for one in ages] == [("tens", 0.5, 0.25), ("fives", 0.75, 0.25)]
    assert not likeness_of(numbers([0, 1, 2], [0, 1, 2], "whole")).roundings
    hour = 3600.0
    clocks = likeness_of(numbers([0, hour, hour + 60], [1.0, hour, 60], "instant", timezone="Europe/Vienna")).roundings
    assert [(one.step, one.real) for one in clocks] == [("midnight", 0), ("full hours", 2 / 3), ("full minutes", 1)]


def test_names_have_a_total_variation_distance_and_no_order():
    values = numbers([0, 0, 1, np.nan], [0, 1, 1, 1], "category", labels=("cash", "card"))
    found = likeness_of(values)
    assert (found.tv, found.ks, found.wasserstein) == (0.5, None, None)
    assert found.atoms[0].text == "card"


def test_times_between_columns_have_a_share_below_zero():
    found = likeness_of(numbers([0, 60, 120, 180], [-60, 60, -1, 0], "seconds", derived=True))
    assert found.negative == (0, 0.5)
    assert likeness_of(numbers([-1, 1], [1, 1])).negative is None


def test_columns_without_a_value_have_no_distances():
    found = likeness_of(numbers([np.nan, np.nan], [1, 2]))
    assert (found.ks, found.atoms, found.missing) == (None, (), (1, 0))
    assert likeness_of(numbers([3, 3], [3, 4])).deviations is None
