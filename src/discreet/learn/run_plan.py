"""What every plan of one training run shares: its price, its identity, its checkpoint, and what is recorded of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.core.progress import notify
from discreet.core.unit import Unit
from discreet.errors import InputError, RunError, kind_of
from discreet.learn.checkpoint import Checkpoint
from discreet.learn.gradients import Augment
from discreet.learn.model import Model, pack_weights
from discreet.learn.optimizer import Optimizer
from discreet.learn.recipe import Recipe
from discreet.learn.run import Run, augment_fingerprint, fingerprint, identity_of, optimizer_fingerprint, resume
from discreet.learn.step import State
from discreet.learn.trainer import Trained
from discreet.ledger.budget import Allotment, Charge

__all__ = ["RunPlan", "checkpoint_path"]

Tree = Any


@dataclass(frozen=True, eq=False, kw_only=True)
class RunPlan:
    """One run of one model by a recipe, charged whole before its first step. Nothing is read by making one.

    `checkpoint` is where the run is kept; of what is computed it only decides when reported losses are shown.
    `optimizer` and `augment`, where they are given, are part of what is asked, by hashes of what they compute.
    """

    kind: ClassVar[str] = "train"
    model: Model
    recipe: Recipe
    allotment: Allotment
    delta: Fraction
    checkpoint: Path | None = None
    told: bool = True
    """Whether losses are told as the run goes, where it is kept; else they are seen with the answer and not before."""
    optimizer: Optimizer | None = None
    augment: Augment | None = None
    devices: Sequence[Any] | None = None
    watch: Callable[[State], None] | None = None
    """Called with every state: it decides nothing of the result, and tells nobody before it is recorded."""

    @property
    def dataset(self) -> str:
        """The dataset's name, as the ledger knows it."""
        raise NotImplementedError

    @property
    def unit(self) -> Unit:
        """What is protected."""
        raise NotImplementedError

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        raise NotImplementedError

    @property
    def two(self) -> tuple[Tree, Tree]:
        """Two made-up rows, as the model sees them, and what it is to tell of them: of the shapes of all others."""
        raise NotImplementedError

    @property
    def asked(self) -> dict[str, Any]:
        """What is recorded of the question beside model and recipe."""
        raise NotImplementedError

    @property
    def cost(self) -> Loss:
        """The price of the whole run."""
        return self.recipe.cost

    @cached_property
    def charge(self) -> Charge:
        """The price in the currency of the allotment."""
        return self.allotment.price(self.cost, self.delta)

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words."""
        return (
            f"{self.recipe.noise_words} noise, multiplier {float(self.recipe.multiplier):.6g}, on clipped gradients of "
            f"Poisson lots (probability {float(self.recipe.probability):.6g}), {self.recipe.steps:,} steps"
            f"{f' in {self.recipe.bands} bands' if self.recipe.bands > 1 else ''}"
        )

    @cached_property
    def fingerprint(self) -> str:
        """A hash of what the model computes and of where it starts."""
        return fingerprint(self.model.losses, self.model.params, self.two)

    @cached_property
    def _code(self) -> dict[str, str]:
        """Hashes of the optimiser and the augmentation, where they are not the recipe's."""
        found = {}
        if self.optimizer is not None:
            found["optimizer"] = optimizer_fingerprint(self.optimizer, self.model.params)
        if self.augment is not None:
            found["augment"] = augment_fingerprint(self.augment, self.two)
        return found

    @property
    def query(self) -> dict[str, Any]:
        """The question as plain values, for the record."""
        asked = self.asked
        return {
            "train": {
                "model": {**self.model.described, "fingerprint": self.fingerprint},
                "encoding": asked.pop("encoding"),
                "recipe": self.recipe.to_dict(),
                **asked,
                "delta": str(self.delta),
                "watched": self.watched,
                **self._code,
            }
        }

    @property
    def watched(self) -> bool:
        """Whether noisy losses are shown as the run goes: only where the run can be gone on with after a crash."""
        return self.told and self.checkpoint is not None and self.recipe.report_loss is not None

    def resume(self, bits: Bits | None = None) -> Run:
        """The run as its checkpoint holds it, or a new one; refused if the file is of something else."""
        return resume(
            self.model.losses,
            self.model.params,
            self.recipe,
            identity_of(self.recipe, self.fingerprint, plan=self.digest),
            checkpoint=None if self.checkpoint is None else Checkpoint(self.checkpoint),
            told=self.told,
            optimizer=self.optimizer,
            augment=self.augment,
            devices=self.devices,
            bits=bits,
        )

    def stored_in(self, checkpoint: Path) -> Self:
        """The same run kept in a file, for whoever shows nothing of it before its answer is on the ledger."""
        return replace(self, checkpoint=checkpoint, told=False)

    def begun(self) -> bool:
        """Whether the checkpoint holds a run of this plan; refused if the file is of something else."""
        return self.resume().begun

    @contextmanager
    def kept(self, *, answered: bool) -> Iterator[None]:
        """Around the door: a checkpoint of something else is refused before anything is spent.

        When the model is on the ledger, or the run has failed, the checkpoint and the secret in it are destroyed.
        """
        with nullcontext() if self.checkpoint is None else Checkpoint(self.checkpoint).held():
            if self.checkpoint is not None and not answered:
                self.resume()
            try:
                yield
            except RunError:
                self.clear()
                raise
            self.clear()

    def clear(self) -> None:
        """Destroy the checkpoint, if it is of this plan and not of another run that was given the same file."""
        if self.checkpoint is not None:
            kept = Checkpoint(self.checkpoint)
            if kept.identity().get("plan") == self.digest:
                kept.destroy()

    def recorded(self, trained: Trained) -> dict[str, Any]:
        """The measurement: the question, the recipe as it was run, and what came of it."""
        notify("recording")
        return {
            "train": {
                **self.query["train"],
                "recipe": trained.recipe.to_dict(),
                "weights": pack_weights(trained.params),
                "losses": trained.losses,
                "unit": str(self.unit),
            }
        }

    def publish(self, measured: dict[str, Any]) -> dict[str, Any]:
        """As it was measured: weights with noise in every step are what is published."""
        return measured


def checkpoint_path(checkpoint: str | Path | None) -> Path | None:
    """The file of a run, if there is to be one; its folder must exist."""
    if checkpoint is None:
        return None
    if not isinstance(checkpoint, (str, Path)):
        raise InputError("checkpoint", kind_of(checkpoint), "the path of a file")
    path = Path(checkpoint)
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise InputError("checkpoint", str(checkpoint), "a file in a folder that exists")
    return path
