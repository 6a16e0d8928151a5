"""`discreet train card` and `predict`: what else can be done with a released model."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.apps.cli.completing import releases
from discreet.apps.cli.ledger import Place, books
from discreet.apps.cli.output import AsJson, say, show_json
from discreet.curator import read_release
from discreet.errors import InputError

__all__ = ["card", "predict"]


def card(
    identity: Annotated[str, typer.Argument(help="Id of a released model.", autocompletion=releases)],
    ledger: Place = None,
    as_json: AsJson = False,
) -> None:
    """The model card: what the weights may give away, how that is known, and what is not known."""
    found = read_release(books(ledger), identity, kind="train").card()
    if as_json:
        show_json(found.to_dict())
    else:
        say(found.to_markdown())


def predict(
    identity: Annotated[str, typer.Argument(help="Id of a released model.", autocompletion=releases)],
    rows: Annotated[Path, typer.Argument(help="CSV or Parquet file of rows that are yours to see.")],
    ledger: Place = None,
    out: Annotated[Path | None, typer.Option(help="CSV file for what the model tells.")] = None,
    as_json: AsJson = False,
) -> None:
    """What a released model tells for rows in hand. Spends nothing; what is told of a row is as private as the row."""
    released = read_release(books(ledger), identity, kind="train")
    told = released.predict(_read(rows))
    name = released.encoding.target.name
    if out is not None:
        with out.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([name])
            writer.writerows([one] for one in told)
        say(f"Wrote {out}")
    elif as_json:
        show_json({name: told})
    else:
        for one in told:
            say(str(one))


def _read(path: Path) -> Any:
    if not path.is_file() or path.suffix.lower() not in (".csv", ".parquet"):
        raise InputError("rows", str(path), "a .csv or .parquet file that exists")
    if path.suffix.lower() == ".parquet":
        import pyarrow.parquet

        return pyarrow.parquet.read_table(path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = csv.DictReader(file)
        names = list(lines.fieldnames or [])
        found = list(lines)
    return {name: [line[name] for line in found] for name in names}
