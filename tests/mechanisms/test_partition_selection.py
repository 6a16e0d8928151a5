"""Selection of unknown keys: both inequalities at every count, no rule keeps more, and the coins are exact."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from chance import frequency_fits
from discreet.core.loss import Approx
from discreet.errors import InputError
from discreet.mechanisms import PartitionSelection, StabilityThreshold, partition_selection
from mechanisms.outputs import hockey_stick

GRID = [*itertools.product(["1/10", "1", "5"], ["1e-1", "1e-6", "1e-20"], [1, 4]), ("1", "1/2", 1), ("2", "0.9", 1)]
every = pytest.mark.parametrize(("epsilon", "delta", "keys"), GRID)


def recurrence(epsilon, delta, limit=10_000):
    """The optimal chances from their definition, to 120 digits."""
    with mpmath.workdps(120):
        x, d = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator), mpmath.mpf(delta.numerator)
        d, p = d / delta.denominator, [mpmath.mpf(0)]
        while p[-1] < 1 and len(p) < limit:
            p.append(min(x * p[-1] + d, 1 - (1 - p[-1] - d) / x, mpmath.mpf(1)))
        return p


def violation(chances, epsilon, delta):
    """By how much the worst of the four inequalities between neighbouring counts fails; at most zero if private."""
    with mpmath.workdps(120):
        x, d = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator), mpmath.mpf(delta.numerator)
        d = d / delta.denominator
        pairs = [
            (p, q) for a, b in itertools.pairwise(chances) for p, q in ((a, b), (b, a), (1 - a, 1 - b), (1 - b, 1 - a))
        ]
        return max(p - x * q - d for p, q in pairs)


def bounds(mechanism):
    """Of every chance, in 120 digits."""
    rule = mechanism._rule
    return [
        tuple(mpmath.mpf(b.numerator) / b.denominator for b in rule.between(n, 130)) for n in range(rule.certain + 2)
    ]


@every
def test_both_inequalities_hold_and_the_rule_is_the_recurrence(epsilon, delta, keys):
    mechanism = PartitionSelection(epsilon, delta, keys)
    share = mechanism.epsilon / keys, mechanism.delta / keys
    exact = recurrence(*share)
    assert mechanism.certain_at == len(exact) - 1
    with mpmath.workdps(120):
        found = bounds(mechanism)
        for (low, high), p in zip(found, [*exact, 1], strict=True):
            assert low <= p * (1 + mpmath.mpf(10) ** -110)
            assert high >= p * (1 - mpmath.mpf(10) ** -110)
            assert high - low <= mpmath.mpf(10) ** -110
        middles = [(low + high) / 2 for low, high in found]
        assert violation(middles, *share) <= mpmath.mpf(10) ** -100
    assert mechanism.loss() == Approx(epsilon, delta)


@every
def test_no_count_could_have_a_larger_chance(epsilon, delta, keys):
    """Raising any one chance by a thousandth of what is left breaks an inequality: the rule is the largest."""
    mechanism = PartitionSelection(epsilon, delta, keys)
    share = mechanism.epsilon / keys, mechanism.delta / keys
    exact = recurrence(*share)
    with mpmath.workdps(120):
        for n in {1, 2, len(exact) // 2, len(exact) - 2} & set(range(1, len(exact) - 1)):
            raised = list(exact)
            raised[n] += (1 - raised[n]) * min(raised[n], 1) / 1000
            assert violation(raised[: n + 1], *share) > 0


def greedy_beyond(epsilon, delta):
    """Mutant: forgets that dropping a key tells something too."""
    p = [0.0]
    while p[-1] < 1:
        p.append(min(math.exp(epsilon) * p[-1] + delta, 1.0))
    return p


def unsplit(epsilon, delta, keys):
    """Mutant: spends the whole (epsilon, delta) on each of several keys."""
    return PartitionSelection(epsilon, delta, 1)


def joint(mechanism, counts):
    """Of two keys: neither, one, the other, both."""
    chances = [mechanism.chance(int(n)) for n in counts]
    return np.outer(*([1 - p, p] for p in chances)).ravel()


def worst(mechanism, epsilon):
    seen = []
    for counts in itertools.product(range(1, mechanism.certain_at + 1), repeat=2):
        for removed in ((1, 0), (0, 1), (1, 1)):
            law, other = joint(mechanism, counts), joint(mechanism, np.subtract(counts, removed))
            seen += [hockey_stick(law, other, epsilon), hockey_stick(other, law, epsilon)]
    return max(seen)


def test_two_keys_of_one_unit_hold_and_mutants_are_caught():
    honest = PartitionSelection(1, "1e-2", keys=2)
    assert worst(honest, 1) <= 1e-2 * (1 + 1e-9)
    assert worst(honest, 1) > 1e-2 / 3
    assert worst(unsplit(1, "1e-2", 2), 1) > 1.5e-2
    with mpmath.workdps(30):
        assert violation([mpmath.mpf(p) for p in greedy_beyond(1, 1e-2)], Fraction(1), Fraction(1, 100)) > 0.05


@pytest.mark.parametrize("keys", [1, 5])
@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("1/10", "1e-9"), ("3", "1e-2")])
def test_it_keeps_at_least_as_much_as_the_threshold(epsilon, delta, keys):
    best, other = PartitionSelection(epsilon, delta, keys), StabilityThreshold(epsilon, delta, keys)
    counts = sorted({*range(40), *np.linspace(1, other.threshold * 2, 200).astype(int).tolist()})
    ratios = [(best.chance(n), other.chance(n)) for n in counts]
    assert all(a >= b * (1 - 1e-9) for a, b in ratios)
    assert any(a > 1.5 * b for a, b in ratios[1:])


@pytest.mark.parametrize("margin", [None, 2.0])
def test_coins_have_the_stated_chance_on_both_paths(monkeypatch, margin):
    if margin is not None:
        monkeypatch.setattr(partition_selection, "_MARGIN", margin)  # every coin takes the exact path
    mechanism, trials = PartitionSelection(1, "1e-2", keys=2), 100_000 if margin is None else 1000
    exact = recurrence(mechanism.epsilon / 2, mechanism.delta / 2)
    for n in range(1, mechanism.certain_at):
        kept = mechanism.select(np.full(trials, n)).sum()
        assert frequency_fits(kept, trials, float(exact[n]))


def test_a_wrong_chance_is_caught():
    mechanism, trials = PartitionSelection(1, "1e-2"), 100_000
    n = mechanism.certain_at // 2
    assert not frequency_fits(
        PartitionSelection(2, "1e-2").select(np.full(trials, n)).sum(), trials, mechanism.chance(n)
    )
    assert not frequency_fits(mechanism.select(np.full(trials, n + 1)).sum(), trials, mechanism.chance(n))


def test_floats_are_within_the_proven_error():
    for epsilon, delta in (("1/1000", "1e-300"), ("1/20", "1e-9"), ("700", "1e-290"), ("1e-6", "1/3")):
        rule = partition_selection._rule(Fraction(epsilon), Fraction(delta))
        counts = np.unique(np.linspace(1, rule.certain - 1, 60).astype(np.int64))
        for n, chance in zip(counts, rule.floats(counts), strict=True):
            assert abs(float(rule.between(int(n))[1]) - chance) < 2.0**-39


def test_the_ends_are_certain():
    mechanism = PartitionSelection("1/2", "1e-3")
    assert not mechanism.select(np.zeros(10_000, dtype=int)).any()
    assert mechanism.select(np.full(10_000, mechanism.certain_at)).all()
    assert mechanism.select([2**62]).all()
    assert mechanism.chance(0) == 0
    assert mechanism.chance(mechanism.certain_at) == 1
    assert mechanism.chance(mechanism.certain_at - 1) < 1
    assert mechanism.chance(1) == pytest.approx(1e-3)


def test_error_is_the_count_that_is_kept():
    mechanism = PartitionSelection(1, "1e-6")
    for confidence, k in ((0.5, 1), (0.95, 1), (0.95, 1000)):
        n = mechanism.error(confidence, k)
        assert 1 - mechanism.chance(n) <= (1 - confidence) / k * (1 + 1e-9)
        assert 1 - mechanism.chance(n - 1) > (1 - confidence) / k


def test_a_tiny_epsilon_needs_no_long_table():
    mechanism = PartitionSelection("1e-9", "1e-15")
    assert mechanism.certain_at > 10**9
    assert mechanism.select([mechanism.certain_at - 1, mechanism.certain_at, 1]).tolist()[1:] == [True, False]


@pytest.mark.parametrize("bad", [[-1], [1.5], [True], ["a"], [[1]]])
def test_bad_counts_are_refused(bad):
    with pytest.raises(InputError, match="counts"):
        PartitionSelection(1, 0.1).select(bad)


@pytest.mark.parametrize("change", [{"epsilon": 2000}, {"epsilon": "1e-15"}, {"delta": "1e-301"}, {"delta": 1}])
def test_parameters_beyond_any_use_are_refused(change):
    with pytest.raises(InputError, match=next(iter(change))):
        PartitionSelection(**{"epsilon": 1, "delta": 0.1, **change})
