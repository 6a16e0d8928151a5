"""Images as a net with a prior is shown them, copies of them for training, and scores averaged over looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from discreet.learn.nets import flipped_and_shifted
from discreet.learn.priors.contrast import features_of
from discreet.learn.priors.prior import Prior
from discreet.learn.priors.views import SEEN

__all__ = [
    "EvenFeatures",
    "Features",
    "HeadScores",
    "Looks",
    "Scores",
    "averaged_scores",
    "in_parts",
    "linear_scores",
    "scaled_pixels",
    "shown",
]

Array = Any
Tree = Any
Shape = tuple[int, int, int]
Apply = Callable[[Tree, Array], Array]
_MOVES = ((0, 0), (0, 1), (0, -1), (1, 0), (-1, 0))  # down and right, of the looks that scores are averaged over
_FAR = 2  # pixels of SEEN, each of them
_SMALL = 1e-6
_AT_ONCE = 256  # images that are looked at together


def shown(rows: Array, shape: Shape) -> Array:
    """Rows of pixels from -1 to 1 as a prior's net takes them: images from 0 to 1 of three colours, SEEN by SEEN."""
    height, width, colours = shape
    images = (rows.reshape(-1, height, width, colours) + 1) / 2
    if colours == 1:
        images = jnp.repeat(images, 3, axis=3)
    if (height, width) != (SEEN, SEEN):
        images = jax.image.resize(images, (images.shape[0], SEEN, SEEN, 3), "bilinear")
    return images


@dataclass(frozen=True, eq=False)  # no slots: JAX refers to it weakly
class Features:
    """What the net of a prior sees in rows of pixels, before its head: a function of each row alone."""

    prior: Prior
    shape: Shape

    def __call__(self, body: Tree, rows: Array) -> Array:
        """One row of features for each row of pixels."""
        return features_of(self.prior.net, body, shown(rows, self.shape))


@dataclass(frozen=True, eq=False)
class EvenFeatures:
    """The same with a spread that is alike in all directions, and of length one."""

    prior: Prior
    shape: Shape

    def __call__(self, body: Tree, rows: Array) -> Array:
        """One row of features for each row of pixels."""
        seen = (features_of(self.prior.net, body, shown(rows, self.shape)) - self.prior.mean) @ self.prior.turn
        return seen / jnp.sqrt(jnp.square(seen).sum(axis=1, keepdims=True) + _SMALL)


@dataclass(frozen=True, eq=False)
class Scores:
    """One score for each class of rows of pixels, by all weights of a net."""

    features: Features

    def __call__(self, params: Tree, rows: Array) -> Array:
        """Scores of rows."""
        body = {name: part for name, part in params.items() if name != "head"}
        return linear_scores(params["head"], self.features(body, rows))


@dataclass(frozen=True, eq=False)
class HeadScores:
    """The same by a head alone: what the net sees is fixed."""

    features: EvenFeatures

    def __call__(self, head: Tree, rows: Array) -> Array:
        """Scores of rows."""
        return linear_scores(head, self.features(self.features.prior.body, rows))


@dataclass(frozen=True, slots=True)
class Looks:
    """`copies` of each image in a batch of rows and labels: moved by up to `shift` pixels, mirrored by a fair coin."""

    shape: Shape
    copies: int
    shift: int
    """In pixels of an image as it is shown, SEEN by SEEN."""
    mirror: bool

    def __call__(self, key: Array, batch: tuple[Array, Array]) -> tuple[Array, Array]:
        """The copies of every image, next to each other."""
        rows, labels = batch
        images = rows.reshape(-1, *self.shape)
        shift = scaled_pixels(self.shift, self.shape)
        copies = flipped_and_shifted(key, images, self.copies, shift=shift, mirror=self.mirror)
        return copies.reshape(copies.shape[0], -1), jnp.repeat(labels, self.copies)


def scaled_pixels(shown: int, shape: Shape) -> int:
    """So many pixels of an image as it is shown, in pixels of the image itself.

    >>> [scaled_pixels(4, (side, side, 1)) for side in (8, 28, 32, 64)]
    [1, 4, 4, 8]
    """
    return round(shown * min(shape[:2]) / SEEN)


def linear_scores(head: Tree, features: Array) -> Array:
    """Scores by a head alone."""
    return features @ head["weights"] + head["bias"]


def averaged_scores(apply: Apply, shape: Shape, mirror: bool, params: Tree, rows: Array) -> Array:
    """Logarithms of chances, averaged over an image moved a little each way and, with `mirror`, mirrored.

    A move is two pixels of an image as it is shown, so a very small image is not moved.
    """
    height, width, _ = shape
    images, edge = rows.reshape(-1, *shape), scaled_pixels(_FAR, shape)
    framed = jnp.pad(images, ((0, 0), (edge, edge), (edge, edge), (0, 0)), mode="reflect")
    corners = [(edge * (1 + down), edge * (1 + right)) for down, right in (_MOVES if edge else _MOVES[:1])]
    looks = [framed[:, y : y + height, x : x + width] for y, x in corners]
    looks += [look[:, :, ::-1] for look in looks] if mirror else []
    logs = [jax.nn.log_softmax(apply(params, look.reshape(look.shape[0], -1))) for look in looks]
    return jnp.stack(logs).mean(axis=0)


def in_parts(apply: Apply, params: Tree, rows: NDArray[Any]) -> NDArray[Any]:
    """What a function makes of rows, some at a time."""
    compiled = jax.jit(apply)
    parts = []
    for start in range(0, len(rows), _AT_ONCE):
        part = rows[start : start + _AT_ONCE]
        full = np.concatenate([part, np.zeros((_AT_ONCE - len(part), *part.shape[1:]), part.dtype)])
        parts.append(np.asarray(compiled(params, full))[: len(part)])
    return np.concatenate(parts) if parts else np.asarray(compiled(params, rows))
