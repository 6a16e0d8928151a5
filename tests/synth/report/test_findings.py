"""What differs most is named first, and what chance explains is not named."""

import numpy as np
import pytest

from discreet.synth.report.findings import LEAST, findings_of
from discreet.synth.report.likeness import likeness_of
from discreet.synth.report.pairs import conditionals, groups_of, pair_errors
from discreet.synth.report.values import Values

ROWS = 4000
RNG = np.random.default_rng(9)
TAIL = RNG.gamma(2, 5, ROWS)


def column(name, real, synthetic, kind="number", labels=()):
    return Values(name, kind, np.asarray(real, dtype=float), np.asarray(synthetic, dtype=float), tuple(labels))


def findings(*columns):
    groups = [groups_of(one) for one in columns]
    given = conditionals(groups, pair_errors(groups))
    return findings_of([likeness_of(one) for one in columns], given, (ROWS, ROWS))


SPIKE = column("tolls", np.where(np.arange(ROWS) < 0.95 * ROWS, 0, 5.76), RNG.uniform(0, 0.4, ROWS))
CENTS = column("fare", TAIL.round(2), RNG.permutation(TAIL))
MOVED = column("total", TAIL, RNG.permutation(TAIL) + 2)
NAMES = column("payment", RNG.integers(0, 2, ROWS), np.ones(ROWS), "category", ["cash", "card"])
GONE = column("zone", np.where(np.arange(ROWS) < 400, np.nan, 1), np.ones(ROWS), "whole")
BACK = column("end \u2212 start", RNG.uniform(0, 9, ROWS), RNG.uniform(-3, 6, ROWS), "seconds")
SAME = column("size", TAIL, RNG.gamma(2, 5, ROWS))


def test_a_smeared_spike_comes_first_and_rounding_last():
    found = findings(CENTS, SAME, MOVED, SPIKE, NAMES)
    assert found[0].columns == ("tolls",)
    assert found[0].sort == "value"
    assert found[0].text == "tolls: exactly 0 in 95.0% of real rows, 0.0% of synthetic rows."
    assert found[-1].columns == ("fare",)
    assert found[-1].text.startswith("fare: on hundredths in 100.0% of real values, ")
    assert not any("size" in one.columns for one in found if one.sort != "pair")
    distribution = [one.gap for one in found if one.sort != "rounding"]
    assert distribution == sorted(distribution, reverse=True)
    # The steps that a lost spike lay on are not named again.
    assert [one.columns for one in found if one.sort == "rounding"] == [("fare",)]


@pytest.mark.parametrize(
    ("values", "sort", "words"),
    [
        (MOVED, "shape", "total: at most "),
        (NAMES, "value", "payment: card in 5"),
        (GONE, "missing", "zone: missing in 10.0% of real rows, 0.0% of synthetic rows."),
        (BACK, "order", "end \u2212 start: negative in 0.0% of real rows, 3"),
    ],
)
def test_every_sort_of_difference_is_named(values, sort, words):
    found = [one for one in findings(values, SAME) if one.sort == sort and values.name in one.columns]
    assert any(one.text.startswith(words) for one in found), found


def test_two_values_that_no_longer_go_together_are_named():
    cash = RNG.random(ROWS) < 0.3
    tip = np.where(cash, 0, TAIL)
    made = column("tip", tip, RNG.permutation(tip))
    (found,) = findings(made, column("payment", cash, cash, "category", ["card", "cash"]))
    assert (found.sort, found.columns) == ("pair", ("payment", "tip"))
    assert found.text.startswith("payment \u00d7 tip: where payment is ")


def test_samples_of_one_law_have_no_findings():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        columns = [
            column("x", rng.gamma(2, 5, ROWS), rng.gamma(2, 5, ROWS)),
            column("y", rng.integers(0, 4, ROWS), rng.integers(0, 4, ROWS), "category", "abcd"),
            column("z", rng.integers(0, 90, ROWS), rng.integers(0, 90, ROWS), "whole"),
        ]
        assert [one for one in findings(*columns) if one.gap > 2 * LEAST] == []
        assert findings(*columns, SPIKE)[0].columns == ("tolls",)


def test_a_pair_is_described_by_rows_that_both_tables_have():
    cash = RNG.random(ROWS) < 0.3
    tip = np.where(cash, 0, np.where(TAIL > 9, 5, 2))
    made = np.where(cash, 0.01, RNG.permutation(np.where(TAIL > 9, 5, 2)))
    found = findings(column("tip", tip, made), column("fare", TAIL, TAIL))
    pair = next(one for one in found if one.sort == "pair")
    assert pair.text.startswith("tip \u00d7 fare: where tip is ")
    assert not pair.text.startswith(("tip \u00d7 fare: where tip is 0,", "tip \u00d7 fare: where tip is 0.01,"))
