"""`discreet risk`: how anonymous a table is, what coarsening to k costs, and what linkage makes of the result."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.apps.cli.completion import offered
from discreet.apps.cli.output import AsJson, say, show_json, working
from discreet.errors import InputError
from discreet.risk.coarsening import anonymize
from discreet.risk.linkage import link
from discreet.risk.measures import anonymity
from discreet.risk.records import Records

__all__ = ["risk"]

Table = Annotated[Path, typer.Argument(help="The table as its owner has it: CSV with a header, or Parquet.")]
Quasi = Annotated[str, typer.Option(help="Columns that an outsider may know, such as age,zip,sex.")]
Sensitive = Annotated[str | None, typer.Option(help="Columns that must not be learned, such as diagnosis.")]
Few = Annotated[int, typer.Option(help="Try every set of up to this many columns by itself.")]
Population = Annotated[int | None, typer.Option(help="Size of the population that the rows are a sample of.")]
K = Annotated[int | None, typer.Option("--k", help="Coarsen until every row looks like at least k - 1 others.")]
Method = Annotated[
    str,
    typer.Option(
        help="lattice: whole columns, least loss; mondrian: boxes of nearby rows.",
        autocompletion=offered("lattice", "mondrian"),
    ),
]
Redact = Annotated[float, typer.Option(help="Part of the rows that may be left out instead (lattice).")]
Drop = Annotated[str | None, typer.Option(help="Columns to leave out of the result, such as name,ssn.")]
Out = Annotated[Path | None, typer.Option(help="Where to write the coarsened table: .csv or .parquet.")]
Register = Annotated[
    Path | None,
    typer.Option(help="A table with names and the same columns: link it to the result, as an attacker would."),
]
Person = Annotated[str | None, typer.Option(help="Column in both tables that says who is who, to check the links.")]


def risk(
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
    """How anonymous a table is. Tells its owner the truth about raw data: what it prints is not private."""
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
        say(
            f"Even so, {one.told:,} rows share {one.column} with all who look like them: it is told, whatever k is. "
            f"A class is up to {one.closeness:.2f} away from everybody."
        )
    if linked is not None:
        say(f"\nLinked with {register.name if register else ''}: {linked.explain()}")
    if out is not None:
        print(f"Written: {out}", file=sys.stderr)


def _names(text: str | None) -> list[str]:
    return [] if text is None else [name.strip() for name in text.split(",") if name.strip()]
