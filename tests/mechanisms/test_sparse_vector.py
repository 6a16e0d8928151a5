"""The sparse vector technique: exact on short runs, sampled, and the famous broken variants."""

import copy
import itertools
import os
import pickle
from fractions import Fraction

import numpy as np
import pytest

from chance import at_most, fits
from discreet.core.loss import Pure
from discreet.errors import ExhaustedError, InputError
from discreet.mechanisms import SparseVector
from discreet.noise import laplace
from mechanisms.outputs import answers_law, lookup

VALUES = [4, 6, 5, 3]


def shown(values, other, threshold, scales, count):
    law = answers_law(values, threshold, *scales, count)
    twin = answers_law(other, threshold, *scales, count)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.nanmax([np.abs(np.log(law[a]) - np.log(twin[a])) for a in law]))


def worst(values, threshold, scales, count, steps, signs):
    moved = (
        [v + sign * step for v, step in zip(values, move, strict=True)]
        for sign in signs
        for move in itertools.product(steps, repeat=len(values))
    )
    return max(shown(values, other, threshold, scales, count) for other in moved)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("monotone", [False, True])
def test_claimed_epsilon_holds(count, monotone):
    mechanism = SparseVector(5, 1, sensitivity=2, count=count, monotone=monotone)
    scales = mechanism.threshold_scale, mechanism.value_scale
    steps = (0, 2) if monotone else (-2, 0, 2)
    assert worst(VALUES, 5, scales, count, steps, (1, -1) if monotone else (1,)) <= 1 + 1e-9
    assert mechanism.loss() == Pure(1)


def test_epsilon_is_nearly_attained():
    """Values that stay below push the threshold's noise up, a low one that comes out above uses its own noise."""
    mechanism = SparseVector(0, 1)
    scales = mechanism.threshold_scale, mechanism.value_scale
    values, other = [40] * 30 + [-100], [41] * 30 + [-101]
    assert 0.9 < shown(values, other, 0, scales, 1) <= 1 + 1e-9


def test_long_runs_cost_no_more():
    mechanism = SparseVector(0, 1)
    scales = mechanism.threshold_scale, mechanism.value_scale
    assert shown([0] * 200, [1] * 200, 0, scales, 1) <= 1 + 1e-9


def test_famous_broken_variants_are_caught():
    mechanism = SparseVector(0, 1, count=2)
    noise, values = mechanism.threshold_scale, mechanism.value_scale
    assert shown([0] * 30, [1] * 30, 0, (None, values), 2) > 1  # no noise on the threshold
    assert shown([0, 0], [0, 1], 0, (noise, None), 2) > 1  # none on the values
    one = SparseVector(0, 1, count=1)
    without_count = one.threshold_scale, one.value_scale
    bad = [-60] * 10, [-59] * 5 + [-61] * 5
    assert shown(*bad, 0, without_count, 5) > 1  # the noise of one yes for five


def test_split_is_exact_and_follows_the_rule():
    for count, monotone in ((1, False), (1, True), (7, False), (1000, True)):
        mechanism = SparseVector(0, Fraction(1, 3), count=count, monotone=monotone)
        weight = count if monotone else 2 * count
        share = mechanism.threshold_epsilon
        assert 1 / mechanism.threshold_scale + weight / mechanism.value_scale == Fraction(1, 3)
        assert float((mechanism.epsilon - share) / share) == pytest.approx(weight ** (2 / 3), abs=2e-6)


def run(mechanism, values=VALUES):
    session = mechanism.start()
    answers = []
    for value in values:
        answers.append(session.ask(value))
        if session.remaining == 0:
            break
    return tuple(answers)


def run_mutant(mechanism, *, threshold_noise, value_noise):
    level = mechanism.threshold + (laplace(mechanism.threshold_scale) if threshold_noise else 0)
    answers = []
    for value in VALUES:
        answers.append(value + (laplace(mechanism.value_scale) if value_noise else 0) >= level)
        if sum(answers) == mechanism.count:
            break
    return tuple(answers)


@pytest.mark.parametrize(("count", "monotone"), [(1, False), (2, True)])
def test_sessions_follow_the_law_and_mutants_do_not(count, monotone):
    mechanism = SparseVector(5, 3, count=count, monotone=monotone)
    law = answers_law(VALUES, 5, mechanism.threshold_scale, mechanism.value_scale, count)
    outcomes = sorted(law, key=law.get, reverse=True)  # rare runs last, where `fits` lumps them
    pmf = lookup([law[answers] for answers in outcomes])
    n = 10_000
    assert fits([outcomes.index(run(mechanism)) for _ in range(n)], pmf)
    for threshold_noise, value_noise in ((False, True), (True, False)):
        broken = [run_mutant(mechanism, threshold_noise=threshold_noise, value_noise=value_noise) for _ in range(n)]
        assert not fits([outcomes.index(answers) for answers in broken], pmf)


def test_a_session_ends_after_its_count():
    session = SparseVector(0, 1, count=2).start()
    assert [session.ask(v) for v in (10**9, -(10**9), 10**9)] == [True, False, True]
    assert session.remaining == 0
    with pytest.raises(ExhaustedError, match="2 times"):
        session.ask(0)


def test_a_session_cannot_be_copied_or_read():
    session = SparseVector(0, 1).start()
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied"):
            attempt(session)
    assert repr(session) == "<session of " + repr(SparseVector(0, 1)) + ", 1 remaining>"  # the noise is not in it


@pytest.mark.parametrize("value", [1.5, True, "1", None, 2**62 + 1])
def test_what_is_not_an_integer_is_refused_and_costs_nothing(value):
    session = SparseVector(0, 1).start()
    with pytest.raises(InputError, match=r"^`value"):
        session.ask(value)
    assert session.remaining == 1


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_error_covers(confidence):
    mechanism, trials, k = SparseVector(0, 1), 1500, 10
    a = mechanism.error(confidence, k)
    wrong = sum(any(run(mechanism, [-a - 1] * k)) for _ in range(trials))
    assert at_most(wrong, trials, 1 - confidence)
    loose = sum(any(run(mechanism, [-a // 4] * k)) for _ in range(trials))
    assert not at_most(loose, trials, 1 - confidence)


@pytest.mark.parametrize("threshold", [1.5, True, "5", None, 2**63])
def test_the_threshold_is_an_integer(threshold):
    with pytest.raises(InputError, match="threshold"):
        SparseVector(threshold, 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_copy_of_a_session_says_nothing():
    session = SparseVector(threshold=0, epsilon=1).start()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            session.ask(10**6)
            os.write(write, b"answered")
        except ExhaustedError:
            os.write(write, b"refused")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 20) == b"refused"
    assert session.ask(10**6)
