"""The laws every way of estimating frequencies obeys. A new one joins by one entry in `SMALL`."""

import copy
import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from attrs.exceptions import FrozenInstanceError

from chance import at_most, fits, mean_fits
from discreet.core.exact import exp_up, log_up
from discreet.core.loss import Pure
from discreet.errors import InputError
from discreet.local import GRR, OLH, OUE, SUE, Hadamard, Subset, responder_from_dict
from discreet.local.ratio import ratio_below
from discreet.local.survey import KINDS

EPSILONS = [Fraction(1, 10), Fraction(1), Fraction(4)]

MEMBERS = (GRR, OUE, SUE, OLH, Hadamard, Subset)

SMALL = [kind(size, epsilon) for kind in MEMBERS for size in (2, 5) for epsilon in EPSILONS]

SMALL += [GRR.coin(), GRR.coin(Fraction(1, 5), 3), GRR.truthful(Fraction(9, 10), 4), SUE(3, ratio=Fraction(9, 4))]

SMALL += [OLH(5, 1, buckets=2), Hadamard(5, 2, length=2), Hadamard(6, 1, length=4), Subset(6, 1, size=3)]

WRONG = [0, -1, float("nan"), float("inf"), "nonsense", True, None, [1], 1j, 33]


def named(oracle):
    return f"{oracle.kind}-{oracle.categories}-{float(oracle.epsilon):.3g}"


every = pytest.mark.parametrize("oracle", SMALL, ids=named)

typical = pytest.mark.parametrize(
    "oracle", [one for one in SMALL if one.epsilon == 1 and one.categories > 2], ids=named
)


def scores(oracle, report):
    """What one report says about each category, by the definition."""
    found = oracle.tally([report])
    return [Fraction(int(score)) for score in found.first], [Fraction(int(square)) for square in found.second]


def one_score(oracle, value, category):
    """The mean and variance of what a report says about a category, by listing all reports."""
    law = oracle.law(value)
    said = {report: scores(oracle, report) for report in law}
    mean = sum(chance * said[report][0][category] for report, chance in law.items())
    return mean, sum(chance * said[report][1][category] for report, chance in law.items()) - mean**2


def worst(oracle, law=None):
    """The largest quotient of two people's probabilities of one report, by listing them all."""
    laws = [law(value) if law else oracle.law(value) for value in range(oracle.categories)]
    return max(
        one[report] / other[report]
        for one, other in itertools.permutations(laws, 2)
        for report in one
        if one[report] > 0
    )


def test_every_member_is_here():
    frequency = {name for name, kind in KINDS.items() if hasattr(kind, "hit")}
    assert {oracle.kind for oracle in SMALL} == frequency


@every
def test_probabilities_are_exact_and_add_up(oracle):
    for value in range(oracle.categories):
        law = oracle.law(value)
        assert sum(law.values()) == 1
        assert all(isinstance(chance, Fraction) and chance >= 0 for chance in law.values())
        assert len(law) <= oracle.reports


@every
def test_the_claim_holds_and_is_attained(oracle):
    assert worst(oracle) == oracle.ratio
    assert oracle.ratio <= exp_up(oracle.epsilon)
    assert log_up(oracle.ratio) <= oracle.spent + Fraction(1, 10**40)
    assert oracle.spent <= oracle.epsilon
    assert oracle.loss() == Pure(oracle.spent)
    # What is lost to short fractions is nothing anyone would notice.
    assert oracle.spent > oracle.epsilon * (1 - Fraction(1, 10**6))


@every
def test_a_mutant_that_leaks_is_caught(oracle):
    def leaky(value):  # a thousandth of the reports are the one that tells most
        law, other = oracle.law(value), oracle.law((value + 1) % oracle.categories)
        best = max(law, key=lambda report: law[report] / other[report])
        return {r: c * Fraction(999, 1000) + (Fraction(1, 1000) if r == best else 0) for r, c in law.items()}

    assert worst(oracle, leaky) > oracle.ratio
    assert worst(oracle, leaky) > exp_up(oracle.spent)


@every
def test_scores_have_the_means_and_squares_that_estimates_use(oracle):
    for value in {0, 1, oracle.categories - 1}:
        for category in {0, 1, oracle.categories - 1}:
            mean, _ = one_score(oracle, value, category)
            assert mean == (oracle.hit if category == value else oracle.miss)


@every
def test_variance_is_that_of_the_law(oracle):
    """Of people who are spread evenly over the categories, exactly."""
    k, n = oracle.categories, 1000
    total = Fraction(0)
    contrast = oracle.hit - oracle.miss
    for value in range(k):
        total += one_score(oracle, value, 0)[1] / contrast**2 / k
    assert oracle.variance(n, Fraction(1, k)) == pytest.approx(float(total / n), rel=1e-12)
    share = Fraction(1, k)
    sampled = oracle.variance(n, share, of="population") - oracle.variance(n, share)
    assert sampled == pytest.approx(float(share * (1 - share) / n), rel=1e-6)


@typical
@pytest.mark.statistical
def test_reports_follow_the_law(oracle):
    law = oracle.law(1)
    places = {report: place for place, report in enumerate(law)}
    chances = np.array([float(chance) for chance in law.values()])
    assert fits(drawn(oracle, 1, 100_000, places), lambda x: np.append(chances, 0)[np.clip(x, -1, len(chances))])
    wrong = responder_from_dict(
        {**oracle.to_dict(), "epsilon": "2", "ratio": str(oracle.ratio**2 if oracle.kind == "sue" else ratio_below(2))}
    )
    if wrong.law(1).keys() == law.keys():
        assert not fits(drawn(wrong, 1, 100_000, places), lambda x: np.append(chances, 0)[np.clip(x, -1, len(chances))])


def drawn(oracle, value, count, places):
    reports = oracle.privatize(np.full(count, value))
    if oracle.layout == "packed":
        return np.array([places[row.tobytes()] for row in reports])
    return np.array([places[int(report)] for report in reports])


@typical
@pytest.mark.statistical
def test_single_reports_follow_the_law_too(oracle):
    law = oracle.law(0)
    places = {report: place for place, report in enumerate(law)}
    chances = np.array([float(chance) for chance in law.values()])
    seen = [places[oracle.privatize(0)] for _ in range(1500)]
    assert fits(seen, lambda x: np.append(chances, 0)[np.clip(x, -1, len(chances))])


@typical
@pytest.mark.statistical
def test_estimates_are_unbiased_with_the_stated_variance(oracle):
    trials, n, k = 1200, 500, oracle.categories  # so many that twice the variance is far off: 15 deviations
    values = np.where(np.arange(n) < 350, 0, np.arange(n) % k)
    truth = np.bincount(values, minlength=k) / n
    reports = oracle.privatize(np.tile(values, trials))
    found = np.array([oracle.estimate(part).frequencies for part in np.split(reports, trials)])
    for category in (0, k - 1):
        each = [float(one_score(oracle, value, category)[1]) for value in range(k)]
        stated = float(truth @ each) / n / float(oracle.hit - oracle.miss) ** 2
        if oracle.kind != "hadamard":  # its variance depends on the other answers too
            assert oracle.variance(n, Fraction(truth[category])) == pytest.approx(stated, rel=1e-9)
        assert mean_fits(found[:, category], truth[category], stated)
        squares = (found[:, category] - truth[category]) ** 2
        assert mean_fits(squares, stated, 3 * stated**2)
        assert not mean_fits(squares, 2 * stated, 3 * stated**2)
        assert not mean_fits(found[:, category], truth[category] + 5 * math.sqrt(stated), stated)


@typical
@pytest.mark.statistical
@pytest.mark.parametrize("of", ["respondents", "population"])
def test_intervals_cover(oracle, of):
    trials, n, k = 1000 if of == "respondents" else 500, 400, oracle.categories  # one formula, one term more
    chance = np.random.default_rng(11)
    shares = np.array([0.6, *[0.4 / (k - 1)] * (k - 1)])
    fixed = np.repeat(np.arange(k), np.round(shares * n).astype(int))
    assert len(fixed) == n
    people = fixed[None].repeat(trials, 0) if of == "respondents" else chance.choice(k, (trials, n), p=shares)
    reports = oracle.privatize(people.ravel())
    missed = narrow = 0
    for part in np.split(reports, trials):
        found = oracle.estimate(part)
        ends = found.interval(0.9, of)
        missed += not ends[0, 0] <= shares[0] <= ends[0, 1]
        middle, half = ends[0].mean(), np.diff(ends[0])[0] / 2
        narrow += abs(middle - shares[0]) > half * 0.5
    assert at_most(missed, trials, 0.1)
    assert not at_most(narrow, trials, 0.1)  # half as wide would miss two in five: 9 deviations above the line


@typical
def test_intervals_of_all_categories_together_are_wider(oracle):
    found = oracle.estimate(oracle.privatize(np.arange(1000) % oracle.categories))
    alone, together = found.interval(), found.interval(together=True)
    assert (together[:, 0] < alone[:, 0]).all()
    assert (together[:, 1] > alone[:, 1]).all()


@every
def test_it_is_a_frozen_value(oracle):
    same = copy.deepcopy(oracle)
    assert same == oracle
    assert hash(same) == hash(oracle)
    assert pickle.loads(pickle.dumps(oracle)) == oracle
    with pytest.raises(FrozenInstanceError):
        oracle.epsilon = 2
    assert responder_from_dict(oracle.to_dict()) == oracle
    assert len(oracle.id) == 16
    assert len({one.id for one in SMALL}) == len(SMALL)


@every
def test_tampered_parameters_are_refused(oracle):
    entry = oracle.to_dict()
    more = str(exp_up(oracle.epsilon) * 2)
    for wrong in ({"ratio": more}, {"kind": "none"}, {"epsilon": 1.0}, {"extra": 1}, {"ratio": "1/2"}):
        with pytest.raises(InputError):
            responder_from_dict({**entry, **wrong})
    with pytest.raises(InputError):
        responder_from_dict({name: entry[name] for name in entry if name != "ratio"})


@every
def test_parts_add_up(oracle):
    reports = oracle.privatize(np.arange(600) % oracle.categories)
    whole = oracle.tally(reports)
    assert oracle.tally(reports[:250]) + oracle.tally(reports[250:]) == whole
    kinds, times = np.unique(reports, axis=0, return_counts=True)
    assert oracle.tally(kinds, times) == whole
    assert oracle.estimate(whole).frequencies.tolist() == oracle.estimate(reports).frequencies.tolist()
    other = type(oracle)(oracle.categories, oracle.epsilon / 2)
    with pytest.raises(InputError, match="mechanism"):
        whole + other.tally(other.privatize([0, 1]))
    with pytest.raises(InputError, match="another epsilon"):
        other.estimate(whole)
    with pytest.raises(InputError):
        oracle.tally(kinds, times[:-1])
    with pytest.raises(InputError):
        oracle.tally(kinds, -times)


@every
def test_wrong_answers_are_refused_and_not_shown(oracle):
    for wrong in (-1, oracle.categories, [0, oracle.categories], [-1], 0.5, "1", None, True, [[0]], [0.5], [True]):
        with pytest.raises(InputError) as caught:
            oracle.privatize(wrong)
        assert caught.value.field == "values"


@every
def test_wrong_reports_are_refused(oracle):
    with pytest.raises(InputError):
        oracle.estimate([])
    wrong = [b"", b"\xff" * 9, "no", 5] if oracle.layout == "packed" else [-1, oracle.reports, 0.5, "no", True]
    for report in wrong:
        with pytest.raises(InputError):
            oracle.tally([report])
    if oracle.layout == "packed":
        with pytest.raises(InputError):
            oracle.tally([b"\xff" * (-(-oracle.categories // 8))])  # bits beyond the last category


@pytest.mark.parametrize("kind", MEMBERS)
@pytest.mark.parametrize("field", ["epsilon", "categories"])
def test_wrong_parameters_are_refused(kind, field):
    for wrong in [1 if field == "categories" else 0, *WRONG]:
        if field == "categories" and wrong == 33:
            continue
        with pytest.raises(InputError):
            kind(**{"categories": 5, "epsilon": 1, field: wrong})
