"""`discreet plan`, `ask`, `sql` and `limits`: from a question to an answer."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.apps.cli import options
from discreet.apps.cli.assume import DECISION, show_offer
from discreet.apps.cli.output import (
    AsJson,
    confirm_spending,
    fit_to_draw,
    fit_to_write,
    say_plan,
    show_json,
    show_release,
    working,
)
from discreet.core.note import LIMITED
from discreet.core.release import Release
from discreet.curator import Curator
from discreet.curator.offer import Offer
from discreet.curator.question import Question, read_question, with_limits
from discreet.curator.saved_questions import SavedQuestions, described
from discreet.errors import MISSING, InputError
from discreet.query.limit_choice import USUAL

__all__ = ["ReleaseId", "Why", "Yes", "ask", "limits", "plan", "sql"]

Why = Annotated[str, typer.Option(help="Reason for asking; recorded on the ledger.")]
ReleaseId = Annotated[str | None, typer.Option("--id", help="Release id; the same id again costs nothing.")]
CsvFile = Annotated[Path | None, typer.Option(help="Also write the table to this CSV file.")]
PlotFile = Annotated[Path | None, typer.Option(help="Also draw the first output (.png, .svg or .html).")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before spending.")]
Text = Annotated[str, typer.Argument(help="SELECT keys and aggregates FROM table [WHERE] [GROUP BY] ...")]
Dialect = Annotated[str, typer.Option(help="SQL dialect: duckdb, postgres, spark, bigquery, tsql, ...")]
Groups = Annotated[
    str | None,
    typer.Option("--by", help="Look at the number of groups of this column that people are in, instead of their rows."),
]
Most = Annotated[int, typer.Option(help="The largest number of rows or groups of one person that is considered.")]
Save = Annotated[str | None, typer.Option("--save", help="Save the question and its price under this name.")]
Saved = Annotated[
    str | None,
    typer.Option("--saved", help="Ask the saved question of this name again, about the current data."),
]
PlanOnly = Annotated[bool, typer.Option("--plan", help="Only show the price.")]

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
_SAVE: options.Parameters = {"save": (Save, None)}
_SAVED: options.Parameters = {**_SAVE, "saved": (Saved, None)}
_YES: options.Parameters = {"yes": (Yes, False), "as_json": (AsJson, False)}


_WORDS = ("outputs", "by", "groups", "listing", "where", "top", *options.LIMITS)
_PRICED = (*options.PRICES, "delta", "allotment")


def _plan(**given: Any) -> None:
    """Show the price of a question and the expected error of its answers. Spends nothing, reads nothing."""
    offer = _asked(given)
    show_offer(offer, given, str(offer))


def _ask(**given: Any) -> None:
    """Ask a question, after showing its price. The answer comes with intervals and is recorded."""
    _answer(_asked(given), given)


def _asked(given: Mapping[str, Any]) -> Offer[Release]:
    """The question that is typed, or the one that was saved under a name."""
    if given["saved"] is None:
        question = _question(given)
        return _kept(_offer(question, given), given, question)
    if [name for name in _WORDS if given[name]] or given["save"] is not None:
        hint = "A saved question is complete: leave out the other options, or ask without --saved."
        raise InputError("--saved", given["saved"], "given without outputs, keys, conditions and --save", hint)
    curator = _curator(given)
    # What stands at its default was not typed, and is as it was saved.
    price = {name: given[name] for name in _PRICED if given[name] != _PRICE[name][1]}
    saved = curator.saved.find(given["saved"], "--saved")
    return saved.offer(curator, **price)


def _sql(**given: Any) -> None:
    """Ask a question in SQL. It is parsed, never run: what is not understood is refused before anything is spent."""
    question = _curator(given).sql(given["text"], dialect=given["dialect"])
    question = with_limits(question, _limits(given))
    offer = _kept(_offer(question, given), given, question, given["text"], given["dialect"])
    if given["plan_only"]:
        _show_plan(offer, given)
    else:
        _answer(offer, given)


def _choose(**given: Any) -> None:
    """Estimate privately what contribution limits would leave out.

    Shows how much of people's rows, or of their groups, each limit would leave out, and how much noise it needs.
    """
    question = _curator(given).table()
    question = question if given["where"] is None else question.where(given["where"])
    offer = _offer(question.suggest_limits(given["by"], most=given["most"]), given)
    if given["plan_only"]:
        _show_plan(offer, given)
        return
    _answer(offer, given)


plan = options.with_signature(_plan, {**_QUESTION, **_PRICE, **_SAVED, **DECISION, "as_json": (AsJson, False)})
ask = options.with_signature(_ask, {**_QUESTION, **_PRICE, **_ANSWER, **_SAVED, **_YES})
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
        **_SAVE,
        "plan_only": (PlanOnly, False),
        **_YES,
    },
)


def _kept(offer: Offer[Release], given: Mapping[str, Any], question: Question, *sql: str) -> Offer[Release]:
    """The offer, its question saved under a name if one is given."""
    if given["save"] is not None:
        ledger, price = offer.desk.ledger, {name: given[name] for name in _PRICED}
        questions = SavedQuestions.beside(ledger, question.desk.declared.name)
        before = questions.owner(given["save"])
        saved = questions.save(given["save"], described(question.query, *sql), price, who=offer.desk.who)
        replaced = "" if before is None else f", in place of what {before or 'somebody'} saved"
        typer.echo(f"Saved as {saved.name!r}{replaced}. Ask it again with --saved.", err=True)
    return offer


def _curator(given: Mapping[str, Any]) -> Curator:
    return options.curator_at(given["data"], given["schema"], given["ledger"], given["table"])


def _question(given: Mapping[str, Any]) -> Question:
    if given["where"] is not None and not given["where"].strip():  # such as a shell's variable that is not set
        raise InputError("--where", given["where"], "a condition such as age >= 18, or left out: then all rows count")
    top = (given["top"], given["k"])
    asked = (given["outputs"], given["by"], given["where"], top, _limits(given), given["groups"], given["listing"])
    return read_question(_curator(given).desk, *asked)


def _limits(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name.removeprefix("limit_"): given[name] for name in options.LIMITS}


def _offer(question: Question, given: Mapping[str, Any]) -> Offer[Release]:
    price = {name: given[name] for name in _PRICED}
    return question.plan(**price)


def _show_plan(offer: Offer[Release], given: Mapping[str, Any]) -> None:
    if given["as_json"]:
        show_json(offer.to_dict())
    else:
        say_plan(offer)


def _agreed(offer: Offer[Release], given: Mapping[str, Any]) -> str | None:
    """The id to release under once somebody agreed to the price: that of the stored answer, if it will do."""
    before = offer.answered if given["release"] is None else None
    if before is None:
        if not given["yes"]:
            confirm_spending(offer)
        return given["release"]  # type: ignore[no-any-return]
    if given["yes"]:
        typer.echo(before.text(), err=True)
        return None
    typer.echo(str(offer), err=True)
    if not sys.stdin.isatty():
        read = f"discreet releases show {shlex.quote(before.release)}"
        hint = f"Read the stored answer with `{read}`, or add --yes to buy a fresh one. Nothing was spent."
        raise InputError("--yes", MISSING, "given where nobody can confirm", hint)
    fresh = typer.confirm("You have this answer already (free). Buy a new answer?", default=False, err=True)
    return None if fresh else before.release


def _answer(offer: Offer[Release], given: Mapping[str, Any]) -> None:
    csv, plot = given["csv"], given["plot"]
    fit_to_write(csv, "--csv")
    fit_to_draw(plot)
    identity = _agreed(offer, given)
    with working("Counting in the engine..."):
        answer = offer.release(release=identity, why=given["why"])
    if csv is not None:
        answer.to_csv(csv)
    if plot is not None:
        answer.plot().save(str(plot))
    if given["as_json"]:
        show_json(answer.to_dict())
        return
    show_release(answer)
    if sys.stderr.isatty() and any(note.kind in LIMITED for note in answer.notes):
        typer.echo(f"`discreet limits {shlex.quote(given['data'])}` shows what other limits would leave out.", err=True)
