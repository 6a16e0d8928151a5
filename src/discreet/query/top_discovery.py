"""The most common values of a column that nobody listed: those that enough units share are found, sorted and cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from discreet.core.exact import Number
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.core.note import Note
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.ledger.budget import Allotment
from discreet.query.discovery_plan import DiscoveryPlan, plan_discovery
from discreet.query.price import Price
from discreet.query.table_plan import QuestionPlan
from discreet.query.top import COUNT, Top

__all__ = ["TopDiscoveryPlan", "plan_top_discovery"]


@dataclass(frozen=True, slots=True)
class TopDiscoveryPlan(QuestionPlan):
    """A question for the most common of discovered values: all that are found are counted, and the first `k` shown.

    Guarantee: what is released is computed of what `found` releases, and costs as much. Proof:
    docs/proofs/query-unknown-keys.md.
    """

    kind: ClassVar[str] = "top"
    version: ClassVar[int] = 1
    question: Top
    schema: Schema
    allotment: Allotment
    confidence: float
    found: DiscoveryPlan

    @property
    def groups(self) -> None:
        """How many values will be published: at most `k`, and nobody knows how many beforehand."""
        return None

    @property
    def cost(self) -> Loss:
        """The price of the whole question: of the selection, and of the counts that decide the order."""
        return self.found.cost

    @property
    def mechanism(self) -> str:
        """What selects and what adds the noise, in words."""
        return self.found.mechanism

    @property
    def law(self) -> dict[str, Any]:
        """What beside the question decides the law of the result."""
        return self.found.law

    def explained(self) -> Explanation:
        """What there is to know before it is paid."""
        told = self.found.explained()
        who = "rows" if self.schema.unit.column is None else "people"
        column = self.question.key.column
        shape = (
            f"Releases at most {self.question.k:,} of the values of {column} that enough {who} share, "
            "those with the largest noisy counts first."
        )
        notes = dict.fromkeys([*(note.text for note in self._persons), *told.notes])
        return replace(told, shape=(shape,), notes=tuple(notes))

    def expected(self) -> list[Accuracy]:
        """The error of the counts, by which values are sorted."""
        return self.found.expected()

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Count in the engine, select, add the noise. Called by the one door only."""
        return self.found.measure(data, bits)

    def publish(self, measured: Mapping[str, Any], *, confidence: float | None = None) -> dict[str, Any]:
        """The values with the largest noisy counts; of equal ones the first by name."""
        table = self.found.publish(measured, confidence=confidence)
        name, columns = self.question.key.column, table["columns"]
        known = [place for place, value in enumerate(columns[name]) if value is not None]
        best = sorted(known, key=lambda place: -columns[COUNT][place])[: self.question.k]
        outputs = table["outputs"] if self.question.counts else []
        shown = [name, *(output + end for output in outputs for end in ("", "_lower", "_upper"))]
        notes = [*(note.to_dict() for note in self._persons), *table["notes"]]
        if not outputs:
            notes = [{**note, "outputs": []} for note in notes if note["kind"] != "negative"]
        columns = {each: [columns[each][place] for place in best] for each in shown}
        return {**table, "columns": columns, "keys": [name], "outputs": outputs, "notes": notes}

    @property
    def _persons(self) -> list[Note]:
        who = self.schema.unit.column
        text = f"Each {who} counts once for a value, however many rows they have with it."
        return [] if who is None else [Note("persons", text, (COUNT,))]


def plan_top_discovery(
    question: Top, schema: Schema, allotment: Allotment, price: Price, delta: Number | None
) -> TopDiscoveryPlan:
    """Read a question against its schema and price it. Raises before anything is spent."""
    checked = question.checked(schema)
    found = plan_discovery(checked.discovered(schema), schema, allotment, price, delta)
    return TopDiscoveryPlan(checked, found.schema, allotment, price.confidence, found)
