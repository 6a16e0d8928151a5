"""Which state of the data a release was made from: a declared name, a keyed fingerprint of its writes, or neither."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol, Self, runtime_checkable

from discreet.core.wire import Json, canonical
from discreet.errors import InputError

__all__ = ["DataVersion", "Versioned", "version_text"]

_KINDS = ("declared", "files", "table", "rows", "unversioned")
_OUTLINE = "outline"
_SHOWN = 12  # digits of a fingerprint that people read; the record holds all of them


@dataclass(frozen=True, slots=True)
class DataVersion:
    """A data version as charges and releases name it.

    * `declared`: `value` is the custodian's name for this state of the data, such as "2024-02".
    * `files`: `value` is a fingerprint of names, sizes and times of change. Without the ledger's key it says nothing of
      any of them; two fingerprints say whether they are the same.
    * `table`: the same of a table's counters of writes in a database.
    * `rows`: a fingerprint of the rows themselves for one release alone. No two releases have fingerprints that can be
      compared, so without the ledger's key it says nothing of the rows, not even whether two releases had the same.
    * `unversioned`: nobody declared one and nothing tells of writes; `value` says what was read instead. `outline`, if
      there is one, is a fingerprint of names and types: another one is other data, the same one tells nothing.

    >>> print(DataVersion.declare("2024-02"), "|", DataVersion("unversioned", "a pandas table"))
    2024-02 | unversioned (a pandas table)
    """

    kind: str = "unversioned"
    value: str = ""
    outline: str = ""

    @classmethod
    def declare(cls, version: object) -> Self:
        """The version a custodian declares; a whole number or a day is read as it is written."""
        text = str(version) if isinstance(version, (int, date)) and not isinstance(version, bool) else version
        if not isinstance(text, str) or not text.strip() or len(text) > 200 or not text.isprintable():
            raise InputError("version", version, 'a name for this state of the data, such as "2024-02"')
        return cls("declared", text)

    @classmethod
    def of_files(cls, stamps: Json, key: bytes) -> Self:
        """The fingerprint of files under a secret key."""
        return cls("files", _fingerprint(stamps, key))

    @classmethod
    def of_table(cls, counters: Json, key: bytes) -> Self:
        """The fingerprint of a database's counters of writes under a secret key."""
        return cls("table", _fingerprint(counters, key))

    @classmethod
    def of_rows(cls, release: str, arrays: Iterable[Any], key: bytes) -> Self:
        """The fingerprint of arrays for one release, under a secret key."""
        digest = hashlib.sha256()
        for array in arrays:
            if array is None:
                digest.update(b"none\n")
                continue
            digest.update(canonical([str(array.dtype), list(array.shape)]).encode() + b"\n")
            digest.update(array.tobytes())
        return cls("rows", _fingerprint({"release": release, "rows": digest.hexdigest()}, key))

    @classmethod
    def unversioned(cls, described: str, outline: Json, key: bytes) -> Self:
        """Data of which no write can be noticed, with the fingerprint of what is public about it, if anything is."""
        return cls("unversioned", described, "" if outline is None else _fingerprint(outline, key))

    def same(self, other: DataVersion) -> bool | None:
        """Whether data of the other version is the data of this one; None if that cannot be told."""
        if self.kind != "unversioned":
            return self == other
        if other.kind == "unversioned":
            outlines = {self.outline, other.outline} - {""}
            return False if self.value != other.value or len(outlines) > 1 else None
        return None if other.kind in ("table", "rows") else False

    def __str__(self) -> str:
        match self.kind:
            case "declared":
                return self.value
            case "files" | "table" | "rows":
                return f"{self.kind} {self.value[:_SHOWN]}"
            case _:
                return f"unversioned ({self.value})" if self.value else "unversioned"

    def to_json(self) -> dict[str, Json]:
        """Plain values, for the record."""
        entry: dict[str, Json] = {self.kind: self.value}
        return entry | {_OUTLINE: self.outline} if self.outline else entry

    @classmethod
    def from_json(cls, entry: Any) -> DataVersion | None:
        """The version on a record; None if it names none, as records of the first version do not."""
        if isinstance(entry, dict) and all(isinstance(value, str) for value in entry.values()):
            kinds = [kind for kind in entry if kind in _KINDS]
            if len(kinds) == 1 and set(entry) <= {*kinds, _OUTLINE}:
                return cls(kinds[0], entry[kinds[0]], entry.get(_OUTLINE, ""))
        return None


def _fingerprint(facts: Json, key: bytes) -> str:
    tag = hmac.new(key, b"discreet data version 1\n" + canonical(facts, "data").encode(), hashlib.sha256)
    return tag.hexdigest()[:32]


def version_text(version: DataVersion | None) -> str:
    """A version as people read it, also where the record names none."""
    return "not recorded" if version is None else str(version)


@runtime_checkable
class Versioned(Protocol):
    """Private data that can say which state it is in, without being opened. Data need not be like this."""

    def version(self, key: bytes) -> DataVersion:
        """The version now, under the ledger's key."""
        ...
