"""The exact output laws of the mechanisms, worked out from their definitions and not from the code under test."""

from __future__ import annotations

import itertools
import math

import numpy as np

from chance import laplace_pmf

REACH = 60  # in scales: what lies beyond is e^-60


def exponential_law(scores, rate):
    weights = np.exp(float(rate) * (np.asarray(scores, dtype=float) - max(scores)))
    return weights / weights.sum()


def permute_and_flip_law(scores, rate):
    """Over every order of the candidates, one coin after the other: the definition, term by term."""
    coins = np.exp(float(rate) * (np.asarray(scores, dtype=float) - max(scores)))
    law = np.zeros(len(coins))
    for order in itertools.permutations(range(len(coins))):
        reached = 1.0
        for index in order:
            law[index] += reached * coins[index]
            reached *= 1 - coins[index]
    return law / math.factorial(len(coins))


def tail(scale, t):
    """P[X >= t] for discrete Laplace noise and integer arrays t."""
    r = math.exp(-1 / float(scale))
    t = np.asarray(t, dtype=float)
    inside = np.minimum(np.abs(t), 1e6)
    above = np.exp(-inside / float(scale)) / (1 + r)
    return np.where(t >= 0, above, 1 - np.exp(-(inside + 1) / float(scale)) / (1 + r))


def noisy_max_law(scores, scale):
    """The winner's noisy score summed out; the lowest index wins a tie."""
    reach = int(REACH * float(scale)) + 1
    top = np.arange(min(scores) - reach, max(scores) + reach + 1)
    law = []
    for i, score in enumerate(scores):
        wins = laplace_pmf(scale)(top - score)
        for j, other in enumerate(scores):
            if j != i:  # an earlier one must stay below, a later one may tie
                wins = wins * (1 - tail(scale, top - other + (j > i)))
        law.append(wins.sum())
    return np.array(law)


def answers_law(values, threshold, threshold_scale, value_scale, count):
    """P[answers] of the sparse vector technique, for every run of answers; a scale of None is no noise."""
    if threshold_scale is None:
        level, weight = np.array([threshold]), np.array([1.0])
    else:
        reach = int(REACH * float(threshold_scale)) + 1
        level = np.arange(threshold - reach, threshold + reach + 1)
        weight = laplace_pmf(threshold_scale)(level - threshold)
    law = {(): weight}
    for value in values:
        above = (value >= level).astype(float) if value_scale is None else tail(value_scale, level - value)
        step = {}
        for answers, mass in law.items():
            if sum(answers) == count:
                step[answers] = mass
            else:
                step[(*answers, True)] = mass * above
                step[(*answers, False)] = mass * (1 - above)
        law = step
    return {answers: mass.sum() for answers, mass in law.items()}


def farthest(law, other):
    """The largest log-ratio of two laws in either direction: the epsilon they show."""
    law, other = np.asarray(law, dtype=float), np.asarray(other, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs(np.log(law) - np.log(other))
    return float(np.nanmax(ratio))


def moves(size, by, monotone):
    """Every way neighbours' scores can differ."""
    if monotone:
        return [*itertools.product((0, by), repeat=size), *itertools.product((0, -by), repeat=size)]
    return list(itertools.product((-by, 0, by), repeat=size))


def lookup(law):
    """A law on indices as the pmf that `chance.fits` wants."""
    return lambda index: np.asarray(law, dtype=float)[index]


def hockey_stick(law, other, epsilon):
    """sum of max(0, P - e^epsilon Q): the delta that two laws show at epsilon."""
    return float(np.maximum(np.asarray(law) - math.exp(float(epsilon)) * np.asarray(other), 0).sum())
