"""A classifier of images: a net that learned to see from made-up pictures, trained on private ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Self

import jax
import numpy as np
from attrs import define, evolve
from sklearn.utils.validation import check_is_fitted

from discreet.errors import InputError, Phrase
from discreet.learn.estimators.columns import Floats
from discreet.learn.estimators.descent import DescentClassifier
from discreet.learn.estimators.rows import read_examples
from discreet.learn.gradients import Augment, Losses, outputs_alone
from discreet.learn.images import (
    EvenFeatures,
    Features,
    HeadScores,
    Looks,
    Scores,
    averaged_scores,
    in_parts,
    linear_scores,
)
from discreet.learn.keys import SECRET_BYTES, key_of
from discreet.learn.objective import cross_entropy
from discreet.learn.priors.contrast import gauged
from discreet.learn.priors.prior import Prior, read_prior
from discreet.learn.recipe import Recipe
from discreet.learn.trainer import losses_of, train_losses

__all__ = ["DPImageClassifier"]

Tree = Any
Apply = Callable[[Tree, Any], Any]
_LEAST = 8  # pixels along a side
_LEAST_LOT = 256
_SCENES = 400  # whose features are evened out where weights are random
_SUITED: dict[str, dict[str, Any]] = {
    "all": {"steps": 540, "bound": 1.0, "rate": 4.0, "momentum": 0.0, "schedule": "constant", "ema": 0.99},
    "head": {"steps": 60, "bound": 0.3, "rate": 30.0, "momentum": 0.9, "schedule": "linear", "ema": 0.0},
}
_SLOW = 20_000  # gradients of single images: about a quarter of an hour's work without an accelerator


@define(kw_only=True, slots=False, eq=False, repr=False)
class DPImageClassifier(DescentClassifier):
    """Images in, a private model out, within (epsilon, delta): DP-SGD of a wide residual net that starts from a prior.

    X is an array (images, height, width), or with colours as a fourth axis (1 or 3); or rows of pixels, if `shape` says
    what they are the pixels of. Smaller or larger images are resized to 32 by 32.

    * `classes`, `examples`, `lot`, `probability`, `noise`: as of `DPSGDClassifier`. `steps`, `clip`, `rate`,
      `momentum`, `schedule`, `ema` too: where they are None, what suits `tune` is taken.
      `bounds`: what black and white are, (0, 255) unless given.
    * `prior`: the name of one that is shipped, a `Prior`, or None for random weights.
    * `tune`: "all" weights, or the "head" alone on what the net sees, which is far quicker and less accurate: without
      an accelerator it is what can be waited for.
    * `head_steps`: how many of the steps move the head alone, at `head_rate`, before all weights are trained.
    * `copies`: how many looks at an image, moved by up to `shift` pixels and (with `mirror`) mirrored at random, its
      gradient is the mean of. `average`: whether scores are averaged over such looks too.

    Fitted: `classes_`, `params_`, `recipe_`, `prior_`, `noise_`, `loss_`, `privacy_`.

    Guarantee
        As of every classifier by descent: weights cost `loss_` for each image added or removed. Both phases are steps
        of one recipe, each with the same noise for the same bound and a lot of its own. Proof: docs/proofs/training.md.
    """

    _pace: ClassVar[tuple[float, float, float]] = (0.006, 0.02, 4.0)

    bounds: Any = (0, 255)
    shape: Any = None
    prior: Any = "wide-16-4"
    tune: str = "all"
    steps: Any = None
    head_steps: int = 40
    head_rate: float = 4.0
    copies: int = 4
    mirror: bool = True
    shift: int = 4
    average: bool = True
    clip: Any = None
    rate: Any = None
    momentum: Any = None
    schedule: Any = None
    ema: Any = None

    def _chance(self, examples: int | None) -> Fraction:
        if self.tune == "head":
            return Fraction(1)
        if examples is None:
            return Fraction(1, 12)
        return Fraction(min(examples, max(_LEAST_LOT, examples // 12)), examples)

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - scikit-learn's name
        """Train. Every call spends, and a run that is stopped stays spent."""
        rows, self._shape = self._pixels(X)
        self.prior_ = self._start()
        if self.tune not in ("all", "head"):
            raise InputError("tune", self.tune, among=("all", "head"))
        self._whole("copies", 1, 64)
        self._whole("shift", 0, 16)
        if self.tune == "all":
            self._whole("head_steps", 0, self._given()["steps"] - 1)
            self._warn_slow()
        return super().fit(rows, y)

    def _warn_slow(self) -> None:
        examples = read_examples(self.examples) or _LEAST_LOT
        many = float(self._chance(examples)) * examples * self._given()["steps"] * self.copies
        if jax.default_backend() == "cpu" and many > _SLOW:
            text = f"about {many:,.0f} gradients of images without an accelerator take hours; tune='head' takes minutes"
            warnings.warn(text, UserWarning, stacklevel=3)

    def _start(self) -> Prior:
        """The prior, or a net with random weights in its place."""
        if isinstance(self.prior, Prior):
            return self.prior
        shipped = read_prior() if self.prior is None else read_prior(self.prior)
        if self.prior is not None:
            return shipped
        drawn = shipped.net.init(jax.random.key(0))  # where training starts is public
        body = {name: part for name, part in drawn.items() if name != "head"}
        card = {**shipped.card, "made": "random weights"}
        return Prior("random", shipped.net, body, *gauged(shipped.net, body, _SCENES), card)

    def _pixels(self, images: Any) -> tuple[Any, tuple[int, int, int]]:
        """Images as rows of pixels, and their height, width and colours."""
        array = images if hasattr(images, "shape") else np.asarray(images)
        allowed = "an array (images, height, width), with 1 or 3 colours as a fourth axis if it has colours"
        shape = tuple(array.shape[1:])
        if len(array.shape) == 2:
            if self.shape is None:
                hint = "Of rows of pixels say shape=(height, width) or (height, width, colours)."
                raise InputError("X", Phrase(f"shape {tuple(array.shape)}"), allowed, hint)
            shape = tuple(self.shape)
        if len(shape) == 2:
            shape = (*shape, 1)
        if len(shape) != 3 or shape[2] not in (1, 3) or min(shape[:2]) < _LEAST:
            raise InputError(
                "X", Phrase(f"shape {tuple(array.shape)}"), f"{allowed}, and {_LEAST} pixels a side or more"
            )
        size = shape[0] * shape[1] * shape[2]
        flat = np.asarray(array).reshape(len(array), -1)
        if flat.shape[1] != size:
            raise InputError("shape", self.shape, f"that of rows of {flat.shape[1]} pixels")
        return flat, shape

    def _given(self) -> dict[str, Any]:
        given = {name: value for name, value in super()._given().items() if value is not None}
        return {**_SUITED[self.tune], **given, "copies": 1 if self.tune == "head" else self.copies}

    def _augment(self) -> Augment | None:
        if self.tune == "head":
            return None
        return Looks(self._shape, self.copies, self.shift, self.mirror)

    def _network(self, inputs: int, outputs: int) -> tuple[Callable[..., Any], Any, dict[str, Any]]:
        params = self.prior_.params(outputs)
        named = {name: getattr(self, name) for name in ("tune", "head_steps", "head_rate", "mirror", "shift")}
        words = {"model": "wide residual net", "prior": self.prior_.card, "image": list(self._shape), **named}
        if self.tune == "head":
            return HeadScores(EvenFeatures(self.prior_, self._shape)), params["head"], words
        return Scores(Features(self.prior_, self._shape)), params, words

    def _trained(self, losses: Losses, params: Tree, data: Any, recipe: Recipe, secret: bytes) -> Tree:
        if self.tune == "head":
            return self._head_trained(EvenFeatures(self.prior_, self._shape), params, data, recipe, secret)
        if self.head_steps:
            first = evolve(recipe, steps=self.head_steps, rate=self.head_rate, copies=1, schedule="linear", ema=0.0)
            see, own = Features(self.prior_, self._shape), key_of(secret, "head")[:SECRET_BYTES]
            head = self._head_trained(see, params["head"], data, first, own)
            params = {**params, "head": head}
        rest = evolve(recipe, steps=recipe.steps - self.head_steps)
        after = key_of(secret, "all weights")[:SECRET_BYTES]
        return super()._trained(losses, params, data, rest, after)

    def _head_trained(self, see: Apply, head: Tree, data: Any, recipe: Recipe, secret: bytes) -> Tree:
        """The head after a run on what the net sees of each image, which is computed once."""
        (x, y), body = data, self.prior_.body
        # With exact noise features are, to the last bit, a function of the image alone: no batch may round them.
        seen = np.asarray(outputs_alone(see, body, x)) if recipe.noise == "exact" else in_parts(see, body, x)
        return train_losses(losses_of(linear_scores, cross_entropy), head, (seen, y), recipe, secret=secret).params

    def decision_function(self, X: Any) -> Floats:  # noqa: N803
        check_is_fitted(self, "params_")
        rows, shape = self._pixels(X)
        if shape != self._shape:
            raise InputError("X", Phrase(f"images of {shape}"), f"images of {self._shape}, as it was fitted on")
        features, _ = self._read(rows, reset=False)
        apply = self._apply
        if self.average:
            apply = partial(averaged_scores, apply, shape, self.mirror)
        scores = in_parts(apply, self.params_, self._made(features, self._box)).astype(np.float64)
        return np.asarray(scores[:, 1] - scores[:, 0]) if len(self.classes_) == 2 else scores
