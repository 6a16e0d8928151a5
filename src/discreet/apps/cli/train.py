"""`discreet train`: how far a run is; the card and the predictions of a released model.

What is shown of a run is public: examples a second are those expected of a lot, epsilon follows from the number of
steps, and a loss is shown only where a noisy one was paid for.
"""

from __future__ import annotations

import csv
import getpass
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from discreet.accounting.words import readable
from discreet.apps.cli.ask import ReleaseId, Yes
from discreet.apps.cli.completion import datasets, releases
from discreet.apps.cli.options import Allotment, LedgerAddress, open_ledger
from discreet.apps.cli.output import AsJson, confirm_spending, say, show_json
from discreet.core.progress import listening
from discreet.curator import read_release
from discreet.errors import MISSING, InputError
from discreet.query.forms import names_in

if TYPE_CHECKING:
    from discreet.learn.plan import TrainPlan

__all__ = ["card", "predict", "progress_line", "read_rows", "show_training"]

_MARKS = 10  # at which epsilon is computed: it takes a moment each
_ANY = 2**31 - 1  # letters of a cell; Python refuses files with more than 131,072 otherwise


@contextmanager
def show_training(plan: TrainPlan) -> Iterator[None]:
    """Show how far the run inside is: on stderr, on a terminal only."""
    err = Console(stderr=True)
    if not err.is_terminal:
        yield
        return
    begun: list[float] = []

    @lru_cache
    def spent(mark: int) -> Fraction:
        return plan.spent(-(-plan.recipe.steps * mark // _MARKS))

    with err.status("starting") as status:

        def heard(stage: str, done: float | None) -> None:
            if done is None:
                status.update(stage)
                return
            begun.append(time.monotonic())
            seconds, since = begun[-1] - begun[0], done - 1 / plan.recipe.steps
            mark = -(-int(done * plan.recipe.steps) * _MARKS // plan.recipe.steps)
            text = progress_line(stage, spent(mark), float(plan.recipe.lot) * plan.recipe.steps * since, seconds, done)
            status.update(text if plan.count is None else text.replace("examples/s", "of the sample/s"))

        with listening(heard):
            yield


def progress_line(stage: str, epsilon: Fraction | float, examples: float, seconds: float, done: float) -> str:
    """One line of progress.

    >>> progress_line("training: step 50 of 100, loss about 0.412", 0.8123, 5000, 10, 0.5)
    'training: step 50 of 100, loss about 0.412; epsilon so far at most 0.8123; 500 examples/s; about 10 s left'
    """
    text = f"{stage}; epsilon so far at most {readable(epsilon, 4)}"
    if seconds < 1 or examples <= 0:
        return text
    return f"{text}; {examples / seconds:,.0f} examples/s; about {round(seconds * (1 - done) / done):,} s left"


def card(
    identity: Annotated[str, typer.Argument(help="Id of a released model.", autocompletion=releases)],
    ledger: LedgerAddress = None,
    public: Annotated[
        Path | None, typer.Option(help="CSV or Parquet file of public rows, to say how often it is right by group.")
    ] = None,
    private: Annotated[
        Path | None, typer.Option(help="Instead, a file of private rows: counted with noise, for a price.")
    ] = None,
    group: Annotated[str | None, typer.Option(help="With --public or --private: the column of groups.")] = None,
    groups: Annotated[
        str | None, typer.Option(help="With --private: the groups, which are public, separated by commas.")
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(help="With --private: whose budget on the ledger pays.", autocompletion=datasets)
    ] = None,
    allotment: Allotment = None,
    epsilon: Annotated[str | None, typer.Option(metavar="NUMBER", help="With --private: the price.")] = None,
    rho: Annotated[str | None, typer.Option(metavar="NUMBER", help="With --private: the price as zCDP rho.")] = None,
    release: ReleaseId = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """The model card: what the weights may give away, how that is known, and what is not known.

    With rows by group, also how often the model is right about each group.
    """
    books = open_ledger(ledger)
    released = read_release(books, identity, kind="train")
    found = released.card()
    if public is not None and private is not None:
        raise InputError("--public", str(public), "left out with --private")
    rows = public or private
    if (rows is None) != (group is None):
        raise InputError("--public" if rows is None else "--group", MISSING, "given: both, or neither")
    if public is not None and group is not None:
        found = found.with_groups(released.accuracy_by(read_rows(public), group))
    if private is not None and group is not None:
        if groups is None:
            raise InputError("--groups", MISSING, "given with --private: they are public, and not read off the rows")
        account = {"ledger": books, "dataset": dataset, "allotment": allotment, "release": release}
        offer = released.private_accuracy(
            read_rows(private), group, names_in(groups), epsilon=epsilon, rho=rho, who=getpass.getuser(), **account
        )
        if not yes:
            confirm_spending(offer)
        found = found.with_groups(offer.release())
    if as_json:
        show_json(found.to_dict())
    else:
        say(found.to_markdown())


def predict(
    identity: Annotated[str, typer.Argument(help="Id of a released model.", autocompletion=releases)],
    rows: Annotated[Path, typer.Argument(help="CSV or Parquet file of rows that are yours to see.")],
    ledger: LedgerAddress = None,
    model: Annotated[
        str | None, typer.Option(help="MODULE:OBJECT, the Model that was trained, where it is one of your own.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="CSV file for the predictions.")] = None,
    as_json: AsJson = False,
) -> None:
    """Predictions of a released model for rows you hold. Spends nothing; a prediction is as private as its row."""
    released = read_release(open_ledger(ledger), identity, kind="train")
    if released.encoding is None:
        raise InputError("identity", identity, "a model of a table: this one was trained on arrays")
    if model is not None:
        from discreet.learn.named_model import load_model

        released = released.using(load_model(model))
    told, name = released.predict(read_rows(rows)), released.target
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


@contextmanager
def _cells_of_any_length() -> Iterator[None]:
    """Python's limit is one for all that reads CSV; others count on it."""
    usual = csv.field_size_limit(_ANY)
    try:
        yield
    finally:
        csv.field_size_limit(usual)


def read_rows(path: Path) -> Any:
    """Rows of a file that are the user's to see, for what a released model says of them."""
    if not path.is_file() or path.suffix.lower() not in (".csv", ".parquet"):
        raise InputError("rows", str(path), "a .csv or .parquet file that exists")
    if path.suffix.lower() == ".parquet":
        import pyarrow.parquet

        return pyarrow.parquet.read_table(path)
    # No value of a row makes it fail: rows may be private, and nothing is charged yet.
    with _cells_of_any_length(), path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        lines = csv.DictReader(file)
        names = list(lines.fieldnames or [])
        found = list(lines)
    return {name: [line[name] for line in found] for name in names}
