"""The privacy loss distribution of Gaussian noise on a Poisson sample, all points of the grid at once.

The numbers are those of `dp_accounting.pld.privacy_loss_distribution.from_gaussian_mechanism`, by the same operations
in the same order: charges on ledgers were computed by it. That function goes through the grid point by point in
Python, which was two thirds of the time of a calibration.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet.accounting.distribution import Reals

__all__ = ["sampled_gaussian"]

_CLOSE = 1e-9  # relative; from there on a loss counts as the largest (or least) that a sample can have


def sampled_gaussian(multiplier: float, probability: float, step: float) -> Any:
    """The distribution on a grid of `step`, from above, for noise of `multiplier` sensitivities."""
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution
    from dp_accounting.pld.privacy_loss_mechanism import AdjacencyType

    remove = _masses(multiplier, probability, step, AdjacencyType.REMOVE)
    if probability == 1.0:
        return PrivacyLossDistribution(remove)
    return PrivacyLossDistribution(remove, _masses(multiplier, probability, step, AdjacencyType.ADD))


def _masses(multiplier: float, probability: float, step: float, adjacency: Any) -> Any:
    from dp_accounting.pld.pld_pmf import create_pmf_pessimistic_connect_dots_fixed_gap
    from dp_accounting.pld.privacy_loss_mechanism import AdjacencyType, GaussianPrivacyLoss

    law = GaussianPrivacyLoss(multiplier, sampling_prob=probability, adjacency_type=adjacency)
    ends = law.connect_dots_bounds()
    lower, upper = math.floor(ends.epsilon_lower / step), math.ceil(ends.epsilon_upper / step)
    losses = np.arange(lower, upper + 1) * step
    removing = adjacency == AdjacencyType.REMOVE
    deltas = np.zeros_like(losses)
    reached = np.ones(len(losses), dtype=bool)
    if probability < 1 and removing:
        reached = losses > math.log1p(-probability)
        deltas[~reached] = -np.expm1(losses[~reached])
    elif probability < 1:
        reached = losses < -math.log1p(-probability)
    within = losses[reached]
    outputs = _outputs(within, multiplier, probability, 1.0 if removing else -1.0)
    deltas[reached] = law.mu_upper_cdf(outputs) - np.exp(within + law.mu_lower_log_cdf(outputs))
    return create_pmf_pessimistic_connect_dots_fixed_gap(step, lower, upper, np.clip(deltas, 0, 1))


def _outputs(losses: Reals, multiplier: float, probability: float, sign: float) -> Reals:
    """The outputs that have these losses: removing a row (`sign` 1) or adding one (-1)."""
    whole = losses
    if probability < 1:
        part, rest = 1 / probability, 1 - 1 / probability
        with np.errstate(invalid="ignore", divide="ignore"):  # at the edge, which is set below
            scaled = sign * losses + np.log(part)
            whole = sign * (scaled + np.log1p(-np.exp(np.log(-rest) - scaled)))
        whole[losses == 0] = sign * np.log(part + rest)
        edge = sign * math.log(1 - probability)
        whole[np.abs(losses - edge) <= _CLOSE * np.maximum(np.abs(losses), abs(edge))] = -sign * math.inf
    removed = -0.5 - whole * multiplier**2
    return np.asarray(removed if sign > 0 else 1 + removed)
