"""The plan of a job by a server: read here, paid and run there."""

from __future__ import annotations

import inspect
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from discreet.apps.client.job import RemoteJob
from discreet.core.decision import Decision
from discreet.core.note import Note
from discreet.core.release import Release
from discreet.core.trials import region_name
from discreet.curator.repeat import Repeat
from discreet.errors import InputError, RunError, kind_of
from discreet.ledger.budget import label

if TYPE_CHECKING:
    from discreet.apps.client.desk import RemoteDesk
    from discreet.query.question_ask import QuestionAsk

__all__ = ["RemoteOffer", "RemoteQuestionOffer", "RemoteStream", "RemoteStreamOffer", "read_table"]

Made = TypeVar("Made")


@dataclass(frozen=True, repr=False)
class RemoteOffer(Generic[Made]):
    """A plan by a server. `print(offer)` before, `offer.release()` to spend."""

    desk: RemoteDesk
    kind: str
    body: dict[str, Any]
    plan: dict[str, Any]

    def explain(self) -> str:
        """Cost and expected error, in the server's words."""
        return str(self.plan["text"])

    @property
    def answered(self) -> Repeat | None:
        """A stored answer to the same question at the same price, free to read; None if there was none at planning."""
        found = self.plan.get("answered")
        return None if found is None else Repeat(**found)

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain values."""
        return {name: value for name, value in self.plan.items() if name != "text"}

    def decide(self, sizes: Any, **how: Any) -> Decision:
        """What noise would do to a decision by the numbers, if they were these public or assumed `sizes`.

        As `Offer.decide`, for questions and hierarchies; tried out there, and nothing is read or spent.
        """
        if self.kind not in _DECIDED:
            raise InputError.refused("plan", self.kind, "is of a kind for which decisions cannot be tried")
        known = [name for name in inspect.signature(_DECIDED[self.kind]()).parameters if name not in ("self", "sizes")]
        for name in how:
            if name not in known:
                raise InputError.unknown(name, known, "Nothing was spent.")
        said = {**how, "by": _by_name(how["by"])} if isinstance(how.get("by"), Mapping) else how
        body = {**self.body, "decision": {**said, "sizes": _plain_sizes(sizes, self.kind)}}
        path = "plan" if self.kind == "question" else f"{self.kind}/plan"
        return Decision.from_dict(self.desk.transport.send(f"{self.desk.path}/{path}/decide", body))

    def begin(self, *, release: str | None = None, why: str = "", priority: str = "normal") -> RemoteJob[Made]:
        """Spend and start it in the background there. The same `release` id again is charged once.

        Of jobs that wait, those of a higher `priority` begin first: high (for custodians), normal or low.
        """
        body = {**self.body, "why": why, "release": uuid.uuid4().hex if release is None else release}
        body |= {} if priority == "normal" else {"priority": priority}
        found = self.desk.transport.send(f"{self.desk.path}/{self.kind}/release", body)
        ended = found if found["state"] == "done" else None
        return RemoteJob(
            self.desk.transport, self.desk.dataset, str(found["release"]), self.kind, self.desk.release, ended
        )

    def release(self, *, release: str | None = None, why: str = "", wait: float | None = None) -> Made:
        """Spend, and wait until it is made; on a terminal and in a notebook, how far it is meanwhile."""
        return self.begin(release=release, why=why).wait(wait)

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return f"<{self.explain().partition(chr(10))[0]}; print it to see what it says>"

    def _repr_html_(self) -> str:
        from discreet.show import cell, verbatim  # of a plan that is only printed nothing is drawn

        first, _, rest = self.explain().partition("\n")
        return cell(first, verbatim(rest), kind="Plan")


@dataclass(frozen=True, repr=False)
class RemoteQuestionOffer(RemoteOffer[Release]):
    """The plan of a question, which is answered at once where that is possible."""

    ask: QuestionAsk

    def release(self, *, release: str | None = None, why: str = "", wait: float | None = None) -> Release:
        """Spend and answer. Asked again under the same id, the stored answer comes back at no cost.

        An answer that takes longer than the server lets anyone wait is asked for again under its id, which is charged
        once; `RunError` after `wait` seconds of that.
        """
        identity = uuid.uuid4().hex if release is None else release
        body = {**self.body, "why": why, "release": identity}
        end = None if wait is None else time.monotonic() + wait
        while True:
            found = self.desk.transport.send(f"{self.desk.path}/release", body)
            if "columns" in found:
                return self.ask.presentation.apply(read_table(found))
            if end is not None and time.monotonic() >= end:
                raise RunError(f"{found['text']} Its id is {identity!r}.", release=identity)
            time.sleep(0.5)


@dataclass(frozen=True, repr=False)
class RemoteStreamOffer(RemoteOffer[Release]):
    """The plan of a stream. `start(name)` gives the stream; its first release pays for all periods.

    `release` and `begin` take the id of a period, "visits/3", or the name of the stream for its next one.
    """

    def start(self, name: str) -> RemoteStream:
        """The stream under a name of its own; the same name and plan go on where they were."""
        return RemoteStream(self, label(name, "name"))


@dataclass(frozen=True, slots=True)
class RemoteStream:
    """A stream that runs on a server. Every period is released once, in order; asked again it is read there."""

    offer: RemoteStreamOffer
    name: str

    @property
    def released(self) -> int:
        """How many periods have an answer."""
        known, count = set(self.offer.desk.releases()), 0
        while f"{self.name}/{count + 1}" in known:
            count += 1
        return count

    def release(self, period: int | None = None, *, why: str = "", wait: float | None = None) -> Release:
        """Publish a period (the next one if none is named): its counts, and the running totals up to it."""
        # The period is chosen here: if the answer is lost on the way, asking again under its id releases no other.
        at = self.released + 1 if period is None else period
        return self.offer.release(release=f"{self.name}/{at}", why=why, wait=wait)


def _by_name(values: Mapping[Any, Any]) -> dict[str, Any]:
    return {region_name(region): value for region, value in values.items()}


def _plain_sizes(sizes: Any, kind: str) -> Any:
    """Numbers as they can be sent; a file or a table is read here."""
    if kind == "tree":
        from discreet.trees.covariate import covariate_table

        sizes = covariate_table(sizes)
    if isinstance(sizes, Mapping):
        return {name: _number(value) for name, value in _by_name(sizes).items()}
    if not isinstance(sizes, (list, tuple)):
        raise InputError("sizes", kind_of(sizes), "a number for each group, in order or by its name")
    return [_number(value) for value in sizes]


def _number(value: Any) -> Any:
    """A number of another library as Python has it; what is none is for the server to refuse."""
    return value.item() if hasattr(value, "item") else value


def _question_plan() -> Any:
    from discreet.query.plan import QueryPlan

    return QueryPlan.decide


def _tree_plan() -> Any:
    from discreet.trees.plan import TreePlan

    return TreePlan.decide


_DECIDED = {"question": _question_plan, "tree": _tree_plan}
"""Kinds that decisions are tried out for, and what says how."""


def read_table(entry: dict[str, Any]) -> Release:
    """A table from its plain values."""
    plain: dict[str, Any] = dict(entry)
    plain |= {name: tuple(plain[name]) for name in ("keys", "outputs")}
    plain["notes"] = tuple(Note.from_dict(note) for note in plain.get("notes", ()))
    return Release(**plain)
