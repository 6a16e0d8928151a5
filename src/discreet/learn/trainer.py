"""Training any model in private: `train(apply, loss, params, data, recipe)`, under a ledger or without one.

The loop is sample, sum, add noise, step: `lot.sample_lot`, then `sum_lot`, `add_noise` and `advance` of `step.Step`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

import jax
import jax.numpy as jnp
import numpy as np

from discreet.core.exact import Number
from discreet.core.progress import notify, showing
from discreet.errors import DiscreetError, InputError, Phrase, kind_of
from discreet.learn.account import LedgerAccount
from discreet.learn.bands import BandedNoise
from discreet.learn.examples import Examples, count_rows
from discreet.learn.gradients import Losses
from discreet.learn.keys import new_secret
from discreet.learn.lot import capacity, microbatches, sample_lot
from discreet.learn.noise import settle_noise
from discreet.learn.objective import check_labels, cross_entropy, logistic
from discreet.learn.optimizer import Optimizer, optimizer_of
from discreet.learn.persons import shape_of_persons
from discreet.learn.recipe import Recipe
from discreet.learn.row_keys import KeyedLosses, predictor, takes_key
from discreet.learn.step import Augment, State, Step, of_shape

if TYPE_CHECKING:
    from discreet.learn.curve import Curve
    from discreet.learn.release import ModelRelease

__all__ = ["Trained", "check_losses", "check_machinery", "losses_of", "train", "train_losses"]

Tree = Any
Array = Any
After = Callable[[State], None]
Apply = Callable[[Tree, Array], Array]
Loss = Callable[[Array, Array], Array]
_REPORTS = 200  # of progress, about


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A trained model. `losses` are the noisy mean losses of the steps, if they were reported."""

    state: State
    recipe: Recipe
    losses: list[float] = field(default_factory=list)

    @property
    def params(self) -> Tree:
        """What to use: the average of the parameters if one was kept, else the last ones."""
        return self.state.params if self.state.average is None else self.state.average


@lru_cache(maxsize=32)
def losses_of(apply: Apply, loss: Loss) -> Losses:
    """The loss of each example of a batch (x, y). A model with a parameter `key` gets one for each example and step."""
    if takes_key(apply):
        return KeyedLosses(apply, loss)

    def losses(params: Tree, batch: Tree) -> Array:
        x, y = batch
        return loss(apply(params, x), y)

    return losses


class TrainOptions(TypedDict, total=False):
    """What else `train` takes, by name, with a ledger or without one."""

    persons: Any
    dataset: str | None
    release: str | None
    allotment: str | None
    delta: Number | None
    who: str | None
    unit: str | None
    name: str
    checkpoint: str | Path | None
    optimizer: Optimizer | None
    augment: Augment | None
    devices: Sequence[Any] | None
    secret: bytes | None
    state: State | None
    after: After | None
    curve: Curve | None


@overload
def train(
    apply: Apply,
    loss: Loss,
    params: Tree,
    data: Any,
    recipe: Recipe,
    *,
    ledger: None = None,
    **options: Unpack[TrainOptions],
) -> Trained: ...


@overload
def train(
    apply: Apply, loss: Loss, params: Tree, data: Any, recipe: Recipe, *, ledger: Any, **options: Unpack[TrainOptions]
) -> ModelRelease: ...


def train(
    apply: Apply,
    loss: Loss,
    params: Tree,
    data: Any,
    recipe: Recipe,
    *,
    persons: Any = None,
    ledger: Any = None,
    dataset: str | None = None,
    release: str | None = None,
    allotment: str | None = None,
    delta: Number | None = None,
    who: str | None = None,
    unit: str | None = None,
    name: str = "model",
    checkpoint: str | Path | None = None,
    optimizer: Optimizer | None = None,
    augment: Augment | None = None,
    devices: Sequence[Any] | None = None,
    secret: bytes | None = None,
    state: State | None = None,
    after: After | None = None,
    curve: Curve | None = None,
) -> Trained | ModelRelease:
    """Train `apply(params, x)` on `data = (x, y)` under `loss(outputs, y) -> [B]`, by the recipe.

    `data` may be an iterator of chunks (x, y) instead: they are put together in memory, for a lot is drawn from all.
    A model `apply(params, x, key)` (dropout) is shown each row alone, with a key of its own that follows from secret,
    step, index in the lot and copy; to predict, call it with `key=None`, and it should draw nothing.
    `optimizer` is one of optax, or as the recipe says. `augment(key, batch)` makes `recipe.copies` of an
    example: it is shown a batch of one, with a key of its own. `devices` share each microbatch.

    `persons` says whose each row is. A person is then one example: the gradients of up to `recipe.rows` rows are
    averaged before they are clipped, and `recipe.examples` is about how many persons there are.

    With a `ledger` (a `Ledger`, its path or address, or a curator) the whole run is charged to the account of `dataset`
    before its first step, to an `allotment` of kind plan, of which it takes `delta`; where there are persons, `unit` is
    what the account calls them. What comes back is a release. Under the same `release` id it is the stored one, for the
    same rows alone. `name` is what the model card calls it.

    With a `checkpoint`, a file, a run that was stopped goes on where it stood. Without a ledger, destroy the file when
    the weights are safe (`Checkpoint(path).destroy()`): it holds the run's secret.

    A `curve` has accuracy on public examples and epsilon after each epoch, when the run has ended.

    Without either, `state` goes on from where a run stood, under the same `secret`. `after(state)` is
    called after every step; what it is shown is private already, and it must not look at the data to decide anything.
    `secret` decides every lot and all noise; leave it out for a fresh one. Warning: one secret is for one run. Two runs
    with the same secret on other data, or with another recipe, model or optimiser, have the same noise: it cancels in
    the difference of their weights. Whoever has the secret can take the noise off.

    Guarantee
        All states together cost `recipe.cost`: one example (a row of x and y, or all rows of one person) is added or
        removed. The secret is known to nobody and used for no other run. The number of rows in `data` is not used, but
        the one who calls knows it; `recipe.examples` is public. Before the first step, and before a charge, the arrays
        are checked for values that are no numbers: an error tells the caller, who has them, and nobody else.
        Proof: docs/proofs/training.md.
    """
    for argument, function in (("apply", apply), ("loss", loss)):
        if not callable(function):
            raise InputError(argument, kind_of(function), "a function")
    _check_given(params, recipe, augment)
    check_machinery(optimizer, devices)
    examples = Examples.read(data, persons)
    if recipe.rows > 1 and examples.persons is None:
        raise InputError("persons", None, f"an array that says whose each row is, where up to {recipe.rows} rows count")
    _check_targets(apply, loss, params, examples)
    account = LedgerAccount.read(
        {"ledger": ledger, "dataset": dataset, "release": release, "allotment": allotment, "who": who}
    )
    if account is not None or checkpoint is not None:
        for argument, value in (("secret", secret), ("state", state), ("after", after)):
            if value is not None:
                raise InputError(argument, kind_of(value), "left out where a ledger or a checkpoint is named")
        from discreet.learn.array_plan import ArrayRun  # which is made of runs, and they of what is here

        if curve is not None and account is not None:
            curve.check_apart(examples.arrays)
        run = ArrayRun(apply, loss, params, examples, recipe, optimizer, augment, devices, name, curve)
        return run.kept(checkpoint) if account is None else run.charged(account, delta, unit, checkpoint)
    for argument, given in (("delta", delta), ("unit", unit)):
        if given is not None:
            raise InputError("ledger", None, f"given where {argument} is")
    secret = new_secret() if secret is None else secret
    with nullcontext() if curve is None else curve.watching(apply, recipe):
        return train_losses(
            losses_of(apply, loss),
            params,
            examples.laid_out(recipe.rows, secret),
            recipe,
            secret=secret,
            optimizer=optimizer,
            augment=augment,
            state=state,
            devices=devices,
            after=after if curve is None else _both(curve.after, after),
        )


def _both(first: After, second: After | None) -> After:
    def after(state: State) -> None:
        first(state)
        if second is not None:
            second(state)

    return after


def _check_targets(apply: Any, loss: Any, params: Tree, examples: Examples) -> None:
    """Refuse labels that a model has no score for. The one who calls has them in hand."""
    x, y = examples.pair
    many = count_rows(y)
    if loss is cross_entropy and many:
        with _model_errors():
            outputs = jax.eval_shape(predictor(apply), params, of_shape(x)).shape
        if len(outputs) != 2:
            raise InputError("apply", Phrase(f"shape {outputs} for two examples"), "scores, one for each class")
        check_labels(y, outputs[-1])
    if loss is logistic and many and not ((np.asarray(y) >= 0) & (np.asarray(y) <= 1)).all():
        raise InputError("y", Phrase("a label out of range"), "0 or 1 for each example")


def train_losses(
    losses: Losses,
    params: Tree,
    data: Tree,
    recipe: Recipe,
    *,
    secret: bytes | None = None,
    optimizer: Optimizer | None = None,
    augment: Augment | None = None,
    state: State | None = None,
    devices: Sequence[Any] | None = None,
    after: After | None = None,
    heard: list[float] | None = None,
    tell_loss: bool = True,
) -> Trained:
    """`train` for any `losses(params, batch) -> [B]` and any tree of arrays with examples along their first axis.

    `heard` is the list that reported losses are added to. They are shown as progress if `tell_loss`: not where a run
    could be made again under another secret after someone saw them.
    """
    many = count_rows(data)
    _check_given(params, recipe, augment)
    check_machinery(optimizer, devices)
    recipe = settle_noise(recipe, params)
    shared = tuple(devices) if devices is not None else ()
    chosen: Any = optimizer
    step = _step(losses, recipe, chosen, augment, shared)
    room = capacity(recipe, max(len(shared), 1), sum(leaf.size for leaf in jax.tree.leaves(params)))
    if many:
        with _model_errors():
            step.check(params, data)
    secret = new_secret() if secret is None else secret
    now = step.start(params) if state is None else state
    placed = step.place(data)
    heard = [] if heard is None else heard
    every = max(1, recipe.steps // _REPORTS)
    banded = BandedNoise(secret, recipe.multiplier, recipe.bands)
    with showing():
        while now.step < recipe.steps:
            lot = microbatches(sample_lot(secret, now.step, many, recipe.probability, recipe.bands), room)
            total = step.sum_lot(now.params, placed, lot, secret, now.step, now.bound)
            noisy = step.add_noise(total, now.params, secret, now.step, now.bound, banded)
            now, mean = step.advance(now, noisy), noisy.loss
            if mean is not None:
                heard.append(mean)
            if now.step % every == 0:
                # Only what is public may be shown: the number of the step, and the loss if it was paid for.
                shown = "" if mean is None or not tell_loss else f", loss about {np.mean(heard[-_REPORTS:]):.3f}"
                notify(f"training: step {now.step:,} of {recipe.steps:,}{shown}", now.step / recipe.steps)
            if after is not None:
                after(now)
    return Trained(now, recipe, heard)


@lru_cache(maxsize=8)
def _step(losses: Losses, recipe: Recipe, optimizer: Any, augment: Augment | None, devices: tuple[Any, ...]) -> Step:
    """Compiled once for runs that are alike."""
    return Step(losses, recipe, optimizer or optimizer_of(recipe), augment, devices)


def check_losses(losses: Losses, params: Tree, data: Tree, recipe: Recipe, augment: Augment | None = None) -> None:
    """Raise what the first step would raise, of any data of these shapes. Nothing is computed and no data is read."""
    _check_given(params, recipe, augment)
    recipe = settle_noise(recipe, params)
    data = data if recipe.rows == 1 else shape_of_persons(data, recipe.rows)
    step = Step(losses, recipe, optimizer_of(recipe), augment)
    with _model_errors():
        step.check(params, data)
        step.trace(params, data)


@contextmanager
def _model_errors() -> Iterator[None]:
    """Whatever a model raises while it is traced, or tried on made-up rows, as an InputError: no data is involved."""
    try:
        yield
    except DiscreetError:
        raise
    except Exception as problem:
        hint = f"It says: {type(problem).__name__}: {problem}"[:500]
        allowed = "a function of params and examples of these shapes whose gradient JAX can compute"
        raise InputError("model", Phrase("one that fails"), allowed, hint) from None


def _check_given(params: Tree, recipe: Recipe, augment: Augment | None) -> None:
    """Refuse parameters that cannot be trained, and copies that nobody makes."""
    _parameters(params)
    if not isinstance(recipe, Recipe):
        raise InputError("recipe", kind_of(recipe), "a Recipe")
    recipe.refuse_long_warmup()
    if augment is not None and not callable(augment):
        raise InputError("augment", kind_of(augment), "a function of a key and a batch of one example, or None")
    if recipe.copies > 1 and augment is None:
        raise InputError("augment", None, f"a function that makes {recipe.copies} copies of each example")


def _parameters(params: Tree) -> None:
    for leaf in jax.tree.leaves(params):
        if not hasattr(leaf, "dtype") or not jnp.issubdtype(leaf.dtype, jnp.floating):
            raise InputError("params", Phrase(getattr(leaf, "dtype", kind_of(leaf))), "arrays of real numbers")
    if not jax.tree.leaves(params):
        raise InputError("params", Phrase("none"), "at least one array: there is nothing to train")


def check_machinery(optimizer: Any, devices: Any) -> None:
    """Refuse what is neither an optimiser nor a list of devices."""
    if optimizer is not None and not (callable(getattr(optimizer, "init", None)) and hasattr(optimizer, "update")):
        raise InputError("optimizer", kind_of(optimizer), "one of optax, such as optax.adam(1e-3), or None")
    if devices is not None and not isinstance(devices, (list, tuple)):
        raise InputError("devices", kind_of(devices), "a list of devices, such as jax.devices(), or None")
