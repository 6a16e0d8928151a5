"""Most frequent values as a priced job: how often each value occurs is counted with noise, and the largest is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discreet.core.digest import text_of
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.core.note import Note
from discreet.core.packing import pack, unpack
from discreet.core.release import percent
from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Neighbours, Unit
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError, Phrase
from discreet.ledger.budget import Allotment
from discreet.mechanisms import Gaussian, Laplace
from discreet.query.contribution import GROUP, fresh_salt
from discreet.query.key import MOST_GROUPS, Key, published
from discreet.query.modes import Mode
from discreet.query.notes import declared_notes
from discreet.query.plan import noise_name
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.table_plan import QuestionPlan, at_confidence, explained, rows_published
from discreet.query.tally import BIN, ROWS, compile_values

__all__ = ["ModePlan", "moved_cells", "plan_modes"]

Noise = Laplace | Gaussian
_FEW = 12


def moved_cells(unit: Unit, groups: int, values: int) -> Sensitivity:
    """How far one unit moves the numbers of rows that have each of `values` values, in each of `groups` groups.

    Of a unit at most `most_rows` rows count in a group, whatever their values: it moves as many cells there, all
    together by that many. Replaced, it leaves some cells and enters others. Proof: docs/proofs/query.md.
    """
    ends = 1 if unit.neighbours is Neighbours.ADD_REMOVE else 2
    touched = min(unit.most_groups, groups)
    cells = min(ends * touched * min(unit.most_rows, values), groups * values)
    total = min(touched * unit.most_rows, unit.most_total)
    return Sensitivity(each=unit.most_rows, outputs=cells, total=ends * total)


@dataclass(frozen=True, slots=True)
class ModePlan(QuestionPlan):
    """The most frequent values of one column, the noise on how often each occurs, and its price.

    Guarantee: `measure` costs `cost`; what is published follows from the noisy numbers. Proof: docs/proofs/query.md.
    """

    kind: ClassVar[str] = "question"
    version: ClassVar[int] = 1
    question: Query
    schema: Schema
    allotment: Allotment
    confidence: float
    noise: Noise

    @property
    def groups(self) -> int:
        """How many groups will be published."""
        return self.question.groups(self.schema)

    @property
    def values(self) -> Key:
        """What is chosen from."""
        return _values(self.question, self.schema)

    @property
    def moved(self) -> Sensitivity:
        """How far one unit can move the numbers of rows."""
        return moved_cells(self.schema.unit, self.groups, len(self.values.labels(self.schema)))

    @property
    def cost(self) -> Loss:
        """The price of the whole job."""
        return self.noise.loss(self.moved)

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words."""
        return noise_name(self.noise)

    @property
    def law(self) -> dict[str, Any]:
        """What beside the question decides the law of the result."""
        return {"noise": text_of(self.noise)}

    def explained(self) -> Explanation:
        """What there is to know before it is paid."""
        notes = [note.text for note in declared_notes(self.question, self.schema)]
        return explained(self, [rows_published(self.groups)], notes)

    def expected(self) -> list[Accuracy]:
        """How many rows the value named may have less than the most frequent one, whatever the data."""
        behind = float(self.noise.lead(self.confidence, len(self.values.labels(self.schema))))
        words = f"{self.mechanism}, on how often each value occurs"
        unit = "row" if behind == 1 else "rows"
        return [Accuracy(name, words, behind, unit=unit, of="shortfall") for name, _ in self.question.ordered]

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Count in the engine, add the noise. Called by the one door only."""
        return self.draw(data, bits)

    def draw(self, data: Connection, bits: Bits, salt: Sequence[int] | None = None) -> dict[str, Any]:
        """The noisy numbers, for a job this plan is a part of; `salt` is that of the whole question."""
        salt = fresh_salt(bits) if salt is None else salt
        values = self.values
        found = data.integers(compile_values(self.question, self.schema, values, data.table, salt))
        exact = np.zeros((self.groups, len(values.labels(self.schema))), dtype=np.int64)
        exact[found[GROUP], found[BIN]] = found[ROWS]
        return {"noisy": pack(self.noise.release(exact.ravel(), bits=bits).reshape(exact.shape))}

    def publish(self, measured: Mapping[str, Any], *, confidence: float | None = None) -> dict[str, Any]:
        """The table of results, with intervals of the plan's confidence or of another one."""
        return at_confidence(self, confidence).table(unpack(measured["noisy"]))

    def table(self, noisy: Any) -> dict[str, Any]:
        """In each group the value with the largest noisy number, between the first and the last that may be it.

        Guarantee: the most frequent value lies between them, in the order of declaration, with the confidence.
        Proof: docs/proofs/query.md.
        """
        columns = self.question.key_columns(self.schema)
        labels = [published(label) for label in self.values.labels(self.schema)]
        best = noisy.argmax(axis=1)  # of equal ones the first
        near = noisy >= noisy.max(axis=1, keepdims=True) - self.noise.lead(self.confidence, len(labels))
        first, last = near.argmax(axis=1), len(labels) - 1 - near[:, ::-1].argmax(axis=1)
        gaps = bool((near.sum(axis=1) < last - first + 1).any())
        notes = [*declared_notes(self.question, self.schema), *(self._candidates(near) if gaps else ())]
        for name, _ in self.question.ordered:
            for end, places in (("", best), ("_lower", first), ("_upper", last)):
                columns[name + end] = [labels[place] for place in places.tolist()]
        return {
            "columns": columns,
            "keys": [key.title for key in self.question.keys],
            "outputs": [name for name, _ in self.question.ordered],
            "confidence": self.confidence,
            "notes": [note.to_dict() for note in notes],
        }

    def _candidates(self, near: Any) -> list[Note]:
        """All values that may be the most frequent, where they are few."""
        if len(near) > _FEW or near.sum(axis=1).max() > _FEW:
            return []
        labels = [str(published(label)) for label in self.values.labels(self.schema)]
        keys = list(self.question.key_columns(self.schema).values())
        told = []
        for place, row in enumerate(near):
            group = ", ".join("missing" if column[place] is None else str(column[place]) for column in keys)
            words = ", ".join(label for label, is_near in zip(labels, row, strict=True) if is_near)
            told.append(f"in {group}: {words}" if group else words)
        text = (
            f"The most frequent value is, with confidence {percent(self.confidence)}, one of these: {'; '.join(told)}."
        )
        return [Note("candidates", text, tuple(name for name, _ in self.question.ordered))]


def _values(question: Query, schema: Schema) -> Key:
    output = question.ordered[0][1]
    if not isinstance(output, Mode):
        raise TypeError("a plan of most frequent values has no quantiles")
    return output.values(schema, question.condition)


def plan_modes(question: Query, schema: Schema, allotment: Allotment, price: Price) -> ModePlan:
    """Price the most frequent values of one column. Raises before anything is spent."""
    schema = question.limited(schema)
    checked = question.checked(schema)
    if checked.outputs or len({output for _, output in checked.ordered}) != 1:
        raise InputError("outputs", [name for name, _ in checked.ordered], "most frequent values of one column")
    if allotment.kind == "plan":
        raise InputError(
            "allotment", allotment.name, "a pure or zcdp allotment: a plan allotment pays for one fixed plan"
        )
    if price.way == "within":
        hint = "Give epsilon, rho or share; the plan then says how far behind the best a value may be."
        raise InputError("within", float(price.amount), "left out for most frequent values", hint)
    groups, values = checked.groups(schema), len(_values(checked, schema).labels(schema))
    if groups * values > MOST_GROUPS:
        cells = Phrase(f"{groups:,} groups of {values:,} values")
        raise InputError("mode", cells, f"at most {MOST_GROUPS:,} values in all groups together", "Use fewer groups.")
    noise = price.buys(allotment, [moved_cells(schema.unit, groups, values)], [None])[0]
    return ModePlan(checked, schema, allotment, price.confidence, noise)
