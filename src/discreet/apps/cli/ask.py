"""`discreet plan`, `ask`, `sql` and `limits`: from a question to an answer."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.apps.cli import options
from discreet.apps.cli.output import (
    AsJson,
    confirm_spending,
    fit_to_draw,
    fit_to_write,
    say,
    show_json,
    show_release,
    working,
)
from discreet.core.note import LIMITED
from discreet.core.release import Release
from discreet.curator import Curator
from discreet.curator.offer import Offer
from discreet.curator.question import Question, read_question, with_limits
from discreet.query.limit_choice import USUAL

__all__ = ["ReleaseId", "Why", "Yes", "ask", "limits", "plan", "sql"]

Why = Annotated[str, typer.Option(help="What it is for; goes on the record.")]
ReleaseId = Annotated[str | None, typer.Option("--id", help="Release id; the same id again costs nothing.")]
CsvFile = Annotated[Path | None, typer.Option(help="Also write the table to this CSV file.")]
PlotFile = Annotated[Path | None, typer.Option(help="Also draw the first output (.png, .svg or .html).")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before spending.")]
Text = Annotated[str, typer.Argument(help="SELECT keys and aggregates FROM table [WHERE] [GROUP BY] ...")]
Dialect = Annotated[str, typer.Option(help="Whose spelling it is: duckdb, postgres, spark, bigquery, tsql, ...")]
Groups = Annotated[
    str | None, typer.Option("--by", help="In how many groups of this column people are, instead of their rows.")
]
Most = Annotated[int, typer.Option(help="How many rows or groups one person is taken to have at most.")]
PlanOnly = Annotated[bool, typer.Option("--plan", help="Only say what it would cost.")]

_DATA: options.Parameters = {"data": (options.Data, options.REQUIRED)}
_QUESTION: options.Parameters = {
    **_DATA,
    "outputs": (options.Outputs, None),
    "by": (options.By, None),
    "groups": (options.Groups, None),
    "listing": (options.GroupsOnly, False),
    "where": (options.Where, None),
    "top": (options.Top, None),
    "k": (options.TopK, 10),
}
_PRICE: options.Parameters = {**options.LIMITS, **options.PRICES, "delta": (options.Delta, None), **options.SOURCES}
_ANSWER: options.Parameters = {
    "why": (Why, ""),
    "release": (ReleaseId, None),
    "csv": (CsvFile, None),
    "plot": (PlotFile, None),
}
_YES: options.Parameters = {"yes": (Yes, False), "as_json": (AsJson, False)}


def _plan(**given: Any) -> None:
    """What a question would cost and how far its answers may be off. Spends nothing, reads nothing."""
    _show_plan(_offer(_question(given), given), given)


def _ask(**given: Any) -> None:
    """Ask, after showing the price. The answer comes with intervals and goes on the record."""
    _answer(_offer(_question(given), given), given)


def _sql(**given: Any) -> None:
    """Ask in SQL. The text is read, never run: what is not understood is refused before anything is spent."""
    question = _curator(given).sql(given["text"], dialect=given["dialect"])
    offer = _offer(with_limits(question, _limits(given)), given)
    if given["plan_only"]:
        _show_plan(offer, given)
    else:
        _answer(offer, given)


def _choose(**given: Any) -> None:
    """Buy help in choosing limits on each person.

    What each would cut of people's rows, or of the groups they are in, and what noise it costs.
    """
    question = _curator(given).table()
    question = question if given["where"] is None else question.where(given["where"])
    offer = _offer(question.suggest_limits(given["by"], most=given["most"]), given)
    if given["plan_only"]:
        _show_plan(offer, given)
        return
    _answer(offer, given)


plan = options.with_signature(_plan, {**_QUESTION, **_PRICE, "as_json": (AsJson, False)})
ask = options.with_signature(_ask, {**_QUESTION, **_PRICE, **_ANSWER, **_YES})
limits = options.with_signature(
    _choose,
    {
        **_DATA,
        "by": (Groups, None),
        "where": (options.Where, None),
        "most": (Most, USUAL),
        **{name: known for name, known in _PRICE.items() if name not in options.LIMITS},
        **_ANSWER,
        "plan_only": (PlanOnly, False),
        **_YES,
    },
)
sql = options.with_signature(
    _sql,
    {
        **_DATA,
        "text": (Text, options.REQUIRED),
        "dialect": (Dialect, "duckdb"),
        **_PRICE,
        **_ANSWER,
        "plan_only": (PlanOnly, False),
        **_YES,
    },
)


def _curator(given: Mapping[str, Any]) -> Curator:
    return options.curator_at(given["data"], given["schema"], given["ledger"], given["table"])


def _question(given: Mapping[str, Any]) -> Question:
    top = (given["top"], given["k"])
    asked = (given["outputs"], given["by"], given["where"], top, _limits(given), given["groups"], given["listing"])
    return read_question(_curator(given).desk, *asked)


def _limits(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name.removeprefix("limit_"): given[name] for name in options.LIMITS}


def _offer(question: Question, given: Mapping[str, Any]) -> Offer[Release]:
    price = {name: given[name] for name in (*options.PRICES, "delta", "allotment")}
    return question.plan(**price)


def _show_plan(offer: Offer[Release], given: Mapping[str, Any]) -> None:
    if given["as_json"]:
        show_json(offer.to_dict())
    else:
        say(str(offer))


def _answer(offer: Offer[Release], given: Mapping[str, Any]) -> None:
    csv, plot = given["csv"], given["plot"]
    fit_to_write(csv, "--csv")
    fit_to_draw(plot)
    if not given["yes"]:
        confirm_spending(offer)
    with working("Counting in the engine..."):
        answer = offer.release(release=given["release"], why=given["why"])
    if csv is not None:
        answer.to_csv(csv)
    if plot is not None:
        answer.plot().save(str(plot))
    if given["as_json"]:
        show_json(answer.to_dict())
        return
    show_release(answer)
    if sys.stderr.isatty() and any(note.kind in LIMITED for note in answer.notes):
        typer.echo(f"`discreet limits {shlex.quote(given['data'])}` shows what other limits would cut.", err=True)
