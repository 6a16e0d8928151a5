"""`server.toml`: everything that a server needs in one file, read with every problem named at once.

Paths in it are beside the file. What a table of it may hold stands in `SECTIONS`; the guide has an example of each.
"""

from __future__ import annotations

import ipaddress
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.apps.server.durations import read_duration
from discreet.apps.server.identity import NOBODY, Identity, Provider, Proxy, Rule
from discreet.apps.server.service import Limits, Service
from discreet.apps.server.settings import Served, Settings
from discreet.apps.server.tokens import ROLES, check_rights
from discreet.errors import MISSING, ConfigError, DiscreetError, InputError

__all__ = ["SECTIONS", "Config", "latest", "read_config"]


_LIMITS = Limits()
_JOBS = _LIMITS.jobs


@dataclass(frozen=True, slots=True)
class Entry:
    """What a key of the file may be: how it is read, in words, and what it is where it is left out."""

    allowed: str
    read: Callable[[Any, Path], Any]
    default: Any = None
    help: str = ""


def _text(value: Any, folder: Path) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError
    return value


def _flag(value: Any, folder: Path) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


def _path(value: Any, folder: Path) -> str:
    return str(folder / _text(value, folder))


def _file(value: Any, folder: Path) -> str:
    if not Path(_path(value, folder)).is_file():
        raise ValueError
    return _path(value, folder)


def _place(value: Any, folder: Path) -> str:
    """A path beside the file, or an address such as postgresql://..., which stays as it is."""
    return value if "://" in _text(value, folder) else _path(value, folder)


def _log(value: Any, folder: Path) -> str:
    return value if value == "-" else _path(value, folder)


def _origin(value: Any, folder: Path) -> str:
    if not _text(value, folder).startswith(("https://", "http://")) or value.count("/") != 2:
        raise ValueError
    return str(value)


def _issuer(value: Any, folder: Path) -> str:
    local = ("http://127.0.0.1", "http://localhost", "http://[::1]")
    if not _text(value, folder).startswith(("https://", *local)):
        raise ValueError
    return str(value)


def _names(value: Any, folder: Path) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(one, str) and one for one in value):
        raise ValueError
    return tuple(value)


def _peers(value: Any, folder: Path) -> tuple[str, ...]:
    return tuple(str(ipaddress.ip_network(one)) for one in _names(value, folder))


def _whole(least: int, most: int) -> Callable[[Any, Path], int]:
    def read(value: Any, folder: Path) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ValueError
        return value

    return read


def _number(least: float) -> Callable[[Any, Path], float]:
    def read(value: Any, folder: Path) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value < 1e9:
            raise ValueError
        return float(value)

    return read


def _duration(least: float) -> Callable[[Any, Path], float]:
    def read(value: Any, folder: Path) -> float:
        seconds = read_duration(value)
        if seconds < least:
            raise ValueError
        return seconds

    return read


def _among(*names: str) -> Callable[[Any, Path], str]:
    def read(value: Any, folder: Path) -> str:
        if value not in names:
            raise ValueError
        return str(value)

    return read


SECTIONS: Mapping[str, Mapping[str, Entry]] = {
    "server": {
        "state": Entry("a folder", _path, "state", "Folder for tokens, jobs, uploads and surveys."),
        "ledger": Entry("a path or postgresql://...", _place, None, "Ledger of all datasets that name none."),
        "host": Entry("an address of this machine", _text, "127.0.0.1", "Address to listen on."),
        "port": Entry("a whole number from 1 to 65535", _whole(1, 65535), 8000, "Port."),
        "workers": Entry("a whole number from 1 to 64", _whole(1, 64), 2, "How many processes answer."),
        "busy": Entry(
            "a whole number from 1 to 100000", _whole(1, 100_000), 128, "Requests that a process takes at once."
        ),
        "drain": Entry(
            "a duration such as 30 or 10m", _duration(0), 30.0, "How long requests and running jobs may take to end."
        ),
        "origin": Entry("a scheme and a host, such as https://curator.example", _origin, None, "What people see."),
        "geometry": Entry("a file that is there", _file, None, "Shapes of regions, for maps."),
    },
    "tls": {
        "certificate": Entry("a file that is there", _file, None, "Certificate (PEM)."),
        "key": Entry("a file that is there", _file, None, "Its key (PEM)."),
        "proxy": Entry("true or false", _flag, False, "A proxy in front ends TLS."),
    },
    "limits": {
        "rate": Entry("a number of 0.1 or more", _number(0.1), _LIMITS.rate, "Requests a second of one caller."),
        "seconds": Entry("a duration of 0.1 s or more", _duration(0.1), _LIMITS.seconds, "How long a question takes."),
        "wait": Entry("a duration of 0.1 s or more", _duration(0.1), _LIMITS.wait, "How long a caller waits."),
        "pace": Entry("a duration of 0 or more", _duration(0), _LIMITS.pace, "Ends of runs show at multiples of it."),
    },
    "jobs": {
        "running": Entry("a whole number from 1 to 64", _whole(1, 64), _JOBS.running, "Jobs at once in a process."),
        "each": Entry("a whole number from 1 to 1000", _whole(1, 1000), _JOBS.each, "Jobs at once of one caller."),
        "waiting": Entry("a whole number from 1 to 100000", _whole(1, 100_000), _JOBS.waiting, "Jobs that wait."),
        "caller_waiting": Entry(
            "a whole number from 1 to 100000", _whole(1, 100_000), _JOBS.caller_waiting, "Jobs of a caller that wait."
        ),
        "lease": Entry(
            "a duration of 1 s or more", _duration(1), _JOBS.lease, "Silence after which a process is taken for dead."
        ),
        "longest": Entry("a duration of 1 s or more", _duration(1), _JOBS.longest, "How long a job may run."),
    },
    "log": {
        "access": Entry("a path, or - for standard error", _log, None, "A line for every request."),
        "format": Entry("text or json", _among("text", "json"), "text", "What a line is."),
    },
}
"""Tables of the file, and what each of their keys may be."""

IDENTITY: Mapping[str, Mapping[str, Entry]] = {
    "oidc": {
        "issuer": Entry("an address, https://...", _issuer, None, "Who says who people are."),
        "client": Entry("a name", _text, None, "What this server is called there."),
        "secret": Entry("a file that is there", _file, None, "File with the secret of the client, if it has one."),
        "audience": Entry("a name", _text, None, "Whom access tokens are for that the API takes."),
        "name": Entry("the name of a claim", _text, "email", "Claim that names a person on the ledger."),
        "groups": Entry("the name of a claim", _text, "groups", "Claim that lists their groups."),
        "scopes": Entry("a list of names", _names, ["openid", "email", "profile"], "What is asked for."),
        "certificate": Entry("a file that is there", _file, None, "Certificates to trust for the issuer (PEM)."),
    },
    "proxy": {
        "from": Entry("a list of addresses or networks", _peers, None, "Peers whose headers are taken."),
        "user_header": Entry("the name of a header", _text, "x-forwarded-user", "Header that names the person."),
        "groups_header": Entry("the name of a header", _text, "x-forwarded-groups", "Header with groups, by commas."),
    },
}
"""Tables of `[identity]`, and what each of their keys may be."""

RULE: Mapping[str, Entry] = {
    "group": Entry("a name", _text, None, "Whom it is about: people of a group,"),
    "user": Entry("a name", _text, None, "or one person."),
    "role": Entry(f"one of {', '.join((*ROLES, NOBODY))}", _among(*ROLES, NOBODY), None, "What they may do."),
    "allotment": Entry("a name", _text, None, "The only allotment they may spend from."),
    "datasets": Entry("a list of names", _names, None, "All datasets that they know of."),
}
"""What `[[identity.rule]]` may say."""

_DATASET: Mapping[str, Entry] = {
    "data": Entry("a path or an address", _place),
    "schema": Entry("a file that is there", _file),
    "ledger": Entry("a path or postgresql://...", _place),
}
_SURVEY: Mapping[str, Entry] = {
    "file": Entry("a file that is there", _file),
    "store": Entry("a path", _path),
}


@dataclass(frozen=True, slots=True)
class Config:
    """A server as its file describes it: what every worker opens, and how the process that starts them listens."""

    settings: Settings
    host: str
    port: int
    busy: int
    drain: float
    certificate: Path | None
    key: Path | None


def read_config(path: str | Path) -> Config:
    """The server that a file describes; `ConfigError` names every problem of the file at once.

    What is declared is read here; whether data and ledgers can be opened is known when they are.
    """
    source = Path(path)
    try:
        tables = tomllib.loads(source.read_text(encoding="utf-8"))
    except OSError as problem:
        raise InputError("--config", str(path), f"a readable file ({problem.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ConfigError.of(str(path), [f"It must be valid TOML: {problem}."]) from None
    problems: list[DiscreetError] = []
    known = {*SECTIONS, "identity", "dataset", "survey"}
    problems += [InputError.unknown(name, sorted(known)) for name in tables if name not in known]
    folder = source.resolve().parent
    values = {
        name: _entries(name, tables.get(name, {}), entries, folder, problems) for name, entries in SECTIONS.items()
    }
    identity = _identity(tables.get("identity"), values["server"]["origin"], folder, problems)
    datasets = _listed("dataset", tables.get("dataset", []), _DATASET, folder, problems)
    surveys = _listed("survey", tables.get("survey", []), _SURVEY, folder, problems)
    if not datasets and "dataset" not in tables:
        problems.append(InputError("dataset", MISSING, 'given: [[dataset]] with data = "people.csv"'))
    for entry, needed in [*((one, "data") for one in datasets), *((one, "file") for one in surveys)]:
        if entry.get(needed) is None and needed not in entry["given"]:
            problems.append(InputError(f"{entry['name']}.{needed}", MISSING, "given"))
    tls = values["tls"]
    if (tls["certificate"] is None) != (tls["key"] is None) and not {"certificate", "key"} & _mistaken(problems):
        problems.append(InputError("tls.certificate", MISSING, "given together with tls.key"))
    if problems:
        raise ConfigError.of(str(path), [str(one) for one in problems])
    return _config(source.resolve(), values, datasets, surveys, identity)


def latest(stored: Settings) -> tuple[Settings, Service]:
    """What a worker serves: as the file says now. Where that cannot be, as it said before, and the log says why."""
    if stored.config is not None:
        try:
            read = read_config(stored.config).settings
            # Who listens where, and how many share the rate, is settled until the server is started again.
            fresh = replace(read, workers=stored.workers)
            if stored.linked:
                fresh = replace(fresh, tokens=stored.tokens, linked=True)
            service = fresh.service(patient=stored.tables)  # what was served before does not end with one that is away
        except DiscreetError as problem:
            stored.note("kept", problem=" ".join(str(problem).split()))
        else:
            fresh.share()
            return fresh, service
    return stored, stored.service(patient=stored.tables if stored.config is not None else ())


def _identity(given: Any, origin: str | None, folder: Path, problems: list[DiscreetError]) -> Identity | None:
    """Who vouches for people, and the rules; None where the file says nothing of it."""
    if given is None:
        return None
    if not isinstance(given, dict):
        problems.append(InputError("identity", given, "a table: [identity.oidc], [identity.proxy], [[identity.rule]]"))
        return None
    known = (*IDENTITY, "rule")
    problems += [InputError.unknown(f"identity.{name}", known) for name in given if name not in known]
    needed = {"oidc": ("issuer", "client"), "proxy": ("from",)}
    values: dict[str, dict[str, Any]] = {}
    for name, entries in IDENTITY.items():
        if name in given:
            values[name] = _entries(f"identity.{name}", given[name], entries, folder, problems)
            said = given[name] if isinstance(given[name], dict) else entries
            problems += [
                InputError(f"identity.{name}.{one}", MISSING, "given") for one in needed[name] if one not in said
            ]
    if not values:
        problems.append(InputError("identity", MISSING, "given with [identity.oidc] or [identity.proxy], or left out"))
    rules = _listed("identity.rule", given.get("rule", []), RULE, folder, problems)
    if not rules:
        hint = "Without one, everybody is refused."
        problems.append(InputError("identity.rule", MISSING, "given at least once: who may do what", hint))
    for one in rules:
        if one["group"] is None and one["user"] is None and not {"group", "user"} & one["given"]:
            problems.append(InputError(f"{one['name']}.group", MISSING, "given, or user"))
        if one["role"] is None and "role" not in one["given"]:
            problems.append(InputError(f"{one['name']}.role", MISSING, "given"))
        elif one["role"] not in (None, NOBODY):
            try:
                check_rights(one["role"], one["datasets"])
            except InputError as problem:
                problems.append(problem.about(f"{one['name']}.{problem.field}"))
    oidc, proxy = values.get("oidc"), values.get("proxy")
    if oidc is not None and oidc["audience"] is not None and oidc["audience"] == oidc["client"]:
        hint = "Else whoever is shown where someone signed in could ask in their name."
        problems.append(InputError("identity.oidc.audience", oidc["audience"], "another name than the client", hint))
    if oidc is not None and origin is None and "origin" not in _mistaken(problems):
        allowed = "given with [identity.oidc]: people come back to it from the issuer"
        problems.append(InputError("server.origin", MISSING, allowed))
    if problems:
        return None
    return Identity(
        tuple(Rule(**{name: one[name] for name in RULE}) for one in rules),
        None if proxy is None else Proxy(proxy["from"], proxy["user_header"].lower(), proxy["groups_header"].lower()),
        None if oidc is None else Provider(**oidc, home=origin or ""),
    )


def _config(
    path: Path,
    values: Mapping[str, Mapping[str, Any]],
    datasets: list[Any],
    surveys: list[Any],
    identity: Identity | None,
) -> Config:
    server, tls, state = values["server"], values["tls"], Path(values["server"]["state"])
    settings = Settings(
        tables=tuple(Served(one["data"], one["schema"], one["ledger"] or server["ledger"]) for one in datasets),
        tokens=str(state / "tokens.db"),
        jobs=str(state / "jobs.db"),
        surveys=tuple(one["file"] if one["store"] is None else f"{one['file']}={one['store']}" for one in surveys),
        origin=server["origin"],
        access_log=values["log"]["access"],
        log_format=values["log"]["format"],
        behind_proxy=tls["proxy"],
        workers=server["workers"],
        geometry=server["geometry"],
        state=str(state),
        identity=identity,
        config=str(path),
        drain=server["drain"],
        **values["limits"],
        **values["jobs"],
    )
    paths = {name: None if tls[name] is None else Path(tls[name]) for name in ("certificate", "key")}
    return Config(settings, server["host"], server["port"], server["busy"], server["drain"], **paths)


def _entries(
    name: str, given: Any, entries: Mapping[str, Entry], folder: Path, problems: list[DiscreetError]
) -> dict[str, Any]:
    """The values of one table of the file; what is wrong with it is added to the problems."""
    if not isinstance(given, dict):
        problems.append(InputError(name, given, f"a table: [{name}]"))
        given = {}
    problems += [InputError.unknown(f"{name}.{key}", entries) for key in given if key not in entries]
    found: dict[str, Any] = {}
    for key, entry in entries.items():
        value = given.get(key, entry.default)
        try:
            found[key] = None if value is None else entry.read(value, folder)
        except ValueError:
            found[key] = None
            problems.append(InputError(f"{name}.{key}", value, entry.allowed))
    return found


def _listed(
    name: str, given: Any, entries: Mapping[str, Entry], folder: Path, problems: list[DiscreetError]
) -> list[dict[str, Any]]:
    if not isinstance(given, list):
        problems.append(InputError(name, given, f"a list of tables: [[{name}]]"))
        return []
    found = []
    for number, one in enumerate(given, 1):
        label = f"{name}[{number}]"
        values = _entries(label, one, entries, folder, problems)
        found.append({**values, "name": label, "given": set(one) if isinstance(one, dict) else set(entries)})
    return found


def _mistaken(problems: list[DiscreetError]) -> set[str]:
    return {one.field.rpartition(".")[2] for one in problems if isinstance(one, InputError)}
