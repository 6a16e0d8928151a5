"""Options that several commands take, and what they open."""

from __future__ import annotations

import re
import sys
from typing import Annotated, Any

import typer

from discreet.apps.cli.completing import allotments, columns, offered, schema_path
from discreet.core.exact import Number
from discreet.curator import Curator, open_curator
from discreet.errors import InputError, MissingLedgerError
from discreet.query.aggregate import PRIVATE, Aggregate
from discreet.query.column import Date
from discreet.query.curator import Offer, Question
from discreet.query.key import Key, bins, discover, key
from discreet.query.quantile import Ordered, quantile, quantile_name
from discreet.query.question import output_from
from discreet.query.schema import Schema

__all__ = [
    "Allotment",
    "By",
    "Confidence",
    "Data",
    "Delta",
    "Epsilon",
    "LedgerPlace",
    "Noise",
    "Outputs",
    "Rho",
    "SchemaFile",
    "Share",
    "Table",
    "Top",
    "TopK",
    "Where",
    "Within",
    "curator_at",
    "key_from",
    "offer_for",
]

Data = Annotated[str, typer.Argument(help="CSV or Parquet file, glob or folder, DuckDB file, or postgresql://...")]
Outputs = Annotated[
    list[str] | None,
    typer.Argument(
        help="What to compute: count, people, sum(COLUMN), mean(...), variance(...), std(...), median(...), "
        "quantile(COLUMN,0.9); mean(COLUMN,private) searches for bounds; NAME=... names it.",
        autocompletion=offered("count", "people"),
    ),
]
SchemaFile = Annotated[str | None, typer.Option("--schema", envvar="DISCREET_SCHEMA", help="discreet.toml by default.")]
LedgerPlace = Annotated[
    str | None,
    typer.Option(
        "--ledger", envvar="DISCREET_LEDGER", help=".discreet/ledger.db beside the schema, or postgresql://..."
    ),
]
Table = Annotated[str | None, typer.Option(help="Table name, for databases.")]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        help="Group by COLUMN, COLUMN/WIDTH, COLUMN/month, COLUMN/0,18,65,100; COLUMN? discovers its values (see "
        "--delta); repeat for more.",
        autocompletion=columns,
    ),
]
Where = Annotated[str | None, typer.Option(help="Condition, such as \"age >= 18 and sex = 'female'\".")]
Epsilon = Annotated[str | None, typer.Option(help="Price of the whole question as pure epsilon.")]
Rho = Annotated[str | None, typer.Option(help="Price as zCDP rho.")]
Share = Annotated[str | None, typer.Option(help="Price as a share of the allotment, such as 0.1.")]
Within = Annotated[str | None, typer.Option(help="Accuracy wanted: the half-width of every interval.")]
Delta = Annotated[str | None, typer.Option(help="Beside the price, for discovered values: such as 1e-7.")]
Top = Annotated[
    str | None,
    typer.Option("--top", help="Instead of outputs: the most common values of COLUMN.", autocompletion=columns),
]
TopK = Annotated[int, typer.Option("--k", help="How many of them.")]
Confidence = Annotated[float, typer.Option(help="Confidence of the intervals.")]
Noise = Annotated[
    str, typer.Option(help="auto, laplace or gaussian.", autocompletion=offered("auto", "laplace", "gaussian"))
]
Allotment = Annotated[
    str | None,
    typer.Option(help="Which part of the budget pays; needed only if there are several.", autocompletion=allotments),
]


def curator_at(data: str, schema: str | None, ledger: str | None, table: str | None) -> Curator:
    """The curator of the data named on the command line; where there is no ledger, one is made after a yes."""
    declared = schema_path(data, schema)
    try:
        return open_curator(data, declared, ledger=ledger, table=table)
    except MissingLedgerError as missing:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise
        typer.echo(str(missing), err=True)
        typer.confirm("Was there never one? Make it now?", abort=True, err=True)
        return open_curator(data, declared, ledger=ledger, table=table, create=True)


def offer_for(
    curator: Curator,
    outputs: list[str] | None,
    by: list[str] | None,
    where: str | None,
    price: dict[str, Any],
    top: tuple[str | None, int] = (None, 0),
) -> Offer:
    """The plan for a question put together from the command line."""
    question: Question = curator.table()
    if where:
        question = question.where(where)
    if top[0] is not None:
        if outputs or by:
            raise InputError("--top", top[0], "a question of its own, without outputs and --by")
        return question.top(key_from(top[0], curator.schema), top[1]).plan(**price)
    if by:
        question = question.group_by(*(key_from(text, curator.schema) for text in by))
    return question.agg(**_outputs(outputs or ["count"])).plan(**price)


_COMPUTED = ("count", "people", "sum", "mean", "variance", "std", "median", "quantile")
_OUTPUT = re.compile(r"(?:(?P<name>\w+)=)?(?P<of>\w+)(?:\((?P<column>[^()]*)\))?")


def _outputs(texts: list[str]) -> dict[str, Aggregate | Ordered]:
    found: dict[str, Aggregate | Ordered] = {}
    for text in texts:
        match = _OUTPUT.fullmatch(text.strip())
        if match is None:
            raise InputError(
                "output", text, "such as count, people, sum(pay), median(pay), quantile(pay,0.9) or average=mean(pay)"
            )
        column = (match["column"] or "").strip() or None
        if match["of"] == "quantile":
            name, _, share = (column or "").rpartition(",")
            asked = quantile(name.strip(), share.strip())
            found[match["name"] or _plain(f"{quantile_name(asked.q)}_{asked.column}")] = asked
            continue
        if match["of"] not in _COMPUTED:
            raise InputError("outputs", text, "one of " + ", ".join(_COMPUTED) + ", such as count or 'mean(pay)'")
        entry: dict[str, Any] = {"of": match["of"]}
        before, _, bounds = (column or "").rpartition(",")
        if bounds.strip() == PRIVATE:
            column, entry["bounds"] = before.strip(), PRIVATE
        name = match["name"] or (match["of"] if column is None else _plain(f"{match['of']}_{column}"))
        entry |= {"column": column} if column else {}
        found[name] = output_from(entry)
    return found


def _plain(name: str) -> str:
    """A name for an output of a column that has any name: 'mean_pay, in €' is mean_pay_in."""
    return re.sub(r"\W+", "_", name).strip("_")


def key_from(text: str, schema: Schema) -> Key:
    """What to group by, as written after --by."""
    name, slash, how = text.partition("/")
    if not slash and name.endswith("?") and name not in schema.columns:
        return discover(name[:-1])
    if not slash:
        return key(name)
    if "," in how:
        return bins(name, [part.strip() for part in how.split(",")])
    if isinstance(schema.column(name, "--by"), Date) and not how.isdigit():
        return bins(name, every=how)
    width: Number = how
    return bins(name, width=width)
