"""What every release says of itself, whatever kind of job made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from discreet.core.note import Note
from discreet.core.release import Release

__all__ = ["Publication", "rows_table"]


@dataclass(frozen=True, kw_only=True)
class Publication:
    """Something that was published, read from its record. Reading it again is free."""

    id: str
    dataset: str
    cost: str
    remaining: str
    mechanism: str
    digest: str
    data: str = ""
    """The version of the data it was made from."""
    replayed: bool = field(default=False, compare=False)
    """Whether it was on the ledger already: then `cost` was paid before, and nothing was spent this time."""

    stale: str = field(default="", compare=False)
    """Why a stored answer may describe other data than there is now; empty if it does not."""

    facts: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """What else files of it say: what is protected, when it was released, the price in numbers."""

    caveats: tuple[Note, ...] = ()
    """What limits and declarations leave out of it, as every table of it says."""

    @property
    def provenance(self) -> dict[str, Any]:
        """Where it came from, by name: what every table of it says too."""
        names = ("id", "dataset", "cost", "remaining", "mechanism", "digest", "data", "replayed", "facts")
        return {name: getattr(self, name) for name in names}

    @property
    def about(self) -> str:
        """Its cost and where it came from, in a line."""
        left = f"; left: {self.remaining}" if self.remaining else ""
        return f"cost {self.cost}{left}; release {self.id}; data {self.data}; {self.digest[:12]}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know of its numbers: whether they may be of earlier data, and what is left out of them."""
        return (*((self.stale,) if self.stale else ()), *(note.text for note in self.caveats))

    def table_notes(self, *outputs: str) -> tuple[Note, ...]:
        """The notes of one of its tables."""
        stale = (Note("data", self.stale, outputs),) if self.stale else ()
        return (*stale, *(replace(note, outputs=outputs) for note in self.caveats))

    def tables(self) -> Mapping[str, Release]:
        """Its tables by name; none where it is no table."""
        return {}

    @property
    def heading(self) -> str:
        """What it is, in a few words."""
        return "Release"

    def shown(self) -> tuple[Any, ...]:
        """What a notebook shows of it, as parts of a page; if nothing, its tables are shown."""
        return ()

    def _repr_html_(self) -> str:
        from discreet.core.release_view import publication_cell

        return publication_cell(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values that say what it is, without its numbers."""
        return {name: value for name, value in self.provenance.items() if name not in ("replayed", "facts")}


def rows_table(columns: Mapping[str, list[Any]], source: Publication) -> Release:
    """Rows that are nobody's as a table: there is nothing to have an interval. Days and times are texts, as in JSON."""
    plain = {name: [_plain(value) for value in values] for name, values in columns.items()}
    notes = source.table_notes()
    return Release(columns=plain, keys=tuple(plain), outputs=(), confidence=0.95, notes=notes, **source.provenance)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value
