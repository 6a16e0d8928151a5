"""How far a ledger was verified, and what was known there: kept beside the guard, and as trustworthy as that.

A position names a record by its hash, which stands for all records before it. It is used only on a ledger that has this
record, and only if the record binds the totals, accounts and sums that the position holds: docs/proofs/ledger.md.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from discreet.core.wire import Json, canonical, fraction
from discreet.ledger.budget import Charge
from discreet.ledger.guard import Guard
from discreet.ledger.record import Head
from discreet.ledger.store import Epsilons

__all__ = ["OpenRelease", "Position"]

_FORMAT = 1


class OpenRelease(NamedTuple):
    """A release that was charged and has no outcome yet."""

    priced: bool
    """Whether it was charged for a plan, and not written off."""
    measured: bool = False


@dataclass(frozen=True, slots=True)
class Position:
    """A record up to which all was verified, and what a check must know to go on from there."""

    head: Head
    charges: int
    without_unit: int
    lost: int
    """The number of the last acknowledgement."""
    spent: dict[tuple[str, str], Charge]
    epsilons: Epsilons
    open: dict[str, OpenRelease]

    @classmethod
    def read(cls, guard: Guard | None, identity: str | None) -> Position | None:
        """The position that was last verified; None where none is known, or it cannot be read."""
        path = None if guard is None or identity is None else guard.beside(identity, "verified")
        with suppress(OSError, ValueError, TypeError, KeyError):
            return None if path is None else cls._from_json(json.loads(path.read_text(encoding="utf-8")))
        return None

    def save(self, guard: Guard | None, identity: str | None) -> None:
        """Remember it, whole or not at all; a folder that cannot be written costs the next check its short way."""
        path = None if guard is None or identity is None else guard.beside(identity, "verified")
        if path is None:
            return
        with suppress(OSError):
            draft = path.with_name(f"{path.name}.{os.getpid()}.new")
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                file.write(canonical(self._to_json()))
                file.flush()
                os.fsync(file.fileno())
            Path(draft).replace(path)

    def _to_json(self) -> dict[str, Json]:
        sums: list[Json] = [[*key, None if each is None else str(each)] for key, each in sorted(self.epsilons.items())]
        return {
            "format": _FORMAT,
            "head": [self.head.sequence, self.head.hash],
            "charges": self.charges,
            "without_unit": self.without_unit,
            "lost": self.lost,
            "spent": [[*key, str(each.amount), str(each.delta)] for key, each in sorted(self.spent.items())],
            "epsilons": sums,
            "open": [[name, each.priced, each.measured] for name, each in sorted(self.open.items())],
        }

    @classmethod
    def _from_json(cls, value: dict[str, object]) -> Position:
        known: dict[str, list[list[str]]] = value  # type: ignore[assignment]  # whatever else it is raises below
        if value["format"] != _FORMAT:
            raise ValueError(value["format"])
        sequence, hash_ = known["head"]
        spent = {(a, b): Charge(fraction(c, "spent"), fraction(d, "spent")) for a, b, c, d in known["spent"]}
        sums: Epsilons = {(a, b): None if c is None else fraction(c, "epsilon") for a, b, c in known["epsilons"]}
        opened = {str(name): OpenRelease(bool(priced), bool(drawn)) for name, priced, drawn in known["open"]}
        charges, without_unit, lost = (int(str(value[name])) for name in ("charges", "without_unit", "lost"))
        return cls(Head(int(str(sequence)), str(hash_)), charges, without_unit, lost, spent, sums, opened)
