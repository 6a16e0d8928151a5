"""The books for people: JSON, CSV, or an entry for a registry of deployments (YAML, written as JSON)."""

from __future__ import annotations

import csv
import io
import json
import re
from fractions import Fraction
from typing import Literal, get_args

from discreet.core.release import harmless
from discreet.core.wire import Json
from discreet.errors import InputError
from discreet.ledger.ledger import Ledger
from discreet.ledger.registry import entry

__all__ = ["Format", "export", "json_in_yaml"]

Format = Literal["json", "csv", "registry"]

_COLUMNS = (
    "sequence",
    "time",
    "kind",
    "dataset",
    "allotment",
    "amount",
    "delta",
    "who",
    "why",
    "release",
    "mechanism",
    "digest",
    "unit",
    "data",
    "query",
    "result",
    "hash",
)

_BARE = re.compile(r'"(?:[^"\\]|\\.)*"|(?<![\d.])(\d+)(e[+-]?\d+)')  # a text, to be left alone; or 1e-06
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def export(ledger: Ledger, format: Format = "json", *, dataset: str | None = None) -> str:
    """The records (json, csv) or the deployment entries (registry, YAML) of one dataset or of all."""
    match format:
        case "json":
            records: list[Json] = [{**record.to_json(), "hash": record.hash} for record in ledger.records(dataset)]
            return json.dumps({"format": 1, "records": records}, indent=1) + "\n"
        case "csv":
            return _csv(ledger, dataset)
        case "registry":
            datasets = ledger.datasets() if dataset is None else (dataset,)
            return "---\n".join(json_in_yaml(entry(ledger, each)) for each in datasets)
        case _:
            raise InputError("format", format, among=get_args(Format))


def json_in_yaml(value: Json) -> str:
    """JSON that every reader of YAML, of version 1.1 too, reads as what it is.

    >>> print(json_in_yaml({"delta": 1e-06}), end="")
    {
      "delta": 1.0e-06
    }
    """
    text = json.dumps(value, indent=2, ensure_ascii=False)
    # YAML 1.1 takes 1e-06 for a text, and some characters for line breaks or for none at all.
    text = _BARE.sub(lambda part: f"{part[1]}.0{part[2]}" if part[1] else part[0], text)
    return _UNSAFE.sub(lambda each: f"\\u{ord(each[0]):04x}", text) + "\n"


def _csv(ledger: Ledger, dataset: str | None) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(_COLUMNS)
    for record in ledger.records(dataset):
        values = {"unit": "", **record.to_json(), "hash": record.hash, "data": str(record.data or "")}
        values["query"] = "" if record.query is None else json.dumps(record.query)
        for name in ("amount", "delta"):
            number = getattr(record, name)
            values[name] = "" if number is None else _decimal(number)
        writer.writerow(harmless("" if values[name] is None else str(values[name])) for name in _COLUMNS)
    return out.getvalue()


def _decimal(number: Fraction) -> str:
    """Exact if that is short, else the fraction itself."""
    shown = repr(float(number))
    return shown if Fraction(shown) == number else str(number)
