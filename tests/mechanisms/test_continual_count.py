"""The running total: exact sensitivity, noise drawn once, errors that follow the law, log T and not T."""

import copy
import itertools
import json
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from chance import at_most, fits, gaussian_pmf, laplace_pmf, mean_fits
from discreet.accounting import pure, zcdp
from discreet.core.loss import ZCDP, GaussianNoise, LaplaceNoise, Repeated
from discreet.errors import ExhaustedError, InputError
from discreet.mechanisms import ContinualCount, ContinualCountSession, Gaussian, Laplace
from mechanisms.outputs import hockey_stick


def nodes(mechanism, stream):
    """Every node's exact sum, from the definition."""
    size = mechanism.periods
    return [
        sum(stream[start : start + (1 << level)])
        for level in range(mechanism.levels)
        for start in range(0, size - (1 << level) + 1, 1 << level)
    ]


def streams(periods, limit, each):
    """Everything one unit may have contributed."""
    for when in itertools.combinations(range(periods), min(limit, periods)):
        for much in itertools.product(range(1, each + 1), repeat=len(when)):
            stream = [0] * periods
            for t, value in zip(when, much, strict=True):
                stream[t] = value
            yield stream


SMALL = [(7, 1, 1), (8, 2, 2), (11, 3, 1), (12, 12, 1), (9, 4, 1)]


@pytest.mark.parametrize(("periods", "limit", "each"), SMALL)
@pytest.mark.parametrize("height", [None, "full"])
def test_the_price_is_that_of_the_worst_contribution(monkeypatch, periods, limit, each, height):
    if height is not None:
        monkeypatch.setattr("discreet.mechanisms.continual_count._levels", lambda *_: periods.bit_length())
    laplace = ContinualCount(periods, epsilon=1, limit=limit, each=each)
    gaussian = ContinualCount(periods, rho=1, limit=limit, each=each)
    moves = [nodes(laplace, stream) for stream in streams(periods, limit, each)]
    assert max(sum(map(abs, move)) for move in moves) / laplace.noise.scale <= 1
    assert pure(laplace.loss()).epsilon == 1
    squares = [sum(x * x for x in nodes(gaussian, stream)) for stream in streams(periods, limit, each)]
    spent = max(squares) / (2 * gaussian.noise.sigma**2)
    assert spent <= zcdp(gaussian.loss()).rho <= 1
    if limit < periods:  # else the last nodes are never complete, and what is stated is a little more
        assert spent > Fraction(99, 100)
    # Forgetting that a contribution is counted on every level is caught.
    if laplace.levels > 1:
        assert max(sum(map(abs, move)) for move in moves) / (laplace.noise.scale / laplace.levels) > 1


@pytest.mark.parametrize("times", [2, 3, 5])
def test_one_large_move_dominates_several_small_ones(times):
    """The claim about merging, on which the loss for limit > 1 rests; and not the other way round."""
    law, x = laplace_pmf(4), np.arange(-120, 121)
    large = law(x - times), law(x)
    small = law(x - 1), law(x)
    for _ in range(times - 1):
        small = np.outer(small[0], law(x - 1)).ravel(), np.outer(small[1], law(x)).ravel()
        keep = small[1] > 1e-13
        small = small[0][keep], small[1][keep]
        if len(small[0]) > 200_000:
            break
    else:
        for epsilon in np.linspace(0, times / 4, 7)[:-1]:
            assert hockey_stick(*small, epsilon) <= hockey_stick(*large, epsilon) + 1e-9
        assert hockey_stick(*large, times / 5) > hockey_stick(*small, times / 5) + 1e-3


def test_loss_is_known_before_the_start():
    year = ContinualCount(365, epsilon=1)
    assert year.loss() == Repeated(LaplaceNoise(year.noise.scale, 1), year.levels)
    assert year.noise == Laplace(year.levels)
    zero = ContinualCount(365, rho="1/2")
    assert zero.loss() == Repeated(GaussianNoise(zero.noise.sigma, 1), zero.levels)
    assert isinstance(ContinualCount(365, rho="1/2", limit=5).loss(), ZCDP)
    assert ContinualCount(5, epsilon=1, limit=99).loss() == ContinualCount(5, epsilon=1, limit=5).loss()


def run(session, stream):
    for value in stream:
        session.add(value)
    return session


class Redraws(ContinualCountSession):
    """Mutant: draws the noise of open nodes anew in every period."""

    def add(self, value):
        fresh = self._noise.release(np.zeros(len(self._open), dtype=int))
        old = self._noise.release(np.zeros(len(self._open), dtype=int))
        self._open = [noisy + int(a) - int(b) for noisy, a, b in zip(self._open, fresh, old, strict=True)]
        self._closed = [part + int(a) for part, a in zip(self._closed, fresh, strict=True)]
        return super().add(value)


def repeats_nothing(session):
    """In an odd period the total grows by that period's own noisy count, and by nothing else."""
    totals, counts = session.totals, session.counts
    return all(math.isclose(totals[t] - totals[t - 1], counts[t], abs_tol=1e-6) for t in range(2, len(totals), 2))


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": "1/50"}])
def test_noise_is_drawn_once_for_each_node(price):
    mechanism = ContinualCount(600, **price)
    assert mechanism.levels > 4
    assert repeats_nothing(run(mechanism.start(), range(300)))
    assert not repeats_nothing(run(Redraws(mechanism), range(300)))
    session = mechanism.start()
    session._noise = counting = Counting(mechanism.noise)
    run(session, range(600))
    assert counting.drawn == sum(-(-600 // (1 << level)) for level in range(mechanism.levels))


class Counting:
    """A noise that counts how often it was drawn."""

    def __init__(self, noise):
        self.drawn, self._noise = 0, noise

    def release(self, values, bits):
        self.drawn += len(values)
        return self._noise.release(values, bits=bits)


def half_the_noise(mechanism):
    """Mutant: a scale that forgets half the levels."""
    session = mechanism.start()
    noise = mechanism.noise
    session._noise = Laplace(noise.scale / 2) if isinstance(noise, Laplace) else Gaussian(noise.sigma / 2)
    return session


@pytest.mark.parametrize("price", [{"epsilon": 4}, {"rho": 1}])
def test_errors_follow_the_law_and_half_noise_does_not(price):
    mechanism, trials = ContinualCount(500, **price), 400
    assert mechanism.levels >= 5
    at = 47
    stream = [5, 0, 2] * 16
    honest = [run(mechanism.start(), stream[:at]) for _ in range(trials)]
    errors = np.array([session.totals[-1] for session in honest]) - sum(stream[:at])
    assert mean_fits(errors, 0, mechanism.variance(at))
    assert mean_fits(errors**2, mechanism.variance(at), 8 * mechanism.variance(at) ** 2)
    for confidence in (0.5, 0.95):
        assert at_most((np.abs(errors) > mechanism.error(confidence, period=at)).sum(), trials, 1 - confidence)
    counts = np.array([session.counts for session in honest[:200]]) - stream[:at]
    pmf = laplace_pmf(mechanism.noise.scale) if "epsilon" in price else gaussian_pmf(mechanism.noise.sigma)
    assert fits(counts.ravel(), pmf)
    broken = np.array([run(half_the_noise(mechanism), stream[:at]).counts for _ in range(100)]) - stream[:at]
    assert not fits(broken.ravel(), pmf)
    # A third of them are so far off: seven deviations more than pass for a twentieth.
    assert not at_most((np.abs(errors) > mechanism.error(0.95, period=at) / 2).sum(), trials, 0.05)


def weights_by_least_squares(mechanism, period):
    """The best linear unbiased estimate of the total from all nodes complete by `period`."""
    rows = [
        [1.0 if start <= t < start + (1 << level) else 0.0 for t in range(period)]
        for level in range(mechanism.levels)
        for start in range(0, period - (1 << level) + 1, 1 << level)
    ]
    design = np.array(rows)
    return float(np.ones(period) @ np.linalg.inv(design.T @ design) @ np.ones(period))


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 1}])
def test_no_linear_estimate_is_better(price):
    mechanism = ContinualCount(1500, **price)
    for period in (1, 2, 3, 7, 12, 40, 64, 77):
        best = weights_by_least_squares(mechanism, period) * mechanism.noise.variance
        assert mechanism.variance(period) == pytest.approx(best, rel=1e-9)


def test_the_noisiest_period_is_the_noisiest():
    for periods in (1, 2, 3, 10, 64, 100, 365):
        for price in ({"epsilon": 1}, {"rho": 1}):
            mechanism = ContinualCount(periods, **price)
            each = [mechanism.variance(t) for t in range(1, periods + 1)]
            assert mechanism.variance() == pytest.approx(max(each))


@pytest.mark.parametrize("periods", [64, 365, 1024, 4096])
def test_many_periods_cost_less_than_separate_releases(periods):
    """At equal accuracy of the noisiest total: T releases of totals, and noisy counts added up."""
    tree = ContinualCount(periods, rho="1/2")
    separate = periods * Fraction(1, 2) / Fraction(tree.variance())
    assert separate > 2.5 * zcdp(tree.loss()).rho * (periods / 64) ** 0.6
    assert tree.variance() < periods  # T counts at rho = 1/2 have variance 1 each
    pure_tree = ContinualCount(periods, epsilon=1)
    assert pure_tree.variance() <= periods * Laplace(1).variance
    assert periods * Laplace(1).variance ** 0.5 > pure_tree.variance() ** 0.5 * 4


def test_the_cost_grows_like_a_logarithm():
    for price, power in (({"rho": 1}, 1), ({"epsilon": 1}, 1.5)):
        sizes = [2**12, 2**20, 2**40]
        deviations = [ContinualCount(size, **price).variance() ** 0.5 for size in sizes]
        scaled = [d / math.log2(size) ** power for d, size in zip(deviations, sizes, strict=True)]
        assert max(scaled) < 1.5 * min(scaled)


@pytest.mark.parametrize("price", [{"epsilon": "1/3"}, {"rho": "1/50"}])
def test_a_state_goes_on_where_it_stopped(price):
    mechanism = ContinualCount(300, **price, limit=2, each=3)
    session = mechanism.start()
    for day in range(300):
        session.add(day)
        if day % 17 == 0:
            session = ContinualCount.resume(json.loads(json.dumps(session.state())))
    assert session.remaining == 0
    assert repeats_nothing(session)
    assert len(session.totals) == 300
    middle = run(mechanism.start(), range(100))
    resumed = ContinualCount.resume(middle.state())
    assert resumed.totals == middle.totals
    assert resumed.counts == middle.counts
    assert resumed.state() == middle.state()
    assert abs(resumed.add(0) - 4950) < 10 * mechanism.error(0.999, period=101)


def spoiled(state, **changes):
    return {**state, **changes}


def test_a_spoiled_state_is_refused():
    state = run(ContinualCount(20, epsilon=1).start(), range(5)).state()
    ContinualCount.resume(state)
    for bad in (
        None,
        {},
        spoiled(state, more=1),
        spoiled(state, open=state["open"][1:]),
        spoiled(state, totals=state["totals"][:-1]),
        spoiled(state, counts=[1.5] * 5),
        spoiled(state, closed=["x"] * len(state["closed"])),
        spoiled(state, closed=["1000000"] * len(state["closed"])),
        spoiled(state, epsilon=None),
        spoiled(state, periods=3),
        spoiled(state, open="secret"),
    ):
        with pytest.raises(InputError) as caught:
            ContinualCount.resume(bad)
        assert "secret" not in str(caught.value)


def test_a_session_ends_with_its_periods_and_cannot_be_copied():
    session = run(ContinualCount(3, epsilon=1).start(), [1, 2, 3])
    with pytest.raises(ExhaustedError, match="3 periods"):
        session.add(0)
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied"):
            attempt(session)
    assert "3, 1" not in repr(session)


@pytest.mark.parametrize("value", [1.5, True, "1", None, 2**62 + 1])
def test_what_is_not_an_integer_is_refused_and_draws_nothing(value):
    session = run(ContinualCount(8, epsilon=1).start(), [4])
    before = session.state()
    with pytest.raises(InputError, match=r"^`value"):
        session.add(value)
    assert session.state() == before


def test_long_totals_do_not_wrap():
    session = run(ContinualCount(64, epsilon=1).start(), [2**62] * 64)
    assert session.totals[-1] == pytest.approx(2.0**68)


@pytest.mark.parametrize("price", [{}, {"epsilon": 1, "rho": 1}, {"rho": 0}, {"epsilon": 1, "limit": 0}])
def test_parameters_are_checked(price):
    with pytest.raises(InputError):
        ContinualCount(10, **price)
    with pytest.raises(InputError, match="period"):
        ContinualCount(10, epsilon=1).variance(11)
