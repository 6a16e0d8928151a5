"""`discreet synth plan`, `run` and `show`: rows that look like the private ones and are nobody's."""

from __future__ import annotations

import time
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
    Rho,
    SchemaFile,
    Share,
    Table,
    Where,
    Within,
    curator_at,
)
from discreet.apps.cli.output import AsJson, confirm_spending, say, show_json
from discreet.apps.cli.synth_report import report
from discreet.core.progress import listening
from discreet.curator import read_release
from discreet.errors import InputError
from discreet.query.offer import Offer
from discreet.synth.released import SyntheticRelease

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Synthetic tables: plan, run, show, report.")

MethodName = Annotated[
    str,
    typer.Option(
        "--method",
        help="auto, or a method by name: mosaic, aim, mst, independent, rap.",
        autocompletion=offered("auto", "mosaic", "aim", "mst", "independent", "rap"),
    ),
]
Workload = Annotated[
    str,
    typer.Option(help="What to preserve: pairs or triples of columns.", autocompletion=offered("pairs", "triples")),
]
Marginals = Annotated[
    list[str] | None,
    typer.Option(
        "--marginal",
        help="Instead of --workload: columns whose joint counts to preserve, age,pay; repeat for more.",
        autocompletion=columns,
    ),
]
Columns = Annotated[
    str | None, typer.Option(help="Columns to make, age,sex,pay; all by default.", autocompletion=columns)
]
Bins = Annotated[
    list[str] | None,
    typer.Option("--bins", help="In how many bins numbers and days are told apart: 32, or age=16; repeat for more."),
]
Rows = Annotated[int | None, typer.Option(help="How many rows to make; by default as many as there seem to be.")]
Impossible = Annotated[
    list[str] | None,
    typer.Option("--impossible", help='A condition that no row meets: "age < 16 and employed"; repeat for more.'),
]
Keys = Annotated[
    list[str] | None, typer.Option("--key", help="A column made anew: person=P{:06d}; repeat for more, or none.")
]
Out = Annotated[Path | None, typer.Option(help="File for the rows: .csv or .parquet.")]


@app.command("plan")
def plan(
    data: Data,
    method: MethodName = "auto",
    workload: Workload = "pairs",
    marginals: Marginals = None,
    columns: Columns = None,
    bins: Bins = None,
    rows: Rows = None,
    where: Where = None,
    impossible: Impossible = None,
    keys: Keys = None,
    epsilon: Epsilon = None,
    rho: Rho = None,
    share: Share = None,
    within: Within = None,
    confidence: Confidence = 0.95,
    allotment: Allotment = None,
    schema: SchemaFile = None,
    ledger: LedgerPlace = None,
    table: Table = None,
    as_json: AsJson = False,
) -> None:
    """What synthetic rows would cost and how far their counts may be off. Spends nothing, reads nothing."""
    asked = {"method": method, "workload": _workload(workload, marginals), "columns": columns, "bins": bins}
    asked |= {"rows": rows, "where": where, "impossible": impossible, "keys": keys}
    price = {
        "epsilon": epsilon,
        "rho": rho,
        "share": share,
        "within": within,
        "confidence": confidence,
        "allotment": allotment,
    }
    offer = _offer((data, schema, ledger, table), asked, price)
    if as_json:
        show_json(offer.to_dict())
    else:
        say(str(offer))


@app.command("run")
def run(
    data: Data,
    method: MethodName = "auto",
    workload: Workload = "pairs",
    marginals: Marginals = None,
    columns: Columns = None,
    bins: Bins = None,
    rows: Rows = None,
    where: Where = None,
    impossible: Impossible = None,
    keys: Keys = None,
    epsilon: Epsilon = None,
    rho: Rho = None,
    share: Share = None,
    within: Within = None,
    confidence: Confidence = 0.95,
    allotment: Allotment = None,
    schema: SchemaFile = None,
    ledger: LedgerPlace = None,
    table: Table = None,
    out: Out = None,
    why: Why = "",
    identity: ReleaseId = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Make synthetic rows, after showing the price. Stopped half-way, the same --id goes on under the same charge."""
    _fit_for_rows(out)
    asked = {"method": method, "workload": _workload(workload, marginals), "columns": columns, "bins": bins}
    asked |= {"rows": rows, "where": where, "impossible": impossible, "keys": keys}
    price = {
        "epsilon": epsilon,
        "rho": rho,
        "share": share,
        "within": within,
        "confidence": confidence,
        "allotment": allotment,
    }
    offer = _offer((data, schema, ledger, table), asked, price)
    if not yes:
        confirm_spending(offer)
    with _progress():
        answer = offer.release(release=identity, why=why)
    _deliver(answer, out, as_json)


@app.command("show")
def show(
    identity: Annotated[str, typer.Argument(help="Id of released rows.", autocompletion=releases)],
    ledger: Place = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Synthetic rows released before, read again for free: the same ones."""
    _fit_for_rows(out)
    _deliver(read_release(books(ledger), identity, kind="synth"), out, as_json)


app.command("report")(report)


def _offer(
    place: tuple[str, str | None, str | None, str | None], asked: dict[str, Any], price: dict[str, Any]
) -> Offer[SyntheticRelease]:
    asked["columns"] = None if asked["columns"] is None else _names(asked["columns"])
    asked["bins"] = _bins(asked["bins"])
    asked["impossible"] = asked["impossible"] or ()
    asked["keys"] = _keys(asked["keys"])
    if asked["bins"] is None:
        del asked["bins"]
    return curator_at(*place).synthesize(**asked).plan(**price)


def _workload(kind: str, marginals: list[str] | None) -> Any:
    return kind if not marginals else [tuple(_names(text)) for text in marginals]


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _bins(texts: list[str] | None) -> int | dict[str, int] | None:
    if not texts:
        return None
    try:
        if len(texts) == 1 and "=" not in texts[0]:
            return int(texts[0])
        return {name.strip(): int(many) for name, _, many in (text.partition("=") for text in texts)}
    except ValueError:
        raise InputError("--bins", " ".join(texts), "a number such as 32, or COLUMN=NUMBER") from None


def _keys(texts: list[str] | None) -> dict[str, str] | None:
    if texts is None or texts == []:
        return None
    if texts == ["none"]:
        return {}
    pairs = [text.partition("=") for text in texts]
    if not all(name and sign and form for name, sign, form in pairs):
        raise InputError("--key", " ".join(texts), "COLUMN=FORM, such as person=P{:06d}, or none")
    return {name.strip(): form for name, _, form in pairs}


def _fit_for_rows(out: Path | None) -> None:
    if out is not None and out.suffix.lower() not in (".csv", ".parquet"):
        raise InputError("--out", str(out), "a file that ends in .csv or .parquet", "Nothing was spent.")
    if out is not None and not out.absolute().parent.is_dir():
        raise InputError("--out", str(out), "a file in a folder that exists", "Nothing was spent.")


def _deliver(answer: SyntheticRelease, out: Path | None, as_json: bool) -> None:
    if out is not None:
        answer.save(out)
    if as_json:
        show_json({**answer.to_dict(), "file": None if out is None else str(out)})
        return
    say(repr(answer))
    for note in answer.remarks:
        say(f"{note[:1].upper()}{note[1:]}.")
    if out is not None:
        say(f"Wrote {out}")
    say(f"Release {answer.id}")


@contextmanager
def _progress() -> Iterator[None]:
    """Which stage the work is in and how long it may yet take: on stderr, on a terminal only."""
    err = Console(stderr=True)
    if not err.is_terminal:
        yield
        return
    begun = time.monotonic()
    with err.status("starting") as status:

        def heard(stage: str, done: float | None) -> None:
            status.update(stage if done is None else f"{stage} {done:.0%}{_left(time.monotonic() - begun, done)}")

        with listening(heard):
            yield


def _left(seconds: float, done: float) -> str:
    """How long it may yet take, once there is something to go by.

    >>> _left(30, 0.25), _left(1, 0.01)
    (', about 90 s left', '')
    """
    if done < 0.05 or seconds < 1:
        return ""
    return f", about {round(seconds * (1 - done) / done):,} s left"
