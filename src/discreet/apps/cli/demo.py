"""`discreet demo`: the main job, from a table to a refusal, on invented people; then the same in a browser."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from discreet.apps.cli.demo_story import REPORTS, SURVEY, say_tour, tell
from discreet.apps.cli.output import say
from discreet.apps.demo import LECTURES
from discreet.curator import Curator
from discreet.curator.setup import STATE
from discreet.errors import InputError, MissingExtraError
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger

__all__ = ["demo"]

_RAISED = 3  # epsilon, for those who go on in a browser
_PORT = 8000


def demo(
    folder: Annotated[
        Path | None, typer.Option(help="Save the tables, schemas and ledger in this folder, to continue with.")
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Then serve the pages for this data, to this machine only.")
    ] = False,
    port: Annotated[int | None, typer.Option(help="Port of the pages; one that is free by default.")] = None,
    lecture: Annotated[
        str | None, typer.Option(help=f"Run a lecture of the course instead: {', '.join(LECTURES)}.")
    ] = None,
) -> None:
    """Two tables and their budgets; priced questions; a refusal; a map, synthetic rows and a survey; the ledger.

    Takes a few seconds. With --folder everything is kept, and you are told where to go on.
    """
    if lecture is not None:
        if serve or port is not None:
            raise InputError("lecture", lecture, "without --serve and --port")
        _lecture(lecture, folder or Path())
        return
    if serve and not _servable():
        raise MissingExtraError("server", "fastapi")
    with _kept(folder) as place:
        curators = tell(place, _ledger(place, folder is not None))
        if folder is None:
            say("\nTo save all of this and see how to continue: discreet demo --folder demo")
        else:
            say_tour(folder)
        if serve or _wanted():
            _serve(curators, place, port)


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


def _serve(curators: Mapping[str, Curator], folder: Path, port: int | None) -> None:
    """The pages, for this machine, until Ctrl-C. The budget is raised for them, as a custodian would: on record."""
    import uvicorn

    from discreet.apps.server.launch import launched
    from discreet.apps.server.service import Service
    from discreet.apps.server.surveys import survey_at
    from discreet.apps.server.tokens import Tokens
    from discreet.apps.web.site import application

    survey = survey_at(f"{folder / SURVEY}={folder / REPORTS}")
    people = curators["people"]
    if not _roomy(people):
        people.ledger.raise_budget("people", Budget(_RAISED), who="demo", why="to go on asking in a browser")
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
                    curators,
                    Tokens(launch.store),
                    surveys={survey.name: survey},
                    linked=True,
                    geometry=str(folder / "counties.geojson"),
                    state=folder / STATE,
                ).complete()
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
    return sum(one.allotment.cap.amount for one in curator.standing()) >= _RAISED


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
