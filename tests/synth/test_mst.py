"""MST pays in thirds, chooses its tree by the law it is charged for, and finds what is there."""

import itertools
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
from discreet.synth.model import fit
from discreet.synth.mst import _chosen, mst, outline
from planted import PRICE, distance, domain_of, meter_of, paid, planted

WORKLOAD = [(0, 1)]


@pytest.mark.parametrize("currency", ["rho", "epsilon"])
def test_the_price_is_spent_in_thirds(currency, monkeypatch):
    domain, codes = planted()
    amounts = paid(monkeypatch)
    meter = meter_of(domain, codes, currency)
    made = mst(meter, WORKLOAD)
    third = PRICE[currency] / 3
    assert meter.left == 0
    assert amounts == [third / 4] * 4 + [third / 3] * 6
    assert [len(one.columns) for one in made.measured] == [1] * 4 + [2] * 3
    assert made.fine == 4


@pytest.mark.parametrize("currency", ["rho", "epsilon"])
def test_noise_is_that_of_the_amount_paid(currency):
    domain, codes = planted()
    meter = meter_of(domain, codes, currency)
    made = mst(meter, WORKLOAD)
    third = PRICE[currency] / 3
    assert [one.noise for one in made.measured] == [meter.noise(third / 4)] * 4 + [meter.noise(third / 3)] * 3


def test_the_pairs_measured_are_a_tree():
    domain, codes = planted(sizes=(3, 3, 3, 3, 3, 3))
    made = mst(meter_of(domain, codes), WORKLOAD)
    joined = {0}
    pairs = [one.columns for one in made.measured if len(one.columns) == 2]
    for _ in pairs:
        joined |= {column for pair in pairs if joined & set(pair) for column in pair}
    assert len(pairs) == 5
    assert joined == set(range(6))


def _trees(many):
    """The trees chosen of three columns, again and again, and the law that they are charged for."""
    rng = np.random.default_rng(3)
    first = rng.integers(0, 2, 200)
    second, third = (np.where(rng.random(200) < agree, first, 1 - first) for agree in (0.7, 0.6))
    codes = np.column_stack([first, second, third])
    domain = domain_of((2, 2, 2))
    counts = ArrayCounts(domain, codes)
    exact = meter_of(domain, codes, price=Fraction(60))
    model = fit((2, 2, 2), [exact.measure((column,), Fraction(20)) for column in range(3)])
    pairs = list(itertools.combinations(range(3), 2))
    each = Fraction(1, 5000)
    orders = list(itertools.permutations(range(3), 2))
    chosen = []
    for _ in range(many):
        tree = _chosen(Meter(counts, Sensitivity(1), "rho", Fraction(1)), pairs, model, each)
        chosen.append(orders.index(tuple(pairs.index(pair) for pair in tree)))
    epsilon = math.sqrt(8 * float(each))
    off = [np.abs(counts.marginal(pair) - np.rint(model.marginal(pair))).sum() for pair in pairs]
    odds = np.exp(epsilon * np.array(off) / 2)
    law = np.array([odds[a] / odds.sum() * odds[b] / (odds.sum() - odds[a]) for a, b in orders])
    return chosen, lambda places: np.where((places >= 0) & (places < 6), law[np.clip(places, 0, 5)], 0.0)


def test_trees_are_chosen_by_the_law_that_is_charged():
    chosen, law = _trees(1200)
    assert chance.fits(chosen, law)


def test_half_the_sensitivity_is_caught(monkeypatch):
    def halved(meter, amount, k, sensitivity):
        return TopK(
            k, math.isqrt(8 * 10**12 * amount.numerator // amount.denominator) * Fraction(2, 10**6), sensitivity
        )

    monkeypatch.setattr(Meter, "_choice", halved)
    chosen, law = _trees(1200)  # so many would let it pass less than once in 10^15 runs
    assert not chance.fits(chosen, law)


@pytest.mark.parametrize("currency", ["rho", "epsilon"])
def test_a_planted_pair_is_found(currency):
    domain, codes = planted()
    made = mst(meter_of(domain, codes, currency, price=10 * PRICE[currency]), WORKLOAD)
    assert (0, 3) in [one.columns for one in made.measured]
    assert distance(made.codes, codes, domain, (0, 3)) < 0.05  # independent columns: 0.75
    assert abs(len(made.codes) - len(codes)) < 100


@pytest.mark.parametrize("currency", ["rho", "epsilon"])
@pytest.mark.parametrize("sizes", [(3,), (1,), (1, 1), (1, 4), (2, 1, 3)])
def test_few_columns_and_columns_of_one_code(currency, sizes):
    chances = np.random.default_rng(1)
    codes = np.column_stack([chances.integers(0, size, 500) for size in sizes])
    meter = meter_of(domain_of(sizes), codes, currency)
    made = mst(meter, [tuple(range(len(sizes)))], rows=321)
    assert meter.left == 0
    assert meter.domain.check(made.codes).shape == (321, len(sizes))


@pytest.mark.parametrize("currency", ["rho", "epsilon"])
@pytest.mark.parametrize("price", [Fraction(1, 10**9), Fraction(1, 1000), Fraction(1000)])
def test_any_price(currency, price):
    domain, codes = planted(400)
    meter = meter_of(domain, codes, currency, price)
    made = mst(meter, WORKLOAD, rows=50)
    assert meter.left == 0
    assert domain.check(made.codes).shape == (50, 4)
    assert math.isfinite(made.total)


def test_where_noise_hides_all_pairs_single_columns_get_the_rest(monkeypatch):
    domain = domain_of((2, 3))
    hidden = 0
    for key in range(20):
        with monkeypatch.context() as patch:
            amounts = paid(patch)
            made = mst(meter_of(domain, np.zeros((0, 2), dtype=np.int64), key=bytes([key])), WORKLOAD, rows=10)
        assert sum(amounts) == PRICE["rho"]
        if all(len(one.columns) == 1 for one in made.measured):
            hidden += 1
            assert amounts == [PRICE["rho"] / 6] * 2 + [PRICE["rho"] / 3] * 2
            assert made.bins is None
    assert hidden > 0


@pytest.mark.parametrize("rows", [0, 1])
def test_a_table_of_no_rows_or_one(rows):
    domain = domain_of((3, 4))
    meter = meter_of(domain, np.zeros((rows, 2), dtype=np.int64))
    made = mst(meter, WORKLOAD)
    assert meter.left == 0
    domain.check(made.codes)


def test_a_constant_column_stays_about_constant():
    domain, codes = planted()
    codes[:, 1] = 2
    made = mst(meter_of(domain, codes, price=Fraction(1)), WORKLOAD)
    assert (made.codes[:, 1] == 2).mean() > 0.95


def test_the_same_bits_make_the_same_table():
    domain, codes = planted()
    one, two, other = (mst(meter_of(domain, codes, key=key), WORKLOAD) for key in (b"a", b"a", b"b"))
    assert np.array_equal(one.codes, two.codes)
    assert all(np.array_equal(a.values, b.values) for a, b in zip(one.measured, two.measured, strict=True))
    assert not np.array_equal(one.measured[0].values, other.measured[0].values)


def test_nothing_is_told_that_came_out_of_the_data():
    heard = set()
    for rows in (0, 100, 5000):
        codes = np.random.default_rng(rows).integers(0, 3, (rows, 3))
        told = []
        with listening(lambda stage, done, told=told: told.append((stage, done))):
            mst(meter_of(domain_of((3, 3, 3)), codes, price=Fraction(1)), WORKLOAD)
        heard.add(tuple(told))
    assert len(heard) == 1


@pytest.mark.parametrize(("field", "given"), [("rows", {"rows": -1}), ("workload", {"workload": [(0, 9)]})])
def test_bad_input_costs_nothing(field, given):
    domain, codes = planted()
    meter = meter_of(domain, codes)
    with pytest.raises(InputError) as refused:
        mst(meter, **{"workload": WORKLOAD, **given})
    assert refused.value.field == field
    assert meter.spent == 0


def test_the_outline_says_what_will_be_measured():
    domain, codes = planted()
    told = outline(meter_of(domain, codes), WORKLOAD, 0.95)
    assert "4 columns" in told[0]
    assert "3 of 6 pairs" in told[1]
