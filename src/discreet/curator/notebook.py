"""What a curator, a question and an offer look like in a notebook: parts of the pages, in a cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from discreet.core.unit import Unit
from discreet.curator.columns import columns_table, limits, protects
from discreet.curator.kinds import KINDS
from discreet.curator.plan_view import PlanView, expected, odds_table, view_plan
from discreet.data.schema import Schema
from discreet.ledger.standing_view import budget_meter
from discreet.query.notation import write_condition
from discreet.query.question import Query
from discreet.query.top import Top
from discreet.show import Markup, cell, element, facts, fold, meter, verbatim

if TYPE_CHECKING:
    from discreet.curator.curator import Curator
    from discreet.curator.draft import Draft
    from discreet.curator.offer import Offer
    from discreet.curator.question import Question, StreamQuestion

__all__ = ["curator_cell", "draft_cell", "offer_cell", "question_cell"]


def curator_cell(curator: Curator) -> str:
    """Whom it protects, what is left, and which columns can be asked about."""
    declared, standing = curator.declared, curator.standing()
    unit = declared.unit
    words = f"{protects(unit)} {limits(unit)}" if isinstance(unit, Unit) else f"Protects {unit}."
    meters = [budget_meter(one, several=len(standing) > 1) for one in standing]
    return cell(
        declared.name,
        element("p", None, words),
        element("p", {"class": "standing"}, *meters),
        columns_table(declared) if isinstance(declared, Schema) else None,
        element("p", {"class": "note"}, _recorded(curator)),
        kind="Curator",
    )


def _recorded(curator: Curator) -> str:
    """Where spending is recorded, as far as it is known here."""
    ledger = getattr(curator.desk, "ledger", None)
    if ledger is None:
        return "Data and ledger are on a server: a plan is free, a release spends there."
    return f"Spending is recorded in {ledger.kept_at}."


def question_cell(question: Question) -> str:
    """What is asked, of which rows, by what; nothing of an answer."""
    query, told = question.query, dict[str, Any]()
    if isinstance(query, Query):
        plain: Mapping[str, Any] = query.to_dict()
        outputs = [f"{name} = {_measured(entry)}" for name, entry in plain.get("outputs", {}).items()]
        by = ", ".join(key.title for key in query.keys)
        told["heading"] = (", ".join(query.names) or "Groups") + (f" by {by}" if by else "")
        told["Answers"] = ", ".join(outputs) or "which groups there are"
        told["For each"] = ", ".join(_key(key) for key in plain.get("group_by", ()))
    elif isinstance(query, Top):
        told["heading"] = f"The {query.k} most common values of {query.key.title}"
    condition = getattr(query, "condition", None)
    told["Where"] = None if condition is None else element("code", None, write_condition(condition))
    about = question.desk.declared.name
    return cell(
        told.pop("heading", f"About {about}"), facts(told), _unpriced("question"), kind=f"Question about {about}"
    )


def draft_cell(draft: Draft[Any] | StreamQuestion) -> str:
    """What kind of job it is."""
    noun = KINDS[draft.ask.kind].noun
    return cell(f"{noun[:1].upper()}{noun[1:]}", _unpriced("job"), kind=f"Job about {draft.desk.declared.name}")


def _unpriced(name: str) -> Markup:
    return element(
        "p",
        {"class": "note"},
        "Nothing is spent yet. The price, and how far answers may be off, comes with ",
        element("code", None, f"{name}.plan(epsilon=0.1)"),
        ", also at no cost.",
    )


def offer_cell(offer: Offer[Any]) -> str:
    """The price beside what is left, how far answers may be off, what it means as odds, and the whole plan."""
    plan = view_plan(offer)
    title = offer.explained.title
    odds = [element("p", None, words) for words in (plan.odds, plan.lifetime) if words]
    return cell(
        title,
        *_price(plan),
        element("h3", None, "Expected error") if plan.errors else None,
        expected(plan.errors, plan.confidence),
        element("p", {"class": "note"}, f"{plan.confidence} confidence intervals (not simultaneous). {plan.rows}"),
        element("h3", None, "What it means as odds") if plan.guesses else None,
        odds_table(plan),
        fold("In words" if plan.guesses else "What it means as odds", *odds) if odds else None,
        fold("Noise, clipping and the whole plan", verbatim(plan.explained)),
        _next(plan),
        kind="Plan",
    )


def _price(plan: PlanView) -> list[Markup]:
    """What it costs and what is left, in words and as a bar."""
    share = element("span", {"class": "muted"}, f"of the allotment {plan.allotment}: {plan.cost}")
    cap, left, after = plan.now
    words = f"Left: {plan.left} now, {plan.after} after." if plan.fits else f"Left: {plan.left}."
    bar = meter(left / cap if cap else 0.0, words, going=after / cap if plan.fits and cap else 0.0)
    price = element("p", {"class": "price"}, element("b", None, plan.share), " ", share)
    return [price, element("div", {"class": "spending"}, bar, element("p", {"class": "note"}, words))]


def _next(plan: PlanView) -> Markup:
    """What to do with it."""
    if not plan.fits:
        words = "More than is left: this would be refused. Plan it with a smaller epsilon, which gives wider errors."
        return element("p", {"class": "alert"}, words)
    code = element("code", None, "offer.release()")
    return element("p", {"class": "note"}, "Nothing is spent yet. ", code, f" spends {plan.cost} and answers.")


def _measured(entry: Any) -> str:
    """An output as people write it: mean(pay)."""
    if not isinstance(entry, Mapping):
        return str(entry)
    column = entry.get("column")
    inside = str(column) if isinstance(column, str) else "..." if column is not None else ""
    return f"{entry.get('of', '')}({inside})"


def _key(entry: Any) -> str:
    if not isinstance(entry, Mapping):
        return str(entry)
    edges = entry.get("edges")
    every = f" in steps of {edges[1]}" if isinstance(edges, (list, tuple)) and edges[:1] == ["every"] else ""
    return f"{entry.get('column', '')}{every or (' in bins' if edges else '')}"
