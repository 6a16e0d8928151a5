"""A released model: weights, what it was trained with, what it cost, and predictions for rows in hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number
from discreet.core.publication import Publication
from discreet.core.wire import fraction
from discreet.errors import InputError, Phrase, kind_of
from discreet.learn.encoding import Encoding
from discreet.learn.model import Model, fit_model, model_named, unpack_weights
from discreet.learn.recipe import Recipe
from discreet.learn.row_keys import predictor
from discreet.learn.weights_file import names_of, write_weights
from discreet.ledger.door import Answer
from discreet.show import Line, lines

if TYPE_CHECKING:
    from discreet.learn.card import Card
    from discreet.learn.group_accuracy import GroupAccuracy
    from discreet.learn.private_accuracy import AccuracyOffer

__all__ = ["ModelRelease"]

Tree = Any


@dataclass(frozen=True, eq=False)
class ModelRelease(Publication):
    """A model on the ledger. All of it is public; reading it again is free."""

    time: str
    epsilon: Fraction
    delta: Fraction
    unit: str
    encoding: Encoding | None
    recipe: Recipe
    described: dict[str, Any]
    counted: bool
    tuning: str
    losses: list[float]
    weights: list[NDArray[Any]]
    model: Model | None = None

    @classmethod
    def read(cls, answer: Answer, cost: str, remaining: str, model: Model | None = None) -> ModelRelease:
        """From an answer on the ledger; a model of one's own is needed to use its weights."""
        result: Any = answer.result
        entry = result["train"]
        encoding = None if entry["encoding"] is None else Encoding.from_dict(entry["encoding"])
        described = {**entry["model"], **{name: entry[name] for name in ("loss",) if name in entry}}
        weights = unpack_weights(entry["weights"])
        if model is None and encoding is not None and described["name"] in ("logistic", "mlp"):
            named = fit_model(model_named(described["name"], described["hidden"]), encoding)
            # A model of a caller's own may be called so, too.
            model = named if _shapes(named) == [one.shape for one in weights] else None
        return cls(
            **answer.provenance(cost, remaining),
            time=answer.time,
            epsilon=answer.charge.amount,
            delta=fraction(entry["delta"], "delta"),
            unit=entry["unit"],
            encoding=encoding,
            recipe=Recipe.from_dict(entry["recipe"]),
            described=described,
            counted=entry["count"] is not None,
            tuning=entry.get("tuning", ""),
            losses=entry["losses"],
            weights=weights,
            model=model,
            stale=answer.stale,
        )

    def using(self, model: Model) -> ModelRelease:
        """The same with the function its weights belong to, and parameters of their shapes."""
        if not isinstance(model, Model):
            raise InputError("model", kind_of(model), "a Model(apply, params)")
        if self.encoding is not None:
            model = fit_model(model, self.encoding)
        if (shapes := _shapes(model)) != (own := [weights.shape for weights in self.weights]):
            raise InputError("model", Phrase(f"parameters of shapes {shapes}"), f"one with parameters of shapes {own}")
        return replace(self, model=model)

    @property
    def target(self) -> str:
        """The column that the model tells; empty where it was trained on arrays."""
        return "" if self.encoding is None else self.encoding.target.name

    @property
    def params(self) -> Tree:
        """The trained parameters, in the shape of the model's."""
        return jax.tree.unflatten(jax.tree.structure(self._model.params), self.weights)

    @property
    def _model(self) -> Model:
        if self.model is None:
            hint = "Give it with release.using(Model(apply, params)), on a command line with --model MODULE:OBJECT."
            raise InputError("model", self.described["name"], "a model known by name", hint)
        return self.model

    def outputs(self, rows: Any) -> NDArray[Any]:
        """What the model gives for rows in hand: a table (columns by name, Arrow, pandas, Polars), or an array x."""
        if self.encoding is None:
            return self._applied(rows)
        return np.asarray(predictor(self._model.apply)(self.params, self.encoding.rows(rows)))

    def _applied(self, rows: Any) -> NDArray[Any]:
        """To arrays in hand, of the shape that the model was trained on."""
        found: NDArray[Any] | None = None
        try:
            found = np.asarray(predictor(self._model.apply)(self.params, rows))
        except (TypeError, ValueError) as problem:
            if isinstance(problem, InputError):
                raise
        wide = 2 if self.described.get("loss") == "cross_entropy" else 1
        if found is None or found.ndim < wide:
            raise InputError("rows", kind_of(rows), "an array of rows like those that the model was trained on")
        if not np.isfinite(found).all():
            raise InputError("rows", Phrase("NaN or infinity"), "rows for which the model gives finite numbers")
        return found

    def predict(self, rows: Any) -> list[Any]:
        """The class, or the number in the units of the target, for each row in hand.

        Of arrays: the index of the class where it was trained by cross entropy, yes (1) or no (0) by the logistic
        loss, else what the model gives.
        """
        found = self.outputs(rows)
        if self.encoding is None:
            match self.described.get("loss"):
                case "cross_entropy":
                    found = found.argmax(axis=1)
                case "logistic":
                    found = (found.reshape(len(found)) > 0).astype(np.int64)
            told: list[Any] = found.tolist()
            return told
        if not self.encoding.classes:
            return [float(value) for value in self.encoding.number(found.reshape(len(found)))]
        return [self.encoding.classes[place] for place in found.argmax(axis=1)]

    def predict_each(self, rows: Any) -> list[Any]:
        """The class of each row of a table, worked out for that row alone: it does not depend on how many others there
        are, nor on the order in which floats of several are added up."""
        if self.encoding is None or not self.encoding.classes:
            raise InputError.refused("model", self.described["name"], "does not predict the classes of a table")
        one, encoded = jax.jit(predictor(self._model.apply)), self.encoding.rows(rows)
        found = (np.asarray(one(self.params, encoded[at : at + 1])) for at in range(len(encoded)))
        return [self.encoding.classes[int(scores.argmax(axis=1)[0])] for scores in found]

    def private_accuracy(
        self,
        rows: Any,
        by: str,
        groups: Sequence[Any],
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        **account: Any,
    ) -> AccuracyOffer:
        """How often it is right about *private* rows, by a column of them: an offer, to be paid from a ledger.

        `groups` are the values of `by` that are counted, which are public; rows of others count nowhere. `ledger` (a
        curator, a ledger or its path), `dataset`, `allotment`, `who` and `release` say what is charged, as for
        estimators. `print(offer)` tells its price and error; `offer.release()` spends, for `card().with_groups`.
        """
        from discreet.learn.private_accuracy import offer_accuracy

        return offer_accuracy(self, rows, by, groups, (epsilon, delta, rho), account)

    def accuracy_by(self, rows: Any, group: str) -> tuple[GroupAccuracy, ...]:
        """How often it is right about public rows, by a column of them: for `card().with_groups`. Spends nothing.

        The rows have the features, the target and the column `group`. What is said of them is as private as they are:
        they must be public, and not those it was trained on. Of private rows, `private_accuracy` is charged.
        """
        from discreet.learn.group_accuracy import accuracies, columns_of

        if self.encoding is None or not self.encoding.classes:
            raise InputError.refused("model", self.described["name"], "does not predict the classes of a table")
        (groups,) = columns_of(rows, group)
        return accuracies(self.encoding.truths(rows), self.predict(rows), groups)

    def to_dict(self) -> dict[str, Any]:
        """Plain values that say what it is, without its weights."""
        many = sum(int(one.size) for one in self.weights)
        return {
            **super().to_dict(),
            "weights": many,
            "losses": self.losses,
            "notes": list(self.notes),
            "card": self.card().to_dict(),
        }

    @property
    def heading(self) -> str:
        """What it is, in a few words."""
        return f"Model {self.described['name']}{f' of {self.target}' if self.target else ''}"

    def shown(self) -> tuple[Any, ...]:
        """How the loss went down, and the model card."""
        card = self.card()
        points = [(float(step), loss) for step, loss in enumerate(self.losses, 1)]
        curve = (
            [lines("Noisy loss by step", [Line("loss", tuple(points))]).figure(table=False)] if len(points) > 1 else []
        )
        return (*curve, *card.shown())

    def card(self) -> Card:
        """The model card: what anyone who is handed the weights should know."""
        from discreet.learn.card import Card

        return Card.of(self)

    def save(self, path: str | Path) -> Path:
        """Write the weights to a .npz or .safetensors file, and the model card beside it as .md and .json.

        They are read back by `read_weights`, with the parameters of the model in the shape of these.
        """
        unnamed = [f"weights_{place}" for place in range(len(self.weights))]
        names = unnamed if self.model is None else names_of(self.model.params)
        card = self.card()
        told = {"release": self.id, "dataset": self.dataset, "epsilon": card.epsilon, "delta": card.delta}
        target = write_weights(path, dict(zip(names, self.weights, strict=True)), {**told, "protects": self.unit})
        card.save(target)
        return target

    def __repr__(self) -> str:
        many = sum(weights.size for weights in self.weights)
        of = f" of {self.target!r}" if self.target else ""
        return f"[model {self.described['name']!r}{of} on {self.dataset!r}; {many:,} weights; {self.about}]"


def _shapes(model: Model) -> list[tuple[int, ...]]:
    """Of all parameters, in order."""
    return [tuple(np.shape(leaf)) for leaf in jax.tree.leaves(model.params)]
