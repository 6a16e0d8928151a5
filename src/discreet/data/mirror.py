"""Copies of objects on this machine, one folder for each state of the data: in clear, readable by their owner only.

A copy is made once for all processes and all questions, until the objects change. A folder in use is locked by whoever
uses it; the others are removed as soon as a newer state of the same data is there, or room is needed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from discreet.data.spill import remove_unused, spill_root
from discreet.errors import InputError, Phrase
from discreet.ledger.lock import file_lock

if sys.platform != "win32":
    import fcntl

__all__ = ["Copied", "Mirror", "stated_room"]

_DATA, _DONE = "data", "states.json"
_ROOM = 20 * 10**9
_SPARE = 10**9  # bytes of the disk that are left to others
_UNITS = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def stated_room() -> int:
    """How many bytes copies may take, all together: DISCREET_OBJECTS, or 20 GB."""
    said = os.environ.get("DISCREET_OBJECTS", "")
    if not said:
        return _ROOM
    found = re.fullmatch(r"([1-9]\d*) ?([KMGT])B", said, re.ASCII)
    if found is None:
        raise InputError("DISCREET_OBJECTS", said, "an amount of disk, such as 50GB")
    return int(found[1]) * _UNITS[found[2]]


@dataclass(frozen=True, slots=True)
class Copied:
    """What older folders of the same data hold."""

    folders: tuple[tuple[Path, Mapping[str, str]], ...]

    def link(self, name: str, state: str, target: Path) -> bool:
        """Have the copy of an object that did not change, under the same name; whether there was one."""
        for folder, states in self.folders:
            if states.get(name) == state:
                with suppress(OSError):  # gone meanwhile
                    os.link(folder / _DATA / name, target)
                    return True
        return False


class Mirror:
    """The folders of copies on this machine."""

    def __init__(self) -> None:
        self.root = spill_root().parent / "objects"
        self.root.mkdir(exist_ok=True, mode=0o700)
        self.root.chmod(0o700)

    @contextmanager
    def held(
        self,
        name: str,
        family: str,
        states: Mapping[str, str],
        size: int,
        fill: Callable[[Path, Copied], None],
    ) -> Iterator[Path]:
        """The folder of a name, which `fill` makes where it is not there; it stays for as long as this lasts.

        `family` is what all states of the same data have in common, `size` how many bytes there will be at most.
        """
        handle = self._take(name)
        folder = self.root / name
        try:
            with file_lock(self.root / f"{name}.fill"):  # one copies, the others wait
                if not (folder / _DONE).exists():
                    older = Copied(tuple(self._family(family)))
                    self._make_room(size, name)
                    shutil.rmtree(folder, ignore_errors=True)
                    (folder / _DATA).mkdir(parents=True, mode=0o700)
                    try:
                        fill(folder / _DATA, older)
                    except BaseException:
                        shutil.rmtree(folder, ignore_errors=True)
                        raise
                    draft = folder / "draft"
                    draft.write_text(json.dumps({"family": family, "states": dict(states)}))
                    draft.rename(folder / _DONE)
                    self._remove([old for old, _ in older.folders if old != folder])
            with suppress(OSError):
                os.utime(folder / _DONE)  # used last
            yield folder / _DATA
        finally:
            if handle >= 0:
                os.close(handle)

    def _take(self, name: str) -> int:
        """A lock that many may have, and that whoever removes folders respects."""
        with file_lock(self.root / "all"):
            handle = os.open(self.root / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            if sys.platform != "win32":
                fcntl.flock(handle, fcntl.LOCK_SH)
        return handle

    def _family(self, family: str) -> Iterator[tuple[Path, Mapping[str, str]]]:
        for folder in self._folders():
            with suppress(OSError, ValueError):
                told = json.loads((folder / _DONE).read_text())
                if told["family"] == family:
                    yield folder, told["states"]

    def _folders(self) -> list[Path]:
        return [folder for folder in self.root.iterdir() if folder.is_dir()]

    def _make_room(self, size: int, name: str) -> None:
        """Remove what is not used until so many bytes fit: those first that were used longest ago."""
        room = stated_room()
        others = sorted((folder for folder in self._folders() if folder.name != name), key=_last_use)
        self._remove([folder for folder in others if not (folder / _DONE).exists()])  # whoever made it was killed
        while True:
            taken = sum(map(_bytes, self._folders()))
            if taken + size <= room and shutil.disk_usage(self.root).free >= size + _SPARE:
                return
            if not others:
                break
            self._remove([others.pop(0)])
        hint = (
            "Nothing was spent. Let copies take more (DISCREET_OBJECTS=100GB), give the state folder a larger disk, or "
            "read the objects with Spark."
        )
        raise InputError("source", Phrase("objects that do not fit"), "of a size that this machine may copy", hint)

    def _remove(self, folders: list[Path]) -> None:
        """Remove folders that nobody uses."""
        if sys.platform == "win32":  # nothing tells which are in use
            return
        with file_lock(self.root / "all"):
            for folder in folders:
                lock, filling = (folder.with_name(f"{folder.name}.{end}") for end in ("lock", "fill"))
                remove_unused(folder, lock, filling)


def _last_use(folder: Path) -> float:
    try:
        return (folder / _DONE).stat().st_mtime
    except OSError:
        return 0.0


def _bytes(folder: Path) -> int:
    """What is stored; an outline of a large file takes little."""
    found = {}
    for path in folder.rglob("*"):
        with suppress(OSError):
            status = path.lstat()
            found[status.st_ino] = getattr(status, "st_blocks", -(-status.st_size // 512)) * 512
    return sum(found.values())
