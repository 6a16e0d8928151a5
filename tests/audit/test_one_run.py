"""One-run bounds against every private mechanism there is, on a few coins, and against the worst one on many."""

import itertools
import math

import numpy as np
import pytest
from scipy import optimize, stats

from chance import at_most as seldom
from discreet.accounting import delta
from discreet.audit.claim import Claim
from discreet.audit.one_run import OneRun, chance, coins, guess
from discreet.core.loss import Approx, Pure, RealGaussianNoise
from discreet.errors import InputError


def luckiest(canaries, guesses, correct, lines):
    """The most that P[right guesses >= correct] can be, over all mechanisms that obey every (epsilon, delta) line.

    A linear program over all laws of the guesses (in, out, quiet) given the coins.
    """
    inputs = list(itertools.product((-1, 1), repeat=canaries))
    outputs = [o for o in itertools.product((-1, 0, 1), repeat=canaries) if sum(map(abs, o)) <= guesses]
    size, width = len(inputs) * len(outputs), len(outputs)
    pairs = [(i, j) for i, a in enumerate(inputs) for j, b in enumerate(inputs) if sum(np.not_equal(a, b)) == 1]
    columns = size + len(pairs) * len(lines) * width  # the laws, then max(0, P - e^epsilon Q)
    rows, most = [], []
    at = size
    for i, j in pairs:
        for epsilon, missed in lines:
            for o in range(width):
                row = np.zeros(columns)
                row[i * width + o], row[j * width + o], row[at + o] = 1, -math.exp(epsilon), -1
                rows.append(row)
                most.append(0)
            row = np.zeros(columns)
            row[at : at + width] = 1
            rows.append(row)
            most.append(missed)
            at += width
    total = np.zeros((len(inputs), columns))
    for i in range(len(inputs)):
        total[i, i * width : (i + 1) * width] = 1
    goal = np.zeros(columns)
    for i, a in enumerate(inputs):
        for o, b in enumerate(outputs):
            goal[i * width + o] = -(sum(x == y for x, y in zip(a, b, strict=True)) >= correct) / len(inputs)
    found = optimize.linprog(goal, np.array(rows), most, total, np.ones(len(inputs)), bounds=(0, 1))
    return -found.fun


CASES = [(1, 1, 1), (2, 2, 1), (2, 2, 2), (2, 1, 1), (3, 2, 2), (3, 3, 3)]


@pytest.mark.parametrize(("canaries", "guesses", "correct"), CASES)
@pytest.mark.parametrize(("epsilon", "missed"), [(1.0, 0.0), (0.5, 0.05)])
def test_no_private_mechanism_beats_the_bound(canaries, guesses, correct, epsilon, missed):
    run = OneRun(canaries, guesses, correct)
    best = luckiest(canaries, guesses, correct, [(epsilon, missed)])
    assert best <= chance(run, epsilon, missed) + 1e-9
    if missed:  # a bound that forgets delta is beaten: the program has teeth
        assert best > chance(run, epsilon, 0.0) + 1e-3
    if canaries == 1 or (missed == 0 and canaries == guesses):
        assert best == pytest.approx(chance(run, epsilon, missed), abs=1e-6)


@pytest.mark.parametrize(("canaries", "guesses", "correct"), CASES[:4])
def test_no_mechanism_under_a_curve_beats_its_bound(canaries, guesses, correct):
    epsilons = [0.0, 0.5, 1.0, 2.0, 4.0]
    deltas = [float(delta(RealGaussianNoise(1), epsilon)) for epsilon in epsilons]
    best = luckiest(canaries, guesses, correct, list(zip(epsilons, deltas, strict=True)))
    run, claim = OneRun(canaries, guesses, correct), Claim("a few lines", np.array(epsilons), np.array(deltas))
    assert not run.refutes(claim, confidence=1 - best * 0.999)  # what can happen is not called impossible
    assert run.refutes(claim, confidence=1 - min(best * 1.35, 1 - 1e-9))  # and what cannot is, not far above it


def test_the_chance_is_the_binomial_tail():
    for guesses, correct, epsilon in [(10, 9, 1.0), (1000, 790, 1.2), (100_000, 62_600, 0.5)]:
        exact = stats.binom.sf(correct - 1, guesses, 1 / (1 + math.exp(-epsilon)))
        found = chance(OneRun(guesses, guesses, correct), epsilon)
        assert exact <= found <= exact * (1 + 1e-6)


@pytest.mark.parametrize(
    ("canaries", "guesses", "correct", "epsilon", "missed"),
    [
        (1000, 200, 180, 1.8, 1e-5),
        (1000, 1000, 780, 1.0, 1e-4),
        (1000, 1000, 800, 1.0, 1e-3),
        (100, 100, 100, 3.0, 1e-3),
    ],
)
def test_a_delta_costs_less_than_by_the_published_bound(canaries, guesses, correct, epsilon, missed):
    run, right = OneRun(canaries, guesses, correct), 1 / (1 + math.exp(-epsilon))
    below = np.cumsum(stats.binom.pmf(np.arange(correct - 1, -1, -1), guesses, right))
    published = 2 * canaries * missed * (below / np.arange(1, correct + 1)).max()
    ours = chance(run, epsilon, missed) - chance(run, epsilon)
    assert 5 < published / ours < 27


def answers(epsilon, canaries):
    """Randomized response on every coin: the worst that pure epsilon allows."""
    included = coins(canaries)
    lies = coins(16 * canaries).reshape(canaries, 16) @ (1 << np.arange(16)) >= 2**16 / (1 + math.exp(-epsilon))
    return included, np.where(included ^ lies, 1.0, -1.0)


def test_the_bound_is_above_the_truth_no_more_often_than_stated():
    epsilon, repeats, wrong, even = 1.0, 400, 0, 0
    for repeat in range(repeats):
        included, scores = answers(epsilon, 200)
        run = guess(scores, included)
        wrong += run.epsilon(confidence=0.9) > epsilon
        even += repeat < 200 and run.epsilon(confidence=0.5) > epsilon
    assert seldom(wrong, repeats, 0.1)
    assert even > 0  # 200 tries at 0.25 or so: none at all has a chance of 1e-24, so the bound is not idle


def test_it_has_power():
    included, scores = answers(2.0, 20_000)
    run = guess(scores, included)
    # 17,616 right guesses are expected, give or take 46; 1.75 needs 17,280: seven deviations of room.
    assert 1.75 < run.epsilon(confidence=1 - 1e-6) <= 2.2
    assert run.refutes(Pure(1.5), confidence=1 - 1e-9)
    assert not run.refutes(Pure(2.1), confidence=1 - 1e-9)


def test_a_delta_costs_little():
    run = OneRun(1000, 300, 280)
    assert run.epsilon(1e-5) > run.epsilon() - 0.01
    assert run.epsilon(0.5) < run.epsilon()
    assert OneRun(100, 100, 100).epsilon(0.9999) == 0


def test_mu_is_refuted_from_below():
    run = OneRun(1000, 100, 99)
    found = run.mu()
    assert found > 0.5
    assert run.refutes(RealGaussianNoise(1 / (found * 0.98)))
    assert not run.refutes(RealGaussianNoise(1 / (found * 1.1)))
    assert not OneRun(1000, 100, 50).refutes(Approx(0, "1e-9"))
    assert OneRun(1000, 0, 0).mu() == OneRun(10, 10, 0).epsilon() == 0


def test_guesses_are_the_extremes():
    scores = np.arange(10.0)
    included = scores >= 5
    assert guess(scores, included, 4) == OneRun(10, 4, 4)
    assert guess(scores, ~included, 4) == OneRun(10, 4, 0)
    assert guess(scores, included, 3) == OneRun(10, 3, 3)
    assert guess(scores, included, 0) == OneRun(10, 0, 0)


def in_the_order_of_the_list(_, count):
    """What ties were broken by: the place in the list."""
    return np.arange(count, dtype=np.uint64)


def test_equal_scores_tell_nothing_whatever_the_order_of_the_list(monkeypatch):
    """A list may be sorted by the coins: all that were out, then all that were in."""
    included = np.arange(1000) >= 500
    coarse = (coins(1000) + 1.0) / 4  # two values, drawn without looking
    for scores in (np.full(1000, 0.5), coarse):
        for order in (included, ~included):
            assert not guess(scores, order, 333).refutes(Pure("0.5"), confidence=1 - 1e-9)
    monkeypatch.setattr("discreet.audit.one_run.words", in_the_order_of_the_list)
    assert guess(np.full(1000, 0.5), included, 333).refutes(Pure(2), confidence=1 - 1e-9)


def test_a_run_in_words():
    fine = OneRun(1000, 100, 55).finding(Pure(1), name="training")
    assert not fine.violated
    assert "1,000 made-up records" in fine.sentence()
    assert "found no violation" in fine.sentence()
    wrong = OneRun(1000, 100, 100).finding(Pure(1))
    assert wrong.violated
    assert "100 of 100 guesses were right" in wrong.sentence()
    assert wrong.found > 3


def test_coins_are_fair_and_fresh():
    thrown = coins(10_000)
    assert stats.binomtest(int(thrown.sum()), 10_000).pvalue > 1e-12
    assert (thrown != coins(10_000)).any()


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("canaries", lambda: OneRun(0, 0, 0)),
        ("guesses", lambda: OneRun(10, 11, 0)),
        ("correct", lambda: OneRun(10, 5, 6)),
        ("correct", lambda: OneRun(10, 5, -1)),
        ("confidence", lambda: OneRun(10, 5, 5).epsilon(confidence=1)),
        ("delta", lambda: OneRun(10, 5, 5).epsilon(delta=1)),
        ("scores", lambda: guess([float("nan")], [True])),
        ("included", lambda: guess([1.0, 2.0], [1, 0])),
        ("guesses", lambda: guess([1.0], [True], 2)),
        ("canaries", lambda: coins(0)),
        ("claim", lambda: OneRun(10, 5, 5).refutes("private")),
    ],
)
def test_bad_input_is_named(field, make):
    with pytest.raises(InputError) as caught:
        make()
    assert caught.value.field == field
