"""`discreet serve`: the curator over HTTP."""

from __future__ import annotations

import errno
import ipaddress
import socket
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.apps.cli.completion import choice
from discreet.apps.cli.options import LedgerAddress, SchemaFile, curator_at, duration
from discreet.apps.cli.output import say
from discreet.apps.cli.token import TOKENS, Store
from discreet.curator.setup import schema_path, state_folder
from discreet.errors import GIVEN, MISSING, InputError, MissingExtraError

__all__ = ["free_to_listen", "serve"]


def serve(
    context: typer.Context,
    data: Annotated[list[str] | None, typer.Argument(help="One or more tables: files or postgresql://...")] = None,
    config: Annotated[
        Path | None, typer.Option(help="A file that says all of this, server.toml; read again on SIGHUP.")
    ] = None,
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
        int, typer.Option(help="How many requests a process handles at once; further ones are refused.", min=1)
    ] = 128,
    rate: Annotated[float, typer.Option(help="How many requests a second one caller may make.", min=0.1)] = 20.0,
    seconds: Annotated[
        float, duration("How long a question may take; then it is stopped, and its cost stays spent.", 0.1)
    ] = 600.0,
    wait: Annotated[
        float, duration("How long a caller waits for an answer; after that it is fetched by its id.", 0.1)
    ] = 60.0,
    pace: Annotated[float, duration("Record and show the ends of runs only at multiples of this.")] = 0.1,
    survey: Annotated[
        list[str] | None,
        typer.Option(help="Also serve a survey, FILE or FILE=STORE, under /surveys/NAME/; repeat for more."),
    ] = None,
    geometry: Annotated[
        str | None, typer.Option(help="GeoJSON or TopoJSON file with the shapes of regions, for maps.")
    ] = None,
    origin: Annotated[
        str | None, typer.Option(help="The address people see, such as https://curator.example, behind a proxy.")
    ] = None,
    access_log: Annotated[
        str | None, typer.Option(help="Log file, one line for each request, without values; - for standard error.")
    ] = None,
    log_format: Annotated[str, choice("text", "json", help="What a line of the log is.")] = "text",
    drain: Annotated[
        float, duration("How long requests and running jobs have to end once the server is stopped, such as 10m.")
    ] = 5.0,
) -> None:
    """Serve curators over HTTP. Other machines need tokens and TLS; this one a token in the URL."""
    try:
        from discreet.apps.server.config import Config, read_config
        from discreet.apps.server.launch import launched
        from discreet.apps.server.listener import run
        from discreet.apps.server.settings import Served, Settings
        from discreet.apps.server.startup import announcing
        from discreet.apps.server.tokens import Tokens
        from discreet.apps.web.site import WORKER, add_pages
    except ImportError as missing:
        raise MissingExtraError("server", (missing.name or "fastapi").partition(".")[0]) from None
    if config is not None:
        _check_alone(context)
        asked = read_config(config)
    else:
        if not data:
            raise InputError("data", MISSING, "given: one or more tables, or a file of them by --config")
        if (certificate is None) != (key is None):
            raise InputError("--certificate", str(certificate), "given together with --key")
        if origin is not None and (not origin.startswith(("https://", "http://")) or origin.count("/") != 2):
            raise InputError("--origin", origin, "a scheme and a host, such as https://curator.example")
        state = state_folder(schema_path(data[0], schema), data)
        settings = Settings(
            tables=tuple(Served(one, schema, ledger) for one in data),
            tokens=str(tokens),
            jobs=str(tokens.with_name("discreet-jobs.db")),
            surveys=tuple(survey or ()),
            origin=origin,
            access_log=access_log,
            log_format=log_format,
            behind_proxy=behind_proxy,
            rate=rate,
            seconds=seconds,
            wait=wait,
            pace=pace,
            drain=drain,
            workers=workers,
            geometry=geometry,
            state=None if state is None else str(state),
        )
        asked = Config(settings, host, port, busy, drain, certificate, key)
    settings, tls = asked.settings, asked.certificate is not None
    kept = Path(settings.tokens)
    lasting = (kept.exists() and len(Tokens(kept)) > 0) or settings.identity is not None
    _check_reach(asked.host, lasting, tls=tls, behind_proxy=settings.behind_proxy)
    free_to_listen(asked.host, asked.port)
    home = f"{'https' if tls else 'http'}://{f'[{asked.host}]' if ':' in asked.host else asked.host}:{asked.port}"
    with ExitStack() as until_stopped:
        launch = None if lasting else until_stopped.enter_context(launched())
        if launch is not None:
            settings = replace(settings, tokens=str(launch.store), linked=True)
        service = settings.service(curator_at, patient=settings.tables if config is not None else ())
        if not service.curators:  # then nothing would be served at all
            raise next(iter(service.away.values())).error()

        def listens() -> None:
            say(f"Serving {', '.join(service.curators)} on {home}/")
            for name, away in service.away.items():
                say(f"Not served for now: {name}. {away.problem}")
            if launch is not None:
                say(f"Open {launch.link(home)}")
                say("That address is for you alone: whoever has it is the custodian, until the server is stopped.")
            for one in (survey for survey in service.surveys.values() if survey.open):
                say(f"Survey for anyone at {home}{one.path}")

        until_stopped.enter_context(announcing(asked.host, asked.port, listens, tls=tls))
        how: dict[str, Any] = {
            "certificate": asked.certificate,
            "key": asked.key,
            "busy": asked.busy,
            "drain": asked.drain,
        }
        run(settings, service, asked.host, asked.port, pages=add_pages, worker=WORKER, **how)


def _check_alone(context: typer.Context) -> None:
    """What a file says is not said a second time on the command line."""
    for one in context.command.params:
        source = context.get_parameter_source(one.name or "")
        if one.name != "config" and source is not None and source.name == "COMMANDLINE":
            name = one.opts[0] if one.opts[0].startswith("-") else one.name or ""
            raise InputError(name, GIVEN, "left out with --config: it stands in that file")


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


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
