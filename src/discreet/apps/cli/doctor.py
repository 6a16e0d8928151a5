"""`discreet doctor`: whether a server could run here, part by part, with what to do where it could not."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.apps.cli.options import LedgerAddress, SchemaFile
from discreet.apps.cli.output import AsJson, say, show_json
from discreet.curator import Curator, open_curator
from discreet.curator.setup import schema_path
from discreet.data.source import Source
from discreet.data.stamp import rights_to_write
from discreet.errors import GIVEN, MISSING, DiscreetError, InputError

__all__ = ["Finding", "doctor"]

_LEAST = 1 << 30  # bytes free: a query that does not fit into memory goes to disk
_AHEAD = timedelta(seconds=5)
_RECENT = 200  # records whose times are looked at
_PACKAGES = {"duckdb": "", "ibis-framework": "", "fastapi": "server", "uvicorn": "server", "psycopg": "postgres"}


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, whether it is well, and what to do if it is not."""

    part: str
    subject: str
    well: bool
    text: str
    remedy: str = ""


def doctor(
    data: Annotated[list[str] | None, typer.Argument(help="One or more tables: files or postgresql://...")] = None,
    config: Annotated[Path | None, typer.Option(help="The file of a server: server.toml.")] = None,
    schema: SchemaFile = None,
    ledger: LedgerAddress = None,
    as_json: AsJson = False,
) -> None:
    """Check whether a server could run here: ledger, guard, data, permissions, clock.

    No row is read and nothing is spent. Versions and free disk are looked at too. Exit code 0 if all is well, 1 if not.
    """
    if config is not None and data:
        raise InputError("--config", GIVEN, "left out where tables are named")
    if config is None and not data:
        raise InputError("data", MISSING, "given: one or more tables, or a file of them by --config")
    findings = list(_examine(config, data or [], schema, ledger))
    ill = sum(not one.well for one in findings)
    if as_json:
        show_json({"well": not ill, "findings": [asdict(one) for one in findings]})
    else:
        for one in findings:
            say(f"{'ok     ' if one.well else 'PROBLEM'}  {one.part}: {one.subject}. {one.text}".rstrip())
            if one.remedy and not one.well:
                say(f"         -> {one.remedy}")
        say(f"{len(findings)} checks, {ill} {'problem' if ill == 1 else 'problems'}.")
    raise typer.Exit(1 if ill else 0)


def _examine(config: Path | None, data: list[str], schema: str | None, ledger: str | None) -> Iterator[Finding]:
    yield from _versions()
    yield from _disk(Path(tempfile.gettempdir()), "temporary files")
    tables: list[tuple[str, str | None, str | None]] = [(one, schema, ledger) for one in data]
    if config is not None:
        from discreet.apps.server.config import read_config

        try:
            settings = read_config(config).settings
        except InputError as problem:
            yield Finding("configuration", str(config), False, str(problem), "Correct the file.")
            return
        yield Finding("configuration", str(config), True, "")
        tables = [(one.data, one.schema, one.ledger) for one in settings.tables]
        state = Path(settings.tokens).parent
        yield from _disk(state if state.exists() else config.resolve().parent, "state")
        yield from _private(state, "state folder")
        yield from _private(Path(settings.tokens), "tokens")
    for table in tables:
        yield from _dataset(*table)


def _versions() -> Iterator[Finding]:
    python = ".".join(map(str, sys.version_info[:3]))
    found = [f"Python {python}"]
    for name in ("discreet", *_PACKAGES):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    yield Finding("versions", ", ".join(found), True, "")


def _disk(folder: Path, what: str) -> Iterator[Finding]:
    free = shutil.disk_usage(folder).free
    said = f"{free / (1 << 30):,.1f} GB free"
    yield Finding("disk", what, free >= _LEAST, said, "Free disk space: large queries and the ledger need it.")


def _private(path: Path, what: str) -> Iterator[Finding]:
    """Whether only its owner can read it, where it is there."""
    if path.exists():
        mode = path.stat().st_mode & 0o777
        remedy = f"chmod {'700' if path.is_dir() else '600'} {path}"
        yield Finding("permissions", what, not mode & 0o077, f"Its mode is {mode:o}", remedy)


def _dataset(data: str, schema: str | None, ledger: str | None) -> Iterator[Finding]:
    name = data if "://" not in data else data.partition("://")[0]  # an address may hold a password
    try:
        curator = open_curator(data, schema_path(data, schema), ledger=ledger)
    except (DiscreetError, OSError) as problem:
        yield Finding("dataset", name, False, str(problem), "The message says what to do.")
        return
    name = curator.declared.name
    checks: tuple[tuple[str, Callable[[Curator], str], str], ...] = (
        ("ledger", _ledger, "See: discreet ledger verify."),
        ("guard", _guard, "See: discreet ledger acknowledge --help, and the guide on backups."),
        ("data", _data, "See: discreet check."),
        ("clock", _clock, "Set the clock of this machine: charges carry its time."),
    )
    if isinstance(source := getattr(curator.desk, "data", None), Source) and source.kind == "postgres":
        checks += (("rights", _rights, "Let it read only: GRANT SELECT, and nothing else. See the guide on engines."),)
    for part, check, remedy in checks:
        try:
            yield Finding(part, name, True, check(curator))
        except (DiscreetError, OSError, _Ill) as problem:
            yield Finding(part, name, False, str(problem), remedy)
    kept = Path(curator.ledger.kept_at)
    if kept.is_file():
        yield from _private(kept, f"ledger of {name}")
    curator.ledger.close()


class _Ill(Exception):  # noqa: N818
    """What a check found wrong, in words."""


def _ledger(curator: Curator) -> str:
    allotments = len(curator.standing())
    return f"{allotments} {'allotment' if allotments == 1 else 'allotments'}, at {curator.ledger.kept_at}"


def _guard(curator: Curator) -> str:
    curator.ledger.check_guard()
    return ""


def _data(curator: Curator) -> str:
    data: Any = getattr(curator.desk, "data", None)
    if not isinstance(data, Source):
        return ""
    data.reach()
    return f"{len(data.columns())} columns, read by {data.engine}"


def _rights(curator: Curator) -> str:
    """What the role of a database may do with the table, beyond reading it."""
    data: Any = getattr(curator.desk, "data", None)
    if found := rights_to_write(data.place, data.table):
        raise _Ill(f"The role may {', '.join(found)}, and discreet only needs to read")
    return "reads only"


def _clock(curator: Curator) -> str:
    recent = max(0, curator.ledger.head().sequence - _RECENT)  # a ledger may be long
    last = max((record.time for record in curator.ledger.records(after=recent)), default="")
    now = datetime.now(UTC)
    if last and datetime.fromisoformat(last) > now + _AHEAD:
        raise _Ill(f"The ledger's last record is of {last}, and this machine's time is {now:%Y-%m-%d %H:%M:%S} UTC")
    return f"{now:%Y-%m-%d %H:%M:%S} UTC"
