"""Any sum of a published hierarchy has an interval, and it covers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow
import pytest

import discreet
import discreet.trees
from chance import at_most
from discreet.errors import InputError
from discreet.mechanisms import Gaussian, Laplace
from discreet.noise.replay import Replay
from discreet.trees.covariance import Covariance, Weights
from discreet.trees.gls import gls
from discreet.trees.intervals.typical import remeasure
from discreet.trees.measurement import Level, Measurement
from discreet.trees.tree import Hierarchy

CODES = ["aaa", "aab", "aba", "abb", "abc", "baa", "bba", "bbb"]
TREE = Hierarchy.from_prefixes(CODES, {"state": 1, "county": 2, "block": 3})


def measured(noises, *, cells=3, totals=None, leaves=None) -> Measurement:
    sums = TREE.sums(np.zeros((TREE.leaves, cells), np.int64) if leaves is None else leaves)
    direct = totals or [None] * len(noises)
    levels = [
        Level(
            None if noise is None else exact.copy(),
            noise,
            None if one is None else exact.sum(axis=1),
            one,
        )
        for noise, one, exact in zip(noises, direct, sums, strict=True)
    ]
    return Measurement(TREE, tuple(levels))


def by_matrices(asked: Measurement) -> np.ndarray:
    """The covariance of all leaves and cells, by the normal equations written out."""
    cells, size = asked.cells, TREE.leaves
    precision = np.zeros((size * cells, size * cells))
    for level, of in enumerate(asked.levels):
        member = np.array([[float(i == j) for i in place_of(level)] for j in range(TREE.sizes[level])])
        if of.noise is not None:
            rows = np.kron(member, np.eye(cells))
            precision += rows.T @ rows / of.noise.variance
        if of.totals_noise is not None:
            rows = np.kron(member, np.ones((1, cells)))
            precision += rows.T @ rows / of.totals_noise.variance
    return np.linalg.inv(precision)


def place_of(level: int) -> np.ndarray:
    place = np.arange(TREE.leaves)
    for above in range(TREE.depth - 1, level, -1):
        place = TREE.parents[above][place]
    return place


@pytest.mark.parametrize(
    ("noises", "totals"),
    [
        ([Laplace(4), Laplace(6), Laplace(5), Laplace(9)], None),
        ([None, Laplace(6), None, Laplace(9)], [Laplace(2), None, Laplace(3), Laplace(7)]),
        ([Gaussian(4), Gaussian(3), Gaussian(5), Gaussian(9)], [None, None, None, Gaussian(2)]),
    ],
)
def test_the_variance_of_any_sum_is_that_of_the_normal_equations(noises, totals):
    asked = measured(noises, totals=totals)
    whole, noise = by_matrices(asked), Covariance(asked)
    draw = np.random.default_rng(3)
    for _ in range(5):
        u, p, w, q = draw.normal(size=8), draw.normal(size=3), draw.normal(size=8), draw.normal(size=3)
        one, two = Weights(((u, p),)), Weights(((w, q), (u, q)))
        assert noise.between(one, two) == pytest.approx(np.kron(u, p) @ whole @ (np.kron(w, q) + np.kron(u, q)))
        assert noise.between(one, one) == pytest.approx(np.kron(u, p) @ whole @ np.kron(u, p))
    county = (place_of(2) == 1).astype(float)
    assert noise.between(Weights(((county, np.ones(3)),)), Weights(((county, np.ones(3)),))) == pytest.approx(
        gls(asked).total_variance[2][1]
    )


def test_the_sum_over_a_region_is_what_its_table_says(curator):
    release = curator.tree(["state", "county"], by=["sex"]).plan(epsilon=1).release()
    for level in ("state", "county"):
        totals, counts = release.totals(level), release[level]
        for row in totals.rows():
            found = release.sum({level: row[level]})
            assert (found.value, found.lower, found.upper) == (row["count"], row["count_lower"], row["count_upper"])
        row = counts.rows()[1]
        found = release.sum({level: [row[level]]}, {"sex": row["sex"]})
        assert (found.value, found.lower, found.upper) == (row["count"], row["count_lower"], row["count_upper"])
    everyone = release.sum()
    assert everyone.value == sum(release["county"]["count"])
    half = release.sum({"county": dict.fromkeys(release.tree.codes[2], 0.5)})
    assert half.value == everyone.value / 2
    assert half.deviation == pytest.approx(everyone.deviation / 2)


def test_what_two_sums_have_in_common_does_not_count_twice(curator):
    release = curator.tree(["state", "county"], by=["sex"]).plan(epsilon=1).release()
    everyone, female = release.sum(), release.sum(cells={"sex": "f"})
    male = everyone - female
    direct = release.sum(cells={"sex": "m"})
    assert male.value == direct.value
    assert male.deviation == pytest.approx(direct.deviation)
    assert (everyone - everyone).deviation == pytest.approx(0, abs=1e-6)
    share = female / everyone
    assert 0 <= share.lower <= share.value <= share.upper <= 1
    assert share.value == female.value / everyone.value
    per = share * 1000
    assert (per.lower, per.upper) == (share.lower * 1000, share.upper * 1000)
    assert (female / 2).value == female.value / 2
    again = curator.tree(["state", "county"], by=["sex"]).plan(epsilon=2).release()
    change = again.sum() - everyone
    assert change.deviation == pytest.approx(np.hypot(again.sum().deviation, everyone.deviation))


def test_a_release_that_is_read_again_has_the_same_noise(curator, tmp_path):
    release = curator.tree(["state", "county"], by=["sex"]).plan(epsilon=1).release()
    everyone = release.sum()
    release.save_measurements(tmp_path / "measured")
    for same in (
        curator.release(release.id),
        release.again("topdown"),
        discreet.trees.read_measurements(tmp_path / "measured"),
    ):
        assert (everyone - same.sum()).deviation == pytest.approx(0, abs=1e-6)
        assert (everyone + same.sum()).deviation == pytest.approx(2 * everyone.deviation)
        share = release.sum(cells={"sex": "f"}) / same.sum()
        assert 0 <= share.lower <= share.upper <= 1


def test_a_share_of_what_may_be_nothing_has_no_end():
    asked = measured([Laplace(40)] * 4)
    found = share_of(asked, [1, 0, 0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 0])
    assert found.lower == 0
    assert found.upper is None
    assert found.quality == "do not use"
    assert found.to_dict()["upper"] is None


def share_of(asked, above, below):
    from discreet.trees.sums import Part, Sum

    noise, leaves = Covariance(asked), gls(asked).counts[-1]
    one, two = (
        Sum.of((Part(noise, leaves, Weights(((np.array(w, float), np.ones(3)),))),), 0.95, natural=True)
        for w in (above, below)
    )
    return one / two


def test_intervals_of_sums_differences_and_shares_cover():
    from discreet.trees.sums import Part, Sum

    draw = np.random.default_rng(5)
    leaves = draw.poisson(60, size=(TREE.leaves, 3))
    asked = measured([Laplace(4), Laplace(6), Laplace(5), Laplace(9)], leaves=leaves)
    bits = Replay(b"sums")
    place, other = np.array([1, 1, 0, 0, 0, 1, 0, 0.0]), np.array([0, 0, 1, 1, 0, 0, 0, 0.0])
    cells = np.array([1.0, 0, 1])
    held = np.zeros(3, int)
    runs = 300
    for _ in range(runs):
        noise = Covariance(remeasure(asked, leaves, bits))
        table = gls(noise.measured).counts[-1]
        one, two = (
            Sum.of((Part(noise, table, Weights(((u, p),))),), 0.95, natural=False)
            for u, p in ((place, cells), (place + other, np.ones(3)))
        )
        truth = [Weights(((u, p),)).of(leaves) for u, p in ((place, cells), (place + other, np.ones(3)))]
        figures = (one, one - two, one / two)
        for index, (figure, exact) in enumerate(
            zip(figures, (truth[0], truth[0] - truth[1], truth[0] / truth[1]), strict=True)
        ):
            held[index] += figure.lower <= exact <= figure.upper
    for many in held:
        assert at_most(runs - int(many), runs, 0.05)


@pytest.mark.parametrize("scale", [Fraction(1, 4), Fraction(1, 3), Fraction(2, 5), Fraction(1, 2), Fraction(4, 5)])
def test_little_noise_on_whole_numbers_is_covered_as_well(scale):
    """Every pair of noises, with its chance: no draw decides."""
    from discreet.trees.sums import Part, Sum

    reach = np.arange(-9, 10)
    chances = np.exp(-np.abs(reach) / float(scale))
    chances /= chances.sum()
    one, two = np.eye(TREE.leaves)[0], np.eye(TREE.leaves)[1]
    missed = dict.fromkeys(("difference", "share", "half", "halves"), 0.0)
    for first, p in zip(reach, chances, strict=True):
        for second, q in zip(reach, chances, strict=True):
            leaves = np.full((TREE.leaves, 1), 50)
            leaves[:2, 0] += [first, second]
            noise = Covariance(measured([None] * 3 + [Laplace(scale)], cells=1, leaves=leaves))
            a, b = (Sum.of((Part(noise, leaves, Weights(((u, np.ones(1)),))),), 0.95, natural=True) for u in (one, two))
            figures = {"difference": (a - b, 0), "share": (a / b, 1), "half": (a / 2, 25), "halves": (a / 2 + b, 75)}
            for name, (figure, exact) in figures.items():
                missed[name] += p * q * (not figure.lower <= exact <= figure.upper)
    assert {name: many for name, many in missed.items() if many > 0.0501} == {}


@pytest.mark.parametrize(
    ("regions", "cells", "said"),
    [
        ({"county": "Nowhere"}, None, "a code of a county"),
        ({"shire": "a"}, None, "regions"),
        (["a"], None, "codes by level"),
        ({"county": 3}, None, "a list of codes"),
        (None, {"age": 3}, "a column that cells are made of"),
        (None, {"sex": "x"}, "a label of sex"),
        (None, ["f"], "labels by column"),
    ],
)
def test_what_is_not_there_is_named(curator, regions, cells, said):
    release = curator.tree(["state", "county"], by=["sex"]).plan(epsilon=1).release()
    with pytest.raises(InputError, match=said):
        release.sum(regions, cells)


def test_values_with_commas_stand_in_quotes(tmp_path):
    from discreet import Budget, Category, Schema
    from discreet.trees.sums import parse_sum

    races = ["White, alone", "a; b = c", "plain"]
    schema = Schema("people", {"county": Category(["a", "b"]), "race": Category(races)})
    table = pyarrow.table({"county": ["a", "b", "b"], "race": races})
    curator = discreet.open(table, schema, ledger=tmp_path / "l.db", budget=Budget(9), who="ann", create=True)
    release = curator.tree(["county"], by=["race"]).plan(epsilon=1).release()
    text = 'race="White, alone","a; b = c", plain; county=a, b'
    assert parse_sum(release, text) == ({"county": ["a", "b"]}, {"race": races})
