"""Who may have a token signed: codes, each for one signature, and the key that signs. One SQLite file, its owner's.

It knows codes (hashed) and blinded numbers, no token and no report. Which person got which code is the surveyor's to
know; what was signed for a code cannot be told from what was reported.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from pathlib import Path

from discreet.apps.survey.blind import PublicKey, SigningKey, message
from discreet.apps.survey.store import make_private, sqlite_errors
from discreet.errors import InputError, Phrase
from discreet.mechanisms.inputs import read_count
from discreet.noise.uniform import below

__all__ = ["Invitations"]

_SCHEMA = (
    "CREATE TABLE discreet_key (one INTEGER PRIMARY KEY CHECK (one = 1), digest TEXT NOT NULL, pem BLOB NOT NULL)",
    "CREATE TABLE discreet_invitation (code TEXT PRIMARY KEY, blinded TEXT) WITHOUT ROWID",
)
_MOST = 1_000_000
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that is mistaken for another
_LENGTH = 20  # 99 bits: nobody guesses one


class Invitations:
    """The codes of one survey, and the key that signs for them."""

    def __init__(self, path: Path, digest: str, *, create: bool = False) -> None:
        if not create and not path.is_file():
            raise InputError("--invitations", str(path), "a file of invitations", "discreet survey invite makes one.")
        if create:
            make_private(path)
        self._guard = threading.Lock()
        with sqlite_errors():
            self._connection = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
            run = self._connection.execute
            there = run("SELECT 1 FROM sqlite_master WHERE name = 'discreet_key'").fetchall()
            if not there and not create:
                raise InputError("--invitations", str(path), "a file that discreet survey invite made")
            if not there:
                run("BEGIN IMMEDIATE")
                for statement in _SCHEMA:
                    run(statement)
                run("INSERT INTO discreet_key VALUES (1, ?, ?)", (digest, SigningKey.new().pem))
                run("COMMIT")
            ((found, pem),) = run("SELECT digest, pem FROM discreet_key").fetchall()
        if found != digest:
            self._connection.close()
            raise InputError(
                "--invitations", Phrase(f"survey {found[:12]}"), f"invitations to this survey, {digest[:12]}"
            )
        self._digest, self._key = digest, SigningKey(bytes(pem))

    def __repr__(self) -> str:
        return "Invitations()"

    @property
    def public(self) -> PublicKey:
        """The key that everybody knows."""
        return self._key.public

    def invite(self, count: int) -> list[str]:
        """New codes, each for one person."""
        if read_count(count, "--count") > _MOST:
            raise InputError("--count", count, f"at most {_MOST:,}")
        codes = ["".join(_LETTERS[below(len(_LETTERS))] for _ in range(_LENGTH)) for _ in range(count)]
        with self._guard, sqlite_errors():
            rows = [(_hashed(code),) for code in codes]
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany("INSERT INTO discreet_invitation (code) VALUES (?)", rows)
            self._connection.execute("COMMIT")
        return codes

    def sign(self, code: object, blinded: object) -> str | None:
        """The signature for a code, the same however often the same number is sent; None where there is none to have.

        The code is used up, durably, before a signature is given away: whatever is lost then, it signs nothing else.
        """
        if not isinstance(code, str) or not isinstance(blinded, str):
            return None
        signed = self._key.sign(blinded)
        with self._guard, sqlite_errors():
            self._connection.execute(
                "UPDATE discreet_invitation SET blinded = ? WHERE code = ? AND blinded IS NULL",
                (blinded, _hashed(code)),
            )
            found = self._connection.execute(
                "SELECT blinded FROM discreet_invitation WHERE code = ?", (_hashed(code),)
            ).fetchall()
        return signed if found == [(blinded,)] else None

    def valid(self, token: str, signature: object) -> bool:
        """Whether a token was signed, for whomever."""
        return self._key.public.valid(message(self._digest, token), signature)

    def used(self) -> tuple[int, int]:
        """How many codes there are, and how many have been used."""
        with self._guard, sqlite_errors():
            ((every, used),) = self._connection.execute("SELECT COUNT(*), COUNT(blinded) FROM discreet_invitation")
        return int(every), int(used)

    def close(self) -> None:
        """Close the file."""
        with self._guard:
            self._connection.close()


def _hashed(code: str) -> str:
    """Codes are compared as people type them: without case, spaces and hyphens."""
    plain = "".join(code.lower().replace("-", "").split())
    return hashlib.sha256(plain.encode()).hexdigest()
