"""`discreet serve` and `discreet token`: the curator over HTTP, and who may speak to it."""

from __future__ import annotations

import errno
import ipaddress
import socket
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from discreet.apps.cli.options import LedgerAddress, SchemaFile, curator_at, open_ledger
from discreet.apps.cli.output import AsJson, say, show_json, show_table
from discreet.errors import GIVEN, InputError, MissingExtraError

__all__ = ["free_to_listen", "serve", "token_app"]

token_app = typer.Typer(no_args_is_help=True, help="Tokens of a server: create, list, revoke.")

Store = Annotated[Path, typer.Option("--tokens", envvar="DISCREET_TOKENS", help="File of the tokens.")]
TOKENS = Path("discreet-tokens.db")


def serve(
    data: Annotated[list[str], typer.Argument(help="One or more tables: files or postgresql://...")],
    schema: SchemaFile = None,
    ledger: LedgerAddress = None,
    tokens: Store = TOKENS,
    host: Annotated[str, typer.Option(help="Address to listen on; this machine only by default.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port.", min=1, max=65535)] = 8000,
    certificate: Annotated[Path | None, typer.Option(help="TLS certificate (PEM).")] = None,
    key: Annotated[Path | None, typer.Option(help="TLS key (PEM).")] = None,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="TLS ends at a proxy in front: listen without it.")
    ] = False,
    workers: Annotated[int, typer.Option(help="How many processes answer.", min=1, max=64)] = 1,
    busy: Annotated[
        int, typer.Option(help="How many requests a process takes on at once; others are sent away.", min=1)
    ] = 128,
    rate: Annotated[float, typer.Option(help="How many requests a second one caller may make.", min=0.1)] = 20.0,
    seconds: Annotated[
        float, typer.Option(help="How long a caller waits for an answer; after that it is fetched by its id.", min=0.1)
    ] = 60.0,
    pace: Annotated[
        float, typer.Option(help="Answers to releases leave at whole multiples of so many seconds.", min=0)
    ] = 0.1,
    survey: Annotated[
        list[str] | None,
        typer.Option(help="Also a survey, FILE or FILE=STORE, under /surveys/NAME/; repeat for more."),
    ] = None,
    geometry: Annotated[
        str | None, typer.Option(help="GeoJSON or TopoJSON file with the shapes of regions, for maps.")
    ] = None,
    origin: Annotated[
        str | None, typer.Option(help="The address people see, such as https://curator.example, behind a proxy.")
    ] = None,
    access_log: Annotated[
        str | None, typer.Option(help="File for a line a request, without values; - for standard error.")
    ] = None,
) -> None:
    """Serve curators over HTTP. Other machines need tokens and TLS; this one a token in the URL."""
    try:
        from discreet.apps.server.launch import launched
        from discreet.apps.server.listener import run
        from discreet.apps.server.settings import Settings
        from discreet.apps.server.tokens import Tokens
        from discreet.apps.web.site import WORKER, add_pages
    except ImportError as missing:
        raise MissingExtraError("server", (missing.name or "fastapi").partition(".")[0]) from None
    if (certificate is None) != (key is None):
        raise InputError("--certificate", str(certificate), "given together with --key")
    lasting = tokens.exists() and len(Tokens(tokens)) > 0
    _check_reach(host, lasting, tls=certificate is not None, behind_proxy=behind_proxy)
    if origin is not None and (not origin.startswith(("https://", "http://")) or origin.count("/") != 2):
        raise InputError("--origin", origin, "a scheme and a host, such as https://curator.example")
    settings = Settings(
        data=tuple(data),
        schema=schema,
        ledger=ledger,
        tokens=str(tokens),
        jobs=str(tokens.with_name("discreet-jobs.db")),
        surveys=tuple(survey or ()),
        origin=origin,
        access_log=access_log,
        behind_proxy=behind_proxy,
        rate=rate,
        seconds=seconds,
        pace=pace,
        workers=workers,
        geometry=geometry,
    )
    free_to_listen(host, port)
    home = f"{'https' if certificate else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"
    with ExitStack() as until_stopped:
        launch = None if lasting else until_stopped.enter_context(launched())
        if launch is not None:
            settings = replace(settings, tokens=str(launch.store), linked=True)
        service = settings.service(curator_at)
        say(f"Serving {', '.join(service.curators)} on {home}/")
        if launch is not None:
            say(f"Open {launch.link(home)}")
            say("That address is for you alone: whoever has it is the custodian, until the server is stopped.")
        for one in service.surveys.values():
            say(f"Survey for anyone at {home}{one.path}")
        run(settings, service, host, port, pages=add_pages, worker=WORKER, certificate=certificate, key=key, busy=busy)


def free_to_listen(host: str, port: int) -> None:
    """Refuse an address that cannot be listened on, before anything is opened or promised."""
    try:
        where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except OSError:
        raise InputError("--host", host, "an address of this machine, such as 127.0.0.1") from None
    with socket.socket(*where[:3]) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(where[4])
        except OSError as problem:
            if problem.errno == errno.EADDRINUSE:
                hint = "Another server, perhaps an earlier one of yours, is there. End it, or give another --port."
                raise InputError("--port", port, f"a port of {host} that is free", hint) from None
            if problem.errno == errno.EACCES:
                raise InputError("--port", port, "a port that you may listen on, such as one above 1023") from None
            raise InputError("--host", host, f"an address of this machine ({problem.strerror})") from None


def _check_reach(host: str, lasting: bool, *, tls: bool, behind_proxy: bool) -> None:
    """Other machines are served with lasting tokens and TLS only."""
    local = _loopback(host)
    if not lasting and (behind_proxy or not local):
        hint = "Make one: discreet token create NAME --role analyst."
        if behind_proxy:
            raise InputError(
                "--behind-proxy",
                GIVEN,
                "left out as long as there are no tokens: whoever the proxy lets through is served",
                hint,
            )
        raise InputError("--host", host, "an address of this machine, as long as there are no tokens", hint)
    if not local and not tls and not behind_proxy:
        hint = "Give --certificate and --key, or --behind-proxy if a proxy in front ends TLS."
        raise InputError("--host", host, "an address of this machine, as long as there is no TLS", hint)


@token_app.command("create", epilog="Example: discreet token create ann --role analyst --allotment team")
def create(
    name: Annotated[str, typer.Argument(help="Whose it is; the ledger will say so.")],
    role: Annotated[str, typer.Option(help="custodian, analyst or viewer.")] = "analyst",
    allotment: Annotated[str | None, typer.Option(help="The only allotment it may spend from.")] = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            envvar="DISCREET_LEDGER", help="A ledger that must have the allotment: a path or postgresql://..."
        ),
    ] = None,
    tokens: Store = TOKENS,
    as_json: AsJson = False,
) -> None:
    """Make a token. It is shown once; only its hash is kept. With --ledger the allotment is looked up there."""
    from discreet.apps.server.tokens import Tokens

    if allotment is not None and ledger is not None:
        _check_allotment(allotment, ledger)
    made = Tokens(tokens).create(name, role, allotment)
    if as_json:
        show_json({"name": name, "role": role, "allotment": allotment, "token": made})
    else:
        say(made)


@token_app.command("list")
def listed(tokens: Store = TOKENS, as_json: AsJson = False) -> None:
    """Who has a token."""
    from discreet.apps.server.tokens import Tokens

    found = Tokens(tokens).listed()
    if as_json:
        show_json(found)
    else:
        rows = [[one["name"] or "", one["role"] or "", one["allotment"] or "any", one["made"] or ""] for one in found]
        show_table("", ["name", "role", "allotment", "made"], rows)


@token_app.command("revoke")
def revoke(name: Annotated[str, typer.Argument(help="Whose token ends.")], tokens: Store = TOKENS) -> None:
    """End a token at once."""
    from discreet.apps.server.tokens import Tokens

    Tokens(tokens).revoke(name)
    say(f"The token of {name} opens nothing any more.")


def _check_allotment(name: str, ledger: str) -> None:
    opened = open_ledger(ledger)
    there = {part.name for dataset in opened.datasets() for part in opened.account(dataset).budget.allotments}
    if name not in there:
        raise InputError("--allotment", name, hint="No token was made.", among=sorted(there))


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
