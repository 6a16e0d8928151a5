"""A desk on a server: asks are sent there, priced and paid there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, cast
from urllib.parse import urlencode

from discreet.apps.client.job import answer_from, record, segment
from discreet.apps.client.offer import RemoteOffer, RemoteQuestionOffer, RemoteStreamOffer
from discreet.apps.client.transport import Transport
from discreet.core.exact import Number
from discreet.core.note import Note
from discreet.curator.kinds import kind_of, table_of
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.errors import kind_of as kind_of_value
from discreet.ledger.account import Standing
from discreet.ledger.budget import Allotment, Charge
from discreet.ledger.door import Answer
from discreet.query.ask import Ask, Checked, Described, check_subject, options
from discreet.query.price import Price
from discreet.query.question_ask import QuestionAsk
from discreet.query.stream import StreamAsk

__all__ = ["RemoteDesk"]


@dataclass(frozen=True)
class RemoteDesk:
    """A dataset on a server."""

    transport: Transport
    dataset: str

    @property
    def path(self) -> str:
        """Where it is on the server."""
        return f"/api/datasets/{segment(self.dataset)}"

    def describe(self) -> dict[str, Any]:
        """Its schema, whom it protects, and what is left."""
        found: dict[str, Any] = self.transport.send(self.path)
        return found

    @cached_property
    def declared(self) -> Described:
        """What is declared about the data, and whom it protects."""
        entry = self.describe()["schema"]
        if "grid" in entry:
            from discreet.power.schema import GridSchema  # a room that few datasets need

            return GridSchema.from_dict(entry)
        if "values" in entry:
            from discreet.constraints.hidden.values import ValuesSchema

            return ValuesSchema.from_dict(entry)
        return Schema.from_dict(entry)

    @property
    def schema(self) -> Schema:
        """The columns that are declared."""
        check_subject(Ask, self.declared)
        return cast("Schema", self.declared)

    def check(self, ask: Ask) -> Checked[Any] | None:
        """Nothing: the server reads what it is sent."""
        return None

    def offer(
        self, ask: Ask, checked: Checked[Any] | None, price: Price | None, allotment: str | None
    ) -> RemoteOffer[Any]:
        """The ask as the server prices it."""
        body = {**_price_to(price, ask), "allotment": allotment}
        if isinstance(ask, QuestionAsk):
            body |= {"query": ask.query.to_dict(), "delta": ask.delta}
        else:
            body |= ask.to_dict()
        body = {name: value for name, value in body.items() if value is not None}
        if isinstance(ask, QuestionAsk):
            return RemoteQuestionOffer(self, "question", body, self.transport.send(f"{self.path}/plan", body), ask)
        made = RemoteStreamOffer if isinstance(ask, StreamAsk) else RemoteOffer
        return made(self, ask.kind, body, self.transport.send(f"{self.path}/{ask.kind}/plan", body))

    def standing(self) -> tuple[Standing, ...]:
        """What every allotment that this token may see has spent and has left."""
        return tuple(_standing(self.dataset, one) for one in self.describe()["allotments"])

    def releases(self) -> list[str]:
        """Ids of what was released."""
        found: list[str] = self.transport.send(f"{self.path}/releases")
        return found

    def release(self, release: str, part: str = "") -> Any:
        """A release of any kind made before, read again for free; with `part`, its table of that name."""
        whole = _read(*record(self.transport, self.dataset, release))
        return table_of(whole, part) if part else whole

    def for_ac(self, release: str, power_factor: Number, beta: Number) -> Any:
        """Released loads moved until AC converges, there: the grid file is on the server."""
        asked = urlencode({"power_factor": str(power_factor), "beta": str(beta)})
        found = self.transport.send(f"{self.path}/loads/{segment(release)}/ac?{asked}")
        base = self.release(release)
        notes = tuple(Note.from_dict(one) for one in found["notes"])
        return replace(base, table=replace(base.table, columns=found["columns"], notes=notes), report=found["report"])

    def publish(self, release: str, how: Mapping[str, Any]) -> Any:
        """A release of any kind made before, published again there from what was measured for it."""
        sent = {name: value if _plain(value) else self._written(release, name, value) for name, value in how.items()}
        found = self.transport.send(f"{self.path}/publish", {"release": release, "how": sent})
        return _read(*answer_from(found))

    def _written(self, release: str, name: str, value: Any) -> Any:
        """A value of a field of the ask, as JSON."""
        answer, _, _ = record(self.transport, self.dataset, release)
        made = kind_of(answer.query, answer.kind)
        known = None if made is None else options(made.ask()).get(name)
        if known is None:
            raise InputError(name, kind_of_value(value), "text or a number", "Nothing was spent.")
        return known.form.write(value)


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float, list, dict))


def _read(answer: Answer, cost: str, remaining: str) -> Any:
    kind = kind_of(answer.query, answer.kind)
    if kind is None:
        raise InputError("release", answer.release, "a release of a kind that can be read here")
    return kind.read(answer, cost, remaining)


def _price_to(price: Price | None, ask: Ask) -> dict[str, Any]:
    if price is None:
        return {}
    said = {price.way: str(price.amount), "confidence": price.confidence, "noise": price.noise}
    return {word: value for word, value in said.items() if word in ask.prices}


def _standing(dataset: str, entry: dict[str, Any]) -> Standing:
    part = Allotment.from_json(entry["declared"])
    exact = entry["exact"]
    spent = Charge(Fraction(exact["spent"]), Fraction(exact["delta_spent"]))
    return Standing(dataset, part, spent, spent.left_of(part.cap))
