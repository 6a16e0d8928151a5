"""Files that custodians make on the pages: for their owner alone, and whole or not there, whatever ends the server."""

from __future__ import annotations

import os
import uuid
from contextlib import suppress
from pathlib import Path

__all__ = ["erase", "write_private"]


def write_private(path: Path, text: str, *, new: bool) -> None:
    """Write a text to a file. `FileExistsError` where a `new` one is there already, if only just now.

    The text is on the disk before it has the name, so that nobody ever reads a part of it.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{uuid.uuid4().hex}.draft")
    try:
        with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if new:
            os.link(draft, path)
        else:
            draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def erase(path: Path) -> None:
    """Overwrite a file and remove it, if it is there."""
    with suppress(FileNotFoundError):
        with path.open("r+b") as file:
            file.write(bytes(path.stat().st_size))
            file.flush()
            os.fsync(file.fileno())
        path.unlink()
