"""`discreet synth report`: how good synthetic rows are. Free from the release alone; against real rows, not private."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.apps.cli.completion import releases
from discreet.apps.cli.options import Confidence, LedgerAddress, open_ledger
from discreet.apps.cli.output import AsJson, say, show_json, working
from discreet.curator import read_release
from discreet.errors import GIVEN, InputError
from discreet.synth.release import SyntheticRelease

__all__ = ["report"]

Asks = Annotated[
    list[str] | None,
    typer.Option("--ask", help='A question: "age >= 25 and sex = \'F\'", or "mean(pay) where age >= 25"; repeat.'),
]
Against = Annotated[
    Path | None,
    typer.Option(help="The real rows, .csv or .parquet: makes the owner's report, which is NOT private."),
]


def report(
    identity: Annotated[str, typer.Argument(help="Id of released rows.", autocompletion=releases)],
    asks: Asks = None,
    copies: Annotated[int, typer.Option(help="How many other tables are drawn, to show how much is chance.")] = 6,
    confidence: Confidence = 0.95,
    against: Against = None,
    not_private: Annotated[
        bool, typer.Option("--not-private", help="With --against: yes, what comes out shows private rows.")
    ] = False,
    target: Annotated[str | None, typer.Option(help="With --against: the column to learn to predict.")] = None,
    out: Annotated[Path | None, typer.Option(help="File for the page: .html.")] = None,
    ledger: LedgerAddress = None,
    as_json: AsJson = False,
) -> None:
    """How good synthetic rows are, as one HTML page: from the release alone, free and public.

    With --against and --not-private the rows are compared with real ones: for the data owner's eyes, never to be
    published. The file named is read as it is; no budget is spent, since no guarantee is given.
    """
    if out is not None and (out.suffix.lower() not in (".html", ".htm") or not out.absolute().parent.is_dir()):
        raise InputError("--out", str(out), "a file that ends in .html, in a folder that exists")
    if against is None and (not_private or target is not None):
        field = "--not-private" if not_private else "--target"
        raise InputError(field, GIVEN, "left out without --against, a file of real rows")
    if against is not None and not not_private:
        hint = "Leave --against out for the report that may be published."
        raise InputError("--against", str(against), "given together with --not-private, by the owner of the rows", hint)
    release: SyntheticRelease = read_release(open_ledger(ledger), identity, kind="synth")
    with working("Making the report"):
        try:
            if against is None:
                made = release.report(asks or None, copies=copies, confidence=confidence)
            else:
                made = release.compare(
                    _table(against),
                    asks or None,
                    not_private=not_private,
                    target=target,
                    copies=copies,
                    confidence=confidence,
                )
        except InputError as problem:
            raise problem.about("--ask") if problem.field == "asks" else problem from None
    if out is not None:
        made.save(out)
    if as_json:
        show_json({**made.to_dict(), "file": None if out is None else str(out)})
        return
    say(repr(made))
    say(made.privacy)
    if made.owner_only:
        say("For the data owner's eyes: these figures were made from private rows without noise. Do not publish them.")
    if out is not None:
        say(f"Wrote {out}")


def _table(path: Path) -> Any:
    """The owner's own file. It is read as text, as the engine would: what a value means is for the schema to say."""
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    if path.suffix.lower() not in (".csv", ".parquet"):
        raise InputError("--against", str(path), "a file that ends in .csv or .parquet")
    try:
        if path.suffix.lower() == ".parquet":
            return pyarrow.parquet.read_table(path)
        with path.open(encoding="utf-8", newline="") as lines:
            names = next(csv.reader(lines), [])
        kinds = dict.fromkeys(names, pyarrow.string())
        convert = pyarrow.csv.ConvertOptions(column_types=kinds, strings_can_be_null=True, null_values=[""])
        return pyarrow.csv.read_csv(path, convert_options=convert)
    except (OSError, UnicodeDecodeError, pyarrow.ArrowException):
        raise InputError("--against", str(path), "a table that can be read") from None
