"""A model to be trained, read against a schema: its recipe is known but for the noise, which the price decides."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from attrs import evolve

from discreet.accounting.words import readable
from discreet.core.exact import Number, as_written
from discreet.core.unit import Unit
from discreet.data.schema import Schema
from discreet.errors import MISSING, InputError, Phrase
from discreet.learn.encoding import Encoding
from discreet.learn.model import Model, check_trainable, fit_model, model_named
from discreet.learn.noise import drawn_noise, settle_noise
from discreet.learn.plan import TrainPlan
from discreet.learn.recipe import MOST_EXACT, Recipe, weak_delta
from discreet.learn.release import ModelRelease
from discreet.learn.run_plan import checkpoint_path
from discreet.learn.search import CHOICE, choice_epsilon
from discreet.learn.search_plan import SearchPlan, plan_search
from discreet.learn.trainer import check_machinery
from discreet.ledger.budget import Allotment
from discreet.ledger.door import Answer
from discreet.query.ask import Checked
from discreet.query.forms import check_condition
from discreet.query.predicate import Predicate
from discreet.query.price import Price

if TYPE_CHECKING:
    from discreet.learn.ask import SearchAsk, TrainAsk

__all__ = ["CheckedSearch", "CheckedTrain", "check_training"]

_EPOCHS = 20
_UNITS = 10**6  # noise multipliers are multiples of 1/_UNITS where they follow from an accuracy
_SHARE = Fraction(1, 50)  # of the price, for the number of examples where it is not declared


@dataclass(frozen=True, eq=False)
class CheckedTrain(Checked[ModelRelease]):
    """A model to be trained."""

    schema: Schema
    model: Model
    encoding: Encoding
    condition: Predicate | None
    examples: int | None
    settings: dict[str, Any]
    delta: Number | None
    checkpoint: Path | None
    code: dict[str, Any]
    """The optimiser and the augmentation, where they are functions."""

    def read(self, answer: Answer, cost: str, remaining: str) -> ModelRelease:
        """The model that an answer holds."""
        return ModelRelease.read(answer, cost, remaining, model=self.model)

    def priced(self, allotment: Allotment, price: Price | None) -> TrainPlan:
        """The whole run, at a price or at the one that steps and multiplier fix."""
        if price is not None and price.way == "within":
            return self._within(allotment, price)
        fixed = {"steps", "multiplier"} <= set(self.settings)  # a lot or a probability there is always
        if fixed == (price is not None):
            allowed = "left out: steps and multiplier fix it" if fixed else "given unless a share of the allotment is"
            raise InputError("epsilon", None if price is None else price.amount, allowed)
        return self._at(allotment, None if price is None else price.spent(allotment)[1])

    def plan(self, allotment: Allotment, price: Price) -> TrainPlan:
        """The whole run at a price."""
        return self.priced(allotment, price)

    def _within(self, allotment: Allotment, price: Price) -> TrainPlan:
        """The run with the most noise that leaves each entry of a step's mean gradient within the price."""
        if self.examples is None:
            hint = "The noise on a mean is divided by their number. Declare about how many there are."
            raise InputError("within", float(price.amount), "left out where the number of examples is bought", hint)
        if self.settings.get("clipping") == "adaptive":
            hint = "The noise follows the bound, and the bound the data."
            raise InputError("within", float(price.amount), "left out with adaptive clipping", hint)
        if "multiplier" in self.settings:
            raise InputError("within", float(price.amount), "left out: multiplier says how much noise there is")
        known = {name: value for name, value in self.settings.items() if name != "probability"}
        one = Recipe(examples=self.examples, **known, multiplier=1)
        most = float(price.amount) / NormalDist().inv_cdf((1 + price.confidence) / 2)
        multiplier = Fraction(math.floor(most / one.gradient_noise * _UNITS), _UNITS)
        while 0 < multiplier <= MOST_EXACT:  # what is drawn is a little wider; smaller by a unit at least each time
            drawn = drawn_noise(settle_noise(evolve(one, multiplier=multiplier), self.model.params), self.model.params)
            if drawn <= most:
                break
            multiplier = Fraction(math.floor(multiplier * _UNITS * Fraction(most) / Fraction(drawn)), _UNITS)
        if not 0 < multiplier <= MOST_EXACT:
            allowed = "smaller: so much noise cannot be drawn" if multiplier else "larger: no noise is so small"
            raise InputError("within", float(price.amount), allowed)
        plan = replace(self, settings={**self.settings, "multiplier": multiplier})._at(allotment, None)
        return replace(plan, confidence=price.confidence)

    def _at(self, part: Allotment, price: Fraction | None, *, former: bool = False) -> TrainPlan:
        missed = delta_of(self.delta, part, price)
        recipe, count = self._recipe(price, missed, former=former)
        recipe = settle_noise(recipe, self.model.params)
        check_trainable(self.model, self.encoding, recipe, self.code["augment"])
        plan = self.planned(recipe, part, missed, count)
        notes = [] if self.examples is None else [weak_delta(missed, self.examples)]
        if self.delta is None and price is None:
            notes.append(
                f"No delta was named, so this takes all of the {readable(missed)} of {part.name!r}, and no other model "
                "can be charged to it. Name a smaller delta to leave some."
            )
        earlier = None if price is None or former else partial(self._at, part, price, former=True)
        return replace(plan, warnings=tuple(note for note in notes if note), earlier=earlier)

    def search(self, ask: SearchAsk) -> CheckedSearch:
        """The same for each of several settings."""
        if self.examples is None or "multiplier" in self.settings:
            raise InputError(
                "settings", Phrase("a multiplier, or no examples"), "given with examples and without a multiplier"
            )
        if self.settings.get("rows", 1) != 1:
            hint = "The choice counts right answers, of which a person may have one."
            raise InputError("rows", self.settings["rows"], "left out where settings are searched for", hint)
        if self.code["optimizer"] is not None:
            for candidate in ask.settings:
                _check_pace(candidate)
        return CheckedSearch(self, ask)

    def planned(self, recipe: Recipe, part: Allotment, delta: Fraction, count: Fraction | None = None) -> TrainPlan:
        """The plan of one run of this model by a recipe."""
        recipe.refuse_long_warmup()
        return TrainPlan(
            schema=self.schema,
            encoding=self.encoding,
            model=self.model,
            recipe=recipe,
            allotment=part,
            delta=delta,
            condition=self.condition,
            count=count,
            checkpoint=self.checkpoint,
            **self.code,
        )

    def _recipe(self, epsilon: Fraction | None, delta: Fraction, *, former: bool) -> tuple[Recipe, Fraction | None]:
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
            return Recipe.within(left, delta, examples=many, former=former, **settings), count


@dataclass(frozen=True, eq=False)
class CheckedSearch(Checked[ModelRelease]):
    """Settings to be tried, of a model to be trained."""

    training: CheckedTrain
    ask: SearchAsk

    def read(self, answer: Answer, cost: str, remaining: str) -> ModelRelease:
        """The model that was kept."""
        return self.training.read(answer, cost, remaining)

    def priced(self, allotment: Allotment, price: Price | None) -> SearchPlan:
        """All candidates and the choice, at a price or within so many right answers of the best candidate."""
        if price is None:
            raise InputError("price", MISSING, "exactly one of epsilon, share, within")
        if price.way != "within":
            return replace(self.plan(allotment, price), confidence=price.confidence)
        choice = self._choice_within(price)
        paid = replace(price, way="epsilon", amount=choice / CHOICE)
        try:
            if paid.amount > allotment.cap.amount:
                raise InputError(
                    "epsilon", float(paid.amount), f"at most the {float(allotment.cap.amount):.3g} there is"
                )
            return replace(self.plan(allotment, paid, choice), confidence=price.confidence)
        except InputError as problem:
            if problem.field != "epsilon":
                raise
            hint = "Fewer candidates cost less to tell apart."
            raise InputError("within", float(price.amount), "larger: no price in reach buys it", hint) from None

    def _choice_within(self, price: Price) -> Fraction:
        """What a choice costs that is within so many right answers of the best; the search costs ten times as much."""
        if self.ask.runs is not None:
            raise InputError("within", float(price.amount), "left out where the number of runs is random")
        if self.ask.choice is not None:
            hint = "The accuracy says what the choice costs, and the whole is ten times as much."
            raise InputError("choice", self.ask.choice, "left out where the price is an accuracy", hint)
        return choice_epsilon(price.amount, price.confidence, len(self.ask.settings))

    def plan(self, allotment: Allotment, price: Price, choice: Fraction | None = None) -> SearchPlan:
        """All candidates and the choice, at one price."""
        training, amount = self.training, price.spent(allotment)[1]
        missed = delta_of(training.delta, allotment, amount)
        known = {name: value for name, value in training.settings.items() if name != "probability"}
        recipe = Recipe(examples=training.examples or 1, **known, multiplier=1)
        plan = training.planned(settle_noise(recipe, training.model.params), allotment, missed)
        tried = self.ask.settings
        chosen = self.ask.choice if choice is None else choice
        return plan_search(plan, tried, amount, choice=chosen, held_out=self.ask.held_out, runs=self.ask.runs)


def delta_of(delta: Number | None, part: Allotment, price: Fraction | None) -> Fraction:
    """The delta of a run: the one that is named, or the same part of the allotment's as its epsilon is."""
    missed = part.cap.delta if delta is None else as_written(delta, "delta")
    if delta is None and price is not None:
        missed *= min(Fraction(1), price / part.cap.amount)
    if not 0 < missed < 1:
        raise InputError("delta", delta, "more than 0 and less than 1", "Below 1 / (number of units) is usual.")
    if missed > part.cap.delta:
        hint = f"Allotment {part.name!r} has {float(part.cap.delta):.3g} in all."
        raise InputError("delta", delta, "at most the delta of the allotment", hint)
    return missed


def check_training(ask: TrainAsk, schema: Schema) -> CheckedTrain:
    """What was asked, read against a schema."""
    encoding = Encoding.of(schema, ask.target, ask.features)
    if isinstance(ask.model, Model) and ask.hidden:
        raise InputError("hidden", list(ask.hidden), "left out: the model has layers of its own")
    chosen = ask.model if isinstance(ask.model, Model) else model_named(ask.model, ask.hidden)
    asked = {**ask.recipe_settings(), "bound": ask.bound}
    examples, lot, probability = ask.examples, ask.lot, ask.probability
    if examples is None:
        if lot is not None or probability is None:
            hint = (
                "The true number of rows is private. If it is not known to the public, set the probability that a row "
                "is in a step, such as 0.02: then a noisy count of the rows is part of the price."
            )
            raise InputError("examples", None, "given: about how many rows there are", hint)
        asked |= _lasting(as_written(probability, "probability"), ask, asked)
    else:
        if lot is not None and probability is not None:
            raise InputError("probability", probability, "left out where lot is given")
        many = Recipe(examples=examples, lot=1, steps=1, bound=1, multiplier=1).examples
        size = as_written(lot, "lot") if lot is not None else None
        if probability is not None:
            size = as_written(probability, "probability") * many
        if size is None:
            size = Fraction(min(many, max(256, math.ceil(many / 50))))
        asked |= {"lot": size, **_lasting(size / many, ask, asked)}
    check_machinery(ask.code["optimizer"], None)
    if ask.code["optimizer"] is not None:
        _check_pace(asked)
    # All but the noise is checked before anything is searched for.
    trial = {name: value for name, value in asked.items() if name != "probability"}
    known = Recipe(**{"lot": 1, "steps": 1, "multiplier": 1, "examples": examples or 10**9, **trial})
    _check_rows(known.rows, schema.unit)
    return CheckedTrain(
        schema=schema,
        model=fit_model(chosen, encoding),
        encoding=encoding,
        condition=check_condition(ask.where, schema),
        examples=examples,
        settings=asked,
        delta=ask.delta,
        checkpoint=checkpoint_path(ask.checkpoint),
        code=ask.code,
    )


def _check_pace(settings: Mapping[str, Any]) -> None:
    """Refuse settings that an optimiser of optax has of its own: they would change nothing."""
    for name in ("optimizer", "rate", "momentum", "schedule", "warmup"):
        if name in settings:
            raise InputError(name, settings[name], "left out where the optimiser is one of optax, which has its own")


def _check_rows(rows: int, unit: Unit) -> None:
    """Refuse more rows of a person than the schema lets count, and several where every row is another unit's."""
    if unit.column is None and rows != 1:
        hint = "Name the column that identifies a person: [unit] column = ..., groups = ..., rows = ..."
        raise InputError("rows", rows, "left out where the unit is one row", hint)
    if rows > unit.most_rows:
        hint = "The schema says so: [unit] rows."
        raise InputError("rows", rows, f"at most the {unit.most_rows} rows of a person that count", hint)


def _lasting(probability: Fraction, ask: TrainAsk, asked: dict[str, Any]) -> dict[str, Any]:
    """How long the run lasts: in steps, in passes over the data, or as long as the noise that was named allows."""
    if not 0 < probability <= 1:
        raise InputError("probability", probability, "more than 0 and at most 1: a lot is a part of the examples")
    if ask.steps is not None and ask.epochs is not None:
        raise InputError("epochs", ask.epochs, "left out where steps are given")
    found: dict[str, Any] = {"probability": probability}
    if ask.steps is not None:
        found["steps"] = ask.steps
    elif ask.epochs is not None or "multiplier" not in asked:
        passes = as_written(_EPOCHS if ask.epochs is None else ask.epochs, "epochs")
        if passes <= 0:
            raise InputError("epochs", ask.epochs, "more than zero")
        found["steps"] = math.ceil(passes / probability)
    return found
