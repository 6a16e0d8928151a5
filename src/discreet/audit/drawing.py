"""What an attacker reached against what a claim allows, as pictures."""

from __future__ import annotations

import math

import numpy as np

from discreet.audit.finding import Finding
from discreet.show import Line, Markup, Picture, Reach, reach, roc

__all__ = ["attack_roc", "claim_reach"]

_GRID = np.concatenate([np.geomspace(1e-4, 0.05, 40), np.linspace(0.05, 1, 60)])


def attack_roc(found: Finding) -> Picture:
    """Detections against false alarms: the region the claim allows, the attack's curve, and what is sure."""
    corners = (1 - found.claim.deltas) / (1 + np.exp(np.minimum(found.claim.epsilons, 700.0)))  # where two lines meet
    at = np.unique(np.concatenate([[0.0], _GRID, corners]))
    upper = list(zip(at.tolist(), found.claim.most_of(at).tolist(), strict=True))
    lower = [(1 - x, 1 - y) for x, y in upper]  # an attack turned round is an attack
    x, y = found.attack.alarmed, found.attack.detected
    curves = [Line("attack", found.roc)] if found.roc else []
    point = (1 - y, 1 - x) if found.swapped else (x, y)
    return roc(
        f"What attacks on {found.name} reached", curves, region=[*upper, *lower], point=point, bad=found.violated
    )


def claim_reach(found: Finding) -> Markup:
    """How much of the claimed epsilon the best attack showed."""
    share = None
    if math.isfinite(found.claimed) and found.claimed > 0:
        share = max(found.found, 0.0) / found.claimed
    elif not math.isfinite(found.found) or found.violated:
        share = math.inf
    return reach(Reach(share, f"{found.name}: found {found.found:.3g}, claimed {found.claimed:.3g}", found.violated))
