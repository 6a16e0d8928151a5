"""The token of one run: what stands between a server without tokens and the other users of its machine."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from discreet.apps.server.tokens import Tokens

__all__ = ["Launch", "launched"]

_WHO = "local"  # the name on the ledger


@dataclass(frozen=True, slots=True)
class Launch:
    """A store with one custodian's token, for as long as a server runs. The token is in no file, only its hash."""

    store: Path
    token: str

    def __repr__(self) -> str:
        return "Launch()"  # never the token

    def link(self, home: str) -> str:
        """The address to open in a browser, which exchanges the token for a session."""
        return f"{home}/login?token={self.token}"


@contextmanager
def launched() -> Iterator[Launch]:
    """A fresh token in a folder that only its owner can read; both are gone at the end."""
    with tempfile.TemporaryDirectory(prefix="discreet-run-", ignore_cleanup_errors=True) as folder:
        store = Path(folder) / "tokens.db"
        yield Launch(store, Tokens(store).create(_WHO, "custodian"))
