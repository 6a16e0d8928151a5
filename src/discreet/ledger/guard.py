"""What watches a ledger: an anchor in another folder, or one that is named, and the memory of what lay here before."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from discreet.errors import InputError
from discreet.ledger.anchor import Anchor, FileAnchor, Mark, marks_after
from discreet.ledger.state import guards_folder, private_folder
from discreet.ledger.store import Reader, Store

__all__ = ["Guard", "anchor_at", "identity_of"]


def identity_of(reader: Reader) -> str | None:
    """What tells a ledger from every other, wherever it is moved or copied: the hash of its first record."""
    first = reader.row(1)
    return None if first is None else first.hash[:32]


class Guard:
    """The anchors of one ledger. By default one in the state folder of this machine, under the ledger's identity.

    `named` anchors stand instead of that one. `place` is where the ledger is kept: what lay there before is remembered,
    so that another ledger in its place is noticed. An anchor `<place>.head` of version 0.1 is heeded and kept up.
    """

    def __init__(self, named: Sequence[str] = (), *, place: Path | None = None) -> None:
        self._named = tuple(named)
        self._place = place
        self._beside = None if place is None else FileAnchor(place.with_name(place.name + ".head"))

    def anchors(self, identity: str | None) -> list[Anchor]:
        """The anchors of the ledger of this identity, whether they are there yet or not."""
        found: list[Anchor] = []
        if self._named:
            found += [anchor_at(place, identity) for place in self._named if identity is not None or not _many(place)]
        elif identity is not None:
            found.append(_file_of(identity))
            former = self.former()
            if former not in (None, identity):
                found.append(_file_of(str(former)))
        if self._beside is not None and self._beside.path.exists():
            found.append(self._beside)
        return found

    def follow(self, store: Store, *, to: int) -> None:
        """Add what was committed, up to record `to` at least, to every anchor."""

        def look(last: Mark | None) -> list[Mark]:
            with store.read() as reader:
                return marks_after(reader, last)

        with store.read() as reader:
            identity = identity_of(reader)
        for anchor in self.anchors(identity):
            anchor.follow(look, to=to)
        self._register(identity)

    def close(self, mark: Mark, reader: Reader) -> None:
        """Put a last mark on every anchor of these books: they are behind it from now on, and refused."""
        for anchor in self.anchors(identity_of(reader)):
            anchor.add(mark)

    def accept(self, reader: Reader) -> None:
        """Make these books the ones that are watched from now on."""
        identity = identity_of(reader)
        self._register(identity)  # first: what lay here before is not rewritten
        for anchor in self.anchors(identity):
            anchor.rewrite(reader)

    def former(self) -> str | None:
        """The identity of the ledger last seen at this place."""
        if self._place is None or self._named:
            return None
        with suppress(OSError):
            return _register_of(self._place).read_text(encoding="utf-8").split("\n")[0] or None
        return None

    def lost(self) -> int:
        """How many records the ledger had that lay at this place, or that the named file watched; 0 if none did."""
        former = self.former()
        marks = [anchor.last() for anchor in self.anchors(former)]
        return max((mark.head.sequence for mark in marks if mark is not None), default=0)

    def _register(self, identity: str | None) -> None:
        if self._place is None or self._named or identity is None or self.former() == identity:
            return
        path = _register_of(self._place)
        private_folder(path.parent)
        draft = path.with_name(f"{path.name}.{os.getpid()}.new")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(f"{identity}\n{self._place}\n")
        draft.replace(path)


def anchor_at(place: str, identity: str | None) -> Anchor:
    """The anchor at a place: a file, a folder with a file for each ledger, sqlite:///path or postgresql://..."""
    scheme, mark, rest = place.partition("://")
    if mark and scheme in ("postgresql", "postgres", "sqlite"):
        from discreet.ledger.anchor_table import PostgresAnchor, SqliteAnchor

        if scheme == "sqlite":
            return SqliteAnchor(Path(rest.removeprefix("/") if not rest.startswith("//") else rest[1:]), identity or "")
        return PostgresAnchor(place, identity or "")
    if mark:
        raise InputError("anchor", f"{scheme}://...", "a path, sqlite:///path or a postgresql:// address")
    path = Path(place)
    return FileAnchor(path / f"{identity}.head") if path.is_dir() else FileAnchor(path)


def _many(place: str) -> bool:
    """Whether several ledgers are watched at a place, so that which one it is must be known."""
    return "://" in place or Path(place).is_dir()


def _file_of(identity: str) -> FileAnchor:
    return FileAnchor(private_folder(guards_folder()) / f"{identity}.head")


def _register_of(place: Path) -> Path:
    name = hashlib.sha256(str(place.resolve()).encode()).hexdigest()[:32]
    return guards_folder() / "places" / name
