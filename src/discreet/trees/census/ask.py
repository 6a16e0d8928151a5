"""Asking for a census: several tables of persons and households over one geography. Nothing is spent by asking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from attrs import frozen

from discreet.core.exact import Number, as_written
from discreet.core.unit import MOST
from discreet.data.schema import Schema
from discreet.errors import MISSING, InputError, Phrase
from discreet.ledger.budget import Allotment
from discreet.ledger.door import Answer
from discreet.query.ask import Checked, option
from discreet.query.forms import COLUMN, CONDITION, TEXT, WHOLE, check_condition
from discreet.query.predicate import Predicate
from discreet.query.price import Price
from discreet.trees.ask import COVARIATE, SPLIT, SPLITS, ordered_method
from discreet.trees.census.part import Part
from discreet.trees.census.plan import CensusPlan
from discreet.trees.census.release import CensusRelease
from discreet.trees.census.roster import Roster
from discreet.trees.census.table import TABLES, CensusTable
from discreet.trees.covariate import read_covariate
from discreet.trees.declaration import resolve_rules
from discreet.trees.methods import METHODS, ORDERED
from discreet.trees.plan import plan_tree
from discreet.trees.regions import RegionAsk
from discreet.trees.rules import Rules
from discreet.trees.sizes import Sizes
from discreet.trees.split import Shares
from discreet.trees.split import split as split_price

__all__ = ["CensusAsk", "CheckedCensus"]

_WAYS = tuple(way for way in SPLITS if way != "accurate")


@frozen(eq=False)
class CensusAsk(RegionAsk):
    """Tables of persons and households over one geography, at one price: their numbers agree."""

    kind: ClassVar[str] = "census"
    prices: ClassVar[tuple[str, ...]] = ("epsilon", "rho", "share", "within", "confidence", "noise")

    tables: Mapping[str, CensusTable] = option(
        TABLES, help="The tables by name, what each counts and by what: a TOML or JSON file"
    )
    household: str = option(COLUMN, help="Column that says which household a row belongs to", names_columns=True)
    head: str | Predicate | None = option(
        CONDITION, None, help="Which row of a household is the householder's: relation = 'head'"
    )
    most: int | None = option(
        WHOLE, None, help="At most so many persons of a household count in tables by its columns (or in all, as a unit)"
    )
    method: str = option(TEXT, "auto", help="auto, " + " or ".join(METHODS), choices=("auto", *METHODS), late=True)
    split: str | Mapping[str, Number] = option(
        SPLIT,
        "auto",
        help="Price of each table by level: " + ", ".join(_WAYS) + ", or weights: state=1,county=2",
        choices=_WAYS,
        late=True,
    )

    covariate: Any = option(
        COVARIATE,
        None,
        help="Public CSV or Parquet file with a number for each leaf region that may go with its counts: housing units",
    )

    def checked(self, schema: Schema) -> CheckedCensus:
        """The same, read against a schema."""
        tree, leaf = self.regions(schema)
        schema.unit.check_named("persons and households are counted together")
        schema.column(self.household, "household")
        if self.household == leaf:
            raise InputError("household", self.household, "another column than that of the regions")
        if self.method not in ("auto", *METHODS):
            raise InputError("method", self.method, among=("auto", *METHODS))
        if self.split == "accurate":
            raise InputError("split", self.split, "another rule: it knows one table only")
        condition = check_condition(self.where, schema)
        try:
            head = check_condition(self.head, schema)
        except InputError as problem:  # a condition that is no `where`
            raise problem.about("head") from None
        public = None
        if self.covariate is not None:
            if self.method not in ("auto", "bayes"):
                given = Phrase(f"one with method {self.method}")
                raise InputError("covariate", given, "left out unless the method is bayes")
            public = read_covariate(self.covariate, tree, leaf, ())
        parts = {}
        for name, table in self.tables.items():
            sizes = None
            if table.counts == "sizes" and table.largest is not None:
                sizes = Sizes(self.household, table.largest, cumulative=schema.unit.column != self.household)
            part = Part(
                schema,
                tree,
                leaf,
                (*table.by, *table.household),
                condition,
                sizes,
                counts=table.counts,
                household=self.household,
                own=len(table.by),
                most=self._most(schema),
            )
            try:
                parts[name] = part.checked()
            except InputError as problem:
                raise problem.about(f"tables.{name}.{problem.field}") from None
            if parts[name].counts == "persons" and parts[name].cut and parts[name].most is None:
                hint = "What is beyond is left out of these tables; the more may count, the more noise they have."
                raise InputError("most", MISSING, f"given for {name}: how many persons of a household count", hint)
        if self.covariate is not None and all(part.chain for part in parts.values()):
            raise InputError("covariate", Phrase("one for sizes alone"), "left out where no table is made by bayes")
        rules = {name: _rules(name, self.tables[name], part, public) for name, part in parts.items()}
        return CheckedCensus(self, Roster(parts, head), rules, self.shape_notes(tree))

    def _most(self, schema: Schema) -> int | None:
        if self.most is None:
            return schema.unit.most_total if schema.unit.column == self.household else None
        if isinstance(self.most, bool) or not isinstance(self.most, int) or not 1 <= self.most <= MOST:
            raise InputError("most", self.most, f"a whole number from 1 to {MOST:,}")
        return self.most


def _rules(name: str, table: CensusTable, part: Part, covariate: Any) -> Rules:
    """What is public about a table: cells that cannot occur, and, unless sizes are in order, the covariate.

    Some cell is left, so that whatever its lead publishes as totals can be met: no bound is found out after spending.
    """
    rules = Rules(zeros=table.zeros, covariate=None if part.chain else covariate)
    try:
        found = resolve_rules(rules, part.tree, part.labels)
    except InputError as problem:
        raise problem.about(f"tables.{name}.{problem.field.removeprefix('rules.')}") from None
    if table.zeros and not np.any(found.upper[part.tree.names[-1]][0]):
        raise InputError(f"tables.{name}.zeros", Phrase("all cells"), "some of the cells: none would be left")
    return found


@dataclass(frozen=True)
class CheckedCensus(Checked[CensusRelease]):
    """Tables to be priced together: their regions and cells are known."""

    ask: CensusAsk
    roster: Roster
    rules: Mapping[str, Rules]
    remarks: tuple[str, ...] = ()

    @property
    def numbers(self) -> int:
        """How many numbers the leaf regions have."""
        return sum(part.tree.leaves * part.cells for part in self.roster.parts.values())

    def plan(self, allotment: Allotment, price: Price) -> CensusPlan:
        """All tables together at a price, each with its share of it."""
        weights = {name: as_written(table.share, f"tables.{name}.share") for name, table in self.ask.tables.items()}
        whole, kind, method = sum(weights.values()), price.kind(allotment), self.ask.method
        leads, plans = self.roster.leads, {}
        for name, part in self.roster.parts.items():
            # What all tables of a universe add up to is asked once.
            shares = self._shares(part, kind, totals=name in leads.values())
            share = price.part(Fraction(weights[name]) / whole)
            if part.chain:
                used = method if method in ORDERED else ordered_method(part.cells)
            else:
                used = "bayes" if method == "auto" else method
            plans[name] = plan_tree(part, allotment, share, shares, used, self.rules[name])
        return CensusPlan(self.roster, plans, leads)

    def _shares(self, part: Part, kind: str, *, totals: bool) -> Shares:
        """The parts of levels; what totals would get goes to the cells where totals are not asked."""
        if part.chain:
            return split_price(part.tree, part.cells, self.ask.split, totals=0, kind=kind)
        shares = split_price(part.tree, part.cells, self.ask.split, kind=kind)
        if totals:
            return shares
        levels: Shares = {}
        for (level, _), share in shares.items():
            levels[level, False] = levels.get((level, False), Fraction()) + share
        return levels

    def read(self, answer: Answer, cost: str, remaining: str) -> CensusRelease:
        """The tables that an answer holds."""
        return CensusRelease.read(answer, cost, remaining)
