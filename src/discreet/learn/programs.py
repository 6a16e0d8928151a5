"""Compiled programs of training, kept between runs: to compile one takes longer than many a run of it.

JAX keeps them (`jax_compilation_cache_dir`); here is where, and for whom. Whoever can write to the folder decides what
runs here, so it is its owner's alone. Whoever reads it learns shapes: of models, of batches and, of what is computed
of all rows at once, how many rows there are. Data, secrets and weights are arguments of programs, never part of them.
"""

from __future__ import annotations

import hashlib
import os
import platform
import stat
import sys
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from discreet.errors import LedgerError
from discreet.ledger.location import private_folder, state_folder

__all__ = ["MOST", "keep_programs"]

MOST = 512 << 20
"""Bytes of programs that are kept; beyond, those that were not used for the longest time go."""
_WORTH = 0.3  # seconds: what is compiled faster is not kept


def keep_programs(most: int = MOST) -> Path | None:
    """Have JAX keep programs in the folder for state, for this process: the folder, or None where they are not kept.

    Where the program that we are part of has chosen a folder (`JAX_COMPILATION_CACHE_DIR`), it stays. A folder that
    somebody else could write to is not used. For commands and servers; a library leaves such choices to its caller.
    """
    import jax

    config: Any = jax.config
    if config.jax_compilation_cache_dir or not config.jax_enable_compilation_cache:
        return None
    with suppress(LedgerError, OSError):
        folder = private_folder(state_folder() / "programs" / _machine())
        if any(_open_to_others(one) for one in (folder, folder.parent, folder.parent.parent)):
            return None
        _prune(folder.parent, most)
        config.update("jax_compilation_cache_dir", str(folder))
        config.update("jax_persistent_cache_min_compile_time_secs", _WORTH)
        return folder
    return None


def _machine() -> str:
    """This machine's processor and library, as one word: a home that machines share holds programs of each sort."""
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        told = sorted({line for line in lines if line.startswith(("flags", "Features", "model name"))})
        return _digest([version("jaxlib"), platform.machine(), *told])
    return _digest([version("jaxlib"), platform.machine(), platform.processor(), platform.node()])


def _digest(words: list[str]) -> str:
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]


def _open_to_others(folder: Path) -> bool:
    """Whether somebody else owns a folder or may write to it."""
    if sys.platform == "win32":  # folders of a user's profile are that user's
        return False
    found = folder.stat()
    return found.st_uid != os.getuid() or bool(found.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def _prune(folder: Path, most: int) -> None:
    """Remove what was used least lately until no more than half is left, once there is more than `most`."""
    files = []
    for path in folder.glob("*/*"):
        with suppress(OSError):  # another process has removed it
            found = path.stat()
            files.append((max(found.st_atime, found.st_mtime), found.st_size, path))
    left = sum(size for _, size, _ in files)
    if left <= most:
        return
    for _, size, path in sorted(files):
        if left <= most // 2:
            return
        path.unlink(missing_ok=True)
        left -= size
