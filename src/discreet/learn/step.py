"""One step of training as small pure functions: sum what a lot says, add noise, move the parameters.

`sum_lot` is the only one that sees examples. What `add_noise` returns is private already; `advance` sees nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from discreet.errors import InputError, Phrase
from discreet.learn.clip import clipped_sum, refuse_mixed_losses, refuse_mixing
from discreet.learn.gradients import Augment, Losses, augmented, by_layers
from discreet.learn.lattice import lattice_shares, lattice_sigma, lattice_sum
from discreet.learn.lot import Microbatch
from discreet.learn.noise import add_noise, device_key, exact_noise
from discreet.learn.optimizer import Optimizer
from discreet.learn.persons import PersonLosses, unfold
from discreet.learn.recipe import LOSS_WEIGHT, Recipe
from discreet.learn.row_keys import Draws, KeyedLosses, row_keys, trained_losses
from discreet.learn.sampler import lattice_length
from discreet.learn.slots import arrange, slot_count, slots_of

__all__ = ["Augment", "State", "Step", "of_shape"]

Tree = Any
Array = Any
_SPREAD: Any = PartitionSpec
_SHAPED: Any = jax.ShapeDtypeStruct
_DRAWS = Draws.shapes()
_RESIDENT = 4 << 30  # bytes of data that are kept on the device


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Where a run stands after `step` steps: everything the next one needs besides the data and the secret."""

    step: int
    params: Tree
    optimizer: Tree
    average: Tree

    @property
    def trees(self) -> tuple[Tree, Tree, Tree]:
        """The arrays, without the number of the step."""
        return self.params, self.optimizer, self.average


@dataclass(frozen=True, eq=False)
class Step:
    """The functions of a step for one model, recipe and optimiser, compiled once."""

    losses: Losses
    recipe: Recipe
    optimizer: Optimizer
    augment: Augment | None = None
    devices: tuple[Any, ...] = ()

    def check(self, params: Tree, data: Tree) -> None:
        """Refuse a model that has not one loss for each example, or in which one depends on other examples."""
        batch = jax.eval_shape(self._more, of_shape(data), _DRAWS)
        found = getattr(jax.eval_shape(self._scored, params, batch), "shape", None)
        expected = (2 * self.recipe.views,)
        if found != expected:
            raise InputError(
                "loss", Phrase(f"shape {found}"), f"one number for each example: shape {expected} for a batch of two"
            )
        refuse_mixing(self._scored, params, batch, copies=self.recipe.views)
        refuse_mixed_losses(self._scored, params, batch, copies=self.recipe.views)

    def trace(self, params: Tree, data: Tree) -> None:
        """Go through the sum over two examples on shapes alone; what is wrong with the model's gradient shows."""
        two = of_shape(data)
        if self.recipe.noise == "exact":
            jax.eval_shape(self._whole, params, two, _SHAPED((2,), np.float32), _DRAWS)
        else:
            lattice_length(self.recipe.multiplier, 1 + sum(leaf.size for leaf in jax.tree.leaves(params)))
            total = jax.eval_shape(self._zeros, params)
            jax.eval_shape(self._added, total, params, two, _SHAPED((2,), np.float32), _DRAWS)

    def start(self, params: Tree) -> State:
        """The state before the first step."""
        # A copy: what the caller holds must not change or vanish under the run.
        params = self._everywhere(jax.tree.map(lambda leaf: jnp.array(leaf, copy=True), params))
        average = params if self.recipe.ema else None
        return State(0, params, self._everywhere(self.optimizer.init(params)), average)

    def place(self, data: Tree) -> Tree:
        """The examples where the device can reach them, if they fit; else as they are, to be sent lot by lot."""
        if sum(leaf.nbytes for leaf in jax.tree.leaves(data)) > _RESIDENT:
            return data
        return self._everywhere(jax.tree.map(jnp.asarray, data))

    def sum_lot(self, params: Tree, data: Tree, lot: Sequence[Microbatch], secret: bytes, step: int) -> Tree:
        """The sum over a lot of what each example says, clipped: a tree like the parameters, and the loss.

        With exact noise it is one vector of integers. An empty lot sums to zero.
        """
        exact = self.recipe.noise == "exact"
        total = self._nothing(params)
        if exact:
            places = np.concatenate([np.zeros(0, np.int32), *(part.places[part.mask > 0] for part in lot)])
            for index, part in enumerate(self._slotted(data, lot)):
                draws = Draws.of(secret, step, index, len(part.places), part.places)
                total += np.asarray(self._whole(params, self._rows(data, places[part.places]), part.mask, draws))
            return total
        for index, part in enumerate(lot):
            draws = Draws.of(secret, step, index, len(part.places))
            batch = self._examples(data, part.places)
            total = self._added(total, params, batch, self._split(part.mask), draws)
        return total

    def _slotted(self, data: Tree, lot: Sequence[Microbatch]) -> list[Microbatch]:
        """Every example of the lot, by its index there, in the slot it always has."""
        if not lot:
            return []
        count = slot_count(len(lot[0].places))
        slots = [np.asarray(self._slots(self._rows(data, part.places), count))[part.mask > 0] for part in lot]
        found = np.concatenate(slots)
        return arrange(np.arange(len(found)), found, count)

    @cached_property
    def _slots(self) -> Callable[[Tree, int], Array]:
        return jax.jit(slots_of, static_argnums=1)

    def add_noise(self, total: Tree, params: Tree, secret: bytes, step: int) -> tuple[Tree, float | None]:
        """The sum with noise for a step, and the noisy sum of losses if it is reported. From here on, public."""
        recipe = self.recipe
        if recipe.noise == "exact":
            noisy = total + exact_noise(secret, step, len(total), lattice_sigma(recipe.multiplier))
            longest, longest_loss = lattice_shares(recipe)
            size = len(noisy) - (recipe.report_loss is not None)
            vector = jnp.asarray(noisy[:size] * (recipe.bound / longest), dtype=jnp.float32)
            heard = None
            if recipe.report_loss is not None:
                heard = float(noisy[size]) * recipe.report_loss / longest_loss / float(recipe.lot)
            return ravel_pytree(params)[1](vector), heard
        noisy, loss = self._noisy(total, device_key(secret, step))
        return noisy, None if loss is None else self._heard(float(loss))

    def advance(self, state: State, noisy: Tree) -> State:
        """The state after a step along a noisy sum. Sees no example."""
        return State(state.step + 1, *self._moved(state.trees, noisy, state.step))

    def _heard(self, loss: float) -> float:
        """The mean loss over the expected lot from its scaled sum."""
        recipe = self.recipe
        scale = float(LOSS_WEIGHT) * recipe.bound / (recipe.report_loss or 1.0)
        return loss / scale / float(recipe.lot)

    @cached_property
    def _mesh(self) -> Mesh | None:
        return Mesh(np.array(self.devices), ("examples",)) if len(self.devices) > 1 else None

    def _everywhere(self, tree: Tree) -> Tree:
        """On every device, whole."""
        if self._mesh is None:
            return jax.device_put(tree, self.devices[0]) if self.devices else tree
        return jax.device_put(tree, NamedSharding(self._mesh, _SPREAD()))

    def _split(self, array: Any) -> Any:
        """Part of the examples on each device."""
        if self._mesh is None:
            return array
        return jax.device_put(array, NamedSharding(self._mesh, _SPREAD("examples")))

    def _rows(self, data: Tree, places: Any) -> Tree:
        """Examples whole on every device: with exact noise each is computed where it always is."""
        if isinstance(jax.tree.leaves(data)[0], np.ndarray):
            return jax.tree.map(lambda leaf: leaf[places], data)
        return self._taken(data, places)

    def _examples(self, data: Tree, places: Any) -> Tree:
        if isinstance(jax.tree.leaves(data)[0], np.ndarray):
            return jax.tree.map(lambda leaf: self._split(leaf[places]), data)
        return self._taken(data, self._split(places))

    @cached_property
    def _taken(self) -> Callable[..., Tree]:
        return jax.jit(lambda data, places: jax.tree.map(lambda leaf: leaf[places], data))

    def _nothing(self, params: Tree) -> Tree:
        if self.recipe.noise == "exact":
            size = sum(leaf.size for leaf in jax.tree.leaves(params))
            return np.zeros(size + (self.recipe.report_loss is not None), dtype=np.int64)
        return self._zeros(params)

    @cached_property
    def _zeros(self) -> Callable[..., Tree]:
        @jax.jit
        def zeros(params: Tree) -> Tree:
            sums = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, jnp.float32), params)
            return sums, None if self.recipe.report_loss is None else jnp.zeros((), jnp.float32)

        return zeros

    @cached_property
    def _scored(self) -> Losses:
        scored = trained_losses(self.losses)
        return scored if self.recipe.rows == 1 else PersonLosses(scored)

    def _more(self, batch: Tree, draws: Draws) -> Tree:
        """The batch as the losses take it: augmented, and with a key for each row where the model takes one.

        Where examples are persons, their rows are laid side by side, with the weight that each has in the mean.
        """
        words, weights = self._words(batch, draws), None
        if self.recipe.rows > 1:
            batch, weights = unfold(batch)
        batch = batch if self.augment is None else augmented(self.augment, draws.augment, batch)
        batch = batch if words is None else (batch, words.reshape(-1, words.shape[-1]))
        return batch if weights is None else (batch, jnp.repeat(weights, self.recipe.copies))

    def _words(self, batch: Tree, draws: Draws) -> Array | None:
        if not isinstance(self.losses, KeyedLosses):
            return None
        return row_keys(draws, jax.tree.leaves(batch)[0].shape[0], self.recipe.views)

    @cached_property
    def _added(self) -> Callable[..., Tree]:
        recipe = self.recipe

        @partial(jax.jit, donate_argnums=0)
        def added(total: Tree, params: Tree, batch: Tree, mask: Array, draws: Draws) -> Tree:
            sums, loss = total
            found = clipped_sum(
                self._scored,
                params,
                self._more(batch, draws),
                mask=mask,
                bound=recipe.bound,
                how="auto" if recipe.how == "ghost" else recipe.how,
                copies=recipe.views,
                mesh=self._mesh,
                operands=recipe.operands,
            )
            sums = jax.tree.map(lambda a, b: a + b.astype(jnp.float32), sums, found.total)
            if recipe.report_loss is not None:
                loss = loss + (_bounded(found.losses, recipe.report_loss).astype(jnp.float32) * mask).sum()
            return sums, loss

        return added

    @cached_property
    def _whole(self) -> Callable[..., Array]:
        recipe = self.recipe
        longest, longest_loss = lattice_shares(recipe)

        @jax.jit
        def whole(params: Tree, batch: Tree, mask: Array, draws: Draws) -> Array:
            each, square, losses = by_layers(self._scored, params, self._more(batch, draws), recipe.views)
            sums = lattice_sum(each, mask, recipe.bound, longest, square)
            if recipe.report_loss is not None:
                values = jnp.maximum(losses, 0)[:, None]  # a loss that is no number counts as zero there too
                sums += lattice_sum([values], mask, recipe.report_loss, longest_loss)
            return jnp.concatenate([leaf.ravel() for leaf in sums])

        return whole

    @cached_property
    def _noisy(self) -> Callable[..., tuple[Tree, Array]]:
        recipe = self.recipe

        @jax.jit
        def noisy(total: Tree, key: Array) -> tuple[Tree, Array]:
            sums, loss = total
            if loss is not None:
                loss = loss * (float(LOSS_WEIGHT) * recipe.bound / (recipe.report_loss or 1.0))
            bound = recipe.bound * recipe.widened
            drawn: tuple[Tree, Array] = add_noise((sums, loss), key, bound, recipe.multiplier)
            return drawn

        return noisy

    @cached_property
    def _moved(self) -> Callable[..., tuple[Tree, Tree, Tree]]:
        recipe = self.recipe

        @jax.jit
        def moved(trees: tuple[Tree, Tree, Tree], noisy: Tree, step: Array) -> tuple[Tree, Tree, Tree]:
            params, optimizer, average = trees
            gradient = jax.tree.map(lambda leaf: leaf / float(recipe.lot), noisy)
            change, optimizer = self.optimizer.update(gradient, optimizer, params)
            params = jax.tree.map(lambda p, c: (p + c).astype(p.dtype), params, change)
            if average is not None:
                # Early on the average forgets faster, or the first guess would stay in it.
                decay = jnp.minimum(recipe.ema, (1.0 + step) / (10.0 + step))
                average = jax.tree.map(lambda a, p: (decay * a + (1 - decay) * p).astype(a.dtype), average, params)
            return params, optimizer, average

        return moved


def of_shape(data: Tree, examples: int = 2) -> Tree:
    """The shapes of so many examples."""
    return jax.tree.map(lambda leaf: _SHAPED((examples, *np.shape(leaf)[1:]), _kind(leaf)), data)


def _kind(leaf: Any) -> Any:
    return jax.dtypes.canonicalize_dtype(leaf.dtype if hasattr(leaf, "dtype") else np.asarray(leaf).dtype)


def _bounded(losses: Array, most: float) -> Array:
    """Losses from 0 to `most`; what is no number counts as zero."""
    return jnp.clip(jnp.where(jnp.isfinite(losses), losses, 0.0), 0.0, most)
