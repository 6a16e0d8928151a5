"""`discreet demo`: the main job, from a table to a refusal, on 5,000 invented people; then the same in a browser."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from discreet.apps.cli.ledger import show as show_ledger
from discreet.apps.cli.output import say, show_bars, show_release
from discreet.apps.demo import LECTURES
from discreet.core.release import Release
from discreet.curator import Curator, open_curator
from discreet.curator.offer import Offer
from discreet.curator.setup import STATE
from discreet.errors import BudgetError, InputError, MissingExtraError
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from discreet.query.aggregate import count, mean, total
from discreet.query.key import bins

__all__ = ["demo"]

_RAISED = 3  # epsilon, for those who go on in a browser
_PORT = 8000


def demo(
    folder: Annotated[Path | None, typer.Option(help="Keep the table, schema and ledger here to go on with.")] = None,
    serve: Annotated[bool, typer.Option("--serve", help="Then serve the pages on this data, to this machine.")] = False,
    port: Annotated[int | None, typer.Option(help="Port of the pages; one that is free by default.")] = None,
    lecture: Annotated[
        str | None, typer.Option(help=f"Run a lecture of the course instead: {', '.join(LECTURES)}.")
    ] = None,
) -> None:
    """A table, a schema, a budget; three priced questions; a refusal; the ledger. Takes a few seconds."""
    if lecture is not None:
        if serve or port is not None:
            raise InputError("lecture", lecture, "without --serve and --port")
        _lecture(lecture, folder or Path())
        return
    if serve and not _servable():
        raise MissingExtraError("server", "fastapi")
    with _kept(folder) as place:
        curator = _story(place, kept=folder is not None)
        if folder is not None:
            say(f"\nGo on with: discreet ask {folder / 'people.csv'} count --by sector --within 30")
        if serve or _wanted():
            _serve(curator, place, port)


@contextmanager
def _kept(folder: Path | None) -> Iterator[Path]:
    if folder is None:
        with tempfile.TemporaryDirectory() as temporary:
            yield Path(temporary)
    else:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder


def _ledger(folder: Path, kept: bool) -> Ledger:
    """The ledger of the story. The people are invented: their budget may begin anew whenever the folder does."""
    place = folder / STATE / "ledger.db"
    return Ledger.open(place, create=True, anew=True) if kept else Ledger.temporary(folder)


def _story(folder: Path, *, kept: bool) -> Curator:
    for name in ("people.csv", "discreet.toml", "counties.geojson"):
        if not (folder / name).exists():
            with as_file(files("discreet.apps.demo") / name) as shipped:
                shutil.copy(shipped, folder / name)
    curator = open_curator(folder / "people.csv", folder / "discreet.toml", ledger=_ledger(folder, kept), who="demo")
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
    show_ledger(ledger=str(folder / STATE / "ledger.db" if kept else folder / "books.db"))
    return curator


def _released(offer: Offer[Release], why: str) -> Release:
    say(str(offer) + "\n")
    return offer.release(why=why)


def _refused(curator: Curator) -> None:
    try:
        curator.table().group_by("county").agg(people=count()).plan(epsilon=0.5).release(why="too much")
    except BudgetError as refusal:
        say(f"Refused: {refusal}")


def _lecture(name: str, folder: Path) -> None:
    """The lecture's numbers beside ours, and a picture in the folder."""
    from discreet.apps.demo.lecture import run_lecture

    shown = run_lecture(name)
    say(f"{shown.title}\n")
    for one in shown.numbers:
        say(f"  {one}")
    say(f"\n{shown.words}")
    folder.mkdir(parents=True, exist_ok=True)
    say(f"Picture: {shown.picture.save(folder / f'{name}.svg')}")
    say(f"Explained in docs/{shown.page}")


# The same in a browser


def _servable() -> bool:
    return all(find_spec(name) is not None for name in ("fastapi", "uvicorn", "jinja2"))


def _wanted() -> bool:
    """Whether to go on in a browser: asked on a terminal only; where nobody can answer, the command is named."""
    if not _servable():
        say("\nThe same in a browser: pip install 'discreet[server]', then discreet demo --serve")
        return False
    if os.environ.get("CI") or not (sys.stdin.isatty() and sys.stdout.isatty()):
        say("\nThe same in a browser: discreet demo --serve")
        return False
    say()
    return typer.confirm("Look at it in a browser, with budget left to ask yourself?", default=False)


def _serve(curator: Curator, folder: Path, port: int | None) -> None:
    """The pages, for this machine, until Ctrl-C. The budget is raised for them, as a custodian would: on record."""
    import uvicorn

    from discreet.apps.server.launch import launched
    from discreet.apps.server.service import Service
    from discreet.apps.server.tokens import Tokens
    from discreet.apps.web.site import application

    if not _roomy(curator):
        curator.ledger.raise_budget("people", Budget(_RAISED), who="demo", why="to go on asking in a browser")
        declared = folder / "discreet.toml"  # it says what the ledger says, or the table could not be opened again
        text = declared.read_text(encoding="utf-8")
        declared.write_text(text.replace("epsilon = 1.0", f"epsilon = {_RAISED}.0"), encoding="utf-8")
        say(f"\nThe budget was raised to epsilon = {_RAISED}, which is on the ledger: there is something left to ask.")
    place = _PORT if port is None and _free(_PORT) else port if port is not None else _free_port()
    with launched() as launch:
        say(f"\nOpen {launch.link(f'http://127.0.0.1:{place}')}")
        say("in a browser. That address is for you alone; stop the server with Ctrl-C.")
        uvicorn.run(
            application(
                Service(
                    {"people": curator},
                    Tokens(launch.store),
                    linked=True,
                    geometry=str(folder / "counties.geojson"),
                )
            ),
            host="127.0.0.1",
            port=place,
            access_log=False,
            log_level="warning",
            server_header=False,
            ws="none",
            lifespan="off",
            timeout_graceful_shutdown=2,
        )


def _roomy(curator: Curator) -> bool:
    (one,) = curator.standing()
    return one.allotment.cap.amount >= _RAISED


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
