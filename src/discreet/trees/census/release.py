"""A published census: a hierarchy for each table, which agree with each other. Reading it again is free."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.core.filename import file_name
from discreet.core.note import Note
from discreet.core.publication import Publication
from discreet.core.release import Release, plural
from discreet.errors import InputError
from discreet.ledger.door import Answer
from discreet.mechanisms.inputs import read_confidence
from discreet.trees.census.agreement import agreeing, informed, totals_of
from discreet.trees.methods import METHODS, ORDERED
from discreet.trees.release import TreeRelease

if TYPE_CHECKING:
    from discreet.show.map import Map

__all__ = ["CensusRelease"]


@dataclass(frozen=True, eq=False)
class CensusRelease(Publication):
    """Tables of persons and households: `release["types"]` is the hierarchy of a table, `release["types"]["county"]`
    its table of a level.
    """

    parts: Mapping[str, TreeRelease]
    leads: Mapping[str, str]
    """For each table, the one that its totals are taken from."""
    agreements: tuple[str, ...] = ()
    """Which tables have the same total in every region, and which have not."""

    @classmethod
    def read(cls, answer: Answer, cost: str, remaining: str) -> CensusRelease:
        """From an answer on the ledger."""
        result: Any = answer.result
        measured: Any = answer.measured
        entries, parts = {name: result["census"][name] for name in result["order"]}, {}
        for name, entry in entries.items():
            agree = [Note("agreement", text, ()).to_dict() for text in result["agree"]]
            own = {"tree": entry["tree"], "notes": [*result["notes"], *entry["notes"], *agree]}
            alone = replace(answer, result=own, measured=measured["parts"][name], query=entry["query"])
            parts[name] = replace(TreeRelease.read(alone, cost, remaining), counted=_counted(entry["query"]))
        leads = {name: entry["lead"] for name, entry in entries.items()}
        known = {
            name: replace(part, measured=informed(part.measured, _lead(parts, leads, name)))
            for name, part in parts.items()
        }
        return cls(
            **answer.provenance(cost, remaining),
            parts=known,
            leads=leads,
            agreements=tuple(result["agree"]),
            stale=answer.stale,
            caveats=answer.caveats,
        )

    @property
    def levels(self) -> tuple[str, ...]:
        """The names of the levels, the root first."""
        return next(iter(self.parts.values())).levels

    @property
    def confidence(self) -> float:
        """Of the intervals."""
        return next(iter(self.parts.values())).confidence

    @property
    def notes(self) -> tuple[str, ...]:
        """What is left out, and which tables agree."""
        return (*super().notes, *self.agreements)

    def __getitem__(self, table: str) -> TreeRelease:
        if table not in self.parts:
            raise InputError("table", table, among=self.parts)
        return self.parts[table]

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def tables(self) -> dict[str, Release]:
        """The table of every level of every table, by name: `types.county`."""
        return {f"{name}.{level}": table for name, part in self.parts.items() for level, table in part.tables().items()}

    def again(self, method: str, *, confidence: float | None = None) -> CensusRelease:
        """The same noisy counts through another method; the tables agree again. Costs nothing.

        Cumulative sizes stay with theirs where it has no form for them.
        """
        if method not in METHODS:
            raise InputError("method", method, among=METHODS)
        sure = self.confidence if confidence is None else float(read_confidence(confidence))
        kept = {name for name, part in self.parts.items() if part.measured.chain and method not in ORDERED}
        return self.made({name: part.method if name in kept else method for name, part in self.parts.items()}, sure)

    def made(self, methods: Mapping[str, str], confidence: float) -> CensusRelease:
        """All tables made of their noisy counts by a method each, those that lead first; they agree."""
        found: dict[str, TreeRelease] = {}
        for name in sorted(self.parts, key=lambda name: self.leads[name] != name):
            part, lead, used = self.parts[name], self.leads[name], methods[name]
            bound = None if lead == name else totals_of(found[lead].estimate, chain=found[lead].measured.chain)
            estimate = agreeing(used, part.measured, bound, confidence, part.rules)
            found[name] = replace(part, method=used, confidence=confidence, _published=estimate)
        return replace(self, parts={name: found[name] for name in self.parts})

    def save(self, folder: str | Path, kind: str = "parquet") -> list[Path]:
        """A folder for each table, with its files and a dictionary; the paths."""
        return [path for name, part in self.parts.items() for path in part.save(Path(folder) / file_name(name), kind)]

    def map(
        self,
        *,
        table: str | None = None,
        title: str | None = None,
        geometry: Any = "auto",
        code_property: str | None = None,
        intervals: str = "each",
    ) -> Map:
        """The map of one of its tables, the first unless one is named: one page that needs no network."""
        named = next(iter(self.parts)) if table is None else table
        part = self[named]
        from discreet.trees.atlas import map_title

        how = {"geometry": geometry, "code_property": code_property, "intervals": intervals}
        return part.map(title=title or f"{map_title(part)} ({named})", **how)

    def save_measurements(self, folder: str | Path) -> list[Path]:
        """The noisy counts of every table, in a folder each, and which tables agree; the paths.

        Totals that tables share were measured once, and are in the folder of each of them. `read_census` makes the
        census of the whole folder; a table that is read alone is not bound to the totals of the others.
        """
        from discreet.trees.census.folder import save_census

        return save_census(self, folder)

    def to_dict(self) -> dict[str, Any]:
        """Plain values that say what it is, without its numbers."""
        about = {name: part.to_dict() for name, part in self.parts.items()}
        own = {
            name: {key: part[key] for key in ("method", "levels", "notes")} | {"totals_of": self.leads[name]}
            for name, part in about.items()
        }
        return {**super().to_dict(), "tables": own, "notes": list(self.notes)}

    @property
    def heading(self) -> str:
        """What it is, in a few words."""
        return f"Census: {', '.join(self.parts)}"

    def __repr__(self) -> str:
        lines = [f"<Census of {self.dataset!r}: {plural(len(self.parts), 'table')}>"]
        for name, part in self.parts.items():
            cells = plural(part.measured.cells, "cell")
            lines.append(f"  {name}: {', '.join(part.levels)} x {cells}, by {part.method}")
        lines += [f"Note: {note}" for note in self.notes]
        return "\n".join([*lines, f"[{self.about}]"])


def _counted(query: Any) -> str:
    """What a table counts, in a word."""
    counts = query["tree"].get("counts", "records")
    return "households" if counts == "sizes" else str(counts)


def _lead(parts: Mapping[str, TreeRelease], leads: Mapping[str, str], name: str) -> Any:
    return None if leads[name] == name else parts[leads[name]].measured
