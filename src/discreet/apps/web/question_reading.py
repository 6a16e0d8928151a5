"""A question from elsewhere on the form: from a statement in SQL, a stored release or a saved question, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from discreet.accounting.words import readable
from discreet.apps.web.question_input import Key, Output, QuestionInput
from discreet.curator import Curator
from discreet.curator.question import read_question
from discreet.curator.request import request_of
from discreet.curator.saved_questions import SavedQuestion
from discreet.data.expression.node import quoted
from discreet.data.schema import Schema
from discreet.errors import DiscreetError, InputError
from discreet.ledger.outcome import Outcome
from discreet.query.limit_choice import table_of
from discreet.query.notation import read_outputs, write_condition
from discreet.query.question import Query
from discreet.query.question_ask import read_query
from discreet.query.sql import parse_sql
from discreet.query.sql_writing import bin_sizes, write_sql

__all__ = ["as_form", "as_sql", "from_release", "from_saved", "saved_text"]

_PLAIN = ("of", "column", "other", "q", "take", "grid", "method", "interval")


def as_sql(question: QuestionInput, curator: Curator) -> QuestionInput:
    """The question of the form as SQL; a statement that says the same already stays as it was typed.

    `InputError` where SQL has no words for it. A statement that says something else stays, as a comment.
    """
    schema = curator.schema
    asked = _asked(question, curator)
    text = write_sql(asked, schema)
    if text is None:
        hint = "Bounds that are searched for and lists of groups can be asked for by the form alone."
        raise InputError("form", "this question", "one that SQL has words for", hint)
    kept = question.sql.strip()
    if kept and _same(kept, question, text, schema):
        return replace(question, tab="sql")
    before = "".join(f"\n-- {line}" for line in kept.splitlines() if not line.startswith("-- "))
    return replace(question, tab="sql", sql=f"{text}\n\n-- Before:{before}" if before else text)


def _same(kept: str, question: QuestionInput, text: str, schema: Schema) -> bool:
    """Whether a statement says what another does, and shows it as it is."""
    try:
        mine, new = parse_sql(kept, schema, question.dialect or "duckdb"), parse_sql(text, schema)
        return mine.query == new.query
    except DiscreetError:
        return False


def as_form(question: QuestionInput, curator: Curator) -> QuestionInput:
    """The statement on the form; `InputError` says what the form has no fields for. The statement is kept."""
    read = parse_sql(question.sql, curator.schema, question.dialect or "duckdb")
    shown = _filled(read.query, curator, replace(question, limits=question.limits))
    if shown is None:
        raise InputError("sql", "this statement", "one that the form has fields for", "The statement stays as it is.")
    more = read.presentation
    if more.having is not None or more.order or more.limit is not None or more.formulas:
        allowed = "one without HAVING, ORDER BY, LIMIT and arithmetic over aggregates, to be shown on the form"
        raise InputError("sql", "this statement", allowed, "The statement stays as it is.")
    return replace(shown, limits=question.limits or shown.limits)


def from_saved(saved: SavedQuestion, curator: Curator) -> QuestionInput:
    """A saved question, as it was typed as far as the form can show it."""
    price = dict(saved.price)
    way = next((one for one in ("epsilon", "rho", "within", "share") if price.get(one) is not None), "epsilon")
    empty = QuestionInput(
        way=way,
        amounts={way: str(price.get(way, ""))},
        confidence=str(price.get("confidence", "0.95")),
        delta=str(price.get("delta") or ""),
        allotment=str(price.get("allotment") or ""),
        limits={name: str(value) for name, value in (saved.asked.get("limits") or {}).items()},
    )
    if "sql" in saved.asked:
        return replace(empty, tab="sql", sql=str(saved.asked["sql"]), dialect=str(saved.asked.get("dialect", "")))
    return _shown(read_query(saved.asked["query"], curator.schema), curator, empty, saved.name)


def saved_text(saved: SavedQuestion, curator: Curator) -> str:
    """What a saved question asks: as SQL, or by the names of its outputs where SQL has no words for it."""
    if "sql" in saved.asked:
        return str(saved.asked["sql"])
    try:
        text = write_sql(read_query(saved.asked["query"], curator.schema), curator.schema)
    except DiscreetError:  # the schema of now has no such column
        text = None
    return text or ", ".join(saved.asked["query"].get("outputs", ()))


def from_release(known: Outcome, curator: Curator) -> QuestionInput:
    """The question of a stored release, at the price that was paid for it."""
    record = known.charged
    asked, price = request_of(known)
    query = asked.get("query", record.query)
    part = curator.ledger.account(record.dataset).budget.allotment(record.allotment)
    way, amount, confidence = part.currency, readable(record.charge.amount), "0.95"
    if price is not None:
        way, amount, confidence = str(price[0]), readable(Fraction(price[1]), 6), str(price[2])
    empty = QuestionInput(
        way=way,
        amounts={way: amount},
        confidence=confidence,
        delta=str(asked.get("delta") or ""),
        allotment=record.allotment,
    )
    if not isinstance(query, dict) or not {"outputs", "top", "union"} & set(query):
        raise InputError("from", record.release, "a release of a question: this one is of another kind")
    if (choice := table_of(record.query)) is not None:
        where = query.get("per_person", {}).get("where")
        condition = "" if not where else _condition(where)
        return replace(empty, tab="limits", count_by=choice.by or "", most=str(choice.most), where=condition)
    return _shown(read_query(query, curator.schema), curator, empty, record.release)


def _condition(entry: Mapping[str, Any]) -> str:
    from discreet.query.predicate import predicate_from

    return write_condition(predicate_from(entry))


def _shown(query: Any, curator: Curator, empty: QuestionInput, name: str) -> QuestionInput:
    """A question on the form, or else as SQL."""
    found = _filled(query, curator, empty)
    if found is not None:
        return found
    text = write_sql(query, curator.schema)
    if text is None:
        hint = "Ask it in Python or on the command line. Nothing was spent."
        raise InputError("from", name, "a question that the form or SQL can show", hint)
    limits = {} if query.person_limits is None else query.person_limits.to_dict()
    return replace(empty, tab="sql", sql=text, limits={name: str(value) for name, value in limits.items()})


def _filled(query: Any, curator: Curator, empty: QuestionInput) -> QuestionInput | None:
    """The form that asks a question; None where no form does."""
    if not isinstance(query, Query) or query.persons is not None:
        return None
    schema = curator.schema
    limits = {} if query.person_limits is None else query.person_limits.to_dict()
    try:
        whole = query.checked(schema)
        made = replace(
            empty,
            tab="form",
            outputs=tuple(_output(name, entry) for name, entry in whole.to_dict()["outputs"].items()),
            keys=tuple(_key(key, schema) for key in query.keys),
            groups="\n".join(", ".join(map(str, each)) for each in whole.combinations or ()),
            listing=query.listing,
            where="" if whole.condition is None else write_condition(whole.condition),
            limits={name: str(value) for name, value in limits.items()},
        )
        return made if _asked(made, curator).checked(schema) == whole else None
    except (InputError, KeyError):
        return None


def _asked(question: QuestionInput, curator: Curator) -> Query:
    """The question that a form asks."""
    outputs = None if question.listing else [one.text() for one in question.outputs] or ["count"]
    by = [one.text() for one in question.keys]
    groups = [line for line in question.groups.splitlines() if line.strip()]
    limits = {name: int(text) for name, text in question.limits.items() if text.isdecimal()}
    made = read_question(
        curator.desk, outputs, by, question.where or None, limits=limits, groups=groups, listing=question.listing
    )
    return made.grouped


def _output(name: str, entry: Mapping[str, Any]) -> Output:
    """An output as a row of the form; `KeyError` where a row has no field for it."""
    if strange := [part for part in entry if part not in _PLAIN]:
        raise KeyError(strange[0])
    column = str(entry.get("column") or "")
    of, share = str(entry["of"]), ""
    if of == "quantile":
        at = Fraction(entry["q"])
        of, share = ("median", "") if at == Fraction(1, 2) else ("quantile", f"{float(at):g}")
    elif "other" in entry:
        share = str(entry["other"])
    elif of == "share":
        column = column.removeprefix("CASE WHEN ").removesuffix(" THEN 1 ELSE 0 END")
    row = Output(of, quoted(column) if "," in column else column, share)
    return row if list(read_outputs([row.text()])) == [name] else replace(row, name=name)


def _key(key: Any, schema: Schema) -> Key:
    """A key as a row of the form. Values that a condition leaves follow from the condition, and others are not shown:
    whether it asks the same is looked at afterwards."""
    if key.discovered:
        return Key(key.column, "?")
    return Key(key.column, "" if key.edges is None else ",".join(bin_sizes(key, schema)))
