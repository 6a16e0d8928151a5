"""What a loss means: composition, conversion, calibration, and words for people.

Light to import: `dp-accounting` and SciPy load when a privacy loss distribution is first asked for.
"""

from __future__ import annotations

from discreet.accounting.calibrate import (
    epsilon_for_rho,
    epsilon_within,
    gaussian_sigma,
    gaussian_sigma_rho,
    laplace_scale,
    rho_within,
    textbook_composition,
    textbook_sigma,
)
from discreet.accounting.compose import compose
from discreet.accounting.convert import approx, delta, pure, zcdp
from discreet.accounting.distribution import PrivacyLoss
from discreet.accounting.group import group
from discreet.accounting.parallel import parallel
from discreet.accounting.pld import privacy_loss
from discreet.accounting.posterior import Posterior, after, posterior, posterior_curve
from discreet.accounting.rdp import renyi, renyi_epsilon
from discreet.accounting.tradeoff import Tradeoff, advantage, tradeoff
from discreet.accounting.training import noise_multiplier, sampling_probability, training_loss, training_steps
from discreet.accounting.words import percent, readable

__all__ = [
    "Posterior",
    "PrivacyLoss",
    "Tradeoff",
    "advantage",
    "after",
    "approx",
    "compose",
    "delta",
    "epsilon_for_rho",
    "epsilon_within",
    "gaussian_sigma",
    "gaussian_sigma_rho",
    "group",
    "laplace_scale",
    "noise_multiplier",
    "parallel",
    "percent",
    "posterior",
    "posterior_curve",
    "privacy_loss",
    "pure",
    "readable",
    "renyi",
    "renyi_epsilon",
    "rho_within",
    "sampling_probability",
    "textbook_composition",
    "textbook_sigma",
    "tradeoff",
    "training_loss",
    "training_steps",
    "zcdp",
]
