"""Classifiers trained by noisy gradient descent: what the linear one and the deeper one share."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Self

import jax
import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from discreet.accounting.training import noise_multiplier
from discreet.core.exact import Number
from discreet.core.loss import Approx
from discreet.core.mechanism import Bits
from discreet.errors import InputError
from discreet.learn.early import refuse_early
from discreet.learn.estimators.base import PrivateEstimator
from discreet.learn.estimators.box import Box, Floats, read_box
from discreet.learn.estimators.rows import Rows, read_classes
from discreet.learn.keys import new_secret
from discreet.learn.model import packed_weights, unpacked_weights
from discreet.learn.objective import cross_entropy
from discreet.learn.recipe import Recipe, weak_delta
from discreet.learn.train import losses_of, train_losses

__all__ = ["DescentClassifier"]

Apply = Callable[[Any, Any], Any]


class DescentClassifier(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """Noisy gradient descent on lots drawn at random, by `discreet.learn.train`.

    Guarantee
        Weights cost `loss_` for each row added or removed; `privacy_` states it at `delta`, by the privacy loss
        distribution of all steps. The number of rows is public. With noise="exact" this holds as it stands; with
        "device" up to what floating point adds. `features` must make each row's features from that row alone.
        Proof: docs/proofs/training.md.
    """

    classes: Any
    bounds: Any
    origin: Any
    features: Any
    lot: Any
    steps: Any
    clip: Any
    rate: Any
    momentum: Any
    schedule: Any
    ema: Any
    noise: Any
    _pace: tuple[float, float, float]

    def _network(self, inputs: int, outputs: int) -> tuple[Apply, Any, dict[str, Any]]:
        """The function, the parameters it starts from, and words for the record."""
        raise NotImplementedError

    def recipe(self, rows: int) -> Recipe:
        """How so many rows would be trained on, and what that costs: public, free, made without the data."""
        if self.epsilon is None or self.delta is None or self.rho is not None:
            hint = "Gradient descent is counted by its privacy loss distribution: say epsilon=1, delta=1e-6."
            raise InputError("epsilon" if self.epsilon is None else "delta", None, "given, both, and rho not", hint)
        lot = self._lot(rows) if self.lot is None else self.lot
        given = {"bound": self.clip, "momentum": self.momentum, "schedule": self.schedule, "ema": self.ema}
        given["noise"] = self.noise
        rate = 1.0 if self.rate is None else self.rate
        draft = Recipe(examples=rows, lot=lot, steps=self.steps, rate=rate, multiplier=1, **given)
        if note := weak_delta(self.delta, rows):
            warnings.warn(note, UserWarning, stacklevel=3)
        found = replace(draft, multiplier=_multiplier(self.epsilon, self.delta, draft.probability, draft.steps))
        return found if self.rate is not None else replace(found, rate=self._rate(found))

    def _lot(self, rows: int) -> int:
        """How many rows are expected in a step, where none are named."""
        return rows

    def _rate(self, recipe: Recipe) -> float:
        """As fast as noise allows: how far it may move a weight in a step was found on ADULT, as were the limits.

        Those limits are for a clip of 1. Curvature sets the upper one, so it goes with the square of the length that
        gradients have; the clip is taken for that. A rate that falls to zero may begin half as fast again (MNIST).
        """
        noise = float(recipe.multiplier) * recipe.bound / float(recipe.lot)
        stir, slowest, fastest = self._pace
        falling = 1.0 if recipe.schedule == "constant" else 1.5
        return falling * min(max(stir / noise, slowest / recipe.bound), fastest / recipe.bound**2)

    def expected_noise(self, n_features: int) -> dict[str, float]:
        """Not known without the number of rows: see `recipe`."""
        raise InputError("n_features", n_features, "nothing that noise depends on here: ask recipe(rows) instead")

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - scikit-learn's name
        """Train. Every call spends, and a run that is stopped stays spent."""
        labels = read_classes(self.classes)
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        features, targets = self._read(X, reset=True, targets=y)
        box = read_box(self.bounds, features.shape[1], origin=self.origin)
        rows = Rows(features, self._labels(targets, labels))
        made = self._made(box.origin[None], box)  # only how many features there are
        apply, params, words = self._network(made.shape[1], len(labels))
        recipe = self.recipe(len(features))
        losses = losses_of(apply, cross_entropy)
        two = np.zeros((2, made.shape[1]), dtype=np.float32), np.zeros(2, dtype=np.int32)
        refuse_early(losses, params, two, recipe)
        leaves, shape = jax.tree.flatten(params)

        def measured(data: Rows, bits: Bits | None) -> dict[str, Any]:
            places = np.asarray(data.targets)
            known = np.flatnonzero(places >= 0)
            x, y = self._made(data.features[known], box), places[known].astype(np.int32)
            trained = train_losses(losses, params, (x, y), recipe, secret=new_secret(bits))
            return {"weights": packed_weights(trained.params)}

        settings = {"classes": labels.tolist(), "bounds": box.told(), "recipe": recipe.to_dict(), **words}
        seen = None if self.features is None else getattr(self.features, "__qualname__", type(self.features).__name__)
        settings |= {"features": seen, "width": int(made.shape[1])}
        settings["start"] = hashlib.sha256(b"".join(np.asarray(leaf).tobytes() for leaf in leaves)).hexdigest()
        claim = Approx(_epsilon(recipe, self.delta), self.delta)
        kind = "exact discrete Gaussian" if recipe.noise == "exact" else "floating-point Gaussian"
        mechanism = f"{kind} noise on clipped gradients, multiplier {float(recipe.multiplier):.6g}"
        found = self._paid(measured, settings, recipe.cost, mechanism, claim, rows)
        self.classes_, self.recipe_ = labels, recipe
        self.noise_ = {"gradient": float(recipe.multiplier) * recipe.bound / float(recipe.lot)}
        self.params_ = jax.tree.unflatten(shape, unpacked_weights(found["weights"]))
        self._apply, self._box = apply, box
        return self

    def _made(self, features: Floats, box: Box) -> NDArray[np.float32]:
        """What the model sees of rows: scaled to [-1, 1], or `features` of rows within bounds."""
        if self.features is None:
            return box.scaled(features).astype(np.float32)
        if not callable(self.features):
            raise InputError("features", type(self.features).__name__, "a function of rows, or None")
        with np.errstate(over="ignore", invalid="ignore"):  # what is no number counts for nothing, and is not told of
            made = np.asarray(self.features(box.clipped(features)), dtype=np.float32)
        if made.ndim != 2 or len(made) != len(features):
            raise InputError("features", made.shape, "a function that gives one row of numbers for each row")
        return made

    def decision_function(self, X: Any) -> Floats:  # noqa: N803
        """Scores: for two classes one, above zero for the second; else one a class. Free."""
        check_is_fitted(self, "params_")
        features, _ = self._read(X, reset=False)
        scores = np.asarray(self._apply(self.params_, self._made(features, self._box)), dtype=np.float64)
        return np.asarray(scores[:, 1] - scores[:, 0]) if len(self.classes_) == 2 else scores

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """How likely each class is; free."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The likeliest class; free."""
        scores = self.decision_function(X)
        places = (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[places])


@lru_cache(maxsize=64)
def _multiplier(epsilon: Number, delta: Number, probability: Fraction, steps: int) -> Fraction:
    """The least noise within (epsilon, delta): a search of seconds, not made twice."""
    return noise_multiplier(epsilon, delta, probability, steps)


@lru_cache(maxsize=64)
def _epsilon(recipe: Recipe, delta: Number) -> Fraction:
    return recipe.epsilon(delta)
