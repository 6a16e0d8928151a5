"""Classifiers trained by noisy gradient descent: logistic regression, and dense nets or any model of JAX."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Self

import jax
import numpy as np
from attrs import define, evolve
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discreet.accounting.convert import approx
from discreet.accounting.training import noise_multiplier
from discreet.core.exact import Number, as_written
from discreet.core.loss import Approx, Composed, LaplaceNoise, Loss
from discreet.core.mechanism import Bits
from discreet.errors import InputError, Phrase, kind_of
from discreet.learn.estimators.base import ScoreClassifier
from discreet.learn.estimators.columns import Box, Floats, read_box
from discreet.learn.estimators.plan import Claim
from discreet.learn.estimators.rows import COUNT_SHARE, Rows, read_classes, read_examples
from discreet.learn.gradients import Augment, Losses
from discreet.learn.keys import bits_of, new_secret
from discreet.learn.model import model_named, pack_weights, unpack_weights
from discreet.learn.noise import settle_noise
from discreet.learn.objective import cross_entropy
from discreet.learn.recipe import Recipe, weak_delta
from discreet.learn.row_keys import predictor
from discreet.learn.trainer import check_losses, losses_of, train_losses
from discreet.noise.laplace import laplace

__all__ = ["DPLinearClassifier", "DPSGDClassifier", "DescentClassifier"]

Apply = Callable[[Any, Any], Any]


@define(kw_only=True, slots=False, eq=False, repr=False)
class DescentClassifier(ScoreClassifier):
    """Noisy gradient descent on lots drawn at random, by `discreet.learn.train`.

    Guarantee
        Weights cost `loss_` for each row added or removed; `privacy_` states it at `delta`, by the privacy loss
        distribution of all steps (and of the count of rows, where `examples` is not declared). With noise="exact" this
        holds as it stands; with "device" under the premise that `Recipe` names. `features` must make each row's
        features from that row alone.
        Proof: docs/proofs/training.md.
    """

    classes: Any = None
    bounds: Any = None
    origin: Any = None
    features: Any = None
    examples: int | None = None
    lot: int | None = None
    probability: Number | None = None
    steps: int = 100
    clip: float = 1.0
    rate: float | None = None
    momentum: float = 0.9
    schedule: str = "constant"
    ema: float = 0.9
    noise: str = "auto"
    _pace: ClassVar[tuple[float, float, float]]

    def _network(self, inputs: int, outputs: int) -> tuple[Apply, Any, dict[str, Any]]:
        """The function, the parameters it starts from, and words for the record."""
        raise NotImplementedError

    def recipe(self, rows: int) -> Recipe:
        """How about so many rows would be trained on, and what that costs: public, free, made without the data.

        Where `examples` is not declared the cost of counting rows comes on top, and is taken off epsilon here.
        """
        declared = read_examples(self.examples)
        return self._sized(self._drafted(rows if declared is not None else None), rows)

    def _drafted(self, examples: int | None) -> Recipe:
        """The recipe but for what follows from the number of rows, where that is not declared."""
        if self.epsilon is None or self.delta is None or self.rho is not None:
            hint = "Gradient descent is counted by its privacy loss distribution: say epsilon=1, delta=1e-6."
            raise InputError("epsilon" if self.epsilon is None else "delta", None, "given, and rho left out", hint)
        if self.lot is not None and self.probability is not None:
            raise InputError("probability", self.probability, "left out where lot is given")
        if self.lot is not None and examples is None:
            hint = "The number of rows is private: declare about how many there are, or give a probability."
            raise InputError("examples", None, "given with lot", hint)
        chance = self._chance(examples) if self.probability is None else as_written(self.probability, "probability")
        if not 0 < chance <= 1:
            raise InputError("probability", self.probability, "more than 0 and at most 1")
        many = chance.denominator if examples is None else examples
        lot = chance * many if self.lot is None else self.lot
        given = self._given()
        given["rate"] = 1.0 if given["rate"] is None else given["rate"]
        draft = Recipe(examples=many, lot=lot, multiplier=1, **given)
        budget = as_written(self.epsilon, "epsilon") - (self._counted() or 0)
        missed = as_written(self.delta, "delta") - draft.noise_delta()
        return evolve(draft, multiplier=noise_multiplier(budget, missed, draft.probability, draft.steps))

    def _terms(self) -> tuple[Loss, Claim]:
        return self._stated(self._drafted(read_examples(self.examples)))

    def _stated(self, recipe: Recipe) -> tuple[Loss, Claim]:
        """What a run by a recipe costs with the count of rows, if that is bought; and its epsilon at `delta`."""
        counted = self._counted()
        cost = recipe.cost if counted is None else Composed([recipe.cost, LaplaceNoise(1 / counted, 1)])
        return cost, Approx(_epsilon(cost, self.delta), self.delta)

    def _given(self) -> dict[str, Any]:
        """What the recipe takes as it is; a rate of None follows from the noise."""
        named = {name: getattr(self, name) for name in ("steps", "rate", "momentum", "schedule", "ema", "noise")}
        return {"bound": self.clip, **named}

    def _augment(self) -> Augment | None:
        """What makes the copies of a row that the recipe names."""
        return None

    def _trained(self, losses: Losses, params: Any, data: Any, recipe: Recipe, secret: bytes) -> Any:
        """The weights after a run by the recipe, and no more than it."""
        return train_losses(losses, params, data, recipe, secret=secret, augment=self._augment()).params

    def _counted(self) -> Fraction | None:
        """The epsilon that the number of rows is counted with; None where it is declared."""
        if read_examples(self.examples) is not None:
            return None
        return as_written(self.epsilon, "epsilon") * COUNT_SHARE

    def _sized(self, draft: Recipe, examples: int) -> Recipe:
        """The draft for so many rows, declared or counted: length and pace of the steps follow, their cost does not."""
        if note := weak_delta(self.delta, examples):
            warnings.warn(note, UserWarning, stacklevel=4)
        found = evolve(draft, examples=examples, lot=draft.probability * examples)
        return found if self._given()["rate"] is not None else evolve(found, rate=self._rate(found))

    def _chance(self, examples: int | None) -> Fraction:
        """The chance of a row to be in a step, where neither it nor a lot is named."""
        return Fraction(1)

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
        raise InputError.refused(
            "n_features", n_features, "does not decide the noise here", "Call recipe(rows) instead."
        )

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - scikit-learn's name
        """Train. Every call spends, and a run that is stopped stays spent."""
        labels = read_classes(self.classes)
        features, targets = self._read_pair(X, y)
        box = read_box(self.bounds, features.shape[1], origin=self.origin, names=self._names)
        rows = Rows(features, self._labels(targets, labels))
        made = self._made(box.origin[None], box)  # only how many features there are
        apply, params, words = self._network(made.shape[1], len(labels))
        declared = read_examples(self.examples)
        recipe = settle_noise(self._drafted(declared), params)
        counted = self._counted()
        cost, claim = self._stated(recipe)
        losses = losses_of(apply, cross_entropy)
        two = np.zeros((2, made.shape[1]), dtype=np.float32), np.zeros(2, dtype=np.int32)
        check_losses(losses, params, two, recipe, self._augment())
        leaves, shape = jax.tree.flatten(params)

        def measured(data: Rows, bits: Bits | None) -> dict[str, Any]:
            places = np.asarray(data.targets)
            known = np.flatnonzero(places >= 0)
            x, y = self._made(data.features[known], box), places[known].astype(np.int32)
            secret, many = new_secret(bits), declared or 1
            if counted is not None:
                many = max(1, len(y) + laplace(1 / counted, bits=bits_of(secret, "count")))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # once, below
                sized = self._sized(recipe, many)
            weights = self._trained(losses, params, (x, y), sized, secret)
            return {"weights": pack_weights(weights), "examples": many}

        settings = {"classes": labels.tolist(), "bounds": box.to_json(), "recipe": recipe.to_dict(), **words}
        settings |= {"rate": self.rate, "count": None if counted is None else str(counted)}
        seen = None if self.features is None else getattr(self.features, "__qualname__", type(self.features).__name__)
        settings |= {"features": seen, "width": int(made.shape[1])}
        settings["start"] = hashlib.sha256(b"".join(np.asarray(leaf).tobytes() for leaf in leaves)).hexdigest()
        mechanism = f"{recipe.noise_words} noise on clipped gradients, multiplier {float(recipe.multiplier):.6g}"
        if counted is not None:
            mechanism += "; discrete Laplace on the number of rows"
        found = self._paid(measured, settings, cost, mechanism, claim, rows)
        recipe = self._sized(recipe, int(found["examples"]))
        self.classes_, self.recipe_ = labels, recipe
        self.noise_ = {"gradient": float(recipe.multiplier) * recipe.bound / float(recipe.lot)}
        self.params_ = jax.tree.unflatten(shape, unpack_weights(found["weights"]))
        self._apply, self._box = apply, box
        return self

    def _made(self, features: Floats, box: Box) -> NDArray[np.float32]:
        """What the model sees of rows: scaled to [-1, 1], or `features` of rows within bounds."""
        if self.features is None:
            return box.scaled(features).astype(np.float32)
        if not callable(self.features):
            raise InputError("features", kind_of(self.features), "a function of rows, or None")
        with np.errstate(over="ignore", invalid="ignore"):  # what is no number counts for nothing, and is not reported
            made = np.asarray(self.features(box.clipped(features)), dtype=np.float32)
        if made.ndim != 2 or len(made) != len(features):
            raise InputError(
                "features",
                Phrase(f"one of shape {made.shape}"),
                "a function that returns one row of numbers for each row",
            )
        return made

    def decision_function(self, X: Any) -> Floats:  # noqa: N803
        check_is_fitted(self, "params_")
        features, _ = self._read(X, reset=False)
        scores = np.asarray(predictor(self._apply)(self.params_, self._made(features, self._box)), dtype=np.float64)
        return np.asarray(scores[:, 1] - scores[:, 0]) if len(self.classes_) == 2 else scores


@lru_cache(maxsize=64)
def _epsilon(cost: Loss, delta: Number) -> Fraction:
    return approx(cost, delta).epsilon


@define(kw_only=True, slots=False, eq=False, repr=False)
class DPLinearClassifier(DescentClassifier):
    """Multinomial logistic regression within (epsilon, delta).

    * `classes`: the labels, or how many there are.
    * `bounds`: (lower, upper), numbers or one number a feature; rows are scaled to [-1, 1] from `origin` (the middle,
      unless given).
    * `features`: a fixed function from rows within bounds to rows of features, each row on its own (of images, say); it
      is part of the question and must not have been made from private data.
    * `examples`: about how many rows there are, as the public knows; it scales the steps. None buys a noisy count, for
      a fiftieth of epsilon: the exact number is private.
    * `probability`: the chance of a row to be in a step, 1 if None; or `lot`, rows expected in each step, where
      `examples` is declared. `steps`; `clip` (length of a row's gradient); `rate` (any above zero; None: as fast as
      noise and `clip` allow, see `recipe(rows).rate`), `momentum`, `schedule`
      ("constant"; "linear" or "cosine": the rate falls to zero), `ema` (decay of an average of the weights, 0: none):
      fixed beforehand.
    * `noise`: "exact", "device" (quicker for large models), or "auto": see `Recipe`.

    Fitted: `classes_`, `coef_`, `intercept_`, `recipe_`, `noise_` (on each entry of a mean gradient), `loss_`,
    `privacy_`.
    """

    _pace = (0.012, 0.05, 8.0)

    def _network(self, inputs: int, outputs: int) -> tuple[Apply, Any, dict[str, Any]]:
        model = model_named("logistic")
        return model.apply, model.params(inputs, outputs), {"model": "logistic"}

    @property
    def coef_(self) -> Any:
        """One line of weights a class, on features as the model sees them."""
        return self.params_[0]["w"].T

    @property
    def intercept_(self) -> Any:
        """One a class."""
        return self.params_[0]["b"]


@define(kw_only=True, slots=False, eq=False, repr=False)
class DPSGDClassifier(DescentClassifier):
    """DP-SGD within (epsilon, delta): a dense net with `hidden` units a layer, or any `model`.

    * `classes`, `bounds`, `origin`, `features`, `examples`, `clip`, `rate`, `momentum`, `schedule`, `ema`, `noise`: as
      of `DPLinearClassifier`.
    * `hidden`: units in each hidden layer. * `model`: a pair (apply, params) instead: a function of JAX that makes
      scores, one a class, by `apply(params, x)` (or `apply(params, x, key)`: dropout; a prediction has no key), and the
      parameters it starts from, which are public.
    * `probability`: the chance of a row to be in a step; or `lot`, rows expected in each, where `examples` is declared.
      A sixteenth of all if neither is given, and, where declared, no fewer than 256. `steps`: of descent.

    Fitted: `classes_`, `params_`, `recipe_`, `noise_` (on each entry of a mean gradient), `loss_`, `privacy_`.
    """

    _pace = (0.0008, 0.02, 0.5)

    hidden: Any = (64,)
    model: Any = None
    steps: int = 400
    ema: float = 0.95

    def _chance(self, examples: int | None) -> Fraction:
        if examples is None:
            return Fraction(1, 16)
        return Fraction(min(examples, max(256, examples // 16)), examples)

    def _network(self, inputs: int, outputs: int) -> tuple[Apply, Any, dict[str, Any]]:
        if self.model is None:
            sizes = (self.hidden,) if isinstance(self.hidden, int) else tuple(self.hidden)
            if not sizes:
                raise InputError("hidden", self.hidden, "at least one layer", "Without one it is DPLinearClassifier.")
            named = model_named("mlp", sizes)
            return named.apply, named.params(inputs, outputs), {"model": "mlp", "hidden": list(sizes)}
        allowed = f"a pair (apply, params) with apply(params, x) of shape (rows, {outputs}) for x of {inputs} features"
        if not isinstance(self.model, tuple) or len(self.model) != 2 or not callable(self.model[0]):
            raise InputError("model", kind_of(self.model), allowed)
        apply, params = self.model
        seen: Any = jax.ShapeDtypeStruct
        found: Any = None
        with suppress(TypeError, ValueError):
            found = getattr(jax.eval_shape(predictor(apply), params, seen((2, inputs), np.float32)), "shape", None)
        if found != (2, outputs):
            raise InputError("model", found, allowed)
        return apply, params, {"model": getattr(apply, "__qualname__", "model")}
