"""`discreet plan` and `ask`: from a question to an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.apps.cli.options import (
    Allotment,
    By,
    Confidence,
    Data,
    Delta,
    Epsilon,
    LedgerPlace,
    Noise,
    Outputs,
    Rho,
    SchemaFile,
    Share,
    Table,
    Top,
    TopK,
    Where,
    Within,
    curator_at,
)
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
from discreet.core.release import Release
from discreet.curator.offer import Offer
from discreet.curator.question import read_question

__all__ = ["ask", "plan", "sql"]

Why = Annotated[str, typer.Option(help="What it is for; goes on the record.")]
ReleaseId = Annotated[str | None, typer.Option("--id", help="Release id; the same id again costs nothing.")]
CsvFile = Annotated[Path | None, typer.Option(help="Also write the table to this CSV file.")]
PlotFile = Annotated[Path | None, typer.Option(help="Also draw the first output (.png, .svg or .html).")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before spending.")]


def plan(
    data: Data,
    outputs: Outputs = None,
    by: By = None,
    where: Where = None,
    top: Top = None,
    k: TopK = 10,
    epsilon: Epsilon = None,
    rho: Rho = None,
    share: Share = None,
    within: Within = None,
    confidence: Confidence = 0.95,
    noise: Noise = "auto",
    delta: Delta = None,
    allotment: Allotment = None,
    schema: SchemaFile = None,
    ledger: LedgerPlace = None,
    table: Table = None,
    as_json: AsJson = False,
) -> None:
    """What a question would cost and how far its answers may be off. Spends nothing, reads nothing."""
    price = {"epsilon": epsilon, "rho": rho, "share": share, "within": within, "confidence": confidence}
    more: dict[str, Any] = {**price, "noise": noise, "delta": delta, "allotment": allotment}
    curator = curator_at(data, schema, ledger, table)
    offer = read_question(curator.desk, outputs, by, where, (top, k)).plan(**more)
    if as_json:
        show_json(offer.to_dict())
    else:
        say(str(offer))


def ask(
    data: Data,
    outputs: Outputs = None,
    by: By = None,
    where: Where = None,
    top: Top = None,
    k: TopK = 10,
    epsilon: Epsilon = None,
    rho: Rho = None,
    share: Share = None,
    within: Within = None,
    confidence: Confidence = 0.95,
    noise: Noise = "auto",
    delta: Delta = None,
    allotment: Allotment = None,
    schema: SchemaFile = None,
    ledger: LedgerPlace = None,
    table: Table = None,
    why: Why = "",
    release: ReleaseId = None,
    csv: CsvFile = None,
    plot: PlotFile = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Ask, after showing the price. The answer comes with intervals and goes on the record."""
    price = {"epsilon": epsilon, "rho": rho, "share": share, "within": within, "confidence": confidence}
    more: dict[str, Any] = {**price, "noise": noise, "delta": delta, "allotment": allotment}
    curator = curator_at(data, schema, ledger, table)
    offer = read_question(curator.desk, outputs, by, where, (top, k)).plan(**more)
    _answer(offer, why=why, release=release, csv=csv, plot=plot, yes=yes, as_json=as_json)


def sql(
    data: Data,
    text: Annotated[str, typer.Argument(help="SELECT keys and aggregates FROM table [WHERE] [GROUP BY] ...")],
    epsilon: Epsilon = None,
    rho: Rho = None,
    share: Share = None,
    within: Within = None,
    confidence: Confidence = 0.95,
    noise: Noise = "auto",
    delta: Delta = None,
    allotment: Allotment = None,
    schema: SchemaFile = None,
    ledger: LedgerPlace = None,
    table: Table = None,
    why: Why = "",
    release: ReleaseId = None,
    csv: CsvFile = None,
    plot: PlotFile = None,
    plan_only: Annotated[bool, typer.Option("--plan", help="Only say what it would cost.")] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Ask in SQL. The text is read, never run: what is not understood is refused before anything is spent."""
    price = {"epsilon": epsilon, "rho": rho, "share": share, "within": within, "confidence": confidence}
    question = curator_at(data, schema, ledger, table).sql(text)
    offer = question.plan(**price, noise=noise, delta=delta, allotment=allotment)  # type: ignore[arg-type]
    if not plan_only:
        _answer(offer, why=why, release=release, csv=csv, plot=plot, yes=yes, as_json=as_json)
    elif as_json:
        show_json(offer.to_dict())
    else:
        say(str(offer))


def _answer(
    offer: Offer[Release],
    *,
    why: str,
    release: str | None,
    csv: Path | None,
    plot: Path | None,
    yes: bool,
    as_json: bool,
) -> None:
    fit_to_write(csv, "--csv")
    fit_to_draw(plot)
    if not yes:
        confirm_spending(offer)
    with working("Counting in the engine..."):
        answer = offer.release(release=release, why=why)
    if csv is not None:
        answer.to_csv(csv)
    if plot is not None:
        answer.plot().save(str(plot))
    if as_json:
        show_json(answer.to_dict())
    else:
        show_release(answer)
