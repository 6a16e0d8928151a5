"""One step of training as small pure functions: sum what a lot says, add noise, move the parameters.

`sum_lot` is the only one that sees examples. What `add_noise` returns is private already; `advance` sees nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from discreet.errors import InputError, Phrase
from discreet.learn.bands import BandedNoise
from discreet.learn.clip import clipped_sum, refuse_mixed_losses, refuse_mixing
from discreet.learn.gradients import Augment, Losses, augmented, by_layers
from discreet.learn.lattice import lattice_shares, lattice_sigma, lattice_sum
from discreet.learn.lot import Microbatch
from discreet.learn.noise import add_noise, device_key, exact_noise
from discreet.learn.optimizer import Optimizer
from discreet.learn.persons import PersonLosses, unfold
from discreet.learn.recipe import LOSS_WEIGHT, STABILITY, Recipe
from discreet.learn.row_keys import Draws, KeyedLosses, row_keys, trained_losses
from discreet.learn.sampler import lattice_length
from discreet.learn.slots import arrange, slot_count, slots_of

__all__ = ["Augment", "Noisy", "State", "Step", "of_shape"]

Tree = Any
Array = Any
_SPREAD: Any = PartitionSpec
_SHAPED: Any = jax.ShapeDtypeStruct
_DRAWS = Draws.shapes()
_RESIDENT = 4 << 30  # bytes of data that are kept on the device
_PACE = 0.2  # how fast an adaptive bound follows
_FARTHEST = 2.0**20  # times the first bound, either way


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Where a run stands after `step` steps: everything the next one needs besides the data and the secret."""

    step: int
    params: Tree
    optimizer: Tree
    average: Tree
    bound: Array | None = None
    """The clipping bound of the next step, where it is adaptive."""

    @property
    def trees(self) -> tuple[Tree, Tree, Tree, Array | None]:
        """The arrays, without the number of the step."""
        return self.params, self.optimizer, self.average, self.bound


class Noisy(NamedTuple):
    """What a step publishes: the sum of gradients, the mean loss and the share within the bound, where it has them."""

    gradient: Tree
    loss: float | None = None
    within: float | None = None


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
            lattice_length(self.recipe.multiplier, 2 + sum(leaf.size for leaf in jax.tree.leaves(params)))
            total = jax.eval_shape(self._zeros, params)
            jax.eval_shape(self._added, total, params, two, _SHAPED((2,), np.float32), _DRAWS)

    def start(self, params: Tree) -> State:
        """The state before the first step."""
        # A copy: what the caller holds must not change or vanish under the run.
        params = self._everywhere(jax.tree.map(lambda leaf: jnp.array(leaf, copy=True), params))
        average = params if self.recipe.ema else None
        bound = self._everywhere(jnp.float32(self.recipe.bound)) if self.recipe.clipping == "adaptive" else None
        return State(0, params, self._everywhere(self.optimizer.init(params)), average, bound)

    def place(self, data: Tree) -> Tree:
        """The examples where the device can reach them, if they fit; else as they are, to be sent lot by lot."""
        if sum(leaf.nbytes for leaf in jax.tree.leaves(data)) > _RESIDENT:
            return data
        return self._everywhere(jax.tree.map(jnp.asarray, data))

    def sum_lot(
        self,
        params: Tree,
        data: Tree,
        lot: Sequence[Microbatch],
        secret: bytes,
        step: int,
        bound: Array | None = None,
    ) -> Tree:
        """The sum over a lot of what each example says, clipped: a tree like the parameters, and what stands beside it.

        `bound` is the state's, where it is adaptive. With exact noise it is one vector of integers. An empty lot sums
        to zero.
        """
        exact = self.recipe.noise == "exact"
        total = self._nothing(params)
        if exact:
            places = np.concatenate([np.zeros(0, np.int32), *(part.places[part.mask > 0] for part in lot)])
            for index, part in enumerate(self._slotted(data, lot)):
                draws = Draws.of(secret, step, index, len(part.places), part.places)
                total += np.asarray(self._whole(params, self._rows(data, places[part.places]), part.mask, draws, bound))
            return total
        for index, part in enumerate(lot):
            draws = Draws.of(secret, step, index, len(part.places))
            batch = self._examples(data, part.places)
            total = self._added(total, params, batch, self._split(part.mask), draws, bound)
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

    def add_noise(
        self,
        total: Tree,
        params: Tree,
        secret: bytes,
        step: int,
        bound: Array | None = None,
        banded: BandedNoise | None = None,
    ) -> Noisy:
        """The sum with noise for a step, and what stands beside it, as means over the lot. From here on, public.

        `banded` is the noise of the run so far (`BandedNoise`), where a recipe has bands; without it, it is made anew.
        """
        recipe, lot = self.recipe, float(self.recipe.lot)
        if recipe.noise == "exact":
            if recipe.bands > 1:
                noisy = total + (banded or BandedNoise(secret, recipe.multiplier, recipe.bands)).at(step, len(total))
            else:
                noisy = total + exact_noise(secret, step, len(total), lattice_sigma(recipe.multiplier))
            longest, beside = lattice_shares(recipe)
            size = len(noisy) - recipe.beside
            now = recipe.bound if bound is None else float(bound)
            vector = jnp.asarray(noisy[:size] * (now / longest), dtype=jnp.float32)
            loss, within = self._beside([float(entry) / beside / lot for entry in noisy[size:]])
            return Noisy(ravel_pytree(params)[1](vector), loss, within)
        gradient, *entries = self._noisy(total, device_key(secret, step), bound)
        scale = float(LOSS_WEIGHT) * (recipe.bound if bound is None else float(bound)) * lot
        loss, within = self._beside([float(entry) / scale for entry in entries if entry is not None])
        return Noisy(gradient, loss, within)

    def _beside(self, entries: list[float]) -> tuple[float | None, float | None]:
        """The mean loss, and the share of the lot that is within the bound, from entries between -1 and 1."""
        largest = self.recipe.report_loss
        loss = None if largest is None else entries[0] * largest
        return loss, (1 + entries[-1]) / 2 if self.recipe.clipping == "adaptive" else None

    def advance(self, state: State, noisy: Noisy) -> State:
        """The state after a step along a noisy sum. Sees no example."""
        moved = self._moved(state.trees[:3], noisy.gradient, state.step)
        return State(state.step + 1, *moved, self._next_bound(state.bound, noisy.within))

    def _next_bound(self, bound: Array | None, within: float | None) -> Array | None:
        """Larger if too few gradients were within it, smaller if too many were."""
        if bound is None or within is None:
            return None
        first = self.recipe.bound
        lowest, highest = max(first / _FARTHEST, 1e-9), min(first * _FARTHEST, 1e30)
        further = _PACE * (self.recipe.quantile - min(max(within, -1.0), 2.0))
        return jnp.clip(bound * jnp.float32(math.exp(further)), lowest, highest)

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
            return np.zeros(size + self.recipe.beside, dtype=np.int64)
        return self._zeros(params)

    @cached_property
    def _zeros(self) -> Callable[..., Tree]:
        @jax.jit
        def zeros(params: Tree) -> Tree:
            sums = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, jnp.float32), params)
            loss = None if self.recipe.report_loss is None else jnp.zeros((), jnp.float32)
            return sums, loss, jnp.zeros((), jnp.float32) if self.recipe.clipping == "adaptive" else None

        return zeros

    @property
    def _stability(self) -> float | None:
        return STABILITY if self.recipe.clipping == "normalise" else None

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
        def added(
            total: Tree, params: Tree, batch: Tree, mask: Array, draws: Draws, bound: Array | None = None
        ) -> Tree:
            sums, loss, within = total
            longest = recipe.bound if bound is None else bound
            found = clipped_sum(
                self._scored,
                params,
                self._more(batch, draws),
                mask=mask,
                bound=longest,
                how="auto" if recipe.how == "ghost" else recipe.how,
                copies=recipe.views,
                mesh=self._mesh,
                operands=recipe.operands,
                stability=self._stability,
            )
            sums = jax.tree.map(lambda a, b: a + b.astype(jnp.float32), sums, found.total)
            if recipe.report_loss is not None:
                loss = loss + (_bounded(found.losses, recipe.report_loss).astype(jnp.float32) * mask).sum()
            if within is not None:
                within = within + (_sign(found.norms <= longest) * mask).sum()
            return sums, loss, within

        return added

    @cached_property
    def _whole(self) -> Callable[..., Array]:
        recipe = self.recipe
        longest, beside = lattice_shares(recipe)

        @jax.jit
        def whole(params: Tree, batch: Tree, mask: Array, draws: Draws, bound: Array | None = None) -> Array:
            each, square, losses = by_layers(self._scored, params, self._more(batch, draws), recipe.views)
            now = recipe.bound if bound is None else bound
            sums = lattice_sum(each, mask, now, longest, square, self._stability)
            if recipe.report_loss is not None:
                values = jnp.maximum(losses, 0)[:, None]  # a loss that is no number counts as zero there too
                sums += lattice_sum([values], mask, recipe.report_loss, beside)
            if recipe.clipping == "adaptive":
                within = jnp.where(jnp.sqrt(square) <= now, beside, -beside)
                sums.append(jnp.sum(jnp.where(mask > 0, within, 0).astype(jnp.int32)))
            return jnp.concatenate([leaf.ravel() for leaf in sums])

        return whole

    @cached_property
    def _noisy(self) -> Callable[..., tuple[Tree, Array, Array]]:
        recipe = self.recipe

        @jax.jit
        def noisy(total: Tree, key: Array, bound: Array | None = None) -> tuple[Tree, Array, Array]:
            sums, loss, within = total
            now = recipe.bound if bound is None else bound
            scale = float(LOSS_WEIGHT) * now
            if loss is not None:
                loss = loss * (scale / (recipe.report_loss or 1.0))
            if within is not None:
                within = within * scale
            made: tuple[Tree, Array, Array] = add_noise(
                (sums, loss, within), key, now * recipe.widened, recipe.multiplier
            )
            return made

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


def _sign(holds: Array) -> Array:
    """1 where it holds, -1 where it does not, or where nobody knows (NaN)."""
    return jnp.where(holds, 1.0, -1.0).astype(jnp.float32)


def _bounded(losses: Array, most: float) -> Array:
    """Losses from 0 to `most`; what is no number counts as zero."""
    return jnp.clip(jnp.where(jnp.isfinite(losses), losses, 0.0), 0.0, most)
