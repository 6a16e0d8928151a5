"""Asking for a whole hierarchy: which levels, by what, under which rules, shared how. Nothing is spent by asking."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from attrs import frozen

from discreet.core.exact import Number
from discreet.data.schema import Schema
from discreet.errors import MISSING, InputError, Phrase, kind_of
from discreet.ledger.budget import Allotment
from discreet.ledger.door import Answer
from discreet.query.aggregate.base import Pair, read_pair, write_pair
from discreet.query.ask import Checked, Form, option
from discreet.query.forms import (
    COLUMN,
    FLAG,
    KEYS,
    TEXT,
    WHOLE,
    check_condition,
    pairs_in,
)
from discreet.query.key import Key
from discreet.query.price import Price
from discreet.trees.count import Sizes, Tabulation
from discreet.trees.covariate import covariate_table, read_covariate
from discreet.trees.declaration import FIELDS, load_rules, read_rules, resolve_rules
from discreet.trees.geography import public_table
from discreet.trees.magnitude import magnitude_of
from discreet.trees.methods import METHODS, method_named
from discreet.trees.plan import TreePlan, plan_tree
from discreet.trees.queries import QUERIES, Asked, Queries, read_queries, share_queries
from discreet.trees.regions import RegionAsk, parse_table
from discreet.trees.release import TreeRelease
from discreet.trees.rules import Rules, whole_numbers
from discreet.trees.spine import Spine, optimise, unchanged
from discreet.trees.split import GOAL, Goal, sparse_splits
from discreet.trees.split import split as split_price
from discreet.trees.targets import Family, read_targets
from discreet.trees.tree import Hierarchy

__all__ = ["SPLIT", "SPLITS", "CheckedTree", "TreeAsk", "ordered_method"]

_MANY = 100
_SPINES = ("given", "optimised")
SPLITS = ("auto", "equal", "leaves", "accurate")


def _split(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def _split_to(value: str | Mapping[str, Number]) -> Any:
    return value if isinstance(value, str) else {name: str(weight) for name, weight in value.items()}


SPLIT = Form(
    str | dict[str, str | float],
    settle=_split,
    write=_split_to,
    parse=lambda text: text if text in SPLITS else pairs_in(text, "split", "state=1,county=2"),
)


def _rules_to(rules: Rules) -> Any:
    """Rules as JSON: arrays as lists, what is by code as it is."""
    found: dict[str, Any] = {
        name: {level: _plain(numbers) for level, numbers in getattr(rules, name).items()} for name in FIELDS
    }
    if rules.zeros:
        found["zeros"] = [dict(one) for one in rules.zeros]
    if rules.by:
        found["by"] = dict(rules.by)
    if rules.covariate is not None:
        found["covariate"] = np.asarray(rules.covariate, float).tolist()
    return found


def _plain(numbers: Any) -> Any:
    return dict(numbers) if isinstance(numbers, Mapping) else np.asarray(numbers).tolist()


def _rules_from(value: Any, schema: Schema) -> Rules:
    return Rules(**_checked_rules(value))


def _checked_rules(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or set(value) - {*FIELDS, "zeros", "by", "covariate"}:
        raise InputError("rules", value, "an object with lower, upper, totals and weights, each by level")
    if not all(isinstance(value.get(name, {}), Mapping) for name in (*FIELDS, "by")):
        raise InputError("rules", value, "an object with {level: numbers} for each of lower, upper, totals and weights")
    if not isinstance(value.get("zeros", []), list):
        raise InputError("rules.zeros", value["zeros"], 'a list of cells: [{"sex": "male"}]')
    return value


def _settle_rules(value: Any) -> Rules:
    """Rules, or as people write them: a dictionary, the path of a TOML or JSON file, or the text of one."""
    if isinstance(value, Rules):
        return value
    if isinstance(value, str) and any(sign in value for sign in "={\n"):
        value = read_rules(value)
    elif isinstance(value, str | Path):
        value = load_rules(str(value))
    return Rules(**_checked_rules(value))


RULES = Form(dict[str, Any], settle=_settle_rules, write=_rules_to, read=_rules_from, parse=read_rules, load=load_rules)


def _table_from(field: str) -> Callable[[Any, Schema], Any]:
    def read(value: Any, schema: Schema) -> Any:
        if not isinstance(value, Mapping):
            raise InputError(field, kind_of(value), "a table of columns, or values by code of a region")
        return value

    return read


COVARIATE = Form(
    dict[str, Any],
    settle=covariate_table,
    write=dict,
    read=_table_from("covariate"),
    parse=parse_table,
    load=covariate_table,
)
TARGETS = Form(
    dict[str, Any],
    settle=lambda value: public_table(value, "targets"),
    write=dict,
    read=_table_from("targets"),
    parse=parse_table,
    load=lambda path: public_table(path, "targets"),
)


def _pair(value: Any) -> Pair:
    return read_pair(value, "bounds")


BOUNDS = Form(
    list[str | float], settle=_pair, write=write_pair, parse=lambda text: [part.strip() for part in text.split(",")]
)


@frozen(eq=False)
class TreeAsk(RegionAsk):
    """Counts for a hierarchy of regions that add up, from the root to the leaves."""

    kind: ClassVar[str] = "tree"
    prices: ClassVar[tuple[str, ...]] = ("epsilon", "rho", "share", "within", "confidence", "noise")

    by: tuple[Key, ...] = option(
        KEYS,
        (),
        help="In each region by COLUMN, COLUMN/WIDTH, COLUMN/month or COLUMN/0,18,65,100; repeat for more",
        names_columns=True,
    )
    sizes: str | None = option(TEXT, None, help="Count groups (a column, such as household) by size")
    largest: int | None = option(WHOLE, None, help="With sizes: the largest size with a count of its own")
    cumulative: bool = option(FLAG, True, help="With sizes: groups of at least that size, rather than of exactly it")
    rules: Rules | None = option(
        RULES, None, help="Public facts about the true counts, and who declared them: a TOML or JSON file"
    )
    method: str = option(TEXT, "auto", help="auto, " + " or ".join(METHODS), choices=("auto", *METHODS), late=True)
    split: str | Mapping[str, Number] = option(
        SPLIT,
        "auto",
        help="Price by level: " + ", ".join(SPLITS) + ", or weights: state=1,county=2",
        choices=SPLITS,
        late=True,
    )
    covariate: Any = option(
        COVARIATE,
        None,
        help="Public CSV or Parquet file with a number for each leaf region that may go with its count: housing units",
    )
    expected: int | None = option(
        WHOLE, None, help="About how many there are in all, if that is public: decides shares of the price beforehand"
    )
    queries: Queries | None = option(
        QUERIES,
        None,
        help="Queries of a level, with shares: sex=1,age x sex=2,all=3; or by level: county: sex=1,all=2; block: all=1",
    )
    measure: str | None = option(
        COLUMN,
        None,
        help="Sum this column in every region and cell, rather than count rows: income",
        names_columns=True,
    )
    weight: str | None = option(
        COLUMN, None, help="Column of sampling weights: counts are sums of weights", names_columns=True
    )
    bounds: Pair | None = option(
        BOUNDS, None, help="Clipping bounds of measure or weight, if tighter than declared: LOWER,UPPER"
    )
    targets: Any = option(
        TARGETS,
        None,
        help="Public CSV or Parquet file of other regions: a column of leaf regions, and one of names: place",
    )
    spine: str = option(
        TEXT,
        "given",
        help="given: levels as they are; optimised: regions split along the borders of targets, where that helps",
        choices=_SPINES,
    )
    goal: Goal | None = option(
        GOAL, None, help="What split = accurate makes least: relative, totals, county=2", late=True
    )

    def checked(self, schema: Schema) -> CheckedTree:
        """The same, read against a schema."""
        tree, leaf = self.regions(schema)
        grouped = None
        if self.sizes is not None:
            if self.largest is None:
                raise InputError("largest", None, "given with sizes: the largest size with a count of its own")
            grouped = Sizes(self.sizes, self.largest, self.cumulative)
        elif self.largest is not None:
            raise InputError("largest", self.largest, "left out unless sizes is given")
        targets: tuple[Family, ...] = ()
        given: Spine | None = None
        if self.targets is not None or self.spine != "given":
            families = self._read_targets(tree, leaf)
            best = optimise(tree, families) if self.spine == "optimised" else unchanged(tree, families)
            given = unchanged(tree, families) if best.split else None
            tree, targets = best.tree, best.off
        condition = check_condition(self.where, schema)
        magnitude = magnitude_of(self.measure, self.weight, self.bounds)
        counted = Tabulation(schema, tree, leaf, self.by, condition, grouped, magnitude).checked()
        if self.method != "auto" and self.method not in METHODS:
            raise InputError("method", self.method, among=("auto", *METHODS))
        chosen = (ordered_method(counted.cells) if counted.chain else "bayes") if self.method == "auto" else self.method
        method_named(chosen, chain=counted.chain, sums=magnitude is not None)
        if self.expected is not None and (type(self.expected) is not int or self.expected < 0):
            raise InputError("expected", self.expected, "a whole number, zero or more")
        rules = Rules() if self.rules is None else self.rules
        if self.covariate is not None:
            if chosen != "bayes":
                raise InputError(
                    "covariate", Phrase(f"one with method {chosen}"), "left out unless the method is bayes"
                )
            rules = replace(rules, covariate=read_covariate(self.covariate, tree, leaf, counted.labels))
        rules = resolve_rules(rules, tree, counted.labels)
        queries = None if self.queries is None else self._read_queries(self.queries, counted)
        said = self.shape_notes(tree)
        ready = CheckedTree(counted, rules, chosen, self.split, self.goal, self.expected, queries, targets, given, said)
        return ready if given is None else replace(ready, named=self.queries)

    def _read_targets(self, tree: Hierarchy, leaf: str) -> tuple[Family, ...]:
        """The targets, by the leaves of the given tree."""
        if self.spine not in _SPINES:
            raise InputError("spine", self.spine, among=_SPINES)
        if self.targets is None:
            raise InputError("targets", MISSING, "given where spine is optimised")
        if self.sizes is not None:
            raise InputError("targets", Phrase("some"), "left out where groups are counted by size")
        taken = (*tree.names, *(key.title for key in self.by), "count")
        return read_targets(self.targets, tree, leaf, taken)

    def _read_queries(self, given: Queries, counted: Tabulation) -> Asked:
        if counted.sizes is not None:
            raise InputError("queries", Phrase("some"), "left out where groups are counted by size")
        return read_queries(given, counted.tree, tuple(key.column for key in counted.by))


def ordered_method(sizes: int) -> str:
    """The method for cumulative counts: where sizes are many, much is in their order."""
    return "exact" if sizes > _MANY else "topdown"


@dataclass(frozen=True)
class CheckedTree(Checked[TreeRelease]):
    """A hierarchy to be released: its regions and cells are known."""

    counted: Tabulation
    rules: Rules
    method: str
    split: str | Mapping[str, Number]
    goal: Goal | None
    expected: int | None = None
    queries: Asked | None = None
    targets: tuple[Family, ...] = ()
    given: Spine | None = None
    """The tree as it was given, where the spine that is asked is another."""
    remarks: tuple[str, ...] = ()
    settled: bool = False
    named: Queries | None = None
    """The queries as they were said, where there is another tree to ask them of."""

    def priced(self, allotment: Allotment, price: Price | None) -> TreePlan:
        """The plan at a price. If that is an accuracy, nothing may depend on what is yet to be measured."""
        settled = price is not None and price.way == "within"
        plan: TreePlan = super(CheckedTree, replace(self, settled=settled)).priced(allotment, price)
        return plan

    def plan(self, allotment: Allotment, price: Price) -> TreePlan:
        """All levels together at a price, and the targets that are sums of leaf regions."""
        plan = replace(self._plan_levels(allotment, price), targets=self.targets)
        return plan if self.given is None else replace(plan, given=self._plan_given(self.given, allotment, price))

    def _plan_given(self, spine: Spine, allotment: Allotment, price: Price) -> TreePlan | None:
        """The plan by the given tree at the same price, for comparison; None where shares name levels of the other."""
        counted = replace(self.counted, tree=spine.tree)
        other = replace(
            self, counted=counted, rules=Rules(), expected=self._known_total(), targets=spine.families, given=None
        )
        try:
            if self.named is not None:  # levels of the two trees need not be asked alike
                columns = tuple(key.column for key in counted.by)
                other = replace(other, queries=read_queries(self.named, spine.tree, columns))
            return other.plan(allotment, price)
        except InputError:
            return None

    def _plan_levels(self, allotment: Allotment, price: Price) -> TreePlan:
        counted = self.counted
        totals = 0 if counted.sizes is not None else None
        kind = price.kind(allotment)
        shares = split_price(counted.tree, counted.cells, self.split, totals=totals, kind=kind, goal=self.goal)
        known = None if self.settled else self._known_total()
        if self.queries is not None:
            parts: dict[int, Fraction] = {}
            for (level, _), share in shares.items():
                parts[level] = parts.get(level, Fraction()) + share
            shares, margins = share_queries(self.queries, parts, len(counted.by))
            return plan_tree(counted, allotment, price, shares, self.method, self.rules, (), known, margins)
        sparse = [] if self.settled else sparse_splits(counted.tree, counted.cells, self.split, totals)
        return plan_tree(counted, allotment, price, shares, self.method, self.rules, sparse, known)

    def _known_total(self) -> int | None:
        """How many there are in all, as far as that is public: as expected, or as a rule says."""
        tree, totals = self.counted.tree, self.rules.totals
        if self.expected is not None or tree.names[0] not in totals:
            return self.expected
        total = int(np.ravel(whole_numbers(totals[tree.names[0]], (1,), f"rules.totals.{tree.names[0]}"))[0])
        return None if total < 0 else total

    def read(self, answer: Answer, cost: str, remaining: str) -> TreeRelease:
        """The hierarchy that an answer holds."""
        return TreeRelease.read(answer, cost, remaining)
