"""A run that survives crashes: saved in a checkpoint every so many steps, and resumed where it stood.

It is resumed only as the same run: what a model and an optimiser compute is compared by fingerprints, since two runs
may share noise only where they compute the same from the same.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from discreet import __version__
from discreet.core.mechanism import Bits
from discreet.errors import InputError, Phrase
from discreet.learn.checkpoint import Checkpoint, backend, data_tag
from discreet.learn.gradients import Augment, Losses
from discreet.learn.keys import new_secret
from discreet.learn.optimizer import Optimizer, optimizer_of
from discreet.learn.recipe import Recipe
from discreet.learn.row_keys import KeyedLosses, trained_losses
from discreet.learn.step import State, Step
from discreet.learn.trainer import Trained, train_losses

__all__ = ["Run", "augment_fingerprint", "fingerprint", "identity_of", "optimizer_fingerprint", "resume"]

Tree = Any
_SAVES = 20  # in a run, unless said otherwise


def identity_of(recipe: Recipe, model: str, **others: str) -> dict[str, str]:
    """What a run is of: recipe, model, code and backend, and whatever else must not change under it."""
    written = ", ".join(f"{name}={value}" for name, value in recipe.to_dict().items())
    return {"recipe": written, "model": model, "code": __version__, "backend": backend(), **others}


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A run at its beginning or taken up again; `go(data)` finishes it."""

    losses: Losses
    recipe: Recipe
    optimizer: Optimizer
    state: State
    secret: bytes
    heard: list[float]
    identity: Mapping[str, str]
    checkpoint: Checkpoint | None = None
    every: int = 1
    devices: Sequence[Any] | None = None
    begun: bool = False
    """Whether it was in the checkpoint already."""
    augment: Augment | None = None
    told: bool = True
    """Whether reported losses are told as they come, where the run is kept."""

    def keep(self) -> None:
        """Put a new run into its checkpoint: from then on a crash loses nothing of it, the secret above all."""
        if self.checkpoint is not None and not self.begun:
            self.checkpoint.save(self.state, self.secret, self.heard, self.identity)

    def go(self, data: Tree, watch: Callable[[State], None] | None = None) -> Trained:
        """Train to the end, keeping the run as it goes. `watch` is called with every state, once it is kept.

        Guarantee: after a crash the steps that are done again use the same lots and the same noise as before, so that
        all that was ever computed is one run, paid for once. Other data than before is refused.
        """
        tag = data_tag(self.secret, data)
        if not hmac.compare_digest(self.identity.get("data", tag), tag):
            raise InputError("checkpoint", Phrase("one of other data"), "the file of a run on the same data")
        identity = {**self.identity, "data": tag}

        def keep(state: State) -> None:
            if self.checkpoint is not None and (state.step % self.every == 0 or state.step == self.recipe.steps):
                self.checkpoint.save(state, self.secret, self.heard, identity)

        def keep_and_watch(state: State) -> None:
            keep(state)
            if watch is not None:
                watch(state)

        if self.state.step == 0:
            keep(self.state)  # before anything is shown: the secret must not change once a loss was seen
        return train_losses(
            self.losses,
            self.state.params,
            data,
            self.recipe,
            secret=self.secret,
            optimizer=self.optimizer,
            augment=self.augment,
            state=self.state,
            devices=self.devices,
            after=keep_and_watch,
            heard=self.heard,
            tell_loss=self.told and self.checkpoint is not None,
        )


def resume(
    losses: Losses,
    params: Tree,
    recipe: Recipe,
    identity: Mapping[str, str],
    *,
    checkpoint: Checkpoint | None = None,
    optimizer: Optimizer | None = None,
    augment: Augment | None = None,
    every: int | None = None,
    devices: Sequence[Any] | None = None,
    bits: Bits | None = None,
    told: bool = True,
) -> Run:
    """The run that the checkpoint holds, or a new one. `InputError` if it holds a run of something else.

    What an `augment` computes is not known here without examples: name its hash in `identity` (`augment_fingerprint`).
    """
    chosen = optimizer if optimizer is not None else optimizer_of(recipe)
    # Beside what the caller names: with another optimiser, or other sums, the same noise would be used for another run.
    steps = "of the recipe" if optimizer is None else optimizer_fingerprint(optimizer, params)
    identity = {**identity, "optimizer": steps, "devices": str(len(devices or ()))}
    state = Step(losses, recipe, chosen, augment, tuple(devices or ())).start(params)
    kept = None if checkpoint is None else checkpoint.load(state, identity)
    pace = max(1, recipe.steps // _SAVES) if every is None else every
    if kept is None:
        secret, heard, known = new_secret(bits), [], dict(identity)
    else:
        state, secret, heard, known = kept.state, kept.secret, list(kept.losses), dict(kept.identity)
    begun = kept is not None
    return Run(losses, recipe, chosen, state, secret, heard, known, checkpoint, pace, devices, begun, augment, told)


def fingerprint(losses: Losses, params: Tree, batch: Tree) -> str:
    """A hash of what a model computes and of the parameters it starts from. `batch` is any batch of its shape.

    Losses and gradients both count: a function may come with a gradient of its own. So do arrays that it closes over.
    """
    if isinstance(losses, KeyedLosses):  # the words of a key beside each row
        batch = batch, np.zeros((jax.tree.leaves(batch)[0].shape[0], 2), np.uint32)
    losses = trained_losses(losses)

    def whole(params: Tree, batch: Tree) -> Tree:
        return losses(params, batch), jax.grad(lambda now: jnp.sum(losses(now, batch)))(params)

    return _hash("model", whole, (params, batch), starts=params)


def optimizer_fingerprint(optimizer: Optimizer, params: Tree) -> str:
    """A hash of what an optimiser makes of a gradient, from its first state on."""

    def whole(params: Tree, gradient: Tree) -> Tree:
        state = optimizer.init(params)
        return state, optimizer.update(gradient, state, params)

    return _hash("optimizer", whole, (params, params))


def augment_fingerprint(augment: Augment, batch: Tree) -> str:
    """A hash of what an augmentation makes of one row and a key. `batch` is any batch of the rows' shape."""
    one = jax.tree.map(lambda leaf: np.zeros((1, *np.shape(leaf)[1:]), leaf.dtype), batch)

    def whole(words: Tree, row: Tree) -> Tree:
        return augment(jax.random.wrap_key_data(words, impl="threefry2x32"), row)

    return _hash("augment", whole, (np.zeros(2, np.uint32), one))


def _hash(field: str, function: Callable[..., Tree], given: tuple[Tree, ...], starts: Tree = ()) -> str:
    """A hash of a program. One that calls back into Python is refused: what is computed there has none."""
    program = jax.make_jaxpr(function)(*given)
    if calls := sorted(name for name in _primitives(program) if "callback" in name):
        hint = "Write it in JAX: a run goes on, and an id answers, only where the same is computed."
        raise InputError(field, Phrase(f"one with {calls[0]}"), "computed by JAX alone, without callbacks", hint)
    digest = hashlib.sha256(re.sub(r"0x[0-9a-f]+", "", str(program)).encode())  # addresses differ between processes
    digest.update(str(jax.tree.structure(given)).encode())
    # The text of a program names the arrays in it; their values are added here.
    for array in (*_arrays(program), *jax.tree.leaves(starts)):
        typed = hasattr(array, "dtype") and jnp.issubdtype(array.dtype, jax.dtypes.prng_key)
        held = np.asarray(jax.random.key_data(array) if typed else array)
        digest.update(f"{held.dtype}{held.shape}".encode())
        digest.update(held.tobytes())
    return digest.hexdigest()


def _primitives(part: Any) -> Iterator[str]:
    """The names of what a program is made of, at any depth."""
    match part:
        case ClosedJaxpr() | Jaxpr():
            for one in getattr(part, "jaxpr", part).eqns:
                yield one.primitive.name
                yield from _primitives(one.params)
        case dict():
            yield from _primitives(list(part.values()))
        case tuple() | list():
            for one in part:
                yield from _primitives(one)
        case _:
            return


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
