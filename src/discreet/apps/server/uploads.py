"""Tables that a custodian brought to draft a schema from: files of this machine, for its owner alone, for a day.

A file lies under a name that was drawn here, in a folder of its own; what its owner called it is only ever shown.
"""

from __future__ import annotations

import os
import re
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import InputError, MissingError, Phrase
from discreet.noise.bits import SystemBits

__all__ = ["ENDINGS", "PATH", "Upload", "Uploads"]

PATH = "/custodian/datasets/upload"
"""Where a file is sent to: the one path that takes more than a form."""
ENDINGS = (".csv", ".tsv", ".parquet")
_IDENTITY = re.compile(r"[0-9a-f]{32}")
_MOST = 20
_HOURS = 24
_LONG = 120
_ARRIVING = "arriving"
"""What a file is called until all of it is there."""


@dataclass(frozen=True, slots=True)
class Upload:
    """One of them: where it lies, and what its owner called it."""

    identity: str
    name: str
    path: Path
    bytes: int
    hours_left: int

    @property
    def stem(self) -> str:
        """Its name without the ending."""
        return Path(self.name).stem or "data"


class Uploads:
    """The uploads of a server, in one folder."""

    def __init__(self, folder: Path, most: int) -> None:
        self.folder, self.most = folder, most

    @contextmanager
    def receive(self, name: str) -> Iterator[Incoming]:
        """A file that is being sent; it is there once all of it arrived, and leaves nothing if it did not."""
        shown = "".join(sign for sign in re.split(r"[/\\]", name)[-1] if sign.isprintable())[-_LONG:].strip()
        ending = Path(shown).suffix.lower()
        if ending not in ENDINGS:
            hint = "Nothing was stored. Describe other tables at a terminal: discreet init DATA."
            raise InputError("file", shown or Phrase("no file"), "a file that ends in " + ", ".join(ENDINGS), hint)
        if len(self.listed()) >= _MOST:
            hint = "Nothing was stored. Remove uploads that are no longer needed."
            raise InputError("file", Phrase("one more"), f"one of at most {_MOST} uploads", hint)
        identity = SystemBits().read(16).tobytes().hex()
        place = self.folder / identity
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.mkdir(mode=0o700)
        try:
            (place / "name").write_text(shown, encoding="utf-8")
            with Incoming(identity, place / _ARRIVING, self.most) as incoming:
                yield incoming
            if not incoming.bytes:
                raise InputError("file", Phrase("an empty one"), "a file with rows", "Nothing was stored.")
            incoming.path.replace(place / f"table{ending}")
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise

    def find(self, identity: str) -> Upload:
        """One of them by its identity; `MissingError` for any other text, and for one that is older than a day."""
        self.expire()
        found = self._at(self.folder / identity) if _IDENTITY.fullmatch(identity) else None
        if found is None:
            raise MissingError("upload", Phrase("another"), "one that is still stored", "Upload the file again.")
        return found

    def listed(self) -> list[Upload]:
        """All of them, the newest first."""
        self.expire()
        found = [upload for one in self._places() if (upload := self._at(one)) is not None]
        return sorted(found, key=lambda one: -one.hours_left)

    def remove(self, identity: str) -> None:
        """Take one away, for good."""
        shutil.rmtree(self.find(identity).path.parent)

    def expire(self) -> None:
        """Take away what is older than a day, and what never arrived in whole."""
        for one in self._places():
            if _hours_left(one) <= 0:
                shutil.rmtree(one, ignore_errors=True)

    @contextmanager
    def expiring(self, every: float = 600) -> Iterator[None]:
        """Meanwhile, what is too old goes though nobody looks: at once, and every so many seconds."""
        over = threading.Event()

        def look() -> None:
            while True:
                with suppress(OSError):  # a folder that cannot be read now
                    self.expire()
                if over.wait(every):
                    return

        threading.Thread(target=look, daemon=True, name="discreet-uploads").start()
        try:
            yield
        finally:
            over.set()

    def _places(self) -> list[Path]:
        """The folder of each, whether its file is there or not."""
        return [one for one in self.folder.iterdir() if _IDENTITY.fullmatch(one.name)] if self.folder.is_dir() else []

    @staticmethod
    def _at(place: Path) -> Upload | None:
        try:
            table = next(one for one in place.iterdir() if one.stem == "table" and one.suffix in ENDINGS)
            name, facts = (place / "name").read_text(encoding="utf-8"), table.stat()
        except (OSError, StopIteration):
            return None
        return Upload(place.name, name, table, facts.st_size, _hours_left(place))


def _hours_left(place: Path) -> int:
    """How many hours a folder stays, by what was written in it last."""
    try:
        written = max(one.stat().st_mtime for one in (place, *place.iterdir()))
    except OSError:  # taken away just now
        return _HOURS
    return _HOURS - int((time.time() - written) // 3600)


class Incoming:
    """A file as it is written: `write` refuses what is more than it may hold."""

    def __init__(self, identity: str, path: Path, most: int) -> None:
        self.identity, self.path, self.most, self.bytes = identity, path, most, 0

    def __enter__(self) -> Incoming:
        self._file = os.fdopen(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb")
        return self

    def __exit__(self, *problem: object) -> None:
        self._file.close()

    def write(self, part: bytes) -> None:
        """The next part of it."""
        self.bytes += len(part)
        if self.bytes > self.most:
            hint = "Nothing was stored. Describe larger tables at a terminal: discreet init DATA."
            raise InputError("file", Phrase("a larger one"), f"of at most {self.most >> 20} MiB", hint)
        self._file.write(part)
