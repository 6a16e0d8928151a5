"""Randomized response: two coins, what a yes tells, and a picture whose pixels all lie."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import after, posterior
from discreet.apps.demo.lecture import Beside, Lecture
from discreet.core.mechanism import Bits
from discreet.local import GRR
from discreet.show import Picture, image, stack

__all__ = ["draw_flips", "flip_pixels", "show"]

_SIDE, _CELLS = 1920, 24
_FLIPPED = 0.49
_EPSILON = math.log((1 - _FLIPPED) / _FLIPPED)

Pixels = NDArray[np.int64]


def show() -> Lecture:
    """Compute the numbers of the two coins, and flip nearly half of a picture's pixels."""
    coin = GRR.coin()
    belief = float(after(prior=0.02, if_true=coin.hit, if_false=coin.miss))
    bound = posterior("0.4", 1)
    disc, flipped = flip_pixels()
    numbers = (
        Beside("epsilon of two coins", "ln 3 = 1.0986", f"{float(coin.epsilon):.4f}"),
        Beside("2% after a yes", ".0577", f"{belief:.4f}"),
        Beside("40% at epsilon = 1", ".197 to .644", f"{float(bound.low):.3f} to {float(bound.high):.3f}"),
        Beside("pixels that are right after flipping 49%", ".51", f"{float((flipped == disc).mean()):.2f}"),
    )
    words = f"Each pixel is protected by epsilon = {_EPSILON:.3f}: pixels are people, the shape may be learned."
    return Lecture("Randomized response", numbers, words, draw_flips(disc, flipped), "course/randomized-response.md")


def flip_pixels(bits: Bits | None = None) -> tuple[Pixels, Pixels]:
    """A picture of a disc, and the same with every pixel flipped with 49%."""
    rows, columns = np.mgrid[:_SIDE, :_SIDE] - _SIDE // 2
    disc = (np.hypot(rows, columns) < _SIDE / 3).astype(np.int64)
    reports = GRR(2, epsilon=_EPSILON).privatize(disc.ravel(), bits=bits)
    return disc, np.asarray(reports).reshape(disc.shape)


def draw_flips(disc: Pixels, flipped: Pixels) -> Picture:
    """The picture, a corner of the flipped one, and averages of flipped pixels."""
    panels = [
        image("The picture", _averages(disc, 0.0, 1.0), cell=8),
        image("A corner of it, flipped", flipped[:_CELLS, :_CELLS].astype(float).tolist(), cell=8),
        image("Averages of flipped pixels", _averages(flipped, _FLIPPED, 1 - _FLIPPED), cell=8),
    ]
    said = "Every pixel is flipped with 49%, so that none says anything; averages of 6,400 of them show the disc."
    return stack("A picture whose bits are flipped with 49%", panels, columns=3, caption=said)


def _averages(pixels: Pixels, white: float, black: float) -> list[list[float]]:
    """Means of squares of pixels, from 0 at `white` to 1 at `black`."""
    size = _SIDE // _CELLS
    means = pixels.reshape(_CELLS, size, _CELLS, size).mean(axis=(1, 3))
    shades: list[list[float]] = np.clip((means - white) / (black - white), 0, 1).tolist()
    return shades
