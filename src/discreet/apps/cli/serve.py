"""`discreet serve` and `discreet token`: the curator over HTTP, and who may speak to it."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Annotated

import typer

from discreet.apps.cli.options import LedgerPlace, SchemaFile, curator_at
from discreet.apps.cli.output import AsJson, say, show_json, show_table
from discreet.errors import InputError, MissingExtraError

__all__ = ["serve", "token_app"]

token_app = typer.Typer(no_args_is_help=True, help="Tokens of a server: create, list, revoke.")

Store = Annotated[Path, typer.Option("--tokens", envvar="DISCREET_TOKENS", help="File of the tokens.")]
TOKENS = Path("discreet-tokens.db")


def serve(
    data: Annotated[list[str], typer.Argument(help="One or more tables: files or postgresql://...")],
    schema: SchemaFile = None,
    ledger: LedgerPlace = None,
    tokens: Store = TOKENS,
    host: Annotated[str, typer.Option(help="Address to listen on; this machine only by default.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port.")] = 8000,
    certificate: Annotated[Path | None, typer.Option(help="TLS certificate (PEM).")] = None,
    key: Annotated[Path | None, typer.Option(help="TLS key (PEM).")] = None,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="TLS ends at a proxy in front: listen without it.")
    ] = False,
    workers: Annotated[
        int, typer.Option(help="How busy it may get: 16 requests at once for each; others are sent away.", min=1)
    ] = 8,
) -> None:
    """Serve curators over HTTP. Other machines are served with tokens and TLS only."""
    try:
        import uvicorn

        from discreet.apps.server.app import application
        from discreet.apps.server.house import House
        from discreet.apps.server.tokens import Tokens
    except ImportError:
        raise MissingExtraError("server", "fastapi") from None
    if (certificate is None) != (key is None):
        raise InputError("--certificate", str(certificate), "given together with --key")
    known = Tokens(tokens) if tokens.exists() else None
    if (known is None or not len(known)) and (behind_proxy or not _loopback(host)):
        hint = "Make one: discreet token create NAME --role analyst."
        if behind_proxy:
            raise InputError("--behind-proxy", "no tokens", "tokens: whoever the proxy lets through is served", hint)
        raise InputError("--host", host, "this machine, as long as there are no tokens", hint)
    if not _loopback(host) and certificate is None and not behind_proxy:
        hint = "Give --certificate and --key, or say --behind-proxy if TLS ends in front of it."
        raise InputError("--host", host, "this machine, as long as there is no TLS", hint)
    curators = [curator_at(one, schema, ledger, None) for one in data]
    named = {one.schema.name: one for one in curators}
    if len(named) < len(curators):
        raise InputError("data", [one.schema.name for one in curators], "datasets of different names")
    app = application(House(named, known))
    way = "https" if certificate else "http"
    say(f"Serving {', '.join(named)} on {way}://{host}:{port}/" + ("" if known else " without tokens: for you alone."))
    uvicorn.run(
        app,
        host=host,
        port=port,
        ssl_certfile=None if certificate is None else str(certificate),
        ssl_keyfile=None if key is None else str(key),
        access_log=False,
        log_level="warning",
        limit_concurrency=16 * workers,
        server_header=False,
    )


@token_app.command("create", epilog="Example: discreet token create ann --role analyst --allotment team")
def create(
    name: Annotated[str, typer.Argument(help="Whose it is; the ledger will say so.")],
    role: Annotated[str, typer.Option(help="custodian, analyst or viewer.")] = "analyst",
    allotment: Annotated[str | None, typer.Option(help="The only allotment it may spend from.")] = None,
    tokens: Store = TOKENS,
    as_json: AsJson = False,
) -> None:
    """Make a token. It is shown once; only its hash is kept."""
    from discreet.apps.server.tokens import Tokens

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


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
