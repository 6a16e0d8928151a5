"""Pictures of a finding, as SVG: what an attacker reached, against what the claim allows."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from discreet.audit.finding import Finding

__all__ = ["bars", "roc"]

_SIZE, _MARGIN = 240, 34
_GRID = np.concatenate([np.geomspace(1e-4, 0.05, 40), np.linspace(0.05, 1, 60)])


def roc(found: Finding) -> str:
    """Detections against false alarms: the region the claim allows, the attack's curve, and what is sure."""
    corners = (1 - found.claim.deltas) / (1 + np.exp(np.minimum(found.claim.epsilons, 700.0)))  # where two lines meet
    at = np.unique(np.concatenate([[0.0], _GRID, corners]))
    upper = list(zip(at.tolist(), found.claim.most_of(at).tolist(), strict=True))
    lower = [(1 - x, 1 - y) for x, y in upper]  # an attack turned round is an attack
    region = _path([*upper, *lower]) + "Z"
    colour = "#b3261e" if found.violated else "#1b6e53"
    side = _SIZE + 2 * _MARGIN
    parts = [
        f'<svg viewBox="0 0 {side} {side}" width="{side}" height="{side}" role="img" '
        f'aria-label="detections against false alarms">',
        f'<rect x="{_MARGIN}" y="{_MARGIN}" width="{_SIZE}" height="{_SIZE}" class="frame"/>',
        f'<path d="{region}" class="region"/>',
        f'<path d="{_path([(0.0, 0.0), (1.0, 1.0)])}" class="coin"/>',
    ]
    if found.roc:
        parts.append(f'<path d="{_path(found.roc)}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
    x, y = found.attack.alarmed, found.attack.detected
    if found.swapped:
        x, y = 1 - y, 1 - x
    parts.append(f'<circle cx="{_x(x):.1f}" cy="{_y(y):.1f}" r="4" fill="{colour}"/>')
    middle = _MARGIN + _SIZE / 2
    parts += [
        f'<text x="{middle}" y="{side - 8}" text-anchor="middle">false alarms</text>',
        f'<text x="12" y="{middle}" text-anchor="middle" transform="rotate(-90 12 {middle})">detections</text>',
        f'<text x="{_MARGIN}" y="{side - 20}" text-anchor="middle">0</text>',
        f'<text x="{_MARGIN + _SIZE}" y="{side - 20}" text-anchor="middle">1</text>',
        f'<text x="{_MARGIN - 8}" y="{_MARGIN + 4}" text-anchor="end">1</text>',
        "</svg>",
    ]
    return "".join(parts)


def bars(found: Finding, width: int = 150) -> str:
    """Claimed epsilon against found, as two bars."""
    claimed, shown = (value if math.isfinite(value) else 0.0 for value in (found.claimed, found.found))
    most = max(claimed, shown, 1e-9)
    colour = "#b3261e" if found.violated else "#1b6e53"
    return (
        f'<svg viewBox="0 0 {width} 18" width="{width}" height="18" role="img" aria-label="claimed against found">'
        f'<rect x="0" y="1" width="{width * claimed / most:.1f}" height="7" class="claimed"/>'
        f'<rect x="0" y="10" width="{width * shown / most:.1f}" height="7" fill="{colour}"/></svg>'
    )


def _path(points: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{_x(x):.1f} {_y(y):.1f}" for x, y in points)


def _x(value: float) -> float:
    return _MARGIN + _SIZE * min(1.0, max(0.0, value))


def _y(value: float) -> float:
    return _MARGIN + _SIZE * (1 - min(1.0, max(0.0, value)))
