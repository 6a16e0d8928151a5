"""Scattering: images as averaged sizes of little waves, and of waves in those; fixed, public, learned from nobody.

An image is filtered with waves of `octaves` widths and `directions` directions; the sizes (moduli) of what comes out
are averaged over windows on a grid. Averaging forgets how those sizes change from place to place, so they are filtered
once more with wider waves, and the sizes of that are averaged too (`order=2`).

Guarantee: none is needed. The features of an image depend on that image alone and on numbers that anybody can compute.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InputError, Phrase

__all__ = ["Floats", "Scattering", "folded", "morlet", "pooling"]

_BLOCK = 50  # images at a time: more would not stay near the processor
Floats = NDArray[np.float32]
_PITCH = 0.75 * math.pi  # of the finest wave: three quarters of the fastest a grid can hold
_WIDTH = 0.8  # pixels, of the finest wave
_SHIFTS = (-2, -1, 0, 1, 2)  # turns of the circle after which a bump's tail no longer matters


@dataclass(frozen=True)
class Scattering:
    """Fixed features of images: call it with [count, height, width] or [count, height, width, colours], from 0 to 1.

    `places` windows each way, `octaves` widths of waves, `directions` of them on the half circle; `order` 1 is a bank
    of Gabor-like filters, 2 adds waves of waves. The answer is [count, places * places * channels] as float32.
    """

    places: int = 7
    octaves: int = 2
    directions: int = 8
    order: int = 2
    margin: int = 2

    def __post_init__(self) -> None:
        """Refuse what no image could be filtered with."""
        for field, least, most in (
            ("places", 1, 64),
            ("octaves", 1, 5),
            ("directions", 1, 64),
            ("order", 1, 2),
            ("margin", 0, 32),
        ):
            value = getattr(self, field)
            if not isinstance(value, int) or not least <= value <= most:
                raise InputError(field, value, f"a whole number from {least} to {most}")

    @property
    def channels(self) -> int:
        """How many numbers there are for each window and colour."""
        pairs = self.octaves * (self.octaves - 1) // 2 if self.order == 2 else 0
        return 1 + self.octaves * self.directions + pairs * self.directions**2

    def __call__(self, images: ArrayLike) -> Floats:
        """Features of each image, one row each: all of the first channel's windows, then the second's."""
        pixels = _with_colours(np.asarray(images, dtype=np.float32))
        count, _, _, colours = pixels.shape
        found = np.empty((count, colours * self.channels * self.places**2), dtype=np.float32)
        for start in range(0, count, _BLOCK):
            found[start : start + _BLOCK] = self._features(np, pixels[start : start + _BLOCK])
        return found

    def within(self, images: Any) -> Any:
        """The same inside a function that JAX compiles, laid out as [count, places, places, channels]."""
        import jax.numpy as jnp

        found = self._features(jnp, _with_colours(images.astype(jnp.float32)))
        return jnp.moveaxis(found.reshape(found.shape[0], -1, self.places, self.places), 1, -1)

    def _features(self, numbers: Any, pixels: Any) -> Any:
        """Features by the library `numbers`: NumPy, or JAX's double of it."""
        count, height, width, colours = pixels.shape
        size = self._grid(max(height, width) + 2 * self.margin)
        bank = _bank(size, self.octaves, self.directions)
        planes = pixels.transpose(0, 3, 1, 2).reshape(-1, height, width)
        found = self._channels(numbers, _framed(numbers, planes, size), bank, (height, width))
        return found.reshape(count, colours * self.channels * self.places**2)

    def _grid(self, least: int) -> int:
        """The smallest grid that holds the image and can be halved once for every octave."""
        unit: int = 2 ** (self.octaves - 1)
        return -(-least // unit) * unit

    def _channels(self, numbers: Any, images: Any, bank: list[Floats], inside: tuple[int, int]) -> Any:
        size = images.shape[-1]
        whole = numbers.fft.fft2(images)[:, None]
        found = [self._pooled(images[:, None], size, inside)]
        deeper = []
        for first in range(self.octaves):
            waves = _sizes(numbers, whole * bank[first], 2**first)
            found.append(self._pooled(waves, size, inside))
            if self.order == 1 or first == self.octaves - 1:
                continue
            again = numbers.fft.fft2(waves)[:, :, None]
            for second in range(first + 1, self.octaves):
                wider = _sizes(numbers, again * _shrunk(bank[second], 2**first), 2 ** (second - first))
                deeper.append(self._pooled(wider.reshape(len(images), -1, *wider.shape[-2:]), size, inside))
        return numbers.concatenate([*found, *deeper], axis=1)

    def _pooled(self, samples: Any, size: int, inside: tuple[int, int]) -> Any:
        """Weighted means over the windows that lie on the image, not on its margin."""
        step = size // samples.shape[-1]
        rows, columns = (self._windows(size, length, step) for length in inside)
        return (rows @ samples @ columns.T).reshape(*samples.shape[:2], -1)

    def _windows(self, size: int, length: int, step: int) -> Floats:
        before = (size - length) // 2
        full = np.zeros((self.places, size), dtype=np.float32)
        full[:, before : before + length] = pooling(length, self.places, _REACH * length / self.places)
        return np.asarray(full.reshape(self.places, size // step, step).sum(axis=2))


_REACH = 0.4
"""A window's standard deviation, as a part of the distance between windows."""


@lru_cache(maxsize=8)
def _bank(size: int, octaves: int, directions: int) -> list[Floats]:
    """For each octave, the waves of all directions."""
    turns = [math.pi * one / directions for one in range(directions)]
    return [np.stack([morlet(size, scale, turn, directions) for turn in turns]) for scale in range(octaves)]


def _with_colours(images: Any) -> Any:
    pixels = images[..., None] if images.ndim == 3 else images
    if pixels.ndim != 4 or min(pixels.shape[1:]) < 1:
        raise InputError(
            "images",
            Phrase(f"shape {images.shape}"),
            "an array [count, height, width] or [count, height, width, colours]",
        )
    return pixels


def _framed(numbers: Any, images: Any, size: int) -> Any:
    """The images in the middle of a larger square, their mirrored edges around them."""
    _, height, width = images.shape
    down, right = size - height, size - width
    around = ((0, 0), (down // 2, down - down // 2), (right // 2, right - right // 2))
    return numbers.pad(images, around, mode="symmetric" if max(down, right) <= min(height, width) else "edge")


def _sizes(numbers: Any, transform: Any, step: int) -> Any:
    """How large the waves are at every `step`-th place."""
    return numbers.abs(numbers.fft.ifft2(folded(transform, step)))


def _shrunk(transform: Floats, step: int) -> Floats:
    """The same wave on a grid of every `step`-th sample."""
    return np.asarray(folded(transform, step) * step**2, dtype=np.float32)


def morlet(size: int, scale: int, turn: float, directions: int) -> Floats:
    """The transform of a Morlet wave, `scale` octaves below the finest, on a periodic grid of `size` times `size`.

    A Morlet wave is a Gabor wave less as much of its envelope as takes its mean away: a flat image gives zero.
    """
    width = _WIDTH * 2.0**scale
    pitch = _PITCH / 2.0**scale
    slant = 4.0 / directions  # fewer directions, rounder envelopes
    there = _bump(size, width, slant, turn, pitch)
    here = _bump(size, width, slant, turn, 0.0)
    return np.asarray(there - there[0, 0] / here[0, 0] * here, dtype=np.float32)


def _bump(size: int, width: float, slant: float, turn: float, pitch: float) -> NDArray[np.float64]:
    """A Gaussian envelope's transform around `pitch` towards `turn`, with what a sampled grid folds into it."""
    angles = 2 * math.pi * np.arange(size) / size
    total = np.zeros((size, size))
    for down, right in product(_SHIFTS, _SHIFTS):
        y = angles[:, None] + 2 * math.pi * down
        x = angles[None, :] + 2 * math.pi * right
        along = math.cos(turn) * x + math.sin(turn) * y - pitch
        across = math.cos(turn) * y - math.sin(turn) * x
        total += np.exp(-((width * along) ** 2 + (width * across / slant) ** 2) / 2)
    return total


def folded(transform: Any, step: int) -> Any:
    """The transform of every `step`-th sample of the images whose transforms these are; NumPy's arrays or JAX's."""
    if step == 1:
        return transform
    *lead, size, _ = transform.shape
    less = size // step
    return transform.reshape(*lead, step, less, step, less).mean(axis=(-4, -2))


def pooling(size: int, places: int, width: float) -> Floats:
    """Rows of weights, one for each of `places` evenly laid windows over `size` samples; each row sums to one."""
    centres = (np.arange(places) + 0.5) * size / places - 0.5
    weights = np.exp(-(((np.arange(size)[None, :] - centres[:, None]) / width) ** 2) / 2)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float32)
