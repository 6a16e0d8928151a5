"""The only entropy in the house: the operating system's, stretched with AES-256 in counter mode.

A `SystemBits` lives for one call. Nothing is kept between calls, so a fork, a snapshot of a virtual machine or a
thread repeats nothing; there is no seed to set.
"""

from __future__ import annotations

import os

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

from discreet.core.mechanism import Bits

__all__ = ["SystemBits", "words"]

_SMALL = 2048  # up to here the operating system is asked directly: cheaper than a key schedule
_BLOCK = 16
_ZEROS = memoryview(bytes(1 << 18))


class SystemBits:
    """Cryptographic random bytes. One object per call, one thread per object."""

    __slots__ = ("_cipher",)

    def __init__(self) -> None:
        self._cipher: CipherContext | None = None

    def read(self, count: int) -> NDArray[np.uint8]:
        """`count` fresh bytes."""
        if count <= _SMALL and self._cipher is None:
            return np.frombuffer(bytearray(os.urandom(count)), dtype=np.uint8)
        if self._cipher is None:
            secret = os.urandom(48)
            self._cipher = Cipher(algorithms.AES(secret[:32]), modes.CTR(secret[32:])).encryptor()
        buffer = np.empty(count + _BLOCK - 1, dtype=np.uint8)
        for start in range(0, count, len(_ZEROS)):
            size = min(len(_ZEROS), count - start)
            self._cipher.update_into(_ZEROS[:size], buffer.data[start:])
        return buffer[:count]


def words(bits: Bits, count: int) -> NDArray[np.uint64]:
    """`count` uniform 64-bit words."""
    return bits.read(8 * count).view(np.uint64)
