"""AIM pays what it says, chooses by the law it is charged for, and finds what is there."""

import math
from fractions import Fraction

import numpy as np
import pytest

import chance
from discreet.core.progress import listening
from discreet.core.sensitivity import Sensitivity
from discreet.errors import InputError
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.meter import Meter
from discreet.mechanisms import TopK
from discreet.synth.aim import _Guess, _Rounds, aim, outline
from discreet.synth.compression import compress
from discreet.synth.model import fit, target_of
from planted import PRICE, distance, domain_of, meter_of, paid, planted

WORKLOAD = [(0, 1, 3), (1, 2), (2, 3)]


@pytest.mark.parametrize("currency", ["rho", "epsilon"])
def test_the_price_is_spent_exactly(currency, monkeypatch):
    domain, codes = planted()
    amounts = paid(monkeypatch)
    meter = meter_of(domain, codes, currency)
    made = aim(meter, WORKLOAD)
    assert meter.left == 0
    assert sum(amounts) == PRICE[currency]
    assert all(isinstance(amount, Fraction) and amount > 0 for amount in amounts)
    each = PRICE[currency] / {"rho": 16, "epsilon": 8}[currency]
    assert amounts[:4] == [each * Fraction(9, 10)] * 4  # single columns: part of the price, like everything
    rounds = len(made.measured) - 4
    assert len(amounts) == 4 + 2 * rounds  # a choice and a measurement each
    for choice, measurement in zip(amounts[4::2], amounts[5::2], strict=True):
        assert measurement == 9 * choice
    assert amounts[-1] + amounts[-2] >= each


@pytest.mark.parametrize("currency", ["rho", "epsilon"])
def test_noise_is_that_of_the_amount_paid(currency, monkeypatch):
    domain, codes = planted()
    amounts = paid(monkeypatch)
    made = aim(meter_of(domain, codes, currency), WORKLOAD)
    bought = [*amounts[:4], *amounts[5::2]]
    meter = meter_of(domain, codes, currency)
    assert [one.noise for one in made.measured] == [meter.noise(amount) for amount in bought]


def test_every_measurement_has_fresh_noise():
    domain, codes = planted(300, (2, 2))
    made = aim(meter_of(domain, codes, key=b"fresh"), [(0, 1)], rounds=40)
    exact = ArrayCounts(domain, codes)
    noise = [tuple((one.values - exact.marginal(one.columns)).ravel()) for one in made.measured]
    repeated = {one.columns for one in made.measured}
    assert len(repeated) < len(made.measured)  # some were measured again
    assert len(set(noise)) == len(noise)


def test_what_was_spent_before_is_not_spent_again():
    domain, codes = planted()
    meter = meter_of(domain, codes)
    meter.measure((0,), meter.price / 2)
    aim(meter, WORKLOAD)
    assert meter.spent == meter.price


def _first_choices(many):
    """Which of three candidates the first round chooses, again and again, and the law that it is charged for."""
    rng = np.random.default_rng(3)
    left = rng.integers(0, 2, 200)
    codes = np.column_stack([left, np.where(rng.random(200) < 0.6, left, 1 - left)])
    domain = domain_of((2, 2))
    counts = ArrayCounts(domain, codes)
    amount, price = Fraction(1, 100), Fraction(1)
    exact = meter_of(domain, codes, price=Fraction(40))
    ones = [target_of(exact.measure((column,), Fraction(20))) for column in (0, 1)]
    bins = compress(domain, ones, 0.0)
    assert bins.sizes == (2, 2)
    model = fit((2, 2), ones)
    guess = _Guess(model, domain)
    chosen = []
    for _ in range(many):
        meter = Meter(counts, Sensitivity(1), "rho", price)
        meter.measure((0,), price / 2)
        job = _Rounds(meter, bins, {(0,): 1.0, (1,): 1.0, (0, 1): 2.0}, 1000)
        chosen.append([(0,), (1,), (0, 1)].index(job.round(guess, model.tree, amount).columns))
    sigma = math.sqrt(1 / (2 * float(amount) * 0.9))
    epsilon = math.sqrt(8 * float(amount) / 10)
    scores = []
    for columns, weight in (((0,), 1), ((1,), 1), ((0, 1), 2)):
        off = np.abs(counts.marginal(columns) - np.rint(guess(columns))).sum()
        penalty = math.sqrt(2 / math.pi) * sigma * 2 ** len(columns)
        scores.append(weight * (off - round(penalty)))
    odds = np.exp(epsilon * (np.array(scores) - max(scores)) / (2 * 2))
    law = odds / odds.sum()
    return chosen, lambda places: np.where((places >= 0) & (places < 3), law[np.clip(places, 0, 2)], 0.0)


def test_marginals_are_chosen_by_the_law_that_is_charged():
    chosen, law = _first_choices(1500)
    assert chance.fits(chosen, law)


def test_half_the_sensitivity_is_caught(monkeypatch):
    def halved(meter, amount, k, sensitivity):
        return TopK(
            k, math.isqrt(8 * 10**12 * amount.numerator // amount.denominator) * Fraction(2, 10**6), sensitivity
        )

    monkeypatch.setattr(Meter, "_choice", halved)
    chosen, law = _first_choices(1500)  # so many would let it pass once in 10^11 runs
    assert not chance.fits(chosen, law)


@pytest.mark.parametrize("currency", ["rho", "epsilon"])
def test_a_planted_pair_is_found(currency):
    domain, codes = planted()
    made = aim(meter_of(domain, codes, currency, price=10 * PRICE[currency]), WORKLOAD)
    assert any({0, 3} <= set(one.columns) for one in made.measured)
    assert distance(made.codes, codes, domain, (0, 3)) < 0.05  # independent columns: 0.75
    assert abs(len(made.codes) - len(codes)) < 100


@pytest.mark.parametrize("currency", ["rho", "epsilon"])
@pytest.mark.parametrize("sizes", [(3,), (1,), (1, 1), (1, 4), (2, 1, 3)])
def test_few_columns_and_columns_of_one_code(currency, sizes):
    chances = np.random.default_rng(1)
    codes = np.column_stack([chances.integers(0, size, 500) for size in sizes])
    meter = meter_of(domain_of(sizes), codes, currency)
    made = aim(meter, [tuple(range(len(sizes)))], rows=321)
    assert meter.left == 0
    assert meter.domain.check(made.codes).shape == (321, len(sizes))


@pytest.mark.parametrize("currency", ["rho", "epsilon"])
@pytest.mark.parametrize("price", [Fraction(1, 10**9), Fraction(1, 1000), Fraction(1000)])
def test_any_price(currency, price):
    domain, codes = planted(400)
    meter = meter_of(domain, codes, currency, price)
    made = aim(meter, WORKLOAD, rows=50)
    assert meter.left == 0
    assert domain.check(made.codes).shape == (50, 4)
    assert math.isfinite(made.total)


@pytest.mark.parametrize("rows", [0, 1])
def test_a_table_of_no_rows_or_one(rows):
    domain = domain_of((3, 4))
    meter = meter_of(domain, np.zeros((rows, 2), dtype=np.int64))
    made = aim(meter, [(0, 1)])
    assert meter.left == 0
    domain.check(made.codes)


def test_a_constant_column_stays_about_constant():
    domain, codes = planted()
    codes[:, 1] = 2
    made = aim(meter_of(domain, codes, price=Fraction(1)), WORKLOAD)
    assert (made.codes[:, 1] == 2).mean() > 0.95


def test_the_same_bits_make_the_same_table():
    domain, codes = planted()
    one, two, other = (aim(meter_of(domain, codes, key=key), WORKLOAD) for key in (b"a", b"a", b"b"))
    assert np.array_equal(one.codes, two.codes)
    assert all(np.array_equal(a.values, b.values) for a, b in zip(one.measured, two.measured, strict=True))
    assert not np.array_equal(one.measured[0].values, other.measured[0].values)


def test_marginals_too_large_for_the_model_are_not_measured():
    domain, codes = planted()
    meter = meter_of(domain, codes)
    made = aim(meter, WORKLOAD, cells=17)
    assert meter.left == 0
    assert max(one.values.size for one in made.measured) <= 17
    assert any("too large" in note for note in made.notes)


def test_a_guess_that_takes_too_large_a_table_is_counted_in_rows(monkeypatch):
    domain, codes = planted()
    model = fit(domain.sizes, [meter_of(domain, codes, price=Fraction(100)).measure((0, 3), Fraction(100))])
    near = _Guess(model, domain)((0, 1))
    monkeypatch.setattr("discreet.synth.model.LARGEST", 1)
    counted = _Guess(model, domain)((0, 1))
    assert counted.shape == near.shape
    assert np.abs(counted - near).max() < 40
    assert not np.array_equal(counted, near)


def test_nothing_is_told_that_came_out_of_the_data():
    heard = set()
    for seed in range(3):
        chances = np.random.default_rng(seed)
        codes = np.column_stack([chances.integers(0, 3, 100 * 4**seed) for _ in range(3)])
        told = []
        with listening(lambda stage, done, told=told: told.append((stage, done))):
            aim(meter_of(domain_of((3, 3, 3)), codes), [(0, 1), (1, 2)])
        heard.add(tuple(told))
    assert len(heard) == 1


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("rounds", {"rounds": 3}),
        ("rounds", {"rounds": True}),
        ("rounds", {"rounds": 20.0}),
        ("cells", {"cells": 0}),
        ("cells", {"cells": 2**40}),
        ("rows", {"rows": -1}),
        ("workload", {"workload": [(0, 9)]}),
    ],
)
def test_bad_input_costs_nothing(field, given):
    domain, codes = planted()
    meter = meter_of(domain, codes)
    with pytest.raises(InputError) as refused:
        aim(meter, **{"workload": WORKLOAD, **given})
    assert refused.value.field == field
    assert meter.spent == 0


def test_the_outline_says_what_will_be_measured():
    domain, codes = planted()
    told = outline(meter_of(domain, codes), WORKLOAD, 0.95)
    assert "4 columns" in told[0]
    assert "10 marginals" in told[1]  # 4 columns, 5 pairs, 1 of three
    alone = outline(meter_of(domain_of((1,)), codes[:, :0].sum(axis=1, keepdims=True)), [(0,)], 0.95)
    assert len(alone) == 1  # nothing to choose
