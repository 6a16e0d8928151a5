"""Distances, associations and agreement are those of brute force."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from report_rows import BINS, DOMAIN, MARGINALS, made_of, some_codes
from scipy import stats

from discreet.data.column import Integer, Real
from discreet.data.instant import Instant
from discreet.data.schema import Schema
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.domain import Domain
from discreet.mechanisms import Gaussian
from discreet.query.key import Bin
from discreet.synth.report.quality import agreements, associations, distances, marginals_of

# Distances, associations, agreement.


def test_distances_are_those_of_brute_force():
    real, made = some_codes(700, 1), some_codes(900, 2)
    for one in distances(DOMAIN, real, made, [(0,), (0, 2), (0, 1, 4)]):
        cells = itertools.product(*(range(DOMAIN.sizes[column]) for column in one.columns))
        gaps = [
            abs((real[:, one.columns] == cell).all(axis=1).mean() - (made[:, one.columns] == cell).all(axis=1).mean())
            for cell in cells
        ]
        assert one.tv == pytest.approx(sum(gaps) / 2)
        assert one.largest == pytest.approx(max(gaps))
        assert one.cells == len(gaps)
    assert distances(DOMAIN, real, real, [(0, 2)])[0].tv == 0


def test_marginals_are_all_or_some_and_always_the_same():
    assert marginals_of(DOMAIN, 2, 10**6) == list(itertools.combinations(range(6), 2))
    some = marginals_of(DOMAIN, 3, 10**6, most=5)
    assert len(set(some)) == 5 == len(marginals_of(DOMAIN, 3, 10**6, most=5))
    assert some == marginals_of(DOMAIN, 3, 10**6, most=5)
    large = Domain.of(Schema("big", {f"c{place}": Integer(0, 120, nullable=False) for place in range(80)}))
    assert all(large.cells(one) <= 20_000 for one in marginals_of(large, 2, 20_000))
    assert marginals_of(large, 3, 1000) == []


def test_associations_are_pearson_and_cramer():
    codes = some_codes(4000)
    matrix = associations(DOMAIN, codes)
    assert np.array_equal(matrix, matrix.T, equal_nan=True)
    size, age = DOMAIN.attributes[3], codes[:, 2]
    there = codes[:, 3] < size.size - 1
    middles = np.array([float(label.start + label.end) / 2 for label in size.labels[:-1]])
    expected = np.corrcoef(age[there], middles[codes[there, 3]])[0, 1]
    assert matrix[2, 3] == pytest.approx(expected)
    table = ArrayCounts(DOMAIN, codes).marginal((1, 2))
    table = table[:, table.sum(axis=0) > 0]
    chi = stats.chi2_contingency(table, correction=False).statistic / table.sum()
    whole, (high, wide) = table.sum(), table.shape
    square = max(chi - (high - 1) * (wide - 1) / (whole - 1), 0)
    most = min(high - (high - 1) ** 2 / (whole - 1), wide - (wide - 1) ** 2 / (whole - 1)) - 1
    assert matrix[1, 2] == pytest.approx(math.sqrt(square / most))
    assert matrix[0, 1] < 0.1 < matrix[1, 2]
    constant = codes.copy()
    constant[:, 1] = 0
    assert np.isnan(associations(DOMAIN, constant)[1]).all()


def test_agreement_is_that_of_brute_force():
    codes = some_codes(2000)
    made = made_of(codes, (Gaussian(5), Gaussian(7)), BINS, MARGINALS)
    found = agreements(DOMAIN, made, codes, 0.9)
    assert [one.columns for one in found] == [one.columns for one in made.measured]
    noisy = made.measured[2]
    off = noisy.values - made.total / 2000 * np.bincount(codes[:, 2], minlength=100)
    assert found[2].gap == pytest.approx(math.sqrt((off**2).mean() / noisy.variance))
    assert found[2].inside == pytest.approx((np.abs(off) <= noisy.noise.error(0.9)).mean())
    assert found[2].largest == pytest.approx(np.abs(off).max())
    # The very rows that were measured: what is left is noise. Other rows are told from it.
    assert all(0.3 < one.gap < 2 for one in found if one.cells > 30)
    other = agreements(DOMAIN, made, some_codes(2000) // 2, 0.9)
    assert max(one.gap for one in other) > 5


def test_single_values_beside_bins_and_instants_have_a_place_in_the_order():
    schema = Schema("t", {"x": Real(0, 4, nullable=False), "y": Integer(0, 1, nullable=False)})
    cut, plain = Domain.of(schema, bins=2).attributes
    mixed = Domain((replace(cut, labels=(Fraction(0), *cut.labels)), plain))
    codes = np.array([[0, 0], [1, 1], [2, 1], [2, 0]])
    expected = np.corrcoef([0, 1, 3, 3], codes[:, 1])[0, 1]
    assert associations(mixed, codes)[0, 1] == pytest.approx(expected)
    zone = "Europe/Vienna"
    times = (Bin(Instant(0, zone), Instant(10, zone)), Bin(Instant(10, zone), Instant(20, zone)), None)
    timed = Domain((replace(cut, labels=times, missing=True), plain))
    assert associations(timed, np.array([[0, 0], [1, 1], [2, 1], [0, 0]]))[0, 1] == pytest.approx(1)
