"""A table whose rows may be undecided, fitted to noisy marginals by gradients: the inner part of RAP, in JAX.

Each row gives every column a distribution over the column's codes. A marginal is the mean over rows of the products of
what they give: smooth, so Adam can bend the rows. Two ways keep distributions what they are. With "softmax", Adam moves
logits. With "sparsemax" it moves the distributions themselves, and each step ends at the nearest point of the simplex;
codes that were ruled out can come back. Tables are held as features by rows: one line for every code of every column.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from discreet.errors import MissingExtraError
from discreet.synth.descent import Target
from discreet.synth.junction import Floats
from discreet.synth.tiles import Tiles

__all__ = ["PROJECTIONS", "Projection", "RelaxedTable", "load"]

Array = Any  # of JAX, which is not imported before it is needed
Arrays = tuple[Array, ...]
Projection = Literal["sparsemax", "softmax"]
PROJECTIONS = ("sparsemax", "softmax")
_CHUNK = 100  # steps between words about progress
_SLOW, _SLOWER, _TINY = 0.9, 0.999, 1e-12  # Adam's


class RelaxedTable:
    """The table. `shares` are the distributions it starts from, `tiles` the marginals it will be asked about."""

    def __init__(self, tiles: Tiles, shares: Floats, projection: Projection) -> None:
        self._programs, self._tiles, self._projection = load(), tiles, projection
        batch = self._programs.batch
        spare = batch - len(tiles) % batch  # at least one tile that counts for nothing, to fill up batches with
        more, nothing = ((0, spare), (0, 0), (0, 0)), sum(tiles.sizes)
        self._left = np.pad(tiles.left, more, constant_values=nothing)
        self._right = np.pad(tiles.right, more, constant_values=nothing)
        self._values = np.zeros((len(self._left), *tiles.shape), dtype=np.float32)
        self._weights = np.zeros_like(self._values)
        self._owner = np.repeat(np.arange(len(tiles.sizes), dtype=np.int32), tiles.sizes)
        self._point: Array = (np.log(shares + 1e-30) if projection == "softmax" else shares).astype(np.float32)

    @property
    def shares(self) -> Floats:
        """What the rows give each feature; for every column they add up to one."""
        return np.asarray(self._shares(), dtype=np.float64)

    def _shares(self) -> Array:
        return self._programs.project(self._point, self._owner, len(self._tiles.sizes), self._projection)

    def answers(self) -> list[Floats]:
        """The marginals, as parts of one."""
        found = np.asarray(self._programs.answer(self._shares(), self._left, self._right), dtype=np.float64)
        return [self._tiles.read(marginal, found) for marginal in range(self._tiles.marginals)]

    def fit(self, targets: Mapping[int, Target], total: float, steps: int, pace: float) -> float:
        """Come nearer to noisy counts, given by the numbers of their marginals, in so many steps.

        Steps start at `pace` and shrink to nothing. What is left is returned: the mean squared deviation, in variances.
        """
        order, cells = list[int](), 0
        for marginal, target in targets.items():
            here = self._tiles.of(marginal)
            precision = np.broadcast_to(total**2 / target.variance, target.values.shape)
            self._values[here] = self._tiles.lay(marginal, target.values / total)
            self._weights[here] = self._tiles.lay(marginal, precision)
            order += range(here.start, here.stop)
            cells += target.values.size
        used = np.full(len(self._left), len(self._left) - 1, dtype=np.int32)
        used[: len(order)] = order
        batches = -(-len(order) // self._programs.batch)
        tiles = (self._left, self._right, self._values, self._weights / np.float32(cells))
        state: Arrays = (self._point, np.zeros_like(self._point), np.zeros_like(self._point))
        left: Array = 0.0
        for first in range(0, steps, _CHUNK):
            span = (first, min(first + _CHUNK, steps), steps, pace)
            how = (len(self._tiles.sizes), self._projection)
            state, left = self._programs.fit(state, span, tiles, used, batches, self._owner, *how)
            left = float(left)
        self._point = state[0]
        return float(left)


class _Programs(NamedTuple):
    """Compiled functions, and how many tiles they take at once."""

    project: Callable[..., Array]
    answer: Callable[..., Array]
    fit: Callable[..., tuple[Arrays, Array]]
    batch: int


@functools.cache
def load() -> _Programs:
    """JAX, and what it compiles when it is first called."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        raise MissingExtraError("synth", "jax") from None

    batch = 8 if jax.default_backend() == "cpu" else 128

    def added(lines: Array, owner: Array, columns: int) -> Array:
        return jax.ops.segment_sum(lines, owner, columns, indices_are_sorted=True)

    def lowered(lines: Array, owner: Array, columns: int) -> Array:
        """So that the highest of every column is at zero."""
        return lines - jax.ops.segment_max(lines, owner, columns, indices_are_sorted=True)[owner]

    def softmax(logits: Array, owner: Array, columns: int) -> Array:
        raised = jnp.exp(lowered(logits, owner, columns))
        return raised / added(raised, owner, columns)[owner]

    def sparsemax(point: Array, owner: Array, columns: int) -> Array:
        """The nearest point of the simplex: what rises above a level that makes the sum one.

        Newton's method from below: the sum is convex and falling in the level, so the level only rises and the support
        only shrinks, until it is the right one.
        """
        low = lowered(point, owner, columns)

        def risen(support: Array) -> Array:
            over = added(jnp.where(support, low, 0), owner, columns) - 1
            return low - (over / added(support.astype(low.dtype), owner, columns))[owner]

        def shrink(state: tuple[Array, Array]) -> tuple[Array, Array]:
            smaller = state[0] & (risen(state[0]) > 0)
            return smaller, jnp.any(smaller != state[0])

        support, _ = jax.lax.while_loop(lambda state: state[1], shrink, (low > -1, jnp.array(True)))
        return jnp.where(support, jnp.maximum(risen(support), 0), 0)

    def project(point: Array, owner: Array, columns: int, projection: Projection) -> Array:
        return (softmax if projection == "softmax" else sparsemax)(point, owner, columns)

    def products(lines: Array, left: Array, right: Array) -> Array:
        """Tiles of marginals; the last of the lines is all ones."""

        def side(places: Array) -> Array:
            return functools.reduce(jnp.multiply, [lines[places[..., one]] for one in range(places.shape[-1])])

        # Devices that would shorten floats here are asked not to.
        found = jnp.einsum("tir,tjr->tij", side(left), side(right), precision=jax.lax.Precision.HIGHEST)
        return found / lines.shape[1]

    def with_ones(shares: Array) -> Array:
        return jnp.concatenate([shares, jnp.ones_like(shares[:1])])

    def answer(shares: Array, left: Array, right: Array) -> Array:
        lines = with_ones(shares)
        batches = tuple(part.reshape(-1, batch, *part.shape[1:]) for part in (left, right))
        found = jax.lax.map(lambda tiles: products(lines, *tiles), batches)
        return found.reshape(-1, *found.shape[2:])

    def deviation(lines: Array, left: Array, right: Array, values: Array, weights: Array) -> Array:
        return jnp.sum(weights * (products(lines, left, right) - values) ** 2)

    def slope(shares: Array, tiles: Arrays, used: Array, batches: Array) -> tuple[Array, Array]:
        """The deviation from all tiles used, and its gradient. How many there are may change without compiling anew."""
        lines = with_ones(shares)

        def one(number: Array, sums: tuple[Array, Array]) -> tuple[Array, Array]:
            places = jax.lax.dynamic_slice_in_dim(used, number * batch, batch)
            value, way = jax.value_and_grad(deviation)(lines, *(part[places] for part in tiles))
            return sums[0] + value, sums[1] + way

        value, way = jax.lax.fori_loop(0, batches, one, (jnp.zeros(()), jnp.zeros_like(lines)))
        return value, way[:-1]

    def fit(
        state: Arrays,
        span: Arrays,
        tiles: Arrays,
        used: Array,
        batches: Array,
        owner: Array,
        columns: int,
        projection: Projection,
    ) -> tuple[Arrays, Array]:
        first, last, steps, pace = span

        def step(number: Array, held: tuple[Arrays, Array]) -> tuple[Arrays, Array]:
            point, mean, square = held[0]
            shares = softmax(point, owner, columns) if projection == "softmax" else point
            value, way = slope(shares, tiles, used, batches)
            way -= added(shares * way, owner, columns)[owner]  # what all codes of a column share moves nothing
            if projection == "softmax":
                way *= shares
            mean = _SLOW * mean + (1 - _SLOW) * way
            square = _SLOWER * square + (1 - _SLOWER) * way**2
            age = number + 1.0
            moved = mean / (1 - _SLOW**age) / (jnp.sqrt(square / (1 - _SLOWER**age)) + _TINY)
            ahead = point - pace * (0.5 + 0.5 * jnp.cos(jnp.pi * number / steps)) * moved
            return (ahead if projection == "softmax" else sparsemax(ahead, owner, columns), mean, square), value

        found: tuple[tuple[Any, ...], Any] = jax.lax.fori_loop(first, last, step, (state, jnp.zeros(())))
        return found

    return _Programs(
        jax.jit(project, static_argnums=(2, 3)), jax.jit(answer), jax.jit(fit, static_argnums=(6, 7)), batch
    )
