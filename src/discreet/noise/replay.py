"""Bits that follow from a key, so that what was drawn once can be drawn again.

With a public key: for simulations and samples of what is already released. With a secret key that was drawn from
`SystemBits` and is used for one purpose only: for steps of a run that must be repeated exactly after a crash. Noise on
private data never comes from a key that anyone else knows.
"""

from __future__ import annotations

import hashlib

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

__all__ = ["Replay"]


class Replay:
    """The stream of AES-256 in counter mode under a hash of `key`. Equal keys give equal bits."""

    __slots__ = ("_cipher",)

    def __init__(self, key: bytes) -> None:
        secret = hashlib.sha512(key).digest()
        self._cipher = Cipher(algorithms.AES(secret[:32]), modes.CTR(secret[32:48])).encryptor()

    def read(self, count: int) -> NDArray[np.uint8]:
        """The next `count` bytes."""
        return np.frombuffer(bytearray(self._cipher.update(bytes(count))), dtype=np.uint8)
