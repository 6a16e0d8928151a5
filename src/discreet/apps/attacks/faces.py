"""Drawn faces: a few measures of a head, eyes, brows, nose, mouth and hair make a picture of somebody who never was."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.apps.attacks.people import even, normal

__all__ = ["MEASURES", "SIDE", "draw_faces", "photograph"]

SIDE = 24
MEASURES = 14
_BLUR = 0.055  # how soft edges are

Floats = NDArray[np.float64]


def draw_faces(people: int, measures: Floats | None = None) -> Floats:
    """A picture for each, a row of SIDE * SIDE shades from 0 (white) to 1 (black)."""
    given = even(people, MEASURES) if measures is None else measures
    v = given.T[:, :, None, None]
    grid = np.linspace(-1, 1, SIDE)
    x, y = (one[None] for one in np.meshgrid(grid, grid))

    def inside(distance: Floats) -> Floats:
        return np.asarray(1 / (1 + np.exp(np.clip(distance / _BLUR, -40, 40))))

    def oval(cx: Floats, cy: Floats, rx: Floats, ry: Floats) -> Floats:
        return inside((np.hypot((x - cx) / rx, (y - cy) / ry) - 1) * np.minimum(rx, ry))

    wide, tall = 0.55 + 0.25 * v[0], 0.75 + 0.2 * v[1]
    head = oval(0 * v[0], 0.05 + 0 * v[0], wide, tall)
    skin = 0.12 + 0.38 * v[2]
    shades = head * skin
    hair = 0.35 + 0.65 * v[3]
    line = -0.75 + 0.55 * v[4]  # where the hair ends
    tuft = oval(0 * v[0], -0.05 + 0 * v[0], wide * 1.08, tall * 1.05) * inside(y - line)
    shades = shades * (1 - tuft) + tuft * hair
    apart, eye, size = 0.2 + 0.16 * v[5], -0.2 + 0.15 * v[6], 0.06 + 0.08 * v[7]
    for side in (-1, 1):
        shades = np.maximum(shades, 0.95 * oval(side * apart, eye, size * 1.3, size))
        brow = eye - 0.13 - 0.12 * v[8]
        slant = (v[9] - 0.5) * 1.2
        bar = inside(np.abs(y - brow - slant * (side * x - apart)) - 0.05) * inside(np.abs(x - side * apart) - 0.13)
        shades = np.maximum(shades, (0.4 + 0.6 * hair) * bar)
    nose = 0.1 + 0.2 * v[10]
    shades = np.maximum(shades, 0.75 * inside(np.abs(x) - 0.04 - 0.05 * v[10]) * inside(np.abs(y - nose + 0.1) - 0.1))
    mouth, broad, smile = 0.45 + 0.12 * v[11], 0.16 + 0.2 * v[12], (v[13] - 0.5) * 1.6
    lips = inside(np.abs(y - mouth - smile * (broad**2 - x**2)) - 0.04) * inside(np.abs(x) - broad)
    return np.asarray(np.maximum(shades, 0.9 * lips).reshape(len(given), -1))


def photograph(faces: Floats, shots: int, grain: float = 0.15) -> Floats:
    """Several pictures of each, [people, shots, pixels]: darker or lighter, and grainy."""
    people, pixels = faces.shape
    light = 1 + 0.15 * normal(people, shots, 1)
    return np.asarray(light * faces[:, None] + grain * normal(people, shots, pixels))
