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
from discreet.learn.clip import clipped_sum, refuse_mixing
from discreet.learn.gradients import Augment, Losses, augmented, each_alone
from discreet.learn.keys import key_of
from discreet.learn.lot import Microbatch
from discreet.learn.noise import add_noise, device_key, exact_noise, lattice_shares, lattice_sigma, lattice_sum
from discreet.learn.optimizer import Optimizer
from discreet.learn.recipe import LOSS_WEIGHT, Recipe
from discreet.learn.sampler import lattice_length

__all__ = ["Augment", "State", "Step"]

Tree = Any
Array = Any
_SPREAD: Any = PartitionSpec
_SHAPED: Any = jax.ShapeDtypeStruct
_KEY = _SHAPED((2,), np.uint32)
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
        batch = jax.eval_shape(self._more, _two(data), _KEY)
        found = getattr(jax.eval_shape(self.losses, params, batch), "shape", None)
        expected = (2 * self.recipe.copies,)
        if found != expected:
            raise InputError(
                "loss", Phrase(f"shape {found}"), f"one number for each example: shape {expected} for a batch of two"
            )
        refuse_mixing(self.losses, params, batch, copies=self.recipe.copies)

    def trace(self, params: Tree, data: Tree) -> None:
        """Go through the sum over two examples on shapes alone; what is wrong with the model's gradient shows."""
        two = _two(data)
        if self.recipe.noise == "exact":
            jax.eval_shape(self._rows, params, two, _KEY)
        else:
            lattice_length(self.recipe.multiplier, 1 + sum(leaf.size for leaf in jax.tree.leaves(params)))
            total = jax.eval_shape(self._zeros, params)
            jax.eval_shape(self._added, total, params, two, _SHAPED((2,), np.float32), _KEY)

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
        for place, part in enumerate(lot):
            batch = self._examples(data, part.places)
            mask = self._split(part.mask)
            key = np.frombuffer(key_of(secret, "augment", step, place)[:8], dtype="<u4").astype(np.uint32)
            if exact:
                rows, values = self._rows(params, batch, key)
                total = total + self._on_lattice(np.asarray(rows), np.asarray(values), part.mask)
            else:
                total = self._added(total, params, batch, mask, key)
        return total

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

    def _more(self, batch: Tree, key: Array) -> Tree:
        return batch if self.augment is None else augmented(self.augment, key, batch)

    @cached_property
    def _added(self) -> Callable[..., Tree]:
        recipe = self.recipe

        @partial(jax.jit, donate_argnums=0)
        def added(total: Tree, params: Tree, batch: Tree, mask: Array, key: Array) -> Tree:
            sums, loss = total
            found = clipped_sum(
                self.losses,
                params,
                self._more(batch, key),
                mask=mask,
                bound=recipe.bound,
                how=recipe.how,
                copies=recipe.copies,
                mesh=self._mesh,
                operands=recipe.operands,
            )
            sums = jax.tree.map(lambda a, b: a + b.astype(jnp.float32), sums, found.total)
            if recipe.report_loss is not None:
                loss = loss + (_bounded(found.losses, recipe.report_loss).astype(jnp.float32) * mask).sum()
            return sums, loss

        return added

    @cached_property
    def _rows(self) -> Callable[..., tuple[Array, Array]]:
        @jax.jit
        def rows(params: Tree, batch: Tree, key: Array) -> tuple[Array, Array]:
            return each_alone(self.losses, params, batch, self.augment, key)

        return rows

    def _on_lattice(self, rows: Any, losses: Any, mask: Any) -> Any:
        recipe = self.recipe
        longest, longest_loss = lattice_shares(recipe)
        total = lattice_sum(rows, mask, recipe.bound, longest)
        if recipe.report_loss is None:
            return total
        values = np.maximum(losses, 0)[:, None]  # a loss that is no number counts as zero there too
        return np.append(total, lattice_sum(values, mask, recipe.report_loss, longest_loss))

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


def _two(data: Tree) -> Tree:
    """The shapes of two examples."""
    return jax.tree.map(lambda leaf: _SHAPED((2, *np.shape(leaf)[1:]), _kind(leaf)), data)


def _kind(leaf: Any) -> Any:
    return jax.dtypes.canonicalize_dtype(leaf.dtype if hasattr(leaf, "dtype") else np.asarray(leaf).dtype)


def _bounded(losses: Array, most: float) -> Array:
    """Losses from 0 to `most`; what is no number counts as zero."""
    return jnp.clip(jnp.where(jnp.isfinite(losses), losses, 0.0), 0.0, most)
