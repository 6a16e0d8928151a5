"""Pairs by their values: distances of brute force, and values that go together are seen to."""

import itertools

import numpy as np
import pytest

from discreet.synth.report import pairs
from discreet.synth.report.pairs import conditionals, groups_of, pair_errors
from discreet.synth.report.values import Values

RNG = np.random.default_rng(4)


def column(name, real, synthetic, kind="number", labels=()):
    return Values(name, kind, np.asarray(real, dtype=float), np.asarray(synthetic, dtype=float), tuple(labels))


def rides(rows, cash_tips):
    """Who pays in cash gives no tip; unless tips are drawn without a look at how they are paid."""
    cash = RNG.random(rows) < 0.3
    none = cash | (RNG.random(rows) < 0.1)
    if cash_tips:
        none = RNG.permutation(none)
    return cash.astype(float), np.where(none, 0, RNG.gamma(4, 1, rows).round(2))


def test_groups_hold_every_row_in_rising_order():
    real, synthetic = RNG.gamma(2, 3, 1000).round(1), np.append(RNG.normal(5, 5, 900), [np.nan, 0, 0])
    found = groups_of(column("x", real, synthetic))
    assert found.labels[-1] == "missing"
    assert found.synthetic[900] == len(found.labels) - 1
    assert max(found.real.max(), found.synthetic.max()) < len(found.labels) <= 14
    assert np.all(np.diff(found.real[np.argsort(real, kind="stable")]) >= 0)
    shares = np.bincount(found.real) / len(real)
    assert shares.max() < 0.2


def test_heavy_values_are_groups_of_their_own():
    found = groups_of(column("x", [*np.zeros(60), *np.linspace(0.5, 4, 40)], [*np.full(30, 0.01), *np.full(20, 2.0)]))
    zero = found.labels.index("0")
    assert set(found.real[:60]) == {zero}
    assert zero not in set(found.synthetic)
    assert "2" in found.labels
    assert found.labels[zero + 1].startswith("0 to ") or found.labels[zero + 1] == "0.01"


def test_rare_names_are_one_group():
    found = groups_of(column("x", np.arange(30), [0] * 9, "category", map(str, range(30))))
    assert found.labels[0] == "0"
    assert found.labels[-1] == "20 others"
    assert np.bincount(found.real).tolist() == [1] * 10 + [20]


def test_errors_are_those_of_brute_force():
    groups = [
        groups_of(column("a", RNG.integers(0, 3, 200), RNG.integers(0, 3, 150), "category", "xyz")),
        groups_of(column("b", RNG.random(200), RNG.random(150) ** 2)),
    ]
    (error,) = pair_errors(groups)
    one, two = groups
    cells = itertools.product(range(len(one.labels)), range(len(two.labels)))
    gaps = [
        ((one.real == a) & (two.real == b)).mean() - ((one.synthetic == a) & (two.synthetic == b)).mean()
        for a, b in cells
    ]
    assert error.tv == pytest.approx(np.abs(gaps).sum() / 2)
    alone = [np.abs((two.real == b).mean() - (two.synthetic == b).mean()) for b in range(len(two.labels))]
    assert error.alone >= sum(alone) / 2 - 1e-12
    assert error.tv >= error.alone


def test_chance_is_the_distance_of_two_samples_of_one_law():
    found = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        a, b = rng.integers(0, 5, 700), rng.integers(0, 4, 700)
        groups = [
            groups_of(column("a", a[:300], a[300:], "category", "abcde")),
            groups_of(column("b", b[:300], b[300:], "category", "abcd")),
        ]
        found += pair_errors(groups)
    assert np.mean([one.tv for one in found]) == pytest.approx(np.mean([one.chance for one in found]), rel=0.05)


def test_values_that_no_longer_go_together_are_shown_given_each_other():
    (cash, tip), (made_cash, made_tip) = rides(4000, False), rides(4000, True)
    noise = [RNG.random(4000) for _ in range(2)]
    columns = [
        column("tip", tip, made_tip),
        column("noise", *noise),
        column("payment", cash, made_cash, "category", ["card", "cash"]),
    ]
    groups = [groups_of(one) for one in columns]
    errors = pair_errors(groups)
    assert max(errors, key=lambda one: one.excess).columns == (0, 2)
    found = conditionals(groups, errors)[0]
    assert (found.name, found.given) == ("tip", "payment")
    case = next(one for one in found.cases if one.label == "cash")
    none = found.labels.index("0")
    assert case.real[none] == 1
    assert case.synthetic[none] < 0.6
    assert sum(case.synthetic) == pytest.approx(1)
    assert case.rows[0] == pytest.approx(cash.mean())
    # The same law on both sides: nothing is added by the pair.
    again = rides(4000, False)
    same = [column("tip", tip, again[1]), column("payment", cash, again[0], "category", ["card", "cash"])]
    assert pair_errors([groups_of(one) for one in same])[0].excess < 0.02


def test_a_column_that_is_off_is_shown_given_what_it_goes_with():
    cash, tip = rides(4000, False)
    smeared = np.where(tip == 0, RNG.uniform(0, 0.5, 4000), tip)
    columns = [
        column("tip", tip, smeared),
        column("weather", *(RNG.integers(0, 2, 4000) for _ in range(2)), "category", ["rain", "sun"]),
        column("payment", cash, cash, "category", ["card", "cash"]),
    ]
    groups = [groups_of(one) for one in columns]
    first = conditionals(groups, pair_errors(groups))[0]
    assert (first.name, first.given) == ("tip", "payment")
    assert next(one for one in first.cases if one.label == "cash").synthetic[first.labels.index("0")] == 0


def test_of_many_pairs_and_rows_some_are_looked_at_and_always_the_same(monkeypatch):
    groups = [groups_of(column(str(i), RNG.random(50), RNG.random(50))) for i in range(12)]
    some = [one.columns for one in pair_errors(groups, most=20)]
    assert len(set(some)) == 20
    assert some == [one.columns for one in pair_errors(groups, most=20)]
    monkeypatch.setattr(pairs, "ROWS", 1000)
    row = np.arange(5000.0)
    one, two = groups_of(column("a", row, row)), groups_of(column("b", row % 7, row, "whole"))
    assert len(one.real) == len(two.real) == 1000
    # Rows stay together: the same ones are taken of every column.
    assert np.array_equal(one.real, groups_of(column("a", row, row)).real)


def test_single_columns_have_no_pairs():
    assert pair_errors([groups_of(column("x", [1], [1]))]) == []
    assert conditionals([groups_of(column("x", [1, 1], [2, 2]))], []) == []
