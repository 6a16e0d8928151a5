"""Answers that are tables, read from the ledger: of a question, a batch, a period of a stream, flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.core.note import Note
from discreet.core.packing import crossed, unpack
from discreet.core.release import Release
from discreet.errors import InputError
from discreet.ledger.door import Answer
from discreet.query.title import condition_text, output_titles, question_title

__all__ = ["Tables", "described", "read_table", "tables"]


class Tables(dict[str, Release]):
    """Several tables of one release, by name."""

    def tables(self) -> Tables:
        """Themselves: what every release can be asked for."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """Plain values of each."""
        return {name: table.to_dict() for name, table in self.items()}

    def _repr_html_(self) -> str:
        from discreet.core.release_view import tables_cell

        return tables_cell(self)


def tables(answer: Answer, cost: str, remaining: str) -> Tables:
    """The tables of an answer: the parts of a batch by name, a single one under ""."""
    result: Any = answer.result
    parts = result.get("parts", {"": result})
    if not all(("columns" in part or "packed" in part) and "keys" in part for part in parts.values()):
        kind = next((kind for kind in ("tree", "synth", "train") if kind in result), None)
        hint = "" if kind is None else f"Read it as what it is: discreet {kind} show."
        raise InputError("release", answer.release, "a release of tables: this one is of another kind", hint)
    asked: Any = answer.query or {}
    found = Tables()
    for name, part in parts.items():
        # The ledger keeps no order of names; people read keys first, then each output with its interval.
        columns = part["columns"] if "columns" in part else _unpacked(part)
        order = [*part["keys"], *(output + end for output in part["outputs"] for end in ("", "_lower", "_upper"))]
        query = asked.get("batch", {}).get(name, {}) if name else asked
        provenance = answer.provenance(cost, remaining)
        found[name] = Release(
            **provenance | {"facts": {**described(query), **provenance["facts"]}},
            columns={column: columns[column] for column in order},
            keys=tuple(part["keys"]),
            outputs=tuple(part["outputs"]),
            confidence=part["confidence"],
            query=query,
            absent=part.get("absent", {}),
            notes=(*_stale(answer, part["outputs"]), *(Note.from_dict(note) for note in part.get("notes", ()))),
        )
    return found


def described(query: Any) -> dict[str, Any]:
    """What a recorded question says of itself in words: its title, its condition, its outputs."""
    asked = query.get("stream", query) if isinstance(query, Mapping) else {}
    title = question_title(asked)
    if not title:
        return {}
    told: dict[str, Any] = {"title": title, "where": condition_text(asked), "outputs": output_titles(asked)}
    return {name: value for name, value in told.items() if value}


def _unpacked(part: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The columns of a long table: labels are recorded once in their order, and numbers packed."""
    keys = crossed({key: part["labels"][key] for key in part["keys"]})
    return keys | {name: unpack(entry).tolist() for name, entry in part["packed"].items()}


def read_table(answer: Answer, cost: str, remaining: str) -> Release:
    """The one table of an answer."""
    return tables(answer, cost, remaining)[""]


def _stale(answer: Answer, outputs: Sequence[str]) -> list[Note]:
    """A note where nobody can tell whether a stored answer is one about the data there is now."""
    return [Note("data", answer.stale, tuple(outputs))] if answer.stale else []
