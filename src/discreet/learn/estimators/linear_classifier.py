"""Logistic regression by noisy gradient descent, on raw or fixed features."""

from __future__ import annotations

from typing import Any

from attrs import define

from discreet.learn.estimators.descent import Apply, DescentClassifier
from discreet.learn.model import model_named

__all__ = ["DPLinearClassifier"]


@define(kw_only=True, slots=False, eq=False, repr=False)
class DPLinearClassifier(DescentClassifier):
    """Multinomial logistic regression within (epsilon, delta).

    * `classes`: the labels, or how many there are.
    * `bounds`: (lower, upper), numbers or one number a feature; rows are scaled to [-1, 1] from `origin` (the middle,
      unless given).
    * `features`: a fixed function from rows within bounds to rows of features, each row by itself (of images, say); it
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
