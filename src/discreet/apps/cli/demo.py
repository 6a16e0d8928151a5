"""`discreet demo`: the main job, from a table to a refusal, on 5,000 invented people."""

from __future__ import annotations

import shutil
import tempfile
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from discreet.apps.cli.ledger import show as show_ledger
from discreet.apps.cli.output import say, show_bars, show_release
from discreet.core.release import Release
from discreet.errors import BudgetError
from discreet.query.aggregate import count, mean, total
from discreet.query.curator import Curator, Offer, open_curator
from discreet.query.key import bins

__all__ = ["demo"]


def demo(
    folder: Annotated[Path | None, typer.Option(help="Keep the table, schema and ledger here to go on with.")] = None,
) -> None:
    """A table, a schema, a budget; three priced questions; a refusal; the ledger. Takes a few seconds."""
    if folder is None:
        with tempfile.TemporaryDirectory() as temporary:
            _story(Path(temporary))
    else:
        folder.mkdir(parents=True, exist_ok=True)
        _story(folder)
        say(f"\nGo on with: discreet ask {folder / 'people.csv'} count --by sector --within 30")


def _story(folder: Path) -> None:
    for name in ("people.csv", "discreet.toml"):
        if not (folder / name).exists():
            with as_file(files("discreet.apps.demo") / name) as shipped:
                shutil.copy(shipped, folder / name)
    curator = open_curator(folder / "people.csv", folder / "discreet.toml", ledger=folder / "discreet.db", who="demo")
    say("people.csv: 5,000 invented people. discreet.toml: columns, bounds, who is protected, the budget.")
    say(repr(curator))

    say("\n1. How old are they? The price is given; the error is known before anything is spent.\n")
    offer = curator.table().group_by(bins("age", width=10)).agg(people=count()).plan(epsilon=0.2)
    show_bars(_released(offer, "ages"), "people")

    say("\n2. What do women and men earn, who work? Mean and total of a column, one price for all.\n")
    work = curator.table().where("hours > 0").group_by("sex")
    show_release(_released(work.agg(workers=count(), pay=mean("pay"), hours=total("hours")).plan(share=0.5), "pay"))

    say("\n3. Schooling, to within 40 people with 95% confidence. The accuracy is given; the price follows.\n")
    show_bars(
        _released(curator.table().group_by("schooling").agg(people=count()).plan(within=40), "schooling"), "people"
    )

    say("\n4. One question too many.\n")
    _refused(curator)

    say("\n5. The ledger: every charge was on it before the data was read. It verifies:")
    result = curator.ledger.verify()
    say(f"   {result.records} records, {len(result.problems)} problems, head {result.head.hash[:16]}...\n")
    show_ledger(ledger=str(folder / "discreet.db"))


def _released(offer: Offer, why: str) -> Release:
    say(str(offer) + "\n")
    return offer.release(why=why)


def _refused(curator: Curator) -> None:
    try:
        curator.table().group_by("county").agg(people=count()).plan(epsilon=0.5).release(why="too much")
    except BudgetError as refusal:
        say(f"Refused: {refusal}")
