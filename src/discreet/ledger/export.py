"""A ledger for people: JSON, CSV, or entries for the OpenDP registry of deployments (YAML, written as JSON).

The registry (https://registry.opendp.org) asks each deployment for its flavour, unit and parameters of privacy, its
model, its accounting, its implementation and what is not protected. What the ledger knows is filled in; what only the
custodian knows says so.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from importlib.metadata import version
from textwrap import indent
from typing import Literal, get_args

from discreet.core.release import harmless
from discreet.core.wire import Json
from discreet.errors import InputError
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger

__all__ = ["Format", "entry", "export", "export_parts", "json_in_yaml"]

_TELL = "To be filled in by the custodian."

_UNPROTECTED = (
    "Who asked what, when and at what cost; the schema, its bounds, categories and keys; the number and timing of "
    "releases; that a release failed; whether and when files or tables of the data were written. None of "
    "these is computed from private values by discreet; where a person chose them by looking at the data, that is not "
    "covered."
)

_COUNTED = {
    "pure": "epsilons are added (basic composition, valid as a privacy filter)",
    "zcdp": "rho and failure delta are added, each under a fixed cap (zCDP privacy filter, fully adaptive)",
    "plan": "jobs fixed in advance, each counted by its privacy loss distribution; their (epsilon, delta) are added",
}


def entry(ledger: Ledger, dataset: str) -> dict[str, Json]:
    """The entry of one dataset, in the order people read it."""
    account, standing = ledger.account(dataset), ledger.standing(dataset)
    outcomes = ledger.releases(dataset)
    mechanisms = sorted({outcome.charged.mechanism for outcome in outcomes if outcome.charged.mechanism})
    first = outcomes[0].charged.time[:10] if outcomes else None
    spent: list[Json] = [
        {
            "allotment": each.allotment.name,
            "counted_as": each.allotment.kind,
            each.allotment.currency: float(each.spent.amount),
            "delta": float(each.spent.delta),
            "cap": float(each.allotment.cap.amount),
            "cap_delta": float(each.allotment.cap.delta),
        }
        for each in standing
    ]
    return {
        "status": "Draft",
        "deployment": {
            "product": {
                "name": dataset,
                "data_curators": [_TELL],
                "intended_use": _TELL,
                "data_product_type": "Statistics",
                "description": _TELL,
                "publication_date": first,
            },
            "dp_flavor": {
                "name": _flavour(account.budget),
                "data_domain": _TELL,
                "unprotected_quantities": _UNPROTECTED,
            },
            "privacy_loss": {
                "privacy_unit": account.unit,
                "privacy_unit_description": account.unit,
                "privacy_parameters": _parameters(account.budget),
                "privacy_parameters_description": "The budget: an upper bound on everything ever released.",
                "spent_so_far": spent,
            },
            "model": {
                "model_name": "Central",
                "actors": "A trusted curator holds the data and runs discreet; readers of releases are not trusted.",
                "release_type": "Many releases",
                "releases_so_far": len(outcomes),
                "data_source_type": _TELL,
                "access_type": "Interactive",
            },
            "accounting": {
                "post_processing": "Whatever is computed from a release alone is free.",
                "composition": "; ".join(f"{part.name}: {_COUNTED[part.kind]}" for part in account.budget.allotments)
                + ". Across allotments (epsilon, delta) are added.",
            },
            "implementation": {
                "mechanisms": list(mechanisms),
                "library": f"discreet {version('discreet')}: exact integer noise from cryptographic randomness",
                "ledger_head": {"sequence": ledger.head().sequence, "hash": ledger.head().hash},
            },
        },
    }


def _flavour(budget: Budget) -> str:
    if budget.rho is not None:
        return "Approximate zero-concentrated DP" if budget.delta else "Zero-concentrated DP"
    return "Approximate DP" if budget.delta else "Pure DP"


def _parameters(budget: Budget) -> dict[str, Json]:
    named = {"epsilon": budget.epsilon, "rho": budget.rho, "delta": budget.delta or None}
    return {name: float(value) for name, value in named.items() if value is not None}


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
    return "".join(export_parts(ledger, format, dataset=dataset))


def export_parts(ledger: Ledger, format: Format = "json", *, dataset: str | None = None) -> Iterator[str]:
    """The same text in parts, as records are read: a long ledger needs no long memory."""
    match format:
        case "json":
            return _json(ledger, dataset)
        case "csv":
            return _csv(ledger, dataset)
        case "registry":
            datasets = ledger.datasets() if dataset is None else (dataset,)
            return (
                ("---\n" if place else "") + json_in_yaml(entry(ledger, each)) for place, each in enumerate(datasets)
            )
        case _:
            raise InputError("format", format, among=get_args(Format))


def _json(ledger: Ledger, dataset: str | None) -> Iterator[str]:
    """What `json.dumps` writes with an indent of 1."""
    before = '{\n "format": 1,\n "records": ['
    first = before
    for record in ledger.records(dataset):
        text = json.dumps({**record.to_json(), "hash": record.hash}, indent=1)
        yield before + indent(f"\n{text}", "  ")
        before = ","
    yield "\n ]\n}\n" if before != first else f"{before}]\n}}\n"


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


def _csv(ledger: Ledger, dataset: str | None) -> Iterator[str]:
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
        yield _taken(out)
    yield _taken(out)


def _taken(out: io.StringIO) -> str:
    text = out.getvalue()
    out.seek(0)
    out.truncate()
    return text


def _decimal(number: Fraction) -> str:
    """Exact if that is short, else the fraction itself."""
    shown = repr(float(number))
    return shown if Fraction(shown) == number else str(number)
