"""The most common values of a column: a question, and its plan. Chosen in one release by one-shot noisy top-k."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.accounting.compose import compose
from discreet.core.digest import text_of
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.core.note import Note
from discreet.core.packing import pack
from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Neighbours
from discreet.data.expression import Expression
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.mechanisms import Gaussian, Laplace, TopK
from discreet.noise.bits import words
from discreet.query.aggregate import Count, Persons
from discreet.query.compile import GROUP, count_groups, measure_name
from discreet.query.key import Key, key, published
from discreet.query.limits import PersonLimits
from discreet.query.measure import Measure, sensitivity
from discreet.query.notes import condition_notes, join_notes, limit_notes, outside_values, published_notes
from discreet.query.plan import QueryPlan
from discreet.query.predicate import IsMissing, Not, Predicate, checked
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.table_plan import QuestionPlan, explained

__all__ = ["COUNT", "Top", "TopPlan", "plan_top"]

Noise = Laplace | Gaussian

COUNT = "count"
"""The column of noisy counts, of persons or of rows, whichever is protected."""

_FINE = 10**12


@dataclass(frozen=True, slots=True)
class Top:
    """Which `k` values of a column most units have, of those that are declared or listed; with noisy `counts` or not.

    >>> from discreet.data.column import Category
    >>> schema = Schema("visits", {"ward": Category(["a", "b", "c"])})
    >>> Top(key("ward"), k=2).checked(schema).to_dict()
    {'where': None, 'top': {'key': {'column': 'ward'}, 'k': 2, 'counts': True}}
    """

    key: Key
    k: int
    counts: bool = True
    condition: Predicate | None = None
    person_limits: PersonLimits | None = None

    @property
    def keys(self) -> tuple[Key, ...]:
        """The one key."""
        return (self.key,)

    @property
    def outputs(self) -> tuple[()]:
        """None that a column goes into."""
        return ()

    @property
    def ordered(self) -> tuple[()]:
        """Quantiles that are asked for: none."""
        return ()

    def where(self, condition: str | Predicate | Expression) -> Top:
        """Among the rows for which the condition is true; a second condition narrows the first."""
        return replace(self, condition=self._bare.where(condition).condition)

    def limits(self, groups: int | None = None, rows: int | None = None, rows_total: int | None = None) -> Top:
        """How much of each person counts in this question: see `Query.limits`."""
        return replace(self, person_limits=self._bare.limits(groups, rows, rows_total).person_limits)

    def limited(self, schema: Schema) -> Schema:
        """The schema as this question is planned and counted with."""
        return self._bare.limited(schema)

    @property
    def _bare(self) -> Query:
        """Its condition and limits alone."""
        return Query(self.condition, person_limits=self.person_limits)

    def checked(self, schema: Schema) -> Top:
        """The same question, read against a schema. Every error comes from here, before anything is spent."""
        if not isinstance(self.key, Key):
            raise InputError("top", self.key, "a column name, bins(...), key(...) or discover(...)")
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            raise InputError("k", self.k, "a whole number from 1 up")
        if not isinstance(self.counts, bool):
            raise InputError("counts", self.counts, "true or false")
        if self.counts and self.key.column in (COUNT, f"{COUNT}_lower", f"{COUNT}_upper"):
            raise InputError(
                "top", self.key.column, "a column of another name: the counts have this one", "Use counts=False."
            )
        if self.key.discovered:
            condition = None if self.condition is None else checked(self.condition, self.limited(schema))
            return replace(self, condition=condition, key=self.discovered(schema).keys[0])
        read = replace(self, condition=self.counted(schema).condition, key=self.key.checked(schema))
        if self.k > (size := len(read.labels(schema))):
            raise InputError("k", self.k, f"at most the number of values of {self.key.column}, {size:,}")
        return read

    def labels(self, schema: Schema) -> list[Any]:
        """What is chosen from. A missing value is none, unless it is listed."""
        found = self.key.labels(schema)
        return [label for label in found if label is not None] if self.key.values is None else found

    def discovered(self, schema: Schema) -> Query:
        """How many units each value has that enough of them share, as a question of its own."""
        score = Count() if schema.unit.column is None else Persons()
        there = self._bare.where(Not(IsMissing(schema.canonical(self.key.column, "top"))))
        return replace(there, keys=(self.key,), outputs=((COUNT, score),)).checked(schema)

    def counted(self, schema: Schema) -> Query:
        """How many units each value has, as a question of its own (which nobody is answered)."""
        asked = self.key.checked(schema)
        # Or what a person has besides would have to share their few groups with what is missing.
        if asked.edges is not None:
            asked = replace(asked, missing=False)
        elif asked.values is None and schema.columns[asked.column].nullable:
            asked = key(asked.column, self.labels(schema))
        score = Count() if schema.unit.column is None else Persons()
        outputs = ((COUNT if self.counts else "score", score),)
        counted = replace(self._bare, keys=(asked,), outputs=outputs).checked(schema)
        return replace(counted, keys=(asked,))  # all values, also those that the condition rules out: see `labels`

    def to_dict(self) -> dict[str, Any]:
        """The question as plain values."""
        top = {"key": self.key.to_dict(), "k": self.k, "counts": self.counts}
        bare = self._bare.to_dict()
        return {"where": bare["where"], "top": top} | ({"limits": bare["limits"]} if "limits" in bare else {})

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any], schema: Schema) -> Top:
        """A question from its JSON values, checked against the schema."""
        forms = "{'where': ..., 'top': {'key': ..., 'k': ..., 'counts': true}}"
        top = entry.get("top")
        if set(entry) - {"where", "top", "limits"} or not isinstance(top, Mapping) or set(top) - {"key", "k", "counts"}:
            raise InputError("query", entry, forms)
        if not {"key", "k"} <= set(top):
            raise InputError("top", top, forms)
        named = top["key"]
        asked = key(named) if isinstance(named, str) else Key.from_dict(named, schema)
        # Through a question, which knows how conditions are written.
        written: dict[str, Any] = {"where": entry.get("where"), "group_by": [], "outputs": {"n": {"of": "count"}}}
        bare = Query.from_dict({**written, "limits": entry.get("limits")}, schema)
        return cls(asked, top["k"], top.get("counts", True), bare.condition, bare.person_limits).checked(schema)


@dataclass(frozen=True, slots=True)
class TopPlan(QuestionPlan):
    """A choice of values, noise for their counts, and the price of both.

    Guarantee: a run is the adaptive composition of `choice`, whose scores one person moves by at most one each, and of
    the counts of what was chosen. Proof: docs/proofs/query-top.md.
    """

    kind: ClassVar[str] = "top"
    version: ClassVar[int] = 1
    question: Top
    schema: Schema
    allotment: Allotment
    confidence: float
    choice: TopK
    noise: Noise | None

    @property
    def groups(self) -> int:
        """How many values will be published."""
        return self.question.k

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What is counted of every value."""
        return self._counted.outputs[0][1].measures(self.schema)

    @property
    def moved(self) -> Sensitivity:
        """How far one unit can move the counts of the values chosen."""
        return sensitivity(self.measures[0], self.schema.unit, self.question.k)

    @property
    def cost(self) -> Loss:
        """The price of the whole question: the choice, and the counts if there are any."""
        counted = [] if self.noise is None else [self.noise.loss(self.moved)]
        return compose([self.choice.loss(), *counted])

    @property
    def mechanism(self) -> str:
        """What chooses and what adds the noise, in words."""
        return "; ".join(dict.fromkeys(expected.noise for expected in self.expected()))

    @property
    def law(self) -> dict[str, Any]:
        """What beside the question decides the law of the result."""
        return {
            "choice": text_of(self.choice),
            "noise": text_of(self.noise),
        }

    def explained(self) -> Explanation:
        """What there is to know before it is paid."""
        column, of = self.question.key.column, len(self.question.labels(self.schema))
        shape = f"Releases {self.groups:,} of the {of:,} values of {column}, the most common first, as noise allows."
        return explained(self, [shape], [note.text for note in self.notes])

    def expected(self) -> list[Accuracy]:
        """How far each choice may be behind the best then left, all at once, and the error of each count."""
        behind = float(self.choice.error(self.confidence, len(self.question.labels(self.schema))))
        words_ = f"one-shot top-{self.question.k}, epsilon {float(self.choice.epsilon):.6g}"
        found = [Accuracy(self.question.key.column, words_, behind, of="choice")]
        return found if self.noise is None else found + self._outputs(self.noise).expected()

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Count in the engine, choose, add noise to the counts of what was chosen. Called by the one door only."""
        salt = [int(word) & (2**31 - 1) for word in words(bits, 8)]
        found = count_groups(data, self._counted, self.schema, self.measures, salt)
        labels = self.question.labels(self.schema)
        exact = np.zeros(len(labels), dtype=np.int64)
        exact[found[GROUP]] = found[measure_name(0)]
        chosen = self.choice.release(exact, bits=bits)
        noisy = None if self.noise is None else pack(self.noise.release(exact[chosen], bits=bits)[None])
        return {"chosen": [int(place) for place in chosen], "noisy": noisy}

    def publish(self, measured: Mapping[str, Any], *, confidence: float | None = None) -> dict[str, Any]:
        """The values that were chosen, with their counts."""
        labels, chosen = self.question.labels(self.schema), measured["chosen"]
        shown = [published(labels[i]) for i in chosen]
        result: dict[str, Any] = {"columns": {}, "outputs": [], "confidence": self.confidence}
        if self.noise is not None:
            result = self._outputs(self.noise).publish({"noisy": measured["noisy"]}, confidence=confidence)
        name = self.question.key.column
        said = (
            ()
            if self.noise is None
            else published_notes(self._counted.outputs, result["columns"], result["confidence"])
        )
        notes = [note.to_dict() for note in (*self.notes, *said)]
        return {**result, "columns": {name: shown, **result["columns"]}, "keys": [name], "notes": notes}

    @property
    def notes(self) -> list[Note]:
        """What is counted, and what the limits on a person, the values chosen from and the condition leave out."""
        schema, question, counted = self.schema, self.question, self._counted
        names = [COUNT] if question.counts else []
        said = limit_notes(schema.unit, counted.outputs, len(question.labels(schema)))
        notes = [replace(note, outputs=tuple(names)) for note in said]
        if schema.unit.column is not None:
            text = f"Each {schema.unit.column} counts once for a value, however many rows they have with it."
            notes = [Note("persons", text, tuple(names)), *notes]
        if outside := outside_values(question.key, schema.columns[question.key.column], missing=False):
            notes.append(Note("outside", f"Rows whose {outside} are left out.", tuple(names)))
        joined = join_notes(schema, self.columns, names)
        return [*notes, *joined, *condition_notes(counted.condition, names, schema)]

    @property
    def _counted(self) -> Query:
        return self.question.counted(self.schema)

    def _outputs(self, noise: Noise) -> QueryPlan:
        """The counts without a key: it makes outputs of noisy measures. Its own price is not this one."""
        bare = Query(None, (), self._counted.outputs)
        return QueryPlan(bare, self.schema, self.allotment, self.confidence, self.measures, (noise,))


def plan_top(question: Top, schema: Schema, allotment: Allotment, price: Price) -> TopPlan:
    """Read a question against its schema and price it: one half for the choice, one for the counts."""
    schema = question.limited(schema)
    asked = question.checked(schema)
    if allotment.kind == "plan":
        raise InputError(
            "allotment", allotment.name, "a pure or zcdp allotment: a plan allotment pays for one fixed plan"
        )
    if price.way == "within":
        raise InputError(
            "within",
            float(price.amount),
            "left out: the choice of values has a price too",
            "Give epsilon, rho or share.",
        )
    share = Fraction(1, 2) if asked.counts else Fraction(1)
    currency, amount = price.part(share).spent(allotment)
    # k choices of epsilon/k cost epsilon, or rho = epsilon^2/(8k).
    epsilon = amount if currency == "epsilon" else Fraction(math.isqrt(int(8 * asked.k * amount * _FINE**2)), _FINE)
    # A person who comes adds to scores and takes from none; one who is replaced may do both.
    most = schema.unit.most_rows if schema.unit.column is None else 1
    choice = TopK(asked.k, epsilon, sensitivity=most, monotone=schema.unit.neighbours is Neighbours.ADD_REMOVE)
    bare = TopPlan(asked, schema, allotment, price.confidence, choice, None)
    if not asked.counts:
        return bare
    return replace(bare, noise=price.part(share).buys(allotment, [bare.moved], [None])[0])
