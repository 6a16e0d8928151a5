"""`discreet tree plan` and `discreet tree release`: a whole geography under one price."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from discreet.apps.cli.ask import ReleaseId, Why, Yes
from discreet.apps.cli.completing import columns, offered, releases
from discreet.apps.cli.ledger import Place, books
from discreet.apps.cli.options import (
    Allotment,
    Confidence,
    Data,
    Epsilon,
    LedgerPlace,
    Noise,
    Rho,
    SchemaFile,
    Share,
    Table,
    Where,
    Within,
    curator_at,
)
from discreet.apps.cli.output import AsJson, confirm_spending, fit_to_write, paid, say, show_json, show_table
from discreet.core.progress import listening
from discreet.core.release import number, percent
from discreet.curator import read_release
from discreet.errors import InputError
from discreet.query.notation import read_key
from discreet.query.offer import Offer
from discreet.trees.released import TreeRelease

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Hierarchies that add up, nation to block: plan, release, show.")

Levels = Annotated[
    str,
    typer.Option(
        help="Levels, the widest first: state,county,tract; or with the length of codes: state=2,county=5.",
        autocompletion=columns,
    ),
]
Column = Annotated[
    str | None,
    typer.Option(help="Column with the code of the leaf region; the last level by default.", autocompletion=columns),
]
Cells = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        help="In each region by COLUMN, COLUMN/WIDTH, COLUMN/month or COLUMN/0,18,65,100; repeat for more.",
        autocompletion=columns,
    ),
]
Geography = Annotated[
    Path | None, typer.Option(help="Public CSV or Parquet file of regions, one row for each leaf region.")
]
_ways = offered("auto", "bayes", "topdown", "exact", "relaxed")
MethodName = Annotated[
    str, typer.Option("--method", help="auto, bayes, topdown, exact or relaxed.", autocompletion=_ways)
]
Split = Annotated[
    str,
    typer.Option(
        help="Price by level: auto, equal, leaves, accurate, or weights: state=1,county=2.",
        autocompletion=offered("auto", "equal", "leaves", "accurate"),
    ),
]
Groups = Annotated[str | None, typer.Option("--sizes", help="Count groups (a column, such as household) by size.")]
Largest = Annotated[int | None, typer.Option(help="With --sizes: the last size that is told apart.")]
Out = Annotated[Path | None, typer.Option(help="Folder for one file a level.")]
Kind = Annotated[
    str,
    typer.Option("--format", help="Format of the files: parquet or csv.", autocompletion=offered("parquet", "csv")),
]
MapFile = Annotated[Path | None, typer.Option("--map", help="Also write a map with intervals to this HTML file.")]


@app.command("plan")
def plan(
    data: Data,
    levels: Levels,
    by: Cells = None,
    column: Column = None,
    geography: Geography = None,
    where: Where = None,
    sizes: Groups = None,
    largest: Largest = None,
    method: MethodName = "auto",
    split: Split = "auto",
    epsilon: Epsilon = None,
    rho: Rho = None,
    share: Share = None,
    within: Within = None,
    confidence: Confidence = 0.95,
    noise: Noise = "auto",
    allotment: Allotment = None,
    schema: SchemaFile = None,
    ledger: LedgerPlace = None,
    table: Table = None,
    as_json: AsJson = False,
) -> None:
    """What a hierarchy would cost and how far each level may be off. Spends nothing, reads nothing."""
    question = {"levels": levels, "by": by, "column": column, "geography": geography, "where": where}
    price = {"epsilon": epsilon, "rho": rho, "share": share, "within": within, "confidence": confidence, "noise": noise}
    how = {**price, "method": method, "split": split, "allotment": allotment}
    offer = _offer((data, schema, ledger, table), {**question, "sizes": sizes, "largest": largest}, how)
    if as_json:
        show_json(offer.to_dict())
    else:
        _show(offer)


@app.command("release")
def release(
    data: Data,
    levels: Levels,
    by: Cells = None,
    column: Column = None,
    geography: Geography = None,
    where: Where = None,
    sizes: Groups = None,
    largest: Largest = None,
    method: MethodName = "auto",
    split: Split = "auto",
    epsilon: Epsilon = None,
    rho: Rho = None,
    share: Share = None,
    within: Within = None,
    confidence: Confidence = 0.95,
    noise: Noise = "auto",
    allotment: Allotment = None,
    schema: SchemaFile = None,
    ledger: LedgerPlace = None,
    table: Table = None,
    out: Out = None,
    kind: Kind = "parquet",
    map_file: MapFile = None,
    why: Why = "",
    identity: ReleaseId = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Release a hierarchy, after showing the price: one file for each level, and a map."""
    if kind not in ("parquet", "csv"):
        raise InputError("--format", kind, "parquet or csv", "Nothing was spent.")
    if out is not None and out.exists() and not out.is_dir():
        raise InputError("--out", str(out), "a folder, new or not", "Nothing was spent.")
    fit_to_write(map_file, "--map", (".html",))
    question = {"levels": levels, "by": by, "column": column, "geography": geography, "where": where}
    price = {"epsilon": epsilon, "rho": rho, "share": share, "within": within, "confidence": confidence, "noise": noise}
    how = {**price, "method": method, "split": split, "allotment": allotment}
    offer = _offer((data, schema, ledger, table), {**question, "sizes": sizes, "largest": largest}, how)
    if not yes:
        confirm_spending(offer)
    with _progress():
        answer = offer.release(release=identity, why=why)
    _deliver(answer, out, kind, map_file, as_json)


@app.command("show")
def show(
    identity: Annotated[str, typer.Argument(help="Id of a released hierarchy.", autocompletion=releases)],
    ledger: Place = None,
    method: Annotated[
        str | None, typer.Option(help="Another method on the same noisy counts: free.", autocompletion=_ways)
    ] = None,
    out: Out = None,
    kind: Kind = "parquet",
    map_file: MapFile = None,
    as_json: AsJson = False,
) -> None:
    """A hierarchy released before, read again for free, by another method if asked."""
    answer: TreeRelease = read_release(books(ledger), identity, kind="tree")
    with _progress():
        answer = answer if method is None else answer.again(method)
    _deliver(answer, out, kind, map_file, as_json)


def _offer(
    place: tuple[str, str | None, str | None, str | None], asked: dict[str, Any], how: dict[str, Any]
) -> Offer[TreeRelease]:
    curator = curator_at(*place)
    asked["levels"] = _levels(asked["levels"])
    # Bins may have commas of their own: age/0,18,65.
    named = [name for text in asked["by"] or [] for name in ([text] if "/" in text else text.split(","))]
    asked["by"] = [read_key(name.strip(), curator.schema) for name in named]
    if how["split"] not in ("auto", "equal", "leaves", "accurate"):
        how["split"] = dict(_pairs(how["split"], "--split"))
    return curator.tree(**asked).plan(**how)


def _levels(text: str) -> list[str] | dict[str, int]:
    if "=" not in text:
        return [part.strip() for part in text.split(",")]
    try:
        return {name: int(length) for name, length in _pairs(text, "--levels")}
    except ValueError:
        raise InputError("--levels", text, "lengths as whole numbers, such as state=2,county=5") from None


def _pairs(text: str, field: str) -> list[tuple[str, str]]:
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(name.strip() and sign and value.strip() for name, sign, value in pairs):
        raise InputError(field, text, "NAME=NUMBER for every level, such as state=2,county=5")
    return [(name.strip(), value.strip()) for name, _, value in pairs]


def _show(offer: Offer[TreeRelease]) -> None:
    say(str(offer))


def _deliver(answer: TreeRelease, out: Path | None, kind: str, map_file: Path | None, as_json: bool) -> None:
    written = [] if out is None else answer.save(out, kind)
    if map_file is not None:
        answer.map().save(map_file)
        written.append(map_file)
    if as_json:
        show_json({**answer.to_dict(), "files": [str(path) for path in written]})
        return
    rows = []
    for place, name in enumerate(answer.levels):
        counts, estimate = answer.estimate.counts[place], answer.estimate
        half = "-"
        if estimate.lower is not None and estimate.upper is not None:
            half = number(float((estimate.upper[place] - estimate.lower[place]).mean()) / 2)
        rows.append([name, f"{len(counts):,}", f"{int(counts.sum()):,}", half])
    show_table("", ["level", "regions", "sum", "half-width (mean)"], rows, numbers=3)
    for note in answer.table_notes():
        say(f"Note: {note.text}")
    for remark in answer.estimate.notes:
        say(remark)
    say(f"{percent(answer.confidence)} confidence intervals of single regions (not simultaneous). {paid(answer)}")
    for path in written:
        say(f"Wrote {path}")
    say(f"Release {answer.id}")


@contextmanager
def _progress() -> Iterator[None]:
    """Which stage the work is in: on stderr, on a terminal only."""
    err = Console(stderr=True)
    if not err.is_terminal:
        yield
        return
    with err.status("starting") as status:

        def heard(stage: str, done: float | None) -> None:
            status.update(stage if done is None else f"{stage} {done:.0%}")

        with listening(heard):
            yield
