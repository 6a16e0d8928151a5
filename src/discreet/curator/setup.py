"""How a curator is set up: a schema, what is written beside it, and where the ledger is."""

from __future__ import annotations

import os
import tomllib
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from discreet.core.exact import Number
from discreet.core.version import DataVersion
from discreet.data.files import data_folders
from discreet.data.schema import Schema, read_tables
from discreet.errors import GIVEN, MISSING, InputError, LedgerError, MissingLedgerError, kind_of
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.ledger import Ledger

if TYPE_CHECKING:
    from discreet.constraints.hidden.values import ValuesSchema
    from discreet.curator.hidden import NumbersDesk
    from discreet.power.schema import GridSchema

    Declared = Schema | GridSchema | ValuesSchema

__all__ = [
    "GRIDS",
    "STATE",
    "Setup",
    "budget_from",
    "budget_of",
    "choose_ledger",
    "dataset_name",
    "find_ledger",
    "numbers_desk",
    "read_schema_and_budget",
    "read_setup",
    "schema_path",
    "state_folder",
]

GRIDS = (".m", ".json")
"""Endings of grid files."""
STATE = ".discreet"
"""The folder for state, beside the schema."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a schema's file declares: the schema, its budget, and which data it is for."""

    schema: Declared
    budget: Budget | None = None
    version: DataVersion | None = None
    names: tuple[str, ...] = ()
    """Of the columns of a CSV file that has no header line."""


def read_setup(schema: Schema | Mapping[str, Any] | str | Path) -> Setup:
    """A schema, and everything else that its file declares."""
    if isinstance(schema, Schema):
        return Setup(schema)
    if not isinstance(schema, (Mapping, str, os.PathLike)):
        raise InputError("schema", kind_of(schema), "a Schema, its tables, or the path of a discreet.toml")
    if isinstance(schema, Mapping):
        entry: Mapping[str, Any] = schema
    else:
        entry = read_tables(schema)
    found = _described(entry, schema)
    of_data = entry.get("dataset", {})
    names = of_data.get("names", ())
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) and name for name in names):
        raise InputError("dataset.names", names, "the names of the columns, in the order of a file without a header")
    return Setup(
        found,
        budget_from(entry["budget"]) if "budget" in entry else None,
        DataVersion.declare(of_data["version"]) if "version" in of_data else None,
        tuple(names),
    )


def dataset_name(data: str) -> str:
    """What data is called in a schema where nobody says: by its file, or its table in a database, never its address.

    An address may hold a password, and the name stands on everything that is released.

    >>> dataset_name("folder/trips.csv")
    'trips'
    >>> dataset_name("postgresql://ann:secret@host/city?table=trips&password=secret")
    'trips'
    """
    if "://" not in data:
        return Path(data).stem
    parts = urlsplit(data)
    return dict(parse_qsl(parts.query)).get("table") or Path(parts.path).stem or "data"


def schema_path(data: str, schema: str | None) -> Path:
    """Where the schema of the data is: as named, or the first that is there of three.

    These are `visits.toml` beside `visits.csv`, `discreet.toml` in this folder, and `discreet.toml` beside the data. Of
    a table in a database, `visits.toml` is looked for in this folder; a pattern of files has no name.
    """
    if schema is not None:
        return Path(schema)
    address = "://" in data
    here, folder = Path("discreet.toml"), Path() if address else Path(data).parent
    pattern = not address and any(mark in data for mark in "*?[")
    named = [folder / f"{dataset_name(data)}.toml"] if data and not pattern else []
    return next((path for path in (*named, here, folder / here) if path.is_file()), here)


def _described(entry: Mapping[str, Any], schema: Mapping[str, Any] | str | Path) -> Declared:
    """What the tables of a schema declare: columns of rows, with a [grid] loads of it, with [values] numbers."""
    if "grid" in entry:
        from discreet.power.schema import GridSchema  # a room that few datasets need

        return GridSchema.from_dict(entry)
    if "values" in entry:
        from discreet.constraints.hidden.values import ValuesSchema

        return ValuesSchema.from_dict(entry)
    return Schema.from_dict(entry) if isinstance(schema, Mapping) else Schema.from_dict(entry, Path(schema).parent)


def read_schema_and_budget(
    schema: Schema | Mapping[str, Any] | str | Path,
) -> tuple[Budget | None, Declared]:
    """A schema, and the budget its file declares."""
    declared = read_setup(schema)
    return declared.budget, declared.schema


def budget_from(entry: Mapping[str, Any]) -> Budget:
    """A budget from a schema's [budget] table."""
    known = ("epsilon", "delta", "rho", "allotments")
    if not isinstance(entry, Mapping) or not isinstance(entry.get("allotments", {}), Mapping):
        raise InputError("budget", entry, "a table with epsilon or rho, delta, and [budget.allotments.NAME]")
    if unknown := set(entry) - set(known):
        raise InputError.unknown(f"budget.{min(unknown)}", known)
    parts = []
    for name, part in entry.get("allotments", {}).items():
        fields = {"kind", "epsilon", "rho", "delta", "failure_share"}
        if not isinstance(part, Mapping) or "kind" not in part or set(part) - fields:
            raise InputError(f"budget.allotments.{name}", part, "a table with kind and epsilon, rho, delta")
        parts.append(Allotment(name, **part))
    return Budget(entry.get("epsilon"), rho=entry.get("rho"), delta=entry.get("delta", 0), allotments=parts)


def budget_of(epsilon: Number | None, delta: Number | None, budget: Budget | None) -> Budget | None:
    """The budget that a call gives, whole or as epsilon and delta; None where it gives none."""
    if epsilon in (None, ...) and delta is None:
        return budget
    if budget is not None:
        raise InputError("epsilon" if delta is None else "delta", GIVEN, "left out where `budget` is given")
    if epsilon in (None, ...):
        raise InputError("epsilon", MISSING, "given where `delta` is")
    return Budget(epsilon, delta=0 if delta is None else delta)


def find_ledger(source: Any, schema: Schema | Mapping[str, Any] | str | Path, ledger: str | Path | None) -> str | Path:
    """Where the ledger is: as named, as the environment or the schema says, or else beside the schema.

    Version 0.1 put it beside the data. Such a ledger is used as long as it is there, which is said in a warning:
    to overlook it would begin its budgets anew.
    """
    if ledger is not None:
        return ledger
    if named := os.environ.get("DISCREET_LEDGER"):
        return named
    path = Path(schema) if isinstance(schema, (str, os.PathLike)) else None
    if declared := _declared_ledger(schema):
        return declared if "://" in declared or path is None else path.parent / declared
    state = (Path() if path is None else path.parent) / STATE / "ledger.db"
    return choose_ledger(_beside(source), state, source)


def choose_ledger(old: Path, state: Path, source: Any = None) -> Path:
    """The ledger of version 0.1 if it is there and was not moved, else the one in the folder for state."""
    if old.is_file() and _in_use(old):
        if state.exists():
            raise LedgerError(
                f"There are two ledgers: {old}, where version 0.1 kept it, and {state}. Nothing was read or spent. "
                "Name the one to use with --ledger or DISCREET_LEDGER, and keep the other one as a backup elsewhere."
            )
        warnings.warn(
            f"The ledger is {old}, beside the data, where version 0.1 kept it: replacing the data may take it away. "
            f"Move it once: discreet ledger move {state} --ledger {old} --why 'out of the data'",
            UserWarning,
            stacklevel=4,
        )
        return old
    if folder := _folder_around(state, source):
        hint = "Put the schema beside that folder, or name a ledger with --ledger, DISCREET_LEDGER or [ledger]."
        raise InputError("ledger", str(state), f"outside {folder}, the folder of the data", hint)
    return state


def numbers_desk(source: Any, schema: Schema | Mapping[str, Any] | str | Path) -> type[NumbersDesk] | None:
    """The desk of private numbers that are no table: loads of a grid file, numbers that a schema's [values] declares.

    None for tables.
    """
    if isinstance(source, (str, Path)) and Path(source).suffix.lower() in GRIDS:
        from discreet.curator.loads import LoadDesk  # a room that few datasets need

        return LoadDesk
    if "values" in _tables(schema):
        from discreet.curator.hidden import ValuesDesk

        return ValuesDesk
    return None


def _tables(schema: Schema | Mapping[str, Any] | str | Path) -> Mapping[str, Any]:
    """The tables of a schema's file, unread; none where there is no such file."""
    if isinstance(schema, Schema):
        return {}
    try:
        return schema if isinstance(schema, Mapping) else tomllib.loads(Path(schema).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # said better where the schema itself is read
        return {}


def state_folder(schema: Path, data: Iterable[str]) -> Path | None:
    """The folder for state beside a schema; None where it lies in a folder of data, whose every table is read."""
    state = schema.parent / STATE
    return None if any(_folder_around(state, source) for source in data) else state


def _folder_around(state: Path, source: Any) -> Path | None:
    """The folder of the data that a place lies in, if any."""
    named = str(source) if isinstance(source, (str, os.PathLike)) and "://" not in str(source) else ""
    folders = sorted(data_folders(named)) if named else []
    return next((folder for folder in folders if state.resolve().is_relative_to(folder.resolve())), None)


def _declared_ledger(schema: Schema | Mapping[str, Any] | str | Path) -> str | None:
    """The place that a schema's [ledger] names."""
    declared = _tables(schema).get("ledger")
    if declared is None:
        return None
    if not isinstance(declared, Mapping) or set(declared) != {"place"} or not isinstance(declared["place"], str):
        raise InputError("ledger", declared, 'a table with a place: [ledger] place = "/srv/discreet/visits.db"')
    return declared["place"]


def _beside(source: Any) -> Path:
    """Where version 0.1 kept the ledger of this data."""
    if isinstance(source, (str, os.PathLike)) and "://" not in str(source):
        path = Path(source)
        folder = path if path.is_dir() else path.parent
        return (folder if folder.exists() else Path()) / "discreet.db"
    return Path("discreet.db")


def _in_use(ledger: Path) -> bool:
    """Whether these books have records and do not go on elsewhere."""
    try:
        discrepancy = Ledger.open(ledger).discrepancy()
    except MissingLedgerError:  # made and never used
        return False
    return discrepancy is None or not discrepancy.moved
