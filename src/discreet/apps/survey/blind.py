"""One person, one report, and nobody knows whose: tokens signed blind, as RFC 9474 does it (RSABSSA-SHA384-PSSZERO).

A device makes a random token, blinds it, and has it signed for its invitation. The signer sees a number that is
uniform whatever the token is; unblinded, the signature is valid for the token. So the server knows that a report comes
from someone who was invited, and no more. Proof, and what is assumed: docs/proofs/survey.md, "Invitations".
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from discreet.errors import InputError, Phrase
from discreet.noise.uniform import below

__all__ = ["Blinding", "PublicKey", "SigningKey", "blind", "encode", "message"]

_BITS = 2048
_EXPONENT = 65537
_HASH = 48  # bytes of SHA-384


def message(digest: str, token: str) -> bytes:
    """What is signed: the survey and the token. The token's 128 random bits make every message a new one."""
    return f"discreet survey {digest} {token}".encode()


def encode(content: bytes, bits: int) -> int:
    """The message as a number below 2^(bits - 1): EMSA-PSS (RFC 8017, 9.1.1) with SHA-384 and no salt."""
    length = -(-(bits - 1) // 8)
    digest = hashlib.sha384(bytes(8) + hashlib.sha384(content).digest()).digest()
    block = bytes(length - _HASH - 2) + b"\x01"
    mask = b"".join(hashlib.sha384(digest + count.to_bytes(4, "big")).digest() for count in range(-(-length // _HASH)))
    masked = int.from_bytes(block, "big") ^ int.from_bytes(mask[: len(block)], "big")
    masked &= (1 << (8 * len(block) - (8 * length - bits + 1))) - 1
    return int.from_bytes(masked.to_bytes(len(block), "big") + digest + b"\xbc", "big")


@dataclass(frozen=True, slots=True)
class PublicKey:
    """What everybody knows of the signer: the same for all, or tokens would tell whose they are."""

    modulus: int
    exponent: int

    def to_page(self) -> dict[str, str]:
        """As blind.js reads it."""
        return {"modulus": str(self.modulus), "exponent": str(self.exponent)}

    @property
    def fingerprint(self) -> str:
        """Sixteen letters to compare: everyone must be shown the same."""
        return hashlib.sha256(f"{self.modulus} {self.exponent}".encode()).hexdigest()[:16]

    def valid(self, content: bytes, signature: object) -> bool:
        """Whether a signature (hexadecimal text) is one of this key for the message."""
        size = self.modulus.bit_length() // 8
        if not _is_hex(signature, 2 * size):
            return False
        key = rsa.RSAPublicNumbers(self.exponent, self.modulus).public_key()
        scheme = padding.PSS(mgf=padding.MGF1(hashes.SHA384()), salt_length=0)
        try:
            key.verify(bytes.fromhex(str(signature)), content, scheme, hashes.SHA384())
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True)
class SigningKey:
    """The signer's key. It signs numbers without knowing what they stand for."""

    pem: bytes

    @classmethod
    def new(cls) -> SigningKey:
        """A key of 2048 bits."""
        made = rsa.generate_private_key(_EXPONENT, _BITS)
        none = serialization.NoEncryption()
        return cls(made.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, none))

    def __repr__(self) -> str:
        return "SigningKey()"

    @cached_property
    def _numbers(self) -> rsa.RSAPrivateNumbers:
        loaded = serialization.load_pem_private_key(self.pem, password=None)
        if not isinstance(loaded, rsa.RSAPrivateKey):
            raise InputError("key", Phrase("another kind"), "an RSA key")
        return loaded.private_numbers()

    @property
    def public(self) -> PublicKey:
        """What everybody may know of it."""
        return PublicKey(self._numbers.public_numbers.n, self._numbers.public_numbers.e)

    def sign(self, blinded: object) -> str:
        """The signature of a blinded number (hexadecimal text), itself blinded.

        What is raised to the secret power is multiplied by a fresh random number first, so that how long it takes
        tells nothing about the key to whoever chose the number. The result is checked before it is given away.
        """
        n, e = self._numbers.public_numbers.n, self._numbers.public_numbers.e
        size = n.bit_length() // 8
        if not _is_hex(blinded, 2 * size):
            raise InputError("blinded", Phrase("another form"), f"{2 * size} hexadecimal digits")
        number = int(str(blinded), 16)
        if not 1 < number < n or math.gcd(number, n) != 1:
            raise InputError("blinded", Phrase("another number"), "a unit below the modulus")
        mask = _unit(n)
        signed = pow(number * pow(mask, e, n) % n, self._numbers.d, n) * pow(mask, -1, n) % n
        if pow(signed, e, n) != number:
            raise InputError("key", Phrase("a wrong signature"), "a key that is not damaged")
        return f"{signed:0{2 * size}x}"


@dataclass(frozen=True, slots=True)
class Blinding:
    """A blinded message, and what only the device knows: how to unblind."""

    key: PublicKey
    content: bytes
    blinded: str
    inverse: int

    def finish(self, signature: str) -> str:
        """The signature for the message itself. One that is not valid is refused: the signer did not sign it."""
        n = self.key.modulus
        size = n.bit_length() // 8
        made = f"{int(signature, 16) * self.inverse % n:0{2 * size}x}"
        if not self.key.valid(self.content, made):
            raise InputError("signature", Phrase("an invalid one"), "the signer's answer to this very number")
        return made


def blind(key: PublicKey, content: bytes) -> Blinding:
    """Blind a message: its number times a random unit to the public power, uniform over all units."""
    n = key.modulus
    number, unit = encode(content, n.bit_length()), _unit(n)
    if math.gcd(number, n) != 1:
        raise InputError("token", Phrase("one that factors the key"), "another token")
    blinded = number * pow(unit, key.exponent, n) % n
    return Blinding(key, content, f"{blinded:0{n.bit_length() // 4}x}", pow(unit, -1, n))


def _is_hex(text: object, digits: int) -> bool:
    return isinstance(text, str) and len(text) == digits and set(text) <= set("0123456789abcdef")


def _unit(modulus: int) -> int:
    """A number that has an inverse, each equally likely."""
    while True:
        drawn = below(modulus)
        if math.gcd(drawn, modulus) == 1:
            return drawn
