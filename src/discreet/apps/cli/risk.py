"""`discreet risk`: a report on a table, how anonymous it is, what coarsening costs, and what linkage makes of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.apps.cli.completion import choice
from discreet.apps.cli.output import AsJson, fit_to_write, progress, say, show_json, working
from discreet.apps.cli.table_width import wrapped
from discreet.errors import InputError
from discreet.risk.coarsening import anonymize
from discreet.risk.linkage import link
from discreet.risk.measures import anonymity
from discreet.risk.records import Records

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help="How easily people in a table are identified, and what coarsening costs: report, measure.",
)

Table = Annotated[Path, typer.Argument(help="The table as its owner has it: CSV with a header, or Parquet.")]
Quasi = Annotated[str, typer.Option(help="Columns that an outsider may know, such as age,zip,sex.")]
Sensitive = Annotated[str | None, typer.Option(help="Columns that must not be learned, such as diagnosis.")]
Few = Annotated[int, typer.Option(help="Try every set of up to this many columns separately.")]
Population = Annotated[int | None, typer.Option(help="Size of the population that the rows are a sample of.")]
K = Annotated[int | None, typer.Option("--k", help="Coarsen until every row looks like at least k - 1 others.")]
Method = Annotated[
    str,
    choice("lattice", "mondrian", help="lattice: whole columns, least loss; mondrian: boxes of nearby rows."),
]
Redact = Annotated[float, typer.Option(help="Part of the rows that may be left out instead (lattice).")]
Drop = Annotated[str | None, typer.Option(help="Columns to leave out of the result, such as name,ssn.")]
Out = Annotated[Path | None, typer.Option(help="Where to write the coarsened table: .csv or .parquet.")]
Register = Annotated[
    Path | None,
    typer.Option(help="A table with names and the same columns: link it to the result, as an attacker would."),
]
Whose = Annotated[str | None, typer.Option("--person", help="Column that identifies a person who has several rows.")]
Person = Annotated[str | None, typer.Option(help="Column in both tables that identifies a person, to check the links.")]


@app.command("measure")
def measure(
    data: Table,
    quasi: Quasi,
    sensitive: Sensitive = None,
    few: Few = 3,
    population: Population = None,
    k: K = None,
    method: Method = "lattice",
    redact: Redact = 0.01,
    drop: Drop = None,
    out: Out = None,
    register: Register = None,
    person: Person = None,
    as_json: AsJson = False,
) -> None:
    """Measure how anonymous a table is. It reads raw data: what it prints is not private."""
    if k is None and out is not None:
        raise InputError("--out", out.name, "left out without --k: only coarsened rows are written")
    known, secret = _names(quasi), _names(sensitive)
    with working("reading and measuring"):
        table = Records.read(data)
        before = anonymity(table, quasi=known, sensitive=secret, few=few, population_size=population)
        made = (
            None if k is None else anonymize(table, quasi=known, k=k, method=method, redact=redact, drop=_names(drop))
        )
        after = None
        if made is not None and secret:
            after = anonymity(
                made.records, quasi=known, sensitive=[one for one in secret if one in made.records.columns]
            )
        target: Any = table if made is None else made
        hidden = secret[0] if secret else None
        linked = None if register is None else link(target, register, on=known, sensitive=hidden, person=person)
        if made is not None and out is not None:
            made.write(out)
    if as_json:
        found: dict[str, Any] = {"before": before.to_dict()}
        if made is not None:
            found["coarsened"] = {"k": made.k, "loss": made.loss, "redacted": made.redacted, "steps": made.steps}
            found["coarsened"]["untouched"] = list(made.untouched)
        found |= {} if after is None else {"after": after.to_dict()}
        found |= {} if linked is None else {"linked": linked.to_dict()}
        show_json(found)
        return
    say(before.explain())
    if made is not None:
        say(f"\nCoarsened: {made.explain()}")
    for one in () if after is None else after.sensitive:
        told = (
            f"Even so, {one.told:,} rows share {one.column} with all who look like them: it is revealed, whatever k is."
            if one.told
            else f"No class shares one {one.column}."
        )
        say(f"{told} A class is up to {one.closeness:.2f} away from everybody.")
    if linked is not None:
        say(f"\nLinked with {register.name if register else ''}: {linked.explain()}")
    if out is not None:
        print(f"Written: {out}", file=sys.stderr)


@app.command("report")
def report(
    data: Table,
    quasi: Annotated[
        str | None, typer.Option(help="Columns that an outsider may know; without it they are guessed.")
    ] = None,
    sensitive: Annotated[
        str | None, typer.Option(help="Columns that must not be learned; without it they are guessed.")
    ] = None,
    person: Whose = None,
    population: Population = None,
    register: Annotated[
        Path | None, typer.Option(help="A table of the population with the same columns: for linkage and presence.")
    ] = None,
    k: Annotated[int, typer.Option("--k", help="Rows, or people, that must look alike in the proposal.")] = 5,
    diverse: Annotated[int, typer.Option("--l", help="Different sensitive values among those that look alike.")] = 2,
    close: Annotated[float, typer.Option("--t", help="How far they may be from everybody, 0 to 1.")] = 0.2,
    threshold: Annotated[float, typer.Option(help="A chance to be identified above which a row is at risk.")] = 0.2,
    redact: Redact = 0.05,
    seconds: Annotated[float, typer.Option(help="How long to search for a coarsening; Ctrl-C ends it earlier.")] = 10.0,
    html: Annotated[Path | None, typer.Option("--html", help="Also write the report to this file, as a page.")] = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Report on a table: identifiers, who is unique, attackers, a coarsening, and what a release would cost."""
    from discreet.risk.report import report_risk

    fit_to_write(html, "--html", (".html", ".htm"))
    fit_to_write(out, "--out", (".csv", ".parquet"))
    with progress():
        found, made = report_risk(
            data,
            quasi=None if quasi is None else _names(quasi),
            sensitive=None if sensitive is None else _names(sensitive),
            person=person,
            population=population,
            register=register,
            k=k,
            l=diverse,
            t=close,
            threshold=threshold,
            redact=redact,
            seconds=seconds,
        )
    if html is not None:
        html.write_text(found.page(), encoding="utf-8")
    if out is not None:
        if made is None:
            raise InputError("--out", out.name, "left out where nothing is proposed", " ".join(found.notes))
        made.write(out)
    if as_json:
        show_json(found.to_dict())
    else:
        say(wrapped(found.explain()))
    for path in (html, out):
        if path is not None:
            print(f"Written: {path}", file=sys.stderr)


def _names(text: str | None) -> list[str]:
    return [] if text is None else [name.strip() for name in text.split(",") if name.strip()]
