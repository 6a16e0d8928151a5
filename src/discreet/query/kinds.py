"""Which kind of plan a question takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from discreet.core.exact import Number
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.query.discovery import DiscoveryPlan, plan_discovery
from discreet.query.joined import Job, plan_question
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.top import Top, TopPlan, plan_top

__all__ = ["Asked", "Planned", "asked_from", "plan_any"]

Asked = Query | Top
Planned = Job | DiscoveryPlan | TopPlan


def plan_any(asked: Asked, schema: Schema, allotment: Allotment, price: Price, delta: Number | None = None) -> Planned:
    """Read a question against its schema and price it. Only discovered keys take a delta, and they need one."""
    if isinstance(asked, Query) and asked.discovered:
        if asked.ordered:
            hint = "List the groups, key(column, values), or ask for the quantiles in a question of their own."
            raise InputError("group_by", asked.discovered[0].column, "public where quantiles are asked for", hint)
        return plan_discovery(asked, schema, allotment, price, delta)
    if delta is not None:
        hint = "Leave it out, or group by discover(column)."
        raise InputError("delta", delta, "left out: all groups of this question are public", hint)
    if isinstance(asked, Top):
        return plan_top(asked, schema, allotment, price)
    return plan_question(asked, schema, allotment, price)


def asked_from(entry: Asked | Mapping[str, Any] | str, schema: Schema) -> Asked:
    """A question as it is, or from its JSON form, checked."""
    if isinstance(entry, Asked):
        return entry
    if isinstance(entry, str):
        try:
            read = json.loads(entry)
        except (ValueError, RecursionError):
            read = None
        return asked_from(read, schema) if isinstance(read, dict) and "top" in read else Query.from_json(entry, schema)
    return Top.from_dict(entry, schema) if "top" in entry else Query.from_dict(entry, schema)
