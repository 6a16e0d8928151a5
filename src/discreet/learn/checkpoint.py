"""Where a run stands, on disk: written whole or not at all, readable by its owner only, destroyed when the run is over.

It holds the run's secret, from which lots and noise follow: a run that goes on repeats no noise and spends nothing
twice. Whoever reads the secret beside the weights can take the noise off again, so the file never outlives the run.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import os
import re
import zipfile
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from attrs import field, frozen

from discreet.errors import InputError
from discreet.learn.step import State
from discreet.ledger.lock import file_lock

__all__ = ["Checkpoint", "Kept", "backend", "data_tag"]

Tree = Any
_FORMAT = 1


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """What a checkpoint held: the state, the secret, the noisy losses so far, and what the run was of."""

    state: State
    secret: bytes
    losses: list[float]
    identity: Mapping[str, str]


@frozen
class Checkpoint:
    """A file that a run is kept in.

    `identity` says what the run is of: a short text for each of its parts (recipe, model, code, backend, data...). A
    run only goes on where all are what they were.
    """

    path: Path = field(converter=Path)

    def held(self) -> AbstractContextManager[None]:
        """Hold the file for one run, waiting for another to end: a secret that is not used yet is for one of them."""
        return file_lock(self.path.with_name(f".{self.path.name}.lock"), remove=True)

    def save(self, state: State, secret: bytes, losses: list[float], identity: Mapping[str, str]) -> None:
        """Write the whole file beside its place, make it durable, then put it there in one move."""
        leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(state.trees)]
        head = {
            "format": _FORMAT,
            "step": state.step,
            "secret": secret.hex(),
            "losses": losses,
            "identity": dict(identity),
            "leaves": [[str(leaf.dtype), list(leaf.shape)] for leaf in leaves],
        }
        whole = io.BytesIO()
        with zipfile.ZipFile(whole, "w") as file:
            file.writestr("head.json", json.dumps(head))
            for place, leaf in enumerate(leaves):
                file.writestr(f"{place}", leaf.tobytes())
        beside = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        beside.unlink(missing_ok=True)
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as out:
            out.write(whole.getbuffer())
            out.flush()
            os.fsync(out.fileno())
        beside.replace(self.path)
        self._settle()

    def load(self, like: State, identity: Mapping[str, str]) -> Kept | None:
        """What was kept, if anything was, in the shape of `like`; refused if it is of something else.

        `data` may be absent from `identity`: it is not known before the data is read, and is checked later.
        """
        head, leaves = self._read()
        if head is None:
            return None
        kept = head["identity"]
        named = [*identity, *(name for name in kept if name not in identity and name != "data")]
        changed = [name for name in named if kept.get(name) != identity.get(name)]
        if changed:
            hint = "Put back what it was, or delete the file and release under a new id, which is charged anew."
            raise InputError(
                "checkpoint", str(self.path), f"a file of a run with the same {' and '.join(changed)}", hint
            )
        expected, shape = jax.tree.flatten(like.trees)
        forms = [[str(np.dtype(leaf.dtype)), list(leaf.shape)] for leaf in expected]
        if forms != head["leaves"]:
            raise InputError(
                "checkpoint", str(self.path), "a file of a run with a model and an optimiser of the same shape"
            )
        trees = jax.tree.unflatten(shape, [jnp.asarray(leaf) for leaf in leaves])
        return Kept(State(head["step"], *trees), bytes.fromhex(head["secret"]), head["losses"], kept)

    def identity(self) -> dict[str, str]:
        """What the run in the file is of; nothing if there is none, or none that can be read."""
        try:
            head, _ = self._read()
        except InputError:
            return {}
        return {} if head is None else dict(head["identity"])

    def destroy(self) -> None:
        """Overwrite the file and remove it, and what killed saves left beside it.

        Earlier copies were replaced by later ones, not overwritten. What the disk keeps of them is the disk's doing.
        """
        beside = re.compile(rf"\.{re.escape(self.path.name)}\.[0-9]+")
        leftover = [path for path in self.path.parent.iterdir() if beside.fullmatch(path.name)]
        for path in (self.path, *leftover):
            if not path.is_file():
                continue
            with path.open("r+b") as file:
                file.write(bytes(path.stat().st_size))
                file.flush()
                os.fsync(file.fileno())
            path.unlink()
        self._settle()

    def _read(self) -> tuple[dict[str, Any] | None, list[Any]]:
        if not self.path.exists():
            return None, []
        try:
            with zipfile.ZipFile(self.path) as file:
                head = json.loads(file.read("head.json"))
                if head["format"] != _FORMAT:
                    raise ValueError
                leaves = [
                    np.frombuffer(file.read(str(place)), dtype=jnp.dtype(kind)).reshape(shape)
                    for place, (kind, shape) in enumerate(head["leaves"])
                ]
                return head, leaves
        except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile):
            pass
        # Outside the handler: what went wrong may quote what the file holds.
        raise InputError("checkpoint", str(self.path), "an undamaged file that a run wrote", "Name another file.")

    def _settle(self) -> None:
        """Make the name durable too, where folders can be synced."""
        if os.name != "posix":
            return
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def data_tag(secret: bytes, arrays: Tree) -> str:
    """A keyed fingerprint of the data: without the secret it says nothing about it."""
    digest = hashlib.sha256()
    for leaf in jax.tree.leaves(arrays):
        array = np.ascontiguousarray(leaf)
        digest.update(f"{array.dtype}{array.shape}".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)  # as bytes: bfloat16 has no buffer of its own
    return hmac.digest(secret, b"data" + digest.digest(), "sha256").hex()


def backend() -> str:
    """The machinery numbers come from: with another, the last bits of a step may differ."""
    kinds = sorted({device.device_kind for device in jax.devices()})
    now: Any = jax.config
    precision = f"matmul precision {now.jax_default_matmul_precision}, x64 {now.jax_enable_x64}"
    return f"jax {jax.__version__} on {len(jax.devices())} {jax.default_backend()} ({', '.join(kinds)}), {precision}"
