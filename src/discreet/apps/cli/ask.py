"""`discreet init`, `plan` and `ask`: from a table to an answer."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

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
    offer_for,
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
from discreet.errors import InputError
from discreet.query.curator import Offer
from discreet.query.header import doubt
from discreet.query.plan import Expectation
from discreet.query.quantile_plan import RankExpectation
from discreet.query.skeleton import skeleton
from discreet.query.source import Source, source_of

__all__ = ["ask", "init", "plan", "sql"]

Why = Annotated[str, typer.Option(help="What it is for; goes on the record.")]
ReleaseId = Annotated[str | None, typer.Option("--id", help="Release id; the same id again costs nothing.")]
CsvFile = Annotated[Path | None, typer.Option(help="Also write the table to this CSV file.")]
PlotFile = Annotated[Path | None, typer.Option(help="Also draw the first output (.png, .svg or .html).")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before spending.")]


def init(
    data: Data,
    out: Annotated[Path, typer.Option(help="File to write.")] = Path("discreet.toml"),
    name: Annotated[str | None, typer.Option(help="Name of the dataset; the file's name by default.")] = None,
    table: Table = None,
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header", help="Whether the first line of a CSV file holds the names of its columns."
        ),
    ] = None,
    columns: Annotated[
        str | None, typer.Option("--names", help="The columns of a CSV file without a header line: NAME,NAME,...")
    ] = None,
) -> None:
    """Write a schema to fill in. It is made of column names and declared types; no value is looked at.

    The first line of a CSV file is taken for names once you say that it is a header, and not a person's values.
    """
    if out.exists():
        raise InputError("--out", str(out), "a file that does not exist yet", "Nothing was written.")
    source = source_of(data, table)
    if source.kind == "csv":
        source = replace(source, names=_names(source, data, header, columns))
    elif header is not None or columns is not None:
        raise InputError("--header" if columns is None else "--names", "given", "for CSV and TSV files")
    names = list(source.columns())
    text = skeleton(source, name or table or Path(data).stem)
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise InputError("--out", str(out), f"a file that can be written ({problem.strerror})") from None
    say(f"Wrote {out}: {len(names)} column{'s' * (len(names) != 1)}. Fill in every '?', then:")
    named = "" if out == Path("discreet.toml") else f" --schema {shlex.quote(str(out))}"
    say(f"discreet plan {shlex.quote(data)} count --epsilon 0.1{named}")
    for warning in _odd(names):
        say(f"Look at the header: {warning}")


def _names(source: Source, data: str, header: bool | None, columns: str | None) -> tuple[str, ...]:
    """The names given for a file without a header line; none once its first line was said to be one."""
    if columns is not None:
        if header:
            raise InputError("--names", "given", "for a file without a header line", "Nothing was written.")
        return tuple(name.strip() for name in columns.split(","))
    first = source.first_line()
    if header is False:
        return tuple(f"column_{number}" for number in range(1, len(first) + 1))
    if header is None:
        problem = doubt(first)
        if problem is not None or not sys.stdin.isatty():
            allowed = "given: the first line of the file would be written into the schema, which is public"
            hint = (
                "Nothing was written. Add --header if that line holds the names of the columns; if it holds values, "
                "--no-header, or --names with the names in the order of the file."
            )
            raise InputError("--header", "absent", allowed + (f" ({problem})" if problem else ""), hint)
        typer.echo(f"The first line of {data} would be written into the schema, which is public.", err=True)
        typer.confirm(
            f"Does it hold the names of its {len(first)} columns, not somebody's values?", abort=True, err=True
        )
    return ()


def _odd(names: list[str]) -> Iterator[str]:
    """What a header looks like when the file is not what its ending says."""
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        yield f"one column, {names[0]!r}. Values are divided by commas in .csv files and by tabs in .tsv files."
    if any("\ufffd" in name for name in names):
        yield "it is not UTF-8. Lines that are not are left out of every answer: save the file as UTF-8 first."


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
    more = {**price, "noise": noise, "delta": delta, "allotment": allotment}
    offer = offer_for(curator_at(data, schema, ledger, table), outputs, by, where, more, (top, k))
    if as_json:
        show_json(describe(offer))
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
    more = {**price, "noise": noise, "delta": delta, "allotment": allotment}
    offer = offer_for(curator_at(data, schema, ledger, table), outputs, by, where, more, (top, k))
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
        show_json(describe(offer))
    else:
        say(str(offer))


def _answer(
    offer: Offer, *, why: str, release: str | None, csv: Path | None, plot: Path | None, yes: bool, as_json: bool
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


def describe(offer: Offer) -> dict[str, object]:
    """A plan as plain values."""
    chosen = offer.plan
    return {
        "dataset": chosen.dataset,
        "allotment": chosen.allotment.name,
        "currency": chosen.allotment.currency,
        "cost": float(chosen.charge.amount),
        "delta": float(chosen.charge.delta),
        "exact_cost": str(chosen.charge.amount),
        "mechanism": chosen.mechanism,
        "groups": chosen.groups,
        "confidence": chosen.confidence,
        "expected": [
            {"output": e.output, "noise": e.noise, "half_width": e.half_width}
            | ({"unit": "ranks"} if isinstance(e, RankExpectation) else {"by_rows": dict(e.by_rows)})
            | ({"unit": e.unit} if isinstance(e, Expectation) and e.unit else {})
            for e in chosen.expected()
        ],
        "digest": chosen.digest,
        "query": chosen.query,
    }
