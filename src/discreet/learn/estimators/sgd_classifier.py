"""Dense nets, or any model of JAX, by noisy gradient descent on random lots."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import Any

import jax
import numpy as np
from attrs import define

from discreet.errors import InputError, kind_of
from discreet.learn.estimators.descent import Apply, DescentClassifier
from discreet.learn.model import model_named

__all__ = ["DPSGDClassifier"]


@define(kw_only=True, slots=False, eq=False, repr=False)
class DPSGDClassifier(DescentClassifier):
    """DP-SGD within (epsilon, delta): a dense net with `hidden` units a layer, or any `model`.

    * `classes`, `bounds`, `origin`, `features`, `examples`, `clip`, `rate`, `momentum`, `schedule`, `ema`, `noise`: as
      of `DPLinearClassifier`.
    * `hidden`: units in each hidden layer. * `model`: a pair (apply, params) instead: a function of JAX that makes
      scores, one a class, by `apply(params, x)`, and the parameters it starts from, which are public.
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
            found = getattr(jax.eval_shape(apply, params, seen((2, inputs), np.float32)), "shape", None)
        if found != (2, outputs):
            raise InputError("model", found, allowed)
        return apply, params, {"model": getattr(apply, "__qualname__", "model")}
