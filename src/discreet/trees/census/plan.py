"""A priced census: a hierarchy for each table, one price, one charge, counted of the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from discreet.accounting.compose import compose
from discreet.core.digest import digest_of
from discreet.core.explanation import Explanation
from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.core.note import Note
from discreet.core.progress import notify
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.ledger.budget import Allotment
from discreet.ledger.quote import price_text
from discreet.mechanisms.inputs import read_confidence
from discreet.query.notation import write_condition
from discreet.query.predicate import predicate_to
from discreet.query.table_plan import TablePlan
from discreet.trees.census.agreement import agreeing, informed, totals_of
from discreet.trees.census.part import Part
from discreet.trees.census.roster import Roster
from discreet.trees.estimate import Estimate
from discreet.trees.methods import ORDERED, method_named
from discreet.trees.plan import TreePlan
from discreet.trees.record import measured_from, measured_to

__all__ = ["CensusPlan"]

_UNIVERSES = {
    "households": "households",
    "persons": "persons",
    "members": "persons in households, at most {most:,} of each",
}


@dataclass(frozen=True, slots=True, eq=False)
class CensusPlan(TablePlan):
    """Several hierarchies under one price. Nothing is read and nothing is spent by making one.

    Guarantee
        The noisy counts of all tables together cost `cost`, the composition of what is asked of each. Everything made
        of them sees nothing else. Proof: docs/proofs/census.md.
    """

    kind: ClassVar[str] = "census"
    version: ClassVar[int] = 1
    roster: Roster
    parts: Mapping[str, TreePlan]
    leads: Mapping[str, str]
    """The table of every universe that its total is taken from."""

    @property
    def schema(self) -> Schema:
        """What is declared about the table."""
        return self.roster.first.schema

    @property
    def allotment(self) -> Allotment:
        """The allotment that pays."""
        return self._first.allotment

    @property
    def confidence(self) -> float:
        """Of the intervals."""
        return self._first.confidence

    @property
    def columns(self) -> list[str]:
        """The columns of the data it reads."""
        return self.roster.columns

    @property
    def identifiers(self) -> list[str]:
        """The columns whose stored values tell households apart, whatever they are declared as."""
        return [self.roster.first.household]

    @property
    def cost(self) -> Loss:
        """The price of all tables together."""
        return compose([plan.cost for plan in self.parts.values()])

    @property
    def former(self) -> tuple[CensusPlan, ...]:
        """What earlier versions made of the same ask: every region was asked, those with a single child too."""
        if not any(plan.pooled for plan in self.parts.values()):
            return ()
        return (replace(self, parts={name: replace(plan, pooled=False) for name, plan in self.parts.items()}),)

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words."""
        return "; ".join(dict.fromkeys(plan.mechanism for plan in self.parts.values()))

    @property
    def query(self) -> dict[str, Any]:
        """The tables as plain values, for the record."""
        head = self.roster.head
        tables = {name: plan.query for name, plan in self.parts.items()}
        return {"census": tables, "head": None if head is None else predicate_to(head)}

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        return digest_of({"query": self.query, "parts": [[name, plan.digest] for name, plan in self.parts.items()]})

    def explained(self) -> Explanation:
        """What there is to know before it is paid: every table's errors, and which numbers will agree."""
        told = {name: self._informed(name).explained() for name in self.parts}
        prices = [f"{name}: {price_text(self.allotment, self.parts[name].charge)}" for name in told]
        return Explanation(
            title=f"Plan for a census of {self.dataset!r}, {len(told)} tables",
            unit=str(self.unit),
            shape=(
                *(f"{name}: {one.shape[0]}" for name, one in told.items()),
                self._first.explained().shape[1],
                f"Parts of the price: {', '.join(prices)}.",
            ),
            errors=tuple(
                replace(error, output=f"{name}: {error.output}") for name, one in told.items() for error in one.errors
            ),
            confidence=self.confidence,
            notes=(
                *self._agreements(),
                *self._covered(),
                *(f"{name}: {text}" for name, plan in self.parts.items() for text in plan.rules.declared),
                *(note.text for note in self._notes()),
            ),
            facts={"tables": {name: dict(one.facts) for name, one in told.items()}},
        )

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Count in the engine, add the noise. Called by the one door only."""
        notify("counting in the engine")
        exact = self.roster.count(data)
        return {"parts": {name: measured_to(plan.noisy(exact[name], bits)) for name, plan in self.parts.items()}}

    def publish(
        self, measured: Mapping[str, Any], *, method: str | None = None, confidence: float | None = None
    ) -> dict[str, Any]:
        """Whole numbers that add up, and agree between tables, by the plan's methods or by another."""
        sure = self.confidence if confidence is None else float(read_confidence(confidence))
        drawn = {name: measured_from(measured["parts"][name]) for name in self.parts}
        found: dict[str, Estimate | None] = {}
        entries = {}
        for name in sorted(self.parts, key=lambda name: name not in self.leads.values()):
            plan, lead = self.parts[name], self.leads.get(self.roster.parts[name].universe, name)
            used = plan.method if method is None else method
            if drawn[name].chain and used not in ORDERED:
                used = plan.method
            method_named(used, chain=drawn[name].chain)
            known = informed(drawn[name], None if lead == name else drawn[lead])
            bound = None if lead == name else totals_of(found[lead], chain=drawn[lead].chain)
            found[name] = agreeing(used, known, bound, sure, plan.rules)
            entries[name] = plan.entry(found[name], used, plan.rules, sure)
        return {
            "census": {
                name: {
                    "tree": entries[name],
                    "query": plan.query,
                    "lead": self.leads.get(self.roster.parts[name].universe, name),
                    "notes": [note.to_dict() for note in self._part(name).notes],
                }
                for name, plan in self.parts.items()
            },
            "order": list(self.parts),
            "agree": self._agreements(),
            "notes": [note.to_dict() for note in self._part(next(iter(self.parts))).shared_notes(self._head)],
        }

    def _informed(self, name: str) -> TreePlan:
        """The plan of a table, with what its lead asks about totals: that costs it nothing."""
        plan, lead = self.parts[name], self.leads.get(self._part(name).universe, name)
        if lead == name or plan.counted.cells == 1:
            return plan
        asked = [one for one in self.parts[lead].measures if one.totals or self.parts[lead].counted.chain]
        totals = [replace(one, share=Fraction(), totals=True) for one in asked]
        return replace(plan, measures=(*totals, *plan.measures))

    @property
    def _first(self) -> TreePlan:
        return next(iter(self.parts.values()))

    @property
    def _head(self) -> str:
        return "" if self.roster.head is None else write_condition(self.roster.head)

    def _part(self, name: str) -> Part:
        return self.roster.parts[name]

    def _notes(self) -> list[Note]:
        own = [note for part in self.roster.parts.values() for note in part.notes]
        return list({note.text: note for note in (*self.roster.first.shared_notes(self._head), *own)}.values())

    def _agreements(self) -> list[str]:
        """Which tables have the same total in every region, and which have not."""
        notes, universes = [], {name: part.universe for name, part in self.roster.parts.items()}
        for universe, text in _UNIVERSES.items():
            named = [name for name in universes if universes[name] == universe]
            if not named:
                continue
            what = text.format(most=self.roster.first.most or 0)
            if len(named) > 1 and universe in self.leads:
                notes.append(
                    f"{', '.join(named)} agree on the number of {what}, measured once, by {self.leads[universe]}."
                )
            else:
                notes.append(f"{', '.join(named)} counts {what}.")
        if len(set(universes.values())) > 1:
            notes.append("Numbers of persons and of households are not made to agree with each other.")
        return notes

    def _covered(self) -> list[str]:
        """What the price covers beside the unit's own rows."""
        if self.roster.first.whole or not any(
            part.universe == "members" or part.counts == "households" for part in self.roster.parts.values()
        ):
            return []
        return [
            f"A person who comes or goes may change the columns of the {self.roster.first.household} too: it is priced "
            "for all of its members moving to another cell of tables by its columns."
        ]
