"""Bits that follow from a key, so that what was drawn once can be drawn again.

With a public key: for simulations and samples of what is already released. With a secret key that was drawn from
`SystemBits` and is used for one purpose only: for steps of a run that must be repeated exactly after a crash. Noise on
private data never comes from a key that anyone else knows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.noise.bits import words

__all__ = ["Replay", "key_of", "uniforms"]


class Replay:
    """The stream of AES-256 in counter mode under a hash of `key`. Equal keys give equal bits."""

    __slots__ = ("_cipher",)

    def __init__(self, key: bytes) -> None:
        secret = hashlib.sha512(key).digest()
        self._cipher = Cipher(algorithms.AES(secret[:32]), modes.CTR(secret[32:48])).encryptor()

    def read(self, count: int) -> NDArray[np.uint8]:
        """The next `count` bytes."""
        return np.frombuffer(bytearray(self._cipher.update(bytes(count))), dtype=np.uint8)


def key_of(arrays: Iterable[NDArray[np.float64]], purpose: str) -> bytes:
    """A key that follows from published numbers."""
    digest = hashlib.sha256(purpose.encode())
    for array in arrays:
        digest.update(repr(array.shape).encode())
        digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return digest.digest()


def uniforms(bits: Bits, count: int) -> NDArray[np.float64]:
    """Numbers from 0 up to 1, 53 bits each."""
    return np.asarray((words(bits, count) >> np.uint64(11)) * 2.0**-53)
