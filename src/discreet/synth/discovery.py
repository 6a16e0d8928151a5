"""Columns of values that nobody listed: those that enough units share are found first, under the budget.

A zip code or a diagnosis as text: which values there are is private. A stated part of the price, and all of the delta,
selects values as questions select groups that nobody declared. They are the codes of their column for the rest of the
run; a row with a rarer value is one whose value is missing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from discreet.core.exact import Number, as_written
from discreet.core.mechanism import Bits
from discreet.core.progress import notify
from discreet.data.column import Category, Column, Text
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError, kind_of
from discreet.ledger.budget import Allotment
from discreet.marginals.domain import Attribute, Domain
from discreet.query.discovery_plan import DiscoveryPlan, plan_discovery
from discreet.query.key import Key, discover
from discreet.query.predicate import Predicate
from discreet.query.price import Price
from discreet.query.question import Query

__all__ = [
    "MOST",
    "SHARE",
    "Found",
    "check_discovered",
    "explain_search",
    "find_values",
    "found_column",
    "plan_values",
    "searched_column",
    "with_found",
]

SHARE = Fraction(1, 10)
"""The part of the price that looks for values, where there is a column to look in."""
MOST = 4096
"""How many values of a column have a code."""

Found = Mapping[str, Sequence[str]]
"""For every column that was searched, the values found."""


def check_discovered(names: Iterable[str], made: Sequence[str], schema: Schema) -> tuple[str, ...]:
    """Columns of text that are made, each once."""
    found = []
    for name in names:
        column = schema.canonical(name, "discover")
        kind = schema.column(column, "discover")
        if column not in made:
            raise InputError("discover", name, "a column that is made", among=list(made))
        if not isinstance(kind, Text):
            hint = "Only values of text are unknown: those of other columns follow from their declaration."
            raise InputError(f"discover.{name}", kind_of(kind), "a column of text", hint)
        found.append(column)
    if len(set(found)) != len(found):
        raise InputError("discover", found, "a list with each column once")
    return tuple(found)


def plan_values(
    names: Sequence[str],
    schema: Schema,
    condition: Predicate | None,
    allotment: Allotment,
    price: Price,
    delta: Number | None,
) -> tuple[DiscoveryPlan, ...]:
    """How values are found: each column gets an equal part of `SHARE` of the price, and of the delta."""
    if not names:
        if delta is not None:
            hint = "Leave it out, or name columns of text whose values are to be found: discover."
            raise InputError("delta", delta, "left out: no values are discovered", hint)
        return ()
    part = price.part(SHARE / len(names))
    each = None if delta is None else as_written(delta, "delta") / len(names)
    asked = [Query(condition, (discover(name),), listing=True) for name in names]
    return tuple(plan_discovery(one, schema, allotment, part, each) for one in asked)


def find_values(plans: Sequence[DiscoveryPlan], data: Connection, bits: Bits) -> dict[str, list[str]]:
    """The values of each column that enough units share, in the order of text.

    Guarantee
        Costs what the plans cost, composed: what is left out here, missing and unprintable values, and of more than
        `MOST` values all but those that come first by a hash, is a function of the values selected.
        Proof: docs/proofs/synth-discovery.md.
    """
    found: dict[str, list[str]] = {}
    for one in plans:
        notify("looking for values that nobody listed")
        (values,) = one.measure(data, bits)["keys"]
        kept = [value for value in values if value is not None and value.isprintable()]
        found[searched_column(one)] = sorted(sorted(kept, key=_hash)[:MOST])
    return found


def _hash(value: str) -> bytes:
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).digest()


def with_found(domain: Domain, found: Found) -> Domain:
    """The domain in which the columns that were searched have the values found as codes, and one more: missing."""
    return Domain(tuple(_with(one, found) for one in domain.attributes))


def _with(attribute: Attribute, found: Found) -> Attribute:
    if attribute.name not in found:
        return attribute
    values = tuple(found[attribute.name])
    key = Key(attribute.name, values=values) if values else attribute.key
    return replace(attribute, key=key, labels=(*values, None))


def found_column(name: str, declared: Column, found: Found) -> Column:
    """What the column of the synthetic table is: a category of the values found, where it was searched."""
    if name not in found:
        return declared
    return Category(found[name] or ["(no value was found)"])


def searched_column(plan: DiscoveryPlan) -> str:
    """The column whose values a plan finds."""
    return plan.question.keys[0].column


def explain_search(plan: DiscoveryPlan, parts: int) -> str:
    """What there is to know of a search beforehand: how many units must share a value for it to be found."""
    who = "rows" if plan.schema.unit.column is None else "people"
    share = f"{float(SHARE / parts):.2g} of the price and {'all' if parts == 1 else f'1/{parts}'} of the delta"
    sure, likely = plan.selection.certain_at, plan.selection.error(0.5)
    return (
        f"Values of {searched_column(plan)} that enough {who} share are discovered, for {share}: about every other one "
        f"that {likely:,} {who} have, each that {sure:,} have, none that nobody has. Rarer ones are missing."
    )
