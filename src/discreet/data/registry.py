"""The kinds of sources: which address or ending leads to which. Whoever adds a kind registers it here.

The command line, the server's file and `discreet.open` read what a person typed by this table (`source.source_of`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.data.source import Source

__all__ = ["SOURCES", "SourceKind", "kind_for", "known_words", "register_source"]

_TABLES = "an Arrow/pandas/Polars/Spark table"


@dataclass(frozen=True, slots=True)
class SourceKind:
    """A kind of source by what a person writes: `example://...`, or a file that ends in `.example`."""

    name: str
    words: str
    """What is written, for messages: "postgresql://..."."""
    open: Callable[[str, str | None], Source]
    """The source at an address or path, and of a table in it, if one was named. It reads no row."""
    schemes: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()


SOURCES: dict[str, SourceKind] = {}
"""Every kind, by its name."""


def register_source(kind: SourceKind) -> SourceKind:
    """Add a kind. Its schemes and endings must be its own."""
    if kind.name in SOURCES:
        raise InputError("kind.name", kind.name, "a name that no other kind of source has")
    if not callable(kind.open) or not (kind.schemes or kind.endings):
        raise InputError("kind", kind.name, "a kind with schemes or endings, and a function that opens it")
    for scheme in kind.schemes:
        if not scheme.isalnum() or scheme != scheme.lower():
            raise InputError("kind.schemes", scheme, "small letters and digits, without ://")
    for ending in kind.endings:
        if not ending.startswith(".") or ending != ending.lower() or len(ending) < 2:
            raise InputError("kind.endings", ending, "small letters after a point, such as .jsonl")
    for other in SOURCES.values():
        for field in ("schemes", "endings"):
            for shared in sorted({*getattr(kind, field)} & {*getattr(other, field)}):
                raise InputError(f"kind.{field}", shared, f"one that no other kind has; {other.name!r} has it")
    SOURCES[kind.name] = kind
    return kind


def kind_for(place: str) -> SourceKind:
    """The kind of what a person typed: by its scheme, or else by its ending; a file of another ending is of `files`."""
    scheme, mark, _ = place.partition("://")
    if mark:
        for kind in SOURCES.values():
            if scheme in kind.schemes:
                return kind
        raise InputError("source", f"{scheme}://...", known_words())
    ending = Path(place).suffix.lower()
    return next((kind for kind in SOURCES.values() if ending in kind.endings), SOURCES["files"])


def known_words() -> str:
    """All that may be written, for messages."""
    return f"{', '.join(kind.words for kind in SOURCES.values())}, or {_TABLES}"
