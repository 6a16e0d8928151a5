"""`discreet jobs`: the long jobs of a server, listed and cancelled; in its ledger, or over HTTP."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.apps.cli.decision import person
from discreet.apps.cli.options import open_ledger
from discreet.apps.cli.output import AsJson, say, show_json, show_table
from discreet.errors import MISSING, InputError, MissingError, MissingExtraError

if TYPE_CHECKING:
    from discreet.apps.client.curator import RemoteCurator
    from discreet.apps.server.job_queue import Queue

__all__ = ["jobs_app"]

jobs_app = typer.Typer(no_args_is_help=True, help="Long jobs of a server: list, cancel.")

Dataset = Annotated[str, typer.Argument(help="Name of the dataset.")]
Books = Annotated[
    str | None, typer.Option("--ledger", envvar="DISCREET_LEDGER", help="The server's ledger, for its custodian.")
]
Server = Annotated[
    str | None,
    typer.Option("--server", envvar="DISCREET_SERVER", help="Address of the server; its token is in DISCREET_TOKEN."),
]


@jobs_app.command("list")
def listed(dataset: Dataset, ledger: Books = None, server: Server = None, as_json: AsJson = False) -> None:
    """The jobs of a dataset, the newest first, and their place in the queue."""
    if server is None:
        found = [asdict(job) for job in _queue(ledger).listed(dataset)]
    else:
        found = _remote(server, dataset).jobs()
    if as_json:
        show_json(found)
        return
    head = ["release", "kind", "who", "state", "position", "stage", "begun"]
    show_table("", head, [["" if one[name] is None else str(one[name]) for name in head] for one in found])


@jobs_app.command("cancel")
def cancel(
    dataset: Dataset,
    release: Annotated[str, typer.Argument(help="Id of its release.")],
    ledger: Books = None,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Cancel a job. What it was charged stays spent; one that still waits costs nothing."""
    if server is not None:
        found = _remote(server, dataset).job(release).cancel()
    else:
        queue = _queue(ledger)
        if queue.find(dataset, release) is None:
            raise MissingError("release", release, among=[job.release for job in queue.listed(dataset)])
        ended = queue.cancel(dataset, release, person(None))
        if ended is None:
            raise InputError("release", release, "the id of a job that waits or runs: this one is over")
        found = asdict(ended)
    if as_json:
        show_json(found)
    else:
        say(found["problem"] or "It is being stopped. What it was charged stays spent.")


def _queue(address: str | None) -> Queue:
    try:
        from discreet.apps.server.cancellation import cancelled_job
        from discreet.apps.server.job_queue import Queue
    except ImportError as missing:
        raise MissingExtraError("server", (missing.name or "fastapi").partition(".")[0]) from None
    ledger = open_ledger(address)
    queue = Queue(ledger)
    queue.ended = lambda ticket, by: cancelled_job(ledger, ticket.job, by)
    return queue


def _remote(server: str, dataset: str) -> RemoteCurator:
    from discreet.apps.client import connect

    token = os.environ.get("DISCREET_TOKEN")
    if not token:
        raise InputError("DISCREET_TOKEN", MISSING, "a token of the server, in the environment")
    found: Any = connect(server, token, dataset=dataset)
    return found  # type: ignore[no-any-return]
