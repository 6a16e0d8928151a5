"""What a curator is opened with: a schema, what is written beside it, and a place for the ledger."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.core.version import DataVersion
from discreet.errors import InputError
from discreet.ledger.budget import Allotment, Budget
from discreet.query.schema import Schema

__all__ = ["Declared", "budget_from", "declared_in", "ledger_place", "schema_and_budget"]


@dataclass(frozen=True, slots=True)
class Declared:
    """What a schema's file declares: the schema, its budget, and which data it is for."""

    schema: Schema
    budget: Budget | None = None
    version: DataVersion | None = None
    names: tuple[str, ...] = ()
    """Of the columns of a CSV file that has no header line."""


def declared_in(schema: Schema | Mapping[str, Any] | str | Path) -> Declared:
    """A schema, and everything else that its file declares."""
    if isinstance(schema, Schema):
        return Declared(schema)
    if isinstance(schema, Mapping):
        entry: Mapping[str, Any] = schema
        found = Schema.from_dict(entry)
    else:
        found = Schema.load(schema)
        entry = tomllib.loads(Path(schema).read_text(encoding="utf-8"))
    of_data = entry.get("dataset", {})
    names = of_data.get("names", ())
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) and name for name in names):
        raise InputError("dataset.names", names, "the names of the columns, in the order of a file without a header")
    return Declared(
        found,
        budget_from(entry["budget"]) if "budget" in entry else None,
        DataVersion.declare(of_data["version"]) if "version" in of_data else None,
        tuple(names),
    )


def schema_and_budget(schema: Schema | Mapping[str, Any] | str | Path) -> tuple[Budget | None, Schema]:
    """A schema, and the budget its file declares."""
    declared = declared_in(schema)
    return declared.budget, declared.schema


def budget_from(entry: Mapping[str, Any]) -> Budget:
    """A budget from a schema's [budget] table."""
    allowed = "only epsilon, delta, rho and [budget.allotments.NAME]"
    if not isinstance(entry, Mapping) or not isinstance(entry.get("allotments", {}), Mapping):
        raise InputError("budget", entry, f"a table: {allowed}")
    if unknown := set(entry) - {"epsilon", "delta", "rho", "allotments"}:
        raise InputError(f"budget.{min(unknown)}", "present", allowed)
    parts = []
    for name, part in entry.get("allotments", {}).items():
        fields = {"kind", "epsilon", "rho", "delta", "failure_share"}
        if not isinstance(part, Mapping) or "kind" not in part or set(part) - fields:
            raise InputError(f"budget.allotments.{name}", part, "a table with kind and epsilon, rho, delta")
        parts.append(Allotment(name, **part))
    return Budget(entry.get("epsilon"), rho=entry.get("rho"), delta=entry.get("delta", 0), allotments=parts)


def ledger_place(source: Any, ledger: str | Path | None) -> str | Path:
    """Where the ledger is: as named, as the environment says, or beside the data."""
    if ledger is not None:
        return ledger
    if named := os.environ.get("DISCREET_LEDGER"):
        return named
    if isinstance(source, (str, os.PathLike)) and "://" not in str(source):
        path = Path(source)
        folder = path if path.is_dir() else path.parent
        return (folder if folder.exists() else Path()) / "discreet.db"
    return "discreet.db"
