"""Model inversion: a picture of a person out of the weights of a model that was taught to recognise them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.apps.attacks.people import normal
from discreet.errors import InputError, MissingExtraError
from discreet.show import Picture, image, stack

__all__ = ["Inversion", "invert_faces"]

SIDE, SHOTS, STEPS = 16, 8, 300
_SHOWN = 6
_TURNS = 60
DELTA = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Inversion:
    """How like the people the pictures are that came out of the weights: correlation, 1 for the same picture."""

    people: int
    epsilon: float
    delta: float
    like_plain: float
    like_private: float
    right_plain: float
    right_private: float
    pictures: dict[str, NDArray[np.float64]]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without the pictures."""
        return {name: value for name, value in asdict(self).items() if name != "pictures"}

    def explain(self) -> str:
        """In words."""
        return (
            f"A classifier of {self.people} people, {SHOTS} pictures of each. Without a budget it recognises "
            f"{self.right_plain:.0%} of new pictures, and pictures drawn from its weights are {self.like_plain:.2f} "
            f"like the people (1: the same, 0: unrelated). With epsilon = {self.epsilon:g} and delta = {self.delta:g} "
            f"for all pictures of a person together: {self.like_private:.2f}, and it recognises "
            f"{self.right_private:.0%}. A model that tells single people apart cannot hide them; one that hides them "
            "cannot tell them apart."
        )

    def picture(self) -> Picture:
        """The first people, and what came out of the weights."""
        rows = [image(name, _beside(images[:_SHOWN])) for name, images in self.pictures.items()]
        return stack("People, and pictures drawn from the weights of a classifier", rows)


def _beside(images: NDArray[np.float64]) -> list[list[float]]:
    """Images in one row, each from its lightest to its darkest, with a gap of two between them."""
    scaled = []
    for picture in images:
        low, high = float(picture.min()), float(picture.max())
        shades = (picture.reshape(SIDE, SIDE) - low) / max(high - low, 1e-9)
        scaled.append(np.pad(shades, ((0, 0), (0, 2))))
    joined: list[list[float]] = np.concatenate(scaled, axis=1).tolist()
    return joined


def invert_faces(people: int = 20, epsilon: float = 1.0) -> Inversion:
    """Made-up faces; a linear classifier of who it is; for each person the input it takes for them most surely."""
    try:
        import jax
        import jax.numpy as jnp

        from discreet.learn.objective import cross_entropy
        from discreet.learn.recipe import Recipe
        from discreet.learn.trainer import train_losses
    except ImportError:
        raise MissingExtraError("learn", "jax") from None
    if isinstance(people, bool) or not isinstance(people, int) or not 2 <= people <= 200:
        raise InputError("people", people, "a whole number from 2 to 200")
    if not 0 < epsilon < 1000:
        raise InputError("epsilon", epsilon, "more than zero and below 1000")
    faces = _faces(people)
    shots = (faces[:, None] + 0.4 * normal(people, SHOTS, SIDE * SIDE)).astype(np.float32)
    fresh = (faces[:, None] + 0.4 * normal(people, SHOTS, SIDE * SIDE)).astype(np.float32)
    who = np.arange(people, dtype=np.int32)
    start = {"w": jnp.zeros((SIDE * SIDE, people)), "b": jnp.zeros(people)}

    def losses(params: Any, batch: Any) -> Any:
        """One example is one person: all their pictures together."""
        images, names = batch
        scores = images.reshape(-1, SIDE * SIDE) @ params["w"] + params["b"]
        every = cross_entropy(scores, jnp.repeat(names, SHOTS))
        return every.reshape(-1, SHOTS).mean(axis=1)

    slope = jax.jit(jax.grad(lambda params: losses(params, (shots, who)).mean()))
    plain: Any = start
    for _ in range(STEPS):
        plain = jax.tree.map(lambda value, change: value - 0.1 * change, plain, slope(plain))
    recipe = Recipe.within(epsilon, DELTA, examples=people, lot=people, steps=50, bound=1.0, rate=0.2, how="vmap")
    private = train_losses(losses, start, (shots, who), recipe).params

    def judge(params: Any) -> tuple[NDArray[np.float64], float, float]:
        weights = {name: np.asarray(value, dtype=np.float64) for name, value in params.items()}
        drawn = np.stack([_most_like(weights, person) for person in range(people)])
        scores = fresh.reshape(-1, SIDE * SIDE) @ weights["w"] + weights["b"]
        right = float((scores.argmax(axis=1) == np.repeat(who, SHOTS)).mean())
        like = [float(np.corrcoef(one, face)[0, 1]) for one, face in zip(drawn, faces, strict=True)]
        return drawn, float(np.mean(like)), right

    (open_faces, like, right), (hidden, less, fewer) = judge(plain), judge(private)
    shown = {"people": faces, "without a budget": open_faces, f"epsilon = {epsilon:g}": hidden}
    return Inversion(people, float(epsilon), DELTA, like, less, right, fewer, shown)


def _faces(people: int) -> NDArray[np.float64]:
    """Smooth patterns: an oval they share, and waves of their own."""
    grid = np.linspace(-1, 1, SIDE)
    x, y = np.meshgrid(grid, grid)
    oval = np.exp(-3 * (x**2 + 0.7 * y**2))
    waves = np.stack([np.cos(np.pi * (a * x + b * y) + c) for a in range(3) for b in range(3) for c in (0, 1.5)])
    faces = oval + 0.35 * np.tensordot(normal(people, len(waves)), waves, axes=1)
    flat = faces.reshape(people, -1)
    return np.asarray((flat - flat.mean(axis=1, keepdims=True)) / flat.std(axis=1, keepdims=True))


def _most_like(weights: dict[str, NDArray[np.float64]], person: int) -> NDArray[np.float64]:
    """Climb from a blank picture towards what the model is surest of, keeping the picture's size in bounds."""
    image = np.zeros(SIDE * SIDE)
    for _ in range(_TURNS):
        scores = image @ weights["w"] + weights["b"]
        chance = np.exp(scores - scores.max())
        chance /= chance.sum()
        image += 0.5 * (weights["w"][:, person] - weights["w"] @ chance) - 0.01 * image
    return image + 1e-9 * np.arange(SIDE * SIDE)  # never quite flat, so that likeness is defined
