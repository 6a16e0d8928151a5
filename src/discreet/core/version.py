"""Which state of the data a release was made from: a declared name, a keyed fingerprint of its files, or neither."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol, Self, runtime_checkable

from discreet.core.wire import Json, canonical
from discreet.errors import InputError

__all__ = ["DataVersion", "Versioned", "version_text"]

_KINDS = ("declared", "files", "unversioned")
_SHOWN = 12  # digits of a fingerprint that people read; the record holds all of them


@dataclass(frozen=True, slots=True)
class DataVersion:
    """A data version as charges and releases name it.

    * `declared`: `value` is the custodian's name for this state of the data, such as "2024-02".
    * `files`: `value` is a fingerprint of names, sizes and times of change. Without the ledger's key it says nothing of
      any of them; two fingerprints say whether they are the same.
    * `unversioned`: nobody declared one and there is no file to look at; `value` says what was read instead.

    >>> print(DataVersion.declare("2024-02"), "|", DataVersion("unversioned", "a pandas table"))
    2024-02 | unversioned (a pandas table)
    """

    kind: str = "unversioned"
    value: str = ""

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
        tag = hmac.new(key, b"discreet data version 1\n" + canonical(stamps, "files").encode(), hashlib.sha256)
        return cls("files", tag.hexdigest()[:32])

    def __str__(self) -> str:
        match self.kind:
            case "declared":
                return self.value
            case "files":
                return f"files {self.value[:_SHOWN]}"
            case _:
                return f"unversioned ({self.value})" if self.value else "unversioned"

    def to_json(self) -> dict[str, Json]:
        """Plain values, for the record."""
        return {self.kind: self.value}

    @classmethod
    def from_json(cls, entry: Any) -> DataVersion | None:
        """The version on a record; None if it names none, as records of the first version do not."""
        if isinstance(entry, dict) and len(entry) == 1:
            ((kind, value),) = entry.items()
            if kind in _KINDS and isinstance(value, str):
                return cls(kind, value)
        return None


def version_text(version: DataVersion | None) -> str:
    """A version as people read it, also where the record names none."""
    return "not recorded" if version is None else str(version)


@runtime_checkable
class Versioned(Protocol):
    """Private data that can say which state it is in, without being opened. Data need not be like this."""

    def version(self, key: bytes) -> DataVersion:
        """The version now, under the ledger's key."""
        ...
