"""What watches a ledger: an anchor in another folder, those that are named, and the memory of what lay here before."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from discreet.errors import InputError, LedgerError
from discreet.ledger.anchor import Anchor, FileAnchor, Mark, agrees, marks_after
from discreet.ledger.location import address_key, guards_folder, private_folder, public_address
from discreet.ledger.record import Head
from discreet.ledger.store import Reader, Store, Writer

__all__ = ["Guard", "Step", "Watch", "anchor_at", "identity_of"]


def identity_of(reader: Reader) -> str | None:
    """What tells a ledger from every other, wherever it is moved or copied: the hash of its first record."""
    first = reader.row(1)
    return None if first is None else first.hash[:32]


class Step(NamedTuple):
    """What one transaction added to a ledger, once it is committed."""

    identity: str | None
    begin: Head
    """The end of the chain before it."""
    marks: tuple[Mark, ...]

    @classmethod
    def of(cls, writer: Writer, begin: Head) -> Step | None:
        """That of a transaction which is about to end; None where it added records in more than one way, or none."""
        if not writer.appended:
            return None
        return cls(identity_of(writer), begin, tuple(Mark.behind(*each) for each in writer.appended))

    @property
    def end(self) -> Head:
        """The end of the chain after it."""
        return self.marks[-1].head


class Watch(NamedTuple):
    """The anchors that have a say about a ledger, whether they are there yet or not."""

    named: list[Anchor]
    """Those that were named: each must have seen the ledger."""
    local: Anchor | None
    """The one in the state folder of this machine."""
    beside: list[Anchor]
    """The one of version 0.1, if there is one. It lies beside the ledger and is restored with it: never enough."""
    former: list[Anchor]
    """Those of another ledger that lay at this address before."""

    @property
    def own(self) -> list[Anchor]:
        """Those that follow this ledger. The named ones first: they are shared, and only one of two copies gets by."""
        return [*self.named, *([] if self.local is None else [self.local]), *self.beside]


class Guard:
    """The anchors of one ledger: one in the state folder of this machine, under the ledger's identity, and the `named`.

    `address` is where the ledger is kept: what lay there before is remembered on this machine and in named anchors of
    many ledgers, so that another ledger in its stead is noticed and a lost one is not begun anew. An anchor
    `<address>.head` of version 0.1 is heeded and kept up. Without `local` nothing is kept in the state folder.
    """

    def __init__(self, named: Sequence[str] = (), *, address: str | Path | None = None, local: bool = True) -> None:
        self._named = tuple(named)
        self._address = address
        self._local = local
        self._beside = FileAnchor(address.with_name(address.name + ".head")) if isinstance(address, Path) else None
        self._key = "" if address is None else address_key(address)
        self._entered: str | None = None
        self.seen: Head | None = None
        """A record that all anchors have seen; it saves looking again."""

    def watch(self, identity: str | None) -> Watch:
        """The anchors of the ledger of this identity."""
        beside: list[Anchor] = [self._beside] if self._beside is not None and self._beside.path.exists() else []
        former: list[Anchor] = []
        before = self.former()
        if identity is not None and before not in (None, identity):
            former = [
                self._file_of(str(before)),
                *(anchor_at(address, before) for address in self._named if _many(address)),
            ]
        named = [anchor_at(address, identity) for address in self._named if identity is not None or not _many(address)]
        return Watch(named, None if identity is None else self._local_of(identity), beside, former)

    def _local_of(self, identity: str) -> Anchor | None:
        """The anchor in the state folder; None if nothing can be kept there and another one is named."""
        if not self._local:
            return None
        try:
            anchor = self._file_of(identity)
        except LedgerError:
            if self._named:
                return None
            raise
        useless = not anchor.path.exists() and not os.access(anchor.path.parent, os.W_OK)
        return None if self._named and useless else anchor

    def beside(self, identity: str, name: str) -> Path | None:
        """Where something else is remembered of the ledger of this identity, as safe as its anchor; None if nowhere."""
        anchor = self._local_of(identity)
        return anchor.path.with_suffix(f".{name}") if isinstance(anchor, FileAnchor) else None

    def follow(self, store: Store, step: Step | None = None) -> None:
        """Add what was committed to every anchor; `LedgerError` if one of them follows another copy by now.

        `step` is what this process committed just now: an anchor that ends where it begins needs no look at the ledger.
        """
        if step is None:
            with store.read() as reader:
                identity, end = identity_of(reader), reader.head()
        else:
            identity, end = step.identity, step.end
        try:
            first, *others = self.watch(identity).own
            self.lead(first, store, step=step)
            for anchor in others:
                self.lead(anchor, store, first.history, step=step)
            self._register(identity)
        except OSError as error:
            raise LedgerError(
                f"The change is on the ledger, but its guard cannot be written ({error.strerror}). Make room, "
                "then ask again under the same release id: it is not charged twice."
            ) from None
        self.seen = end

    @staticmethod
    def lead(anchor: Anchor, store: Store, known: Callable[[], list[Mark]] = list, *, step: Step | None = None) -> None:
        """Add what was committed to one anchor; a new one begins with what is `known`."""

        def look(last: Mark | None) -> list[Mark]:
            if step is not None and last is not None and last.head == step.begin:
                return list(step.marks)
            with store.read() as reader:
                return marks_after(reader, last)

        anchor.follow(look, known)

    def saw(self, reader: Reader, sequence: int) -> bool:
        """Whether all anchors are known to have seen a record of this ledger."""
        return self.seen is not None and self.seen.sequence >= sequence and agrees(Mark(self.seen), reader)

    def close(self, mark: Mark, reader: Reader) -> None:
        """Put a last mark on every anchor of this ledger: it is behind it from now on, and refused."""
        for anchor in self.watch(identity_of(reader)).own:
            if anchor.last() != mark:
                anchor.add(mark)

    def accept(self, reader: Reader) -> None:
        """Make this ledger the one that is watched from now on."""
        identity = identity_of(reader)
        for anchor in self.watch(identity).own:
            anchor.rewrite(reader)
        self._register(identity)

    def former(self) -> str | None:
        """The identity of the ledger last seen at this address, on this machine."""
        if self._address is None or not self._local:
            return None
        with suppress(OSError):
            return self._register_path.read_text(encoding="utf-8").split("\n")[0] or None
        return None

    def lost(self) -> int:
        """How many records the ledger had that lay at this address, or that the named file watched; 0 if none did.

        A shared anchor knows a ledger by its path or address: one at the same path of another machine counts too.
        """
        before = self.former()
        identities = {word for register in self._registers() for word in register.entries()} | {before} - {None}
        anchors = [anchor for identity in (None, *sorted(map(str, identities))) for anchor in self.watch(identity).own]
        marks = [anchor.last() for anchor in anchors]
        return max((mark.head.sequence for mark in marks if mark is not None), default=1 if identities else 0)

    @cached_property
    def _folder(self) -> Path:
        """Where anchors of this machine are: looked up once, for every transaction needs it several times."""
        return guards_folder()

    @cached_property
    def _register_path(self) -> Path:
        """The file that says which ledger lies at this address."""
        return self._folder / "places" / self._key

    def _file_of(self, identity: str) -> FileAnchor:
        path = self._folder / f"{identity}.head"
        if not path.exists():
            private_folder(path.parent)
        return FileAnchor(path)

    def _register(self, identity: str | None) -> None:
        """Remember which ledger lies at this address, here and in the anchors that watch many."""
        if self._address is None or identity is None:
            return
        if self._entered != identity:
            for register in self._registers():
                register.enter(identity)
            self._entered = identity
        if not self._local or self.former() == identity:
            return
        path = self._register_path
        try:
            private_folder(path.parent)
            draft = path.with_name(f"{path.name}.{os.getpid()}.new")
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                file.write(f"{identity}\n{public_address(self._address)}\n")
            draft.replace(path)
        except (LedgerError, OSError):
            if not self._named:
                raise

    def _registers(self) -> list[Anchor]:
        """Where the named anchors keep which ledgers lay at this address."""
        if self._address is None:
            return []
        return [anchor_at(address, f"place-{self._key}") for address in self._named if _many(address)]


def anchor_at(address: str, identity: str | None) -> Anchor:
    """The anchor at an address: a file, a folder with a file for each ledger, sqlite:///path or postgresql://..."""
    scheme, mark, rest = address.partition("://")
    if mark and scheme in ("postgresql", "postgres", "sqlite"):
        from discreet.ledger.anchor_table import PostgresAnchor, SqliteAnchor

        if scheme == "sqlite":
            return SqliteAnchor(Path(rest.removeprefix("/") if not rest.startswith("//") else rest[1:]), identity or "")
        return PostgresAnchor(address, identity or "")
    if mark:
        raise InputError("anchor", f"{scheme}://...", "a path, sqlite:///path or a postgresql:// address")
    path = Path(address)
    return FileAnchor(path / f"{identity}.head") if path.is_dir() else FileAnchor(path)


def _many(address: str) -> bool:
    """Whether several ledgers are watched at an address, so that which one it is must be known."""
    return "://" in address or Path(address).is_dir()
