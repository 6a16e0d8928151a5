"""A run that survives crashes: kept in a checkpoint every so many steps, and taken up where it stood."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet import __version__
from discreet.core.mechanism import Bits
from discreet.errors import InputError, Phrase
from discreet.learn.checkpoint import Checkpoint, backend, data_tag
from discreet.learn.fingerprint import fingerprint, optimizer_fingerprint
from discreet.learn.keys import new_secret
from discreet.learn.optimizer import Optimizer, optimizer_of
from discreet.learn.per_example import Losses
from discreet.learn.recipe import Recipe
from discreet.learn.step import State, Step
from discreet.learn.train import Trained, train_losses

__all__ = ["Run", "fingerprint", "identity_of", "taken_up"]

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

    def keep(self) -> None:
        """Put a new run into its checkpoint: from then on a crash loses nothing of it, the secret above all."""
        if self.checkpoint is not None and not self.begun:
            self.checkpoint.save(self.state, self.secret, self.heard, self.identity)

    def go(self, data: Tree) -> Trained:
        """Train to the end, keeping the run as it goes.

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

        if self.state.step == 0:
            keep(self.state)  # before anything is told: the secret must not change once a loss was seen
        return train_losses(
            self.losses,
            self.state.params,
            data,
            self.recipe,
            secret=self.secret,
            optimizer=self.optimizer,
            state=self.state,
            devices=self.devices,
            after=keep,
            heard=self.heard,
            tell_loss=self.checkpoint is not None,
        )


def taken_up(
    losses: Losses,
    params: Tree,
    recipe: Recipe,
    identity: Mapping[str, str],
    *,
    checkpoint: Checkpoint | None = None,
    optimizer: Optimizer | None = None,
    every: int | None = None,
    devices: Sequence[Any] | None = None,
    bits: Bits | None = None,
) -> Run:
    """The run that the checkpoint holds, or a new one. `InputError` if it holds a run of something else."""
    chosen = optimizer if optimizer is not None else optimizer_of(recipe)
    # Beside what the caller names: with another optimiser, or other sums, the same noise would be used for another run.
    steps = "of the recipe" if optimizer is None else optimizer_fingerprint(optimizer, params)
    identity = {**identity, "optimizer": steps, "devices": str(len(devices or ()))}
    state = Step(losses, recipe, chosen, devices=tuple(devices or ())).begun(params)
    kept = None if checkpoint is None else checkpoint.load(state, identity)
    pace = max(1, recipe.steps // _SAVES) if every is None else every
    if kept is None:
        secret, heard, known = new_secret(bits), [], dict(identity)
    else:
        state, secret, heard, known = kept.state, kept.secret, list(kept.losses), dict(kept.identity)
    return Run(losses, recipe, chosen, state, secret, heard, known, checkpoint, pace, devices, kept is not None)
