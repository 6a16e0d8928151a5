"""A run on a caller's arrays, under a ledger: charged whole before its first step, its id for these rows alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import jax
import numpy as np

from discreet.core.digest import digest_of
from discreet.core.exact import Number
from discreet.core.mechanism import Bits
from discreet.core.unit import Unit
from discreet.errors import InputError
from discreet.learn.account import LedgerAccount
from discreet.learn.ask import paying_plan
from discreet.learn.checkpoint import Checkpoint
from discreet.learn.curve import Curve
from discreet.learn.examples import Examples
from discreet.learn.gradients import Augment
from discreet.learn.model import Model
from discreet.learn.noise import settle_noise
from discreet.learn.optimizer import Optimizer
from discreet.learn.recipe import Recipe, weak_delta
from discreet.learn.release import ModelRelease
from discreet.learn.run import augment_fingerprint, fingerprint, identity_of, resume
from discreet.learn.run_plan import RunPlan, checkpoint_path
from discreet.learn.trainer import Trained, check_losses
from discreet.learn.training import delta_of
from discreet.ledger.budget import Allotment
from discreet.ledger.quote import Quote

__all__ = ["ArrayPlan", "ArrayRun"]

Tree = Any
_ROW = (
    "an account whose unit is one row, added or removed",
    "Without persons every row is an example. Say whose each is (persons=..., unit=...) where a person has several.",
)
_PERSON = (
    "an account whose unit is one person, added or removed, named as `unit` is",
    "Of the persons that the account protects, each row must say whose it is.",
)


@dataclass(frozen=True, eq=False, kw_only=True)
class ArrayPlan(RunPlan):
    """A model to be trained on arrays under one fixed price.

    Guarantee
        The weights (every state of the run, the average and the reported losses) cost `cost`: one row, or one person
        where rows are persons', is added or removed. With noise "device" under `Recipe`'s premise.
        Proof: docs/proofs/training.md.
    """

    version: ClassVar[int] = 2
    data_name: str
    protected: Unit
    shaped: tuple[Tree, Tree]
    """Two made-up rows of the shapes that all have."""

    @property
    def dataset(self) -> str:
        """The dataset's name, as the ledger knows it."""
        return self.data_name

    @property
    def unit(self) -> Unit:
        """What is protected."""
        return self.protected

    @property
    def two(self) -> tuple[Tree, Tree]:
        """Two made-up rows."""
        return self.shaped

    @property
    def asked(self) -> dict[str, Any]:
        """What is recorded of the question beside model and recipe: the shape of a row, for there is no schema."""
        row = [[str(leaf.dtype), list(leaf.shape[1:])] for leaf in jax.tree.leaves(self.shaped)]
        persons = self.protected.column is not None
        told = getattr(self.model.loss, "__name__", "")
        return {"encoding": None, "where": None, "count": None, "row": row, "persons": persons, "loss": told}

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        return digest_of({"dataset": self.data_name, "unit": str(self.protected), "query": self.query})

    def measure(self, data: Examples, bits: Bits) -> dict[str, Any]:
        """Train. Called by the one door only."""
        run = self.resume(bits)
        run.keep()
        return self.recorded(run.go(data.laid_out(self.recipe.rows, run.secret), self.watch))


@dataclass(frozen=True, slots=True, eq=False)
class ArrayRun:
    """What `train` was given, read: to be run under a ledger, or in a checkpoint alone."""

    apply: Callable[..., Any]
    loss: Callable[..., Any]
    params: Tree
    examples: Examples
    recipe: Recipe
    optimizer: Optimizer | None = None
    augment: Augment | None = None
    devices: Sequence[Any] | None = None
    name: str = "model"
    curve: Curve | None = None

    @property
    def _model(self) -> Model:
        return Model(self.apply, self.params, self.loss, self.name)

    @property
    def _two(self) -> tuple[Tree, Tree]:
        two: tuple[Tree, Tree] = jax.tree.map(
            lambda leaf: np.zeros((2, *np.shape(leaf)[1:]), leaf.dtype), self.examples.pair
        )
        return two

    def charged(
        self, account: LedgerAccount, delta: Number | None, unit: str | None, checkpoint: str | Path | None
    ) -> ModelRelease:
        """Through the one door, and read from what is then on the ledger."""
        with account.opened() as ledger:
            opened = ledger.account(account.dataset)
            if self.examples.persons is not None:
                _check_person(unit, opened.unit)
            part = paying_plan(opened.budget, account.allotment)
            account = replace(account, allotment=part.name)
            plan = self._plan(account.dataset, part, delta, self._unit(unit), checkpoint_path(checkpoint))
            check_losses(plan.model.losses, self.params, plan.two, plan.recipe, self.augment)
            known = None if account.release is None else ledger.find(account.release)
            mismatch = _ROW if self.examples.persons is None else _PERSON
            with self._watched(plan.recipe), plan.kept(answered=known is not None and known.answer is not None):
                answer = account.charge(plan, self.examples, ledger, lambda _: plan.delta, mismatch)
            paid = Quote(part, answer.charge, ledger.remaining(account.dataset, part.name))
            return ModelRelease.read(answer, paid.cost, paid.remaining, model=plan.model)

    def _plan(self, dataset: str, part: Allotment, delta: Number | None, unit: Unit, kept: Path | None) -> ArrayPlan:
        if delta is None:
            hint = f"Allotment {part.name!r} has {float(part.cap.delta):.3g} in all."
            raise InputError("delta", None, "the part of the allotment's delta that this run takes", hint)
        missed: Fraction = delta_of(delta, part, None)
        if note := weak_delta(missed, self.recipe.examples):
            warnings.warn(note, UserWarning, stacklevel=4)
        return ArrayPlan(
            model=self._model,
            recipe=settle_noise(self.recipe, self.params),
            allotment=part,
            delta=missed,
            checkpoint=kept,
            optimizer=self.optimizer,
            augment=self.augment,
            devices=self.devices,
            data_name=dataset,
            protected=unit,
            shaped=self._two,
            watch=None if self.curve is None else self.curve.after,
        )

    def _watched(self, recipe: Recipe) -> AbstractContextManager[None]:
        return nullcontext() if self.curve is None else self.curve.watching(self.apply, recipe)

    def _unit(self, unit: str | None) -> Unit:
        if self.examples.persons is None:
            if unit is not None:
                raise InputError("persons", None, "an array that says whose each row is, where unit is given")
            return Unit()
        if not isinstance(unit, str) or not unit:
            raise InputError("unit", unit, "what the account calls a person, such as 'patient'")
        return Unit(unit, groups=1, rows=self.recipe.rows)

    def kept(self, checkpoint: str | Path | None) -> Trained:
        """Without a ledger: in a checkpoint, from which it goes on if it was stopped."""
        path, recipe = checkpoint_path(checkpoint), settle_noise(self.recipe, self.params)
        losses = self._model.losses
        own = {} if self.augment is None else {"augment": augment_fingerprint(self.augment, self._two)}
        kept = None if path is None else Checkpoint(path)
        with self._watched(recipe), nullcontext() if kept is None else kept.held():
            run = resume(
                losses,
                self.params,
                recipe,
                identity_of(recipe, fingerprint(losses, self.params, self._two), **own),
                checkpoint=kept,
                optimizer=self.optimizer,
                augment=self.augment,
                devices=self.devices,
            )
            run.keep()
            watch = None if self.curve is None else self.curve.after
            return run.go(self.examples.laid_out(recipe.rows, run.secret), watch)


def _check_person(unit: str | None, protected: str) -> None:
    """Refuse a name that is not what the account calls a person; an account of rows is refused later, as such."""
    before, after = str(Unit("?", groups=1, rows=1)).split("?")
    known = protected.removeprefix(before).removesuffix(after)
    if f"{before}{known}{after}" == protected and isinstance(unit, str) and unit != known:
        raise InputError("unit", unit, "what the account calls a person", "Nothing was spent.", among=[known])
