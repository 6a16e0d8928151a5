"""One question whose outputs take several kinds of plan: sums and quantiles, one price, one charge, one table.

Every part publishes the same public groups in the same order, so that joining them is putting columns side by side, in
the order they were asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from discreet.accounting.compose import compose
from discreet.core.digest import digest_of
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.ledger.budget import Allotment
from discreet.query.compatibility import columns_read
from discreet.query.contribution import fresh_salt
from discreet.query.mode_plan import ModePlan, plan_modes
from discreet.query.modes import Mode
from discreet.query.plan import QueryPlan, plan_query
from discreet.query.price import Price
from discreet.query.private_bounds import BoundsPlan, plan_bounds, slots
from discreet.query.quantile import Search, search_of
from discreet.query.quantile_plan import QuantilePlan, plan_quantiles
from discreet.query.question import Query
from discreet.query.table_plan import TablePlan, explained, rows_published

__all__ = ["CompositePlan", "GroupedPlan", "PlanOfParts", "plan_question", "together"]


PartPlan = QueryPlan | BoundsPlan | QuantilePlan | ModePlan


class PlanOfParts(TablePlan):
    """A plan of a `question` that is made of others, its `parts`: what they have in common."""

    __slots__ = ()
    question: Any
    parts: tuple[Any, ...]

    @property
    def schema(self) -> Schema:
        """What is declared about the table."""
        found: Schema = self.parts[0].schema
        return found

    @property
    def allotment(self) -> Allotment:
        """The allotment that pays."""
        found: Allotment = self.parts[0].allotment
        return found

    @property
    def confidence(self) -> float:
        """Of every interval."""
        found: float = self.parts[0].confidence
        return found

    @property
    def mechanism(self) -> str:
        """What hides one unit, in words."""
        return "; ".join(dict.fromkeys(part.mechanism for part in self.parts))

    @property
    def query(self) -> dict[str, Any]:
        """The question as plain values, for the record."""
        written: dict[str, Any] = self.question.to_dict()
        return written

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        return digest_of({"query": self.query, "parts": [part.digest for part in self.parts]})


@dataclass(frozen=True, slots=True)
class CompositePlan(PlanOfParts):
    """Plans about the same groups that are charged and run together and published as one table."""

    kind: ClassVar[str] = "question"
    version: ClassVar[int] = 1
    question: Query
    parts: tuple[PartPlan, ...]

    @property
    def groups(self) -> int:
        """How many groups will be published."""
        return self.parts[0].groups

    @property
    def cost(self) -> Loss:
        """The price of the whole question: the composition of its parts."""
        return compose([part.cost for part in self.parts])

    @property
    def columns(self) -> list[str]:
        """The columns of the data it reads."""
        return columns_read(self.question, self.schema)

    def explained(self) -> Explanation:
        """What there is to know before it is paid."""
        told = [part.explained() for part in self.parts]
        notes = [note for one in told for note in one.notes]
        return explained(self, [rows_published(self.groups)], notes, [step for one in told for step in one.steps])

    def expected(self) -> list[Accuracy]:
        """The error of every output, in the order asked for."""
        return sorted((e for part in self.parts for e in part.expected()), key=lambda e: self._place(e.output))

    def _place(self, output: str) -> int:
        """Where an output is published; bounds that are found come after what was asked for."""
        names = self.question.names
        return names.index(output) if output in names else len(names)

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Each part in turn, with noise of its own. Called by the one door only."""
        return self.draw(data, bits)

    def draw(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """What each part draws, for a job this plan is a part of."""
        salt = fresh_salt(bits)  # one for all parts: of a person the same groups count in every output
        return {"parts": [part.draw(data, bits, salt) for part in self.parts]}

    def publish(self, measured: Mapping[str, Any], *, confidence: float | None = None) -> dict[str, Any]:
        """The tables of all parts as one."""
        drawn = zip(self.parts, measured["parts"], strict=True)
        tables = [part.publish(one, confidence=confidence) for part, one in drawn]
        return {
            **tables[0],
            "columns": {name: column for table in tables for name, column in table["columns"].items()},
            "outputs": sorted((name for table in tables for name in table["outputs"]), key=self._place),
            "notes": together([note for table in tables for note in table["notes"]]),
        }


def together(notes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The notes of several parts; what is said of outputs of two parts is said once."""
    said: dict[tuple[str, str], list[str]] = {}
    for note in notes:
        known = said.setdefault((note["kind"], note["text"]), [])
        known += [output for output in note["outputs"] if output not in known]
    return [{"kind": kind, "text": text, "outputs": outputs} for (kind, text), outputs in said.items()]


GroupedPlan = PartPlan | CompositePlan


def plan_question(question: Query, schema: Schema, allotment: Allotment, price: Price) -> GroupedPlan:
    """Price a question whatever its outputs are. Raises before anything is spent.

    Every measure of the sums and every search for quantiles gets an equal part of the price.
    """
    schema = question.limited(schema)
    checked = question.checked(schema)
    searches: dict[Search, Query] = {}
    for name, output in checked.ordered:
        part = searches.get(
            search_of(output),
            Query(
                checked.condition,
                checked.keys,
                person_limits=checked.person_limits,
                combinations=checked.combinations,
            ),
        )
        searches[search_of(output)] = replace(part, ordered=(*part.ordered, (name, output)))
    sums = replace(checked, ordered=())
    measures, plan_sums = slots(sums, schema), plan_bounds if sums.searched else plan_query
    if not searches:
        return plan_sums(sums, schema, allotment, price)
    if len(searches) == 1 and not measures:
        return _plan_search(checked, schema, allotment, price)
    each = price if price.way == "within" else price.part(Fraction(1, measures + len(searches)))
    parts: list[PartPlan] = []
    if measures:
        counted = price if price.way == "within" else price.part(Fraction(measures, measures + len(searches)))
        parts.append(plan_sums(sums, schema, allotment, counted))
    parts += [_plan_search(search, schema, allotment, each) for search in searches.values()]
    return CompositePlan(checked, tuple(parts))


def _plan_search(question: Query, schema: Schema, allotment: Allotment, price: Price) -> QuantilePlan | ModePlan:
    """Price outputs that one search finds."""
    plan = plan_modes if isinstance(question.ordered[0][1], Mode) else plan_quantiles
    return plan(question, schema, allotment, price)
