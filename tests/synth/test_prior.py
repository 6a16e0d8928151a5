"""A public table to start from: it helps where noise hides what matters, and does no harm where it is wrong."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet import Category, Integer, Schema
from discreet.core.sensitivity import Sensitivity
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.domain import Domain
from discreet.marginals.meter import Meter
from discreet.synth.measurement import Measurement
from discreet.synth.methods import method_named
from discreet.synth.prior import PriorCodes, started_from

LETTERS = list("abcdefgh")
SCHEMA = Schema("t", {name: Category(LETTERS, nullable=False) for name in "uvwxyz"})
DOMAIN = Domain.of(SCHEMA)
PAIRS = [(one, two) for two in range(6) for one in range(two)]


def rows(many: int, seed: int, *, turned: bool = False):
    """Columns that each lean on the one before; `turned`, against it."""
    chance = np.random.default_rng(seed)
    codes = [chance.integers(0, 8, many)]
    for _ in range(5):
        base = 7 - codes[-1] if turned else codes[-1]
        codes.append(np.where(chance.random(many) < 0.7, base, chance.integers(0, 8, many)))
    return np.stack(codes, axis=1)


def far(made, truth) -> float:
    """The mean distance of pairs, in total variation."""
    counts = [ArrayCounts(DOMAIN, one) for one in (made, truth)]
    pairs = [[one.marginal(pair) / one.marginal(()) for one in counts] for pair in PAIRS]
    return float(np.mean([np.abs(left - right).sum() / 2 for left, right in pairs]))


def measured(rho, truth, method="mosaic"):
    meter = Meter(ArrayCounts(DOMAIN, truth), Sensitivity(1), "rho", Fraction(rho))
    made = method_named(method)(meter, PAIRS, None)
    return made, Measurement(meter.answers, meter.choices)


TRUTH, OTHER, TURNED = rows(3000, 1), rows(3000, 2), rows(3000, 3, turned=True)


def test_where_noise_hides_dependence_a_good_prior_stands_in():
    made, record = measured("0.001", TRUTH)
    informed = started_from(PriorCodes(DOMAIN.names, OTHER), made, DOMAIN, record)
    assert far(informed.codes, TRUTH) < 0.6 * far(made.codes, TRUTH)
    assert len(informed.codes) == len(made.codes)
    assert informed.measured is made.measured


def test_a_wrong_prior_changes_nothing_that_was_measured_well():
    made, record = measured(5, TRUTH)
    informed = started_from(PriorCodes(DOMAIN.names, TURNED), made, DOMAIN, record)
    assert np.array_equal(informed.codes, made.codes)
    assert "disagrees" in informed.notes[-1]


@pytest.mark.parametrize("rho", ["0.01", "0.1"])
def test_a_wrong_prior_does_little_harm_in_between(rho):
    made, record = measured(rho, TRUTH)
    informed = started_from(PriorCodes(DOMAIN.names, TURNED), made, DOMAIN, record)
    assert far(informed.codes, TRUTH) < 1.15 * far(made.codes, TRUTH)


def test_a_prior_that_is_believed_whatever_was_measured_is_caught(monkeypatch):
    monkeypatch.setattr("discreet.synth.prior.trust", lambda *given: 1.0)
    made, record = measured(5, TRUTH)
    informed = started_from(PriorCodes(DOMAIN.names, TURNED), made, DOMAIN, record)
    assert not np.array_equal(informed.codes, made.codes)


def test_a_prior_of_some_columns_leaves_the_others_to_the_method():
    made, record = measured("0.002", TRUTH)
    informed = started_from(PriorCodes(DOMAIN.names[:4], OTHER[:, :4]), made, DOMAIN, record)
    assert far(informed.codes, TRUTH) < far(made.codes, TRUTH)


@pytest.mark.parametrize("rho", ["0.002", "0.05", "50"])
def test_single_columns_stay_as_the_method_has_them(rho):
    """Noisy pairs that rows are weighted to agree with took points off them, as did a prior in the order of values."""
    made, record = measured(rho, TRUTH)
    other = OTHER[np.lexsort(OTHER.T)]
    informed = started_from(PriorCodes(DOMAIN.names, other), made, DOMAIN, record)
    for column in range(6):
        shares = [np.bincount(one.codes[:, column], minlength=8) / len(one.codes) for one in (made, informed)]
        assert np.abs(shares[0] - shares[1]).max() < 0.012, column


def test_single_columns_left_to_the_pairs_are_caught(monkeypatch):
    monkeypatch.setattr("discreet.synth.prior._single", lambda made, domain, total: [])
    made, record = measured("0.002", TRUTH)
    informed = started_from(PriorCodes(DOMAIN.names, OTHER), made, DOMAIN, record)
    shares = [
        np.array([np.bincount(one.codes[:, column], minlength=8) for column in range(6)]) / len(one.codes)
        for one in (made, informed)
    ]
    assert np.abs(shares[0] - shares[1]).max() > 0.012


def test_the_same_record_gives_the_same_rows():
    made, record = measured("0.01", TRUTH)
    prior = PriorCodes(DOMAIN.names, OTHER)
    again = PriorCodes.from_json(prior.to_json())
    one, two = (started_from(each, made, DOMAIN, record).codes for each in (prior, again))
    assert np.array_equal(one, two)


def test_without_rows_nothing_is_started_from():
    made, record = measured("0.01", TRUTH)
    empty = PriorCodes(DOMAIN.names, np.zeros((0, 6), dtype=np.int64))
    assert started_from(empty, made, DOMAIN, record) is made


def test_columns_of_numbers_are_numbers_too():
    domain = Domain.of(Schema("t", {"a": Integer(0, 5000), "b": Category(["x", "y"])}))
    codes = np.stack([np.arange(500) % domain.sizes[0], np.arange(500) % 2], axis=1)
    meter = Meter(ArrayCounts(domain, codes), Sensitivity(1), "rho", Fraction(1, 100))
    made = method_named("mosaic")(meter, [(0, 1)], 100)
    informed = started_from(PriorCodes(("b",), codes[:, 1:]), made, domain, Measurement(meter.answers, meter.choices))
    assert domain.check(informed.codes).shape == (100, 2)
