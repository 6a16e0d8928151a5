"""A priced job, and the data it is for. These protocols are all that the one door knows of either."""

from __future__ import annotations

import hashlib
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.core.unit import Protected
from discreet.core.wire import Json

__all__ = ["Cover", "Covered", "Plan", "Private", "as_paid"]

P = TypeVar("P")


@runtime_checkable
class Plan(Protocol):
    """What will be released, at what cost, decided without looking at the data."""

    @property
    def cost(self) -> Loss:
        """The price of the whole job. Exact, or rounded up."""
        ...

    @property
    def unit(self) -> Protected:
        """What the cost is stated for. The ledger refuses a plan whose unit is not that of the account."""
        ...

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result: dataset, query, bounds, mechanism, noise."""
        ...

    @property
    def dataset(self) -> str:
        """The name of the dataset, as the ledger knows it."""
        ...

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words: "discrete Laplace, scale 20"."""
        ...

    @property
    def query(self) -> dict[str, Json]:
        """The question as plain values, for the record. Holds nothing private."""
        ...

    @property
    def kind(self) -> str:
        """The kind of job, as the table of kinds names it: stands on every measurement and answer on record."""
        ...

    @property
    def version(self) -> int:
        """The number of the form in which measurement and answer are recorded, 1 or more; another form, another one."""
        ...

    def measure(self, data: Any, bits: Bits) -> Json:
        """The private half, as plain values: all that is drawn, and nothing that is not paid for.

        Called by the one door only, with what `Private.open` gave. It is on record before anything is made of it.
        """
        ...

    def publish(self, measured: Any) -> Json:
        """The free half: the answer, made from a measurement as it was recorded and from nothing else that is private.

        The same measurement gives the same answer. Named arguments, where a kind has any, ask for another method.
        """
        ...


@dataclass(frozen=True, slots=True)
class Cover:
    """What pays for a step of cost zero: step `step` of the job with digest `job`, whose first step is `paid`."""

    job: str
    step: int
    paid: str

    @staticmethod
    def digest(job: str, step: int) -> str:
        """The digest of a step: made from its job's and its number alone, so that the ledger can check it."""
        return hashlib.sha256(f"{job} {step}".encode()).hexdigest()


@runtime_checkable
class Covered(Protocol):
    """A plan that may be a later step of a job whose first step paid for all. Plans need not be like this."""

    @property
    def covered_by(self) -> Cover | None:
        """The paid release that covers a cost of zero; None where the cost is the plan's own."""
        ...


@runtime_checkable
class Private(Protocol):
    """Data that has not been read yet.

    With a method `reach` it is brought within reach before the charge, or refused: no row is looked at by it.
    """

    def open(self) -> AbstractContextManager[Any]:
        """A connection to the private data, closed at the end. Called by the one door only, after the charge."""
        ...


def as_paid(plan: P, digest: str) -> P:
    """The plan that was paid under a digest: this one, or one of its `former`, if it is among them.

    `former`, where a plan has it, are the plans that earlier versions made of the same ask: what they measured is read
    and published as they would have.
    """
    made: Any = plan
    if made.digest == digest:  # first: to plan as before may take a search of seconds
        return plan
    paid: P = next((old for old in getattr(made, "former", ()) if old.digest == digest), plan)
    return paid
