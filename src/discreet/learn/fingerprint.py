"""What a function computes, as a hash: two runs may share noise only where they compute the same from the same."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from discreet.learn.optimizer import Optimizer
from discreet.learn.per_example import Losses

__all__ = ["fingerprint", "optimizer_fingerprint"]

Tree = Any


def fingerprint(losses: Losses, params: Tree, batch: Tree) -> str:
    """A hash of what a model computes and of the parameters it starts from. `batch` is any batch of its shape.

    Losses and gradients both count: a function may come with a gradient of its own. So do arrays that it closes over.
    """

    def whole(params: Tree, batch: Tree) -> Tree:
        return losses(params, batch), jax.grad(lambda now: jnp.sum(losses(now, batch)))(params)

    return _hash(whole, (params, batch), starts=params)


def optimizer_fingerprint(optimizer: Optimizer, params: Tree) -> str:
    """A hash of what an optimiser makes of a gradient, from its first state on."""

    def whole(params: Tree, gradient: Tree) -> Tree:
        state = optimizer.init(params)
        return state, optimizer.update(gradient, state, params)

    return _hash(whole, (params, params))


def _hash(function: Callable[..., Tree], given: tuple[Tree, ...], starts: Tree = ()) -> str:
    program = jax.make_jaxpr(function)(*given)
    digest = hashlib.sha256(re.sub(r"0x[0-9a-f]+", "", str(program)).encode())  # addresses differ between processes
    digest.update(str(jax.tree.structure(given)).encode())
    # The text of a program names the arrays in it; their values are added here.
    for array in (*_arrays(program), *jax.tree.leaves(starts)):
        held = np.asarray(array)
        digest.update(f"{held.dtype}{held.shape}".encode())
        digest.update(held.tobytes())
    return digest.hexdigest()


def _arrays(part: Any) -> Iterator[Any]:
    """The arrays in a program, at any depth."""
    match part:
        case ClosedJaxpr() | Jaxpr():  # one class, which is its own `jaxpr`, from JAX 0.12 on
            yield from getattr(part, "consts", ())
            program = getattr(part, "jaxpr", part)
            for one in program.eqns:
                yield from (value.val for value in one.invars if isinstance(value, Literal))
                yield from _arrays(one.params)
            yield from (value.val for value in program.outvars if isinstance(value, Literal))
        case dict():
            for name in sorted(part):
                yield from _arrays(part[name])
        case tuple() | list():
            for one in part:
                yield from _arrays(one)
        case np.ndarray() | jax.Array():
            yield part
        case _:
            return
