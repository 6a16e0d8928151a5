"""The books that a command opens, and how it tells of them."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.apps.cli.completion import datasets
from discreet.curator.setup import find_ledger
from discreet.ledger.account import Standing
from discreet.ledger.ledger import Ledger

__all__ = ["Dataset", "Place", "books", "number_of", "place_of", "standing_values"]

Place = Annotated[
    str | None,
    typer.Option(
        "--ledger", envvar="DISCREET_LEDGER", help="A path or postgresql://...; .discreet/ledger.db by default."
    ),
]
Dataset = Annotated[str | None, typer.Option(help="Only this dataset.", autocompletion=datasets)]


def place_of(ledger: str | None) -> str:
    """The ledger that is named, or the one of the schema in this folder."""
    return str(find_ledger(None, "discreet.toml", ledger))


def books(ledger: str | None) -> Ledger:
    """The ledger, which must exist: reading must not make an empty one."""
    return Ledger.open(place_of(ledger))


def number_of(count: int, noun: str) -> str:
    """So many of something.

    >>> number_of(1, "charge"), number_of(1200, "charge")
    ('1 charge', '1,200 charges')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def standing_values(standing: Standing) -> dict[str, object]:
    """Where an allotment stands, as plain values."""
    part = standing.allotment
    amounts = {"budget": part.cap, "spent": standing.spent, "left": standing.left}
    numbers = {name: {"amount": str(charge.amount), "delta": str(charge.delta)} for name, charge in amounts.items()}
    return {
        "dataset": standing.dataset,
        "allotment": part.name,
        "kind": part.kind,
        "currency": part.currency,
        **numbers,
    }
