"""Asking for a trained model: which columns, which model, how long. Nothing is spent by asking."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.accounting.words import readable
from discreet.core.exact import Number, as_written
from discreet.core.unit import Neighbours
from discreet.errors import InputError
from discreet.learn.early import refuse_on_table
from discreet.learn.encoding import Encoding
from discreet.learn.model import Model, fitted, model_named
from discreet.learn.noise import settled
from discreet.learn.offer import ModelOffer, TrainOffer
from discreet.learn.plan import TrainPlan
from discreet.learn.recipe import Recipe, weak_delta
from discreet.learn.released import ModelRelease
from discreet.learn.search import searched
from discreet.ledger.budget import Allotment
from discreet.query.parse import parse_condition
from discreet.query.predicate import Predicate, checked

if TYPE_CHECKING:
    from discreet.query.curator import Curator

__all__ = ["TrainQuestion", "train_question"]

_EPOCHS = 20
_SHARE = Fraction(1, 50)  # of the price, for the number of examples where it is not declared
_DIVIDE = (
    "A model is charged as one fixed plan: give the budget an allotment of kind plan, in discreet.toml as "
    "[budget.allotments.models] kind = 'plan', epsilon = 2, delta = 1e-6, beside [budget.allotments.questions] for the "
    "rest, or in Python Budget(epsilon=3, delta=2e-6, allotments=[Allotment('questions', 'zcdp', epsilon=1, "
    "delta=1e-6), Allotment('models', 'plan', epsilon=2, delta=1e-6)])."
)


@dataclass(frozen=True, slots=True, eq=False)
class TrainQuestion:
    """A model to be trained, being put together. Nothing happens until it is planned and released."""

    curator: Curator
    model: Model
    encoding: Encoding
    condition: Predicate | None
    examples: int | None
    settings: dict[str, Any]

    def plan(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        share: Number | None = None,
        allotment: str | None = None,
        checkpoint: str | Path | None = None,
    ) -> TrainOffer:
        """Price the whole run: by epsilon (and delta), or by a share of the allotment.

        Without `delta`, it is the same part of the allotment's as epsilon is. If steps and multiplier are both given,
        the price follows from them and none is named; without `delta` it then takes all of the allotment's, and the
        offer says so. `checkpoint` is a file to keep the run in, so that it survives a crash.
        """
        part = _paying(self.curator, allotment)
        place = None if checkpoint is None else _place(checkpoint)
        fixed = {"steps", "multiplier"} <= set(self.settings)  # a lot or a probability there is always
        if fixed == (epsilon is not None or share is not None):
            allowed = "absent: steps and multiplier fix it" if fixed else "given, or a share of the allotment is"
            raise InputError("epsilon", epsilon, allowed)
        if epsilon is not None and share is not None:
            raise InputError("share", share, "absent where epsilon is given")
        if share is not None:
            whole = as_written(share, "share")
            if not 0 < whole <= 1:
                raise InputError("share", share, "more than 0 and at most 1 (the whole allotment)")
            epsilon = whole * part.cap.amount
        price = None if epsilon is None else as_written(epsilon, "epsilon")
        missed = part.cap.delta if delta is None else as_written(delta, "delta")
        if delta is None and price is not None:
            missed *= min(Fraction(1), price / part.cap.amount)
        if price is not None and price <= 0:
            raise InputError("epsilon", epsilon, "more than zero")
        if not 0 < missed < 1:
            raise InputError("delta", delta, "more than 0 and less than 1", "Below 1 / (number of units) is usual.")
        if missed > part.cap.delta:
            hint = f"Allotment {part.name!r} has {float(part.cap.delta):.3g} in all."
            raise InputError("delta", delta, "at most the delta of the allotment", hint)
        recipe, count = self._recipe(price, missed)
        recipe = settled(recipe, self.model.params)
        refuse_on_table(self.model, self.encoding, recipe)
        plan = self._planned(recipe, part, missed, count, place)
        notes = [] if self.examples is None else [weak_delta(missed, self.examples)]
        if delta is None and price is None:
            notes.append(
                f"No delta was named, so this takes all of the {readable(missed)} of {part.name!r}, and no other model "
                "can be charged to it. Name a smaller delta to leave some."
            )
        plan = replace(plan, warnings=tuple(note for note in notes if note))
        return TrainOffer(self.curator, plan, partial(ModelRelease.read, model=self.model))

    def search(
        self,
        settings: Sequence[Mapping[str, Any]],
        *,
        epsilon: Number,
        delta: Number | None = None,
        allotment: str | None = None,
        choice: Number | None = None,
        held_out: Number = Fraction(1, 10),
    ) -> ModelOffer:
        """Price a search: every one of `settings`, such as {"rate": 0.5}, is trained and paid for, and one is kept.

        The candidate that is right most often on `held_out` of the rows is kept by a private choice, for a tenth of
        epsilon unless `choice` says otherwise. Noise follows from the price of the whole.
        """
        part = _paying(self.curator, allotment)
        price = as_written(epsilon, "epsilon")
        if price <= 0:
            raise InputError("epsilon", epsilon, "more than zero")
        if self.examples is None or "multiplier" in self.settings:
            raise InputError("settings", "multiplier or no examples", "examples declared, and no multiplier")
        missed = part.cap.delta * min(Fraction(1), price / part.cap.amount)
        missed = missed if delta is None else as_written(delta, "delta")
        if not 0 < missed <= part.cap.delta:
            raise InputError("delta", delta, "more than 0 and at most the delta of the allotment")
        known = {name: value for name, value in self.settings.items() if name != "probability"}
        recipe = settled(Recipe(examples=self.examples, **known, multiplier=1), self.model.params)
        plan = self._planned(recipe, part, missed)
        candidates = searched(plan, settings, price, choice=choice, held_out=held_out)
        return ModelOffer(self.curator, candidates, partial(ModelRelease.read, model=self.model))

    def _planned(
        self,
        recipe: Recipe,
        part: Allotment,
        delta: Fraction,
        count: Fraction | None = None,
        checkpoint: Path | None = None,
    ) -> TrainPlan:
        """The plan of one run of this model by a recipe."""
        return TrainPlan(
            schema=self.curator.schema,
            encoding=self.encoding,
            model=self.model,
            recipe=recipe,
            allotment=part,
            delta=delta,
            condition=self.condition,
            count=count,
            checkpoint=checkpoint,
        )

    def _recipe(self, epsilon: Fraction | None, delta: Fraction) -> tuple[Recipe, Fraction | None]:
        """The recipe, and what the number of examples is bought with if it is not declared."""
        settings = dict(self.settings)
        count = None
        if self.examples is None:
            share = as_written(settings.pop("probability"), "probability")
            # Only the probability is fixed beforehand; the number of examples scales the steps, and is bought first.
            many, settings["lot"] = share.denominator, share.numerator
            count = _SHARE if epsilon is None else epsilon * _SHARE
        else:
            many = self.examples
            settings.pop("probability", None)
        if epsilon is None:
            return Recipe(examples=many, **settings), count
        left = epsilon - (count or 0)
        # The note of the offer says what a warning would.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return Recipe.within(left, delta, examples=many, **settings), count


def train_question(
    curator: Curator,
    model: str | Model,
    *,
    target: str,
    features: Sequence[str] | None = None,
    where: str | Predicate | None = None,
    examples: int | None = None,
    lot: Number | None = None,
    probability: Number | None = None,
    steps: int | None = None,
    epochs: Number | None = None,
    hidden: Sequence[int] = (),
    bound: float = 1.0,
    **settings: Any,
) -> TrainQuestion:
    """Read a description of a model against the curator's schema. Nothing is read and nothing is spent."""
    schema = curator.schema
    if schema.unit.neighbours is not Neighbours.ADD_REMOVE:
        hint = "Sampling is accounted for where a unit is added or removed. Declare neighbours = 'add-remove'."
        raise InputError("unit.neighbours", str(schema.unit.neighbours), "add-remove", hint)
    encoding = Encoding.of(schema, target, features)
    if isinstance(model, Model) and hidden:
        raise InputError("hidden", list(hidden), "absent: the model has its own layers")
    chosen = model if isinstance(model, Model) else model_named(model, hidden)
    condition = parse_condition(where) if isinstance(where, str) else where
    asked = {**settings, "bound": bound}
    if examples is None:
        if lot is not None or probability is None:
            hint = "The true number of rows is private: declare about how many there are, or the probability alone."
            raise InputError("examples", None, "given with lot; else probability is, and a count is bought", hint)
        asked |= _lasting(as_written(probability, "probability"), steps, epochs, asked)
    else:
        if lot is not None and probability is not None:
            raise InputError("probability", probability, "absent where lot is given")
        many = Recipe(examples=examples, lot=1, steps=1, bound=1, multiplier=1).examples
        size = as_written(lot, "lot") if lot is not None else None
        if probability is not None:
            size = as_written(probability, "probability") * many
        if size is None:
            size = Fraction(min(many, max(256, math.ceil(many / 50))))
        asked |= {"lot": size, **_lasting(size / many, steps, epochs, asked)}
    # All but the noise is checked before anything is searched for.
    trial = {name: value for name, value in asked.items() if name != "probability"}
    Recipe(**{"lot": 1, "steps": 1, "multiplier": 1, "examples": examples or 10**9, **trial})
    return TrainQuestion(
        curator=curator,
        model=fitted(chosen, encoding),
        encoding=encoding,
        condition=None if condition is None else checked(condition, schema),
        examples=examples,
        settings=asked,
    )


def _lasting(probability: Fraction, steps: int | None, epochs: Number | None, asked: dict[str, Any]) -> dict[str, Any]:
    """How long the run lasts: in steps, in passes over the data, or as long as the noise that was named allows."""
    if not 0 < probability <= 1:
        raise InputError("probability", str(probability), "more than 0 and at most 1: a lot is a part of the examples")
    if steps is not None and epochs is not None:
        raise InputError("epochs", epochs, "absent where steps are given")
    found: dict[str, Any] = {"probability": probability}
    if steps is not None:
        found["steps"] = steps
    elif epochs is not None or "multiplier" not in asked:
        passes = as_written(_EPOCHS if epochs is None else epochs, "epochs")
        if passes <= 0:
            raise InputError("epochs", epochs, "more than zero")
        found["steps"] = math.ceil(passes / probability)
    return found


def _paying(curator: Curator, name: str | None) -> Allotment:
    parts = curator.ledger.account(curator.schema.name).budget.allotments
    plans = [part for part in parts if part.kind == "plan"]
    part = plans[0] if name is None and len(plans) == 1 else curator.allotment(name)
    if part.kind != "plan":
        raise InputError("allotment", f"{part.name} ({part.kind})", "an allotment of kind plan", _DIVIDE)
    return part


def _place(checkpoint: str | Path) -> Path:
    place = Path(checkpoint)
    if place.is_dir() or not place.absolute().parent.is_dir():
        raise InputError("checkpoint", str(checkpoint), "a file in a folder that exists")
    return place
