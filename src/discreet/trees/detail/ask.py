"""Asking for population groups in as much detail as their size allows. Nothing is spent by asking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

from attrs import frozen

from discreet.core.exact import Number, as_written
from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase
from discreet.ledger.budget import Allotment
from discreet.ledger.door import Answer
from discreet.query.ask import Checked, option
from discreet.query.forms import AMOUNT, WEIGHTS, WHOLE, check_condition
from discreet.query.key import Key
from discreet.query.price import Price
from discreet.trees.count import Tabulation
from discreet.trees.detail.count import GroupTabulation
from discreet.trees.detail.groups import GROUPS, members_of
from discreet.trees.detail.plan import DetailPlan, plan_detail
from discreet.trees.detail.refinement import DETAILS, Refinement, refine
from discreet.trees.detail.release import DetailRelease
from discreet.trees.detail.stages import FIRST
from discreet.trees.regions import RegionAsk
from discreet.trees.tree import Hierarchy

__all__ = ["CheckedDetail", "DetailAsk"]

MOST_NUMBERS = 2**28


@frozen(eq=False)
class DetailAsk(RegionAsk):
    """Population groups of every region, each in as much detail as its noisy size allows."""

    kind: ClassVar[str] = "detail"

    groups: Mapping[str, str] = option(
        GROUPS, help="NAME: CONDITION of a population group, \"white: race = 'white'\"; repeat for more"
    )
    details: Mapping[str, tuple[Key, ...]] = option(
        DETAILS, help='NAME: COLUMNS of a level of detail, the coarsest first: "sex by age: sex, age/20"; repeat'
    )
    overlap: int | None = option(
        WHOLE, None, help="In how many of the groups a row may be: rows in more are left out. All of them by default"
    )
    thresholds: Mapping[str, Number] | None = option(
        WEIGHTS,
        None,
        help="From what noisy total on a group gets each level of detail: sex=500,sex by age=5000",
        late=True,
    )
    first: Number | None = option(
        AMOUNT, None, help="Share of the price for the noisy totals that decide: a tenth unless given", late=True
    )
    shares: Mapping[str, Number] | None = option(
        WEIGHTS, None, help="Shares of the price by level: all=1,county=2. Equal unless given", late=True
    )

    def checked(self, schema: Schema) -> CheckedDetail:
        """The same, read against a schema."""
        tree, leaf = self.regions(schema)
        members, details = members_of(self.groups, schema), refine(self.details, schema)
        overlap = len(members) if self.overlap is None else self.overlap
        if type(overlap) is not int or not 1 <= overlap <= len(members):
            raise InputError("overlap", overlap, f"a whole number from 1 to {len(members)}, the number of groups")
        try:
            condition = check_condition(self.where, schema)
            finest = Tabulation(schema, tree, leaf, details.keys, condition).checked()
        except InputError as problem:
            raise problem.about("details") if problem.field.partition(".")[0] == "by" else problem from None
        if (many := tree.leaves * finest.cells * len(members)) > MOST_NUMBERS:
            allowed = f"such that regions, groups and cells make at most {MOST_NUMBERS:,} numbers"
            raise InputError("details", Phrase(f"{many:,} numbers"), allowed)
        counted = GroupTabulation(finest, details, tuple(self.groups.items()), members, overlap)
        first = FIRST if self.first is None else as_written(self.first, "first")
        if not 0 < first < 1:
            raise InputError("first", self.first, "strictly between 0 and 1, such as 0.1")
        limits = _thresholds(self.thresholds, details)
        return CheckedDetail(counted, _shares(self.shares, tree), first, limits, self.shape_notes(tree))


@dataclass(frozen=True)
class CheckedDetail(Checked[DetailRelease]):
    """Groups to be released: regions, groups and cells are known."""

    counted: GroupTabulation
    shares: Mapping[int, Fraction]
    first: Fraction
    thresholds: tuple[int, ...] | None
    remarks: tuple[str, ...] = ()

    def plan(self, allotment: Allotment, price: Price) -> DetailPlan:
        """All levels together at a price."""
        return plan_detail(self.counted, allotment, price, self.shares, self.first, self.thresholds)

    def read(self, answer: Answer, cost: str, remaining: str) -> DetailRelease:
        """The table that an answer holds."""
        return DetailRelease.read(answer, cost, remaining)


def _shares(given: Mapping[str, Number] | None, tree: Hierarchy) -> dict[int, Fraction]:
    """The part of the price of every level that has regions of its own."""
    weights = dict.fromkeys(sorted(set(tree.distinct)), Fraction(1))
    for name, share in (given or {}).items():
        level = tree.distinct[tree.level(name, "shares")]
        weights[level] = as_written(share, f"shares.{name}")
        if weights[level] <= 0:
            raise InputError(f"shares.{name}", share, "more than zero", "Leave the level out of levels instead.")
    return {level: weight / sum(weights.values()) for level, weight in weights.items()}


def _thresholds(given: Mapping[str, Number] | None, details: Refinement) -> tuple[int, ...] | None:
    if given is None:
        return None
    if unknown := [name for name in given if name not in details.names]:
        raise InputError("thresholds", unknown[0], among=details.names)
    if missing := [name for name in details.names if name not in given]:
        raise InputError("thresholds", missing[0], "given for every level of detail, or for none")
    found = []
    for name in details.names:
        limit = as_written(given[name], f"thresholds.{name}")
        if limit.denominator != 1 or not 0 <= limit <= 2**53:
            raise InputError(f"thresholds.{name}", given[name], "a whole number, zero or more")
        found.append(int(limit))
    for name, (before, after) in zip(details.names[1:], pairwise(found), strict=True):
        if after < before:
            raise InputError(f"thresholds.{name}", after, f"at least {before:,}, that of the coarser level of detail")
    return tuple(found)
