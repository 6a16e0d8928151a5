"""The house's own method: what it pays, what it finds, and tables that leave it little to do."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.progress import listening
from discreet.core.sensitivity import Sensitivity
from discreet.data.column import Category, Integer
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.domain import Domain
from discreet.marginals.meter import Meter
from discreet.synth import mosaic as module
from discreet.synth.mosaic import mosaic
from planted import PRICE, distance, domain_of, meter_of, paid, planted

ALL = [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]


@pytest.mark.parametrize("way", ["flat", "adaptive", None])
@pytest.mark.parametrize("currency", ["rho", "epsilon"])
def test_the_price_is_spent_to_the_last_bit(currency, way, monkeypatch):
    domain, codes = planted()
    amounts = paid(monkeypatch)
    meter = meter_of(domain, codes, currency)
    made = mosaic(meter, ALL, way=way)
    assert meter.left == 0
    assert sum(amounts) == PRICE[currency]
    assert made.codes.shape == (round(made.total), 4)
    domain.check(made.codes)
    assert made.fine == 4
    assert [len(one.columns) for one in made.measured[:4]] == [1] * 4


@pytest.mark.parametrize("way", ["flat", "adaptive"])
@pytest.mark.parametrize("currency", ["rho", "epsilon"])
def test_it_finds_what_is_there(currency, way):
    domain, codes = planted()
    made = mosaic(meter_of(domain, codes, currency), ALL, way=way)
    assert distance(made.codes, codes, domain, (0, 3)) < 0.1
    shuffled = made.codes.copy()
    shuffled[:, 3] = np.roll(shuffled[:, 3], 1)  # the same columns, nothing in common
    assert distance(shuffled, codes, domain, (0, 3)) > 0.3


def test_marginals_that_no_tree_holds_are_met_by_weights(monkeypatch):
    rng = np.random.default_rng(5)
    one, two = rng.integers(0, 4, (2, 4000))
    codes = np.column_stack([one, two, *(np.where(rng.random(4000) < 0.5, one, two) for _ in range(2))])
    domain = domain_of((4, 4, 4, 4))
    monkeypatch.setattr(module, "CELLS", 48)  # a tree of pairs and no more
    made = mosaic(meter_of(domain, codes, price=Fraction(2)), ALL, way="flat")
    assert any("marginals beside it" in note and ", 0 marginals" not in note for note in made.notes)
    for pair in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]:
        assert distance(made.codes, codes, domain, pair) < 0.06
    monkeypatch.setattr(module._Mosaic, "_weighted", lambda self, model: model)
    without = mosaic(meter_of(domain, codes, price=Fraction(2)), ALL, way="flat")
    assert max(distance(without.codes, codes, domain, pair) for pair in [(0, 2), (0, 3), (1, 2), (1, 3)]) > 0.1


def test_chosen_marginals_may_be_too_large_for_the_tree_and_are_then_met_by_weights(monkeypatch):
    rng = np.random.default_rng(5)
    one = rng.integers(0, 12, 4000)
    codes = np.column_stack([one, (one + rng.integers(0, 2, 4000)) % 12, *rng.integers(0, 4, (2, 4000))])
    domain = domain_of((12, 12, 4, 4))
    monkeypatch.setattr(module, "CELLS", 100)  # less than the one pair that matters has
    made = mosaic(meter_of(domain, codes, price=Fraction(2)), ALL, way="adaptive")
    often = [noisy.columns for noisy in made.measured].count((0, 1))
    assert often == 1  # the model does not hold it, so it would look wrong every time
    assert distance(made.codes, codes, domain, (0, 1)) < 0.4
    monkeypatch.setattr(module._Mosaic, "_weighted", lambda self, model: model)
    without = mosaic(meter_of(domain, codes, price=Fraction(2)), ALL, way="adaptive")
    assert distance(without.codes, codes, domain, (0, 1)) > 0.8


def test_long_columns_and_large_pairs_are_measured_better():
    domain, codes = planted(sizes=(2, 30, 3, 4))
    made = mosaic(meter_of(domain, codes, price=Fraction(10)), ALL, way="flat")
    alone = {one.columns: one.variance for one in made.measured[:4]}
    assert alone[1,] < alone[2,] < alone[0,]
    pairs = {one.columns: one.variance for one in made.measured[4:10]}
    assert pairs[1, 3] < pairs[0, 2]


@pytest.mark.parametrize(
    ("columns", "price", "way"),
    [(4, "1/50", "all 6 pairs"), (16, "1/50", "chosen"), (16, "100", "all 120 pairs")],
)
def test_the_way_is_the_one_that_promises_the_smaller_error(columns, price, way):
    domain, codes = planted(sizes=(6,) * columns)
    pairs = list(itertools.combinations(range(columns), 2))
    made = mosaic(meter_of(domain, codes, price=Fraction(price)), pairs, rows=10)
    assert way in made.notes[0]


def test_a_few_pairs_that_noise_hides_do_not_speak_against_measuring_all_at_once(monkeypatch):
    domain, codes = planted(rows=20_000, sizes=(2,) * 13 + (40,) * 3)
    pairs = list(itertools.combinations(range(16), 2))
    price = Fraction(1, 800)
    assert "all 120 pairs" in mosaic(meter_of(domain, codes, price=price), pairs, rows=10).notes[0]
    monkeypatch.setattr(module, "_HIDDEN", float("inf"))
    assert "chosen" in mosaic(meter_of(domain, codes, price=price), pairs, rows=10).notes[0]


def test_all_marginals_weigh_in_also_where_there_are_many_rows(monkeypatch):
    rng = np.random.default_rng(5)
    one, two = rng.integers(0, 4, (2, 4000))
    codes = np.column_stack([one, two, *(np.where(rng.random(4000) < 0.5, one, two) for _ in range(2))])
    domain = domain_of((4, 4, 4, 4))
    monkeypatch.setattr(module, "CELLS", 16)  # a tree of single columns
    monkeypatch.setattr(module, "_LEAST_ROWS", 100)
    monkeypatch.setattr(module, "_MOST_LOOKS", 20_000)  # of all rows only five marginals could be looked at
    made = mosaic(meter_of(domain, codes, price=Fraction(2)), ALL, way="flat")
    assert len(made.codes) == round(made.total)
    for pair in [(0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]:
        assert distance(made.codes, codes, domain, pair) < 0.1


def table_of(*columns):
    names = {f"c{place}": column for place, column in enumerate(columns)}
    return Domain.of(Schema("t", names))


def test_a_constant_column_and_one_of_a_single_code():
    domain = table_of(
        Category(["a", "b", "c"], nullable=False),
        Category(["only"], nullable=False),
        Integer(0, 9, nullable=False),
        Category(["x", "y"], nullable=False),
    )
    codes = np.column_stack([np.ones(900), np.zeros(900), np.arange(900) % 10, np.arange(900) % 2]).astype(int)
    meter = meter_of(domain, codes)
    made = mosaic(meter, ALL)
    assert meter.left == 0
    assert (made.codes[:, 1] == 0).all()
    assert (made.codes[:, 0] == 1).mean() > 0.95
    assert distance(made.codes, codes, domain, (2, 3)) < 0.15


def test_one_column():
    domain = table_of(Integer(0, 9, nullable=False))
    codes = (np.arange(500) % 3)[:, None]
    for currency in PRICE:
        meter = meter_of(domain, codes, currency)
        made = mosaic(meter, [(0,)])
        assert meter.left == 0
        assert distance(made.codes, codes, domain, (0,)) < 0.1


def test_columns_that_tell_nothing_leave_the_price_to_single_ones():
    domain = table_of(Category(["a"], nullable=False), Integer(0, 5, nullable=False))
    codes = np.column_stack([np.zeros(300), np.arange(300) % 6]).astype(int)
    meter = meter_of(domain, codes)
    made = mosaic(meter, [(0, 1)])
    assert meter.left == 0
    assert len(made.measured) == made.fine == 4  # both columns twice


def test_nothing_but_missing_values():
    domain = table_of(Integer(0, 50, nullable=True), Category(["a", "b"], nullable=True))
    codes = np.tile([domain.sizes[0] - 1, domain.sizes[1] - 1], (800, 1))
    meter = meter_of(domain, codes)
    made = mosaic(meter, [(0, 1)])
    assert meter.left == 0
    assert (made.codes == codes[0]).all(axis=1).mean() > 0.9


@pytest.mark.parametrize("way", ["flat", "adaptive"])
@pytest.mark.parametrize("currency", ["rho", "epsilon"])
def test_an_empty_table(currency, way):
    domain = domain_of((4, 5, 3, 4))
    meter = meter_of(domain, np.zeros((0, 4), dtype=int), currency)
    made = mosaic(meter, ALL, way=way)
    assert meter.left == 0
    assert len(made.codes) < 300
    assert mosaic(meter_of(domain, np.zeros((0, 4), dtype=int)), ALL, rows=50, way=way).codes.shape == (50, 4)


@pytest.mark.parametrize("way", ["flat", "adaptive"])
@pytest.mark.parametrize(("currency", "price"), [("rho", "1/1000000000"), ("epsilon", "1/100000"), ("rho", "100000")])
def test_prices_next_to_nothing_and_beyond_all_need(currency, price, way):
    domain, codes = planted(rows=300)
    meter = meter_of(domain, codes, currency, Fraction(price))
    made = mosaic(meter, ALL, rows=100, way=way)
    assert meter.left == 0
    domain.check(made.codes)
    if currency == "rho" and Fraction(price) > 1:
        assert distance(made.codes, codes, domain, (0, 3)) < 0.1


def test_the_same_answers_make_the_same_rows_and_stages_say_nothing():
    domain, codes = planted()
    heard, made = [], []
    for rows in (codes, codes, np.zeros((0, 4), dtype=int)):
        stages = []
        with listening(lambda stage, done, stages=stages: stages.append((stage, done))):
            made.append(mosaic(meter_of(domain, rows), ALL))
        heard.append(stages)
    np.testing.assert_array_equal(made[0].codes, made[1].codes)
    assert heard[0] == heard[1] == heard[2]


@pytest.mark.parametrize(
    ("field", "how"),
    [
        ("workload", {"workload": []}),
        ("workload", {"workload": [(0, 0)]}),
        ("workload", {"workload": [(0, 7)]}),
        ("workload", {"workload": {(0, 1): 0}}),
        ("workload", {"workload": {(0, 1): float("nan")}}),
        ("rows", {"rows": -1}),
        ("rows", {"rows": True}),
        ("way", {"way": "both"}),
    ],
)
def test_bad_input_is_refused_before_spending(field, how):
    domain, codes = planted()
    meter = Meter(ArrayCounts(domain, codes), Sensitivity(1), "rho", Fraction(1))
    with pytest.raises(InputError, match=field):
        mosaic(meter, **{"workload": ALL, **how})
    assert meter.spent == 0
