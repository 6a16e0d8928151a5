"""Keys of one run: each purpose and step has its own, made from one secret, so that a step can be repeated exactly."""

from __future__ import annotations

import hmac

from discreet.core.mechanism import Bits
from discreet.errors import InputError, Phrase
from discreet.noise.bits import SystemBits
from discreet.noise.replay import Replay

__all__ = ["SECRET_BYTES", "bits_of", "key_of", "new_secret"]

SECRET_BYTES = 32


def new_secret(bits: Bits | None = None) -> bytes:
    """A fresh secret. Whoever has it can take the noise off again: it is destroyed when the run is over."""
    return (SystemBits() if bits is None else bits).read(SECRET_BYTES).tobytes()


def key_of(secret: bytes, purpose: str, *places: int) -> bytes:
    """64 bytes for one purpose at one place: HMAC-SHA-512 of both under the secret.

    Guarantee: as long as HMAC-SHA-512 is a pseudorandom function, keys of different purposes or places look like
    independent uniform bytes to all who do not have the secret.
    """
    if not isinstance(secret, bytes) or len(secret) != SECRET_BYTES:
        raise InputError("secret", Phrase("something else"), f"{SECRET_BYTES} bytes from new_secret()")
    name = purpose.encode()
    message = len(name).to_bytes(4, "big") + name + b"".join(place.to_bytes(8, "big") for place in places)
    return hmac.digest(secret, message, "sha512")


def bits_of(secret: bytes, purpose: str, *places: int) -> Bits:
    """The bits for one purpose at one place."""
    return Replay(key_of(secret, purpose, *places))
