"""Model inversion: a picture of a person out of a network that was taught to recognise them.

The attacker has the network and looks for the picture that it takes for somebody most surely (Fredrikson and others,
2015). Any picture will do, and most are grainy nonsense; among pictures that look like faces, which the attacker knows
from other people's (a public prior), the surest one is a likeness.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.apps.attacks.faces import SIDE, draw_faces, photograph
from discreet.errors import MissingExtraError
from discreet.risk.attack_result import AttackResult, check_epsilon, check_size
from discreet.show import Picture, image, stack

__all__ = ["Inversion", "Likeness", "invert_faces"]

SHOTS, HIDDEN, STEPS = 8, 64, 200
PUBLIC, COMPONENTS = 600, 25
DELTA = 1e-3
LESS = 1000
"""How many times less noise the control has: the same recipe, clipping and all, that hides nobody."""
_SHOWN = 6
_TURNS, _PRIOR, _CLIMB = 300, 0.02, 0.05
_SMALL = 1e-9

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Likeness:
    """What was drawn from one network, and what that network is good for."""

    identified: float
    """The part of the drawn pictures that are nearest to the person they are of, among all people."""
    alike: float
    """Correlation with the person's face, the average face taken away: 1 for the same picture, 0 for any face."""
    recognised: float
    """The part of new pictures that the network recognises."""


@dataclass(frozen=True, slots=True, eq=False)
class Inversion(AttackResult):
    """Pictures of people drawn from a network, with and without a public prior, with and without a budget."""

    drawn: ClassVar[tuple[str, ...]] = ("pictures",)
    people: int
    epsilon: float
    delta: float
    plain: Likeness
    """Without a budget, with a public prior."""
    raw: Likeness
    """Without a budget, without a prior."""
    private: Likeness
    """With a budget, with a public prior."""
    control: Likeness
    """The same recipe with next to no noise, with a public prior."""
    pictures: dict[str, Floats]

    def details(self) -> list[str]:
        """What is drawn from each network, and how many it recognises."""
        return [
            f"A network of {self.people} people, {SHOTS} pictures of each. Without a budget it recognises "
            f"{self.plain.recognised:.0%} of new pictures. Pictures drawn from it with what faces in general look like "
            f"are {self.plain.alike:.2f} like the people (1: the same, 0: any face), and {self.plain.identified:.0%} "
            f"of them are identified; without that knowledge {self.raw.alike:.2f} and {self.raw.identified:.0%}.",
            f"With epsilon = {self.epsilon:g} and delta = {self.delta:g} for all pictures of a person together: "
            f"{self.private.alike:.2f}, and {self.private.identified:.0%} are identified, where a guess gets "
            f"{1 / self.people:.0%}. The price: it recognises {self.private.recognised:.0%} of new pictures.",
            f"The same recipe with 1/{LESS} of the noise, which hides nobody: {self.control.alike:.2f}, "
            f"{self.control.identified:.0%} identified, {self.control.recognised:.0%} of new pictures recognised. "
            "What that loses is due to clipping and fewer steps, the rest to the noise.",
        ]

    def conclusion(self) -> str:
        """Why no budget saves such a model."""
        return (
            f"{self.plain.identified:.0%} of the faces come out of a network without a budget and "
            f"{self.private.identified:.0%} under epsilon = {self.epsilon:g} (a guess: {1 / self.people:.0%}), because "
            "noise covers any one person; and a network that is to tell single people apart is then good for nothing."
        )

    def picture(self) -> Picture:
        """The first people, and what came out of the networks."""
        rows = [image(name, _beside(images[:_SHOWN])) for name, images in self.pictures.items()]
        return stack("People, and pictures drawn from a network that knows them", rows)


def _beside(images: Floats) -> list[list[float]]:
    """Images in one row, each from its lightest to its darkest, with a gap of two between them."""
    scaled = []
    for picture in images:
        low, high = float(picture.min()), float(picture.max())
        shades = (picture.reshape(SIDE, SIDE) - low) / max(high - low, _SMALL)
        scaled.append(np.pad(shades, ((0, 0), (0, 2))))
    joined: list[list[float]] = np.concatenate(scaled, axis=1).tolist()
    return joined


def invert_faces(people: int = 20, epsilon: float = 1.0) -> Inversion:
    """Drawn faces; a network that tells who it is; for each person the picture it takes for them most surely.

    Guarantee of the private network: (epsilon, delta) for one person added or removed with all their pictures.
    """
    try:
        import jax
        import jax.numpy as jnp
        import optax
        from attrs import evolve

        from discreet.learn.nets import dense
        from discreet.learn.objective import cross_entropy
        from discreet.learn.recipe import Recipe
        from discreet.learn.trainer import train_losses
    except ImportError:
        raise MissingExtraError("learn", "jax") from None
    check_size("people", people, 2, 200)
    check_epsilon(epsilon, 1000)
    shape: dict[str, Any] = {"examples": people, "lot": people, "steps": 100, "bound": 1.0, "how": "vmap"}
    shape |= {"rate": 0.2, "momentum": 0.9}
    recipe = Recipe.within(epsilon, DELTA, **shape)
    recipes = (recipe, evolve(recipe, multiplier=recipe.multiplier / LESS))
    faces, public = draw_faces(people), draw_faces(PUBLIC)
    shots, fresh = (photograph(faces, SHOTS).astype(np.float32) for _ in range(2))
    who = np.arange(people, dtype=np.int32)
    middle, axes = _prior(public)
    net = dense([SIDE * SIDE, HIDDEN, people])
    start = net.init(jax.random.key(0))  # where training starts is public

    def apply(params: Any, images: Any) -> Any:
        return net.apply(params, images - middle)

    def losses(params: Any, batch: Any) -> Any:
        """One example is one person: all their pictures together."""
        images, names = batch
        every = cross_entropy(apply(params, images.reshape(-1, SIDE * SIDE)), jnp.repeat(names, SHOTS))
        return every.reshape(-1, SHOTS).mean(axis=1)

    def descend(slope: Any, first: Any, rate: float, turns: int) -> Any:
        adam = optax.adam(rate)

        def turn(_: int, held: Any) -> Any:
            here, state = held
            change, state = adam.update(slope(here), state, here)
            return optax.apply_updates(here, change), state

        return jax.jit(lambda held: jax.lax.fori_loop(0, turns, turn, held)[0])((first, adam.init(first)))

    plain = descend(jax.grad(lambda params: losses(params, (shots, who)).mean()), start, 0.003, STEPS)
    private, loose = (train_losses(losses, start, (shots, who), chosen).params for chosen in recipes)

    def judge(params: Any, basis: Any) -> tuple[Floats, Likeness]:
        def miss(place: Any) -> Any:
            images = middle + place @ basis
            return cross_entropy(apply(params, images), who).sum() + _PRIOR * (place**2).sum()

        found = descend(jax.grad(miss), jnp.zeros((people, len(basis))), _CLIMB, _TURNS)
        drawn = np.asarray(middle + found @ basis, dtype=np.float64)
        scores = np.asarray(apply(params, fresh.reshape(-1, SIDE * SIDE)))
        right = float((scores.argmax(axis=1) == np.repeat(who, SHOTS)).mean())
        return drawn, Likeness(*_compare(drawn - middle, faces - middle), right)

    pixels = np.eye(SIDE * SIDE, dtype=np.float32)
    (likely, known), (rough, raw), (hidden, held) = judge(plain, axes), judge(plain, pixels), judge(private, axes)
    drawn, control = judge(loose, axes)
    shown = {
        "people": faces,
        "without a budget, with a public prior": likely,
        "without a budget, without a prior": rough,
        f"1/{LESS} of the noise, with a public prior": drawn,
        f"epsilon = {epsilon:g}, with a public prior": hidden,
    }
    return Inversion(people, float(epsilon), DELTA, known, raw, held, control, shown)


def _prior(public: Floats) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The average of faces that are public, and the directions in which they differ, each as long as they spread."""
    middle = public.mean(axis=0)
    _, spread, axes = np.linalg.svd(public - middle, full_matrices=False)
    scaled = axes[:COMPONENTS] * spread[:COMPONENTS, None] / len(public) ** 0.5
    return middle.astype(np.float32), scaled.astype(np.float32)


def _compare(drawn: Floats, faces: Floats) -> tuple[float, float]:
    """How many drawn pictures are likest to their own face among all, and how like they are."""
    ours, theirs = (_standard(images) for images in (drawn, faces))
    likeness = ours @ theirs.T / ours.shape[1]
    own = np.diag(likeness)
    return float((likeness.argmax(axis=1) == np.arange(len(own))).mean()), float(own.mean())


def _standard(images: Floats) -> Floats:
    """Each picture with mean 0 and deviation 1; one that is flat, all zero."""
    centred = images - images.mean(axis=1, keepdims=True)
    return np.asarray(centred / np.maximum(centred.std(axis=1, keepdims=True), _SMALL))
