"""The same tables with noise: expected errors against draws of the house's own noise, and against a coarse table."""

import numpy as np
import pytest

from discreet.accounting.concentrated import epsilon_of_zcdp
from discreet.noise import laplace
from discreet.risk import instead
from discreet.risk.coarsening import anonymize
from discreet.risk.instead import compare_release
from discreet.risk.records import Records


def _table(rows=4000):
    draw = np.random.default_rng(0)
    return Records.read(
        {"age": draw.integers(0, 80, rows), "sex": draw.choice(["f", "m"], rows), "dx": draw.choice(list("abc"), rows)}
    )


def test_the_error_of_the_coarse_table_is_counted_by_hand():
    """Ages 0 to 3, three people of 0 and one of 3: as one band, everyone is anything."""
    table = Records.read({"age": [0, 0, 0, 3], "dx": ["a", "a", "b", "b"]})
    made = anonymize(table, quasi=["age"], k=4, redact=0)
    found = compare_release(table, made, ["dx"])
    # age: (3/4, 1/4) shown as (1/2, 1/2), off by 1/4. dx: right. age with dx: 1/2 1/4 0 1/4 shown as four quarters.
    assert found.coarse == pytest.approx(np.mean([1 / 4, 0, 1 / 4]))
    assert (found.tables, found.cells) == (3, 2 + 2 + 4)


def test_the_expected_error_of_noise_is_what_drawn_noise_has():
    table = _table()
    made = anonymize(table, quasi=["age", "sex"], k=5)
    found = compare_release(table, made, ["dx"])
    one = found.noisy[2]
    assert (one.epsilon, one.noise) == (1.0, "Laplace")
    drawn = np.abs(laplace(found.tables, 20_000))
    assert one.error == pytest.approx(drawn.mean() * found.cells / (2 * found.tables * 4000), rel=0.1)
    assert (drawn <= one.within).mean() >= 0.93
    half = np.abs(laplace(found.tables / 2, 20_000)).mean()  # Must fail: half the noise
    assert one.error != pytest.approx(half * found.cells / (2 * found.tables * 4000), rel=0.1)


def test_the_epsilon_that_is_as_good_is_where_the_errors_cross():
    table = _table()
    found = compare_release(table, anonymize(table, quasi=["age", "sex"], k=200), ["dx"])
    assert found.equal is not None
    errors = [one.error for one in found.noisy]
    assert errors == sorted(errors, reverse=True)
    below = [one.epsilon for one in found.noisy if one.error <= found.coarse]
    assert all(epsilon >= found.equal * 0.98 for epsilon in below)
    assert f"{found.equal:.2g}" in found.sentence()


def test_a_table_that_is_not_coarsened_cannot_be_matched():
    table = _table(300)
    found = compare_release(table, anonymize(table, quasi=["sex"], k=1), ["dx"])
    assert (found.coarse, found.equal, found.cheaper) == (0, None, False)
    assert "no epsilon up to 64" in found.sentence()


def test_the_noise_pays_for_every_row_of_a_person():
    table = Records.read({"p": [1, 1, 1, 2], "sex": list("ffmm"), "dx": list("abab")})
    made = anonymize(table, quasi=["sex"], k=1)
    one, all_of_them = (compare_release(table, made, ["dx"], person=person) for person in (None, "p"))
    assert (one.each, all_of_them.each) == (1, 3)
    assert all_of_them.noisy[0].within > 2 * one.noisy[0].within


def test_the_gaussian_price_is_within_its_epsilon():
    from fractions import Fraction

    for epsilon in (Fraction(1, 10), Fraction(1), Fraction(4)):
        rho = instead._rho(epsilon)
        assert epsilon_of_zcdp(rho, instead.DELTA) <= epsilon
        assert epsilon_of_zcdp(rho * Fraction(101, 100), instead.DELTA) > epsilon
