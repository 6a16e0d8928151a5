"""Blind signatures: valid by another implementation's test, of nothing but what was asked for, and linked to nobody."""

from collections import Counter
from itertools import product
from math import gcd

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from discreet.apps.survey.blind import PublicKey, SigningKey, blind, encode, message
from discreet.errors import InputError

KEY = SigningKey.new()
PUBLIC = KEY.public
TOKEN = "0f" * 16


def test_a_signature_made_blind_is_one_of_rsa_pss():
    """Checked by the library that did not make it, and equal to the one signature there is."""
    content = message("a" * 64, TOKEN)
    signature = blind(PUBLIC, content)
    signed = signature.finish(KEY.sign(signature.blinded))
    scheme = padding.PSS(mgf=padding.MGF1(hashes.SHA384()), salt_length=0)
    key = rsa.RSAPublicNumbers(PUBLIC.exponent, PUBLIC.modulus).public_key()
    key.verify(bytes.fromhex(signed), content, scheme, hashes.SHA384())
    again = blind(PUBLIC, content)
    assert again.blinded != signature.blinded  # the signer cannot see that it is the same
    assert again.finish(KEY.sign(again.blinded)) == signed
    assert PUBLIC.valid(content, signed)
    for other in (message("a" * 64, "1f" * 16), message("b" * 64, TOKEN)):
        assert not PUBLIC.valid(other, signed)
    for broken in (
        None,
        7,
        "",
        signed[:-1],
        signed.upper(),
        "00" * 256,
        signed[:-2] + ("00" if signed[-2:] != "00" else "01"),
    ):
        assert not PUBLIC.valid(content, broken)
    assert not SigningKey.new().public.valid(content, signed)


def test_every_blinded_number_fits_every_token():
    """For any token one unit leads to the number that the signer saw: it tells nothing about the token."""
    n, e = PUBLIC.modulus, PUBLIC.exponent
    seen = int(blind(PUBLIC, message("a" * 64, TOKEN)).blinded, 16)
    numbers = [encode(message("a" * 64, token), n.bit_length()) for token in (TOKEN, "1f" * 16, "2f" * 16)]
    for number in numbers:
        unit = int(KEY.sign(f"{seen * pow(number, -1, n) % n:0512x}"), 16)
        assert number * pow(unit, e, n) % n == seen
    assert seen not in numbers
    mutant = encode(message("a" * 64, TOKEN), n.bit_length())  # a device that forgets to blind is recognised
    assert numbers.index(mutant) == 0


def test_an_answer_to_something_else_is_refused():
    made = blind(PUBLIC, message("a" * 64, TOKEN))
    other = blind(PUBLIC, message("a" * 64, TOKEN))
    with pytest.raises(InputError, match="signature"):
        made.finish(KEY.sign(other.blinded))
    for wrong in (None, "", "zz", "0" * 512, f"{1:0512x}", f"{PUBLIC.modulus:0512x}"):
        with pytest.raises(InputError, match="blinded"):
            KEY.sign(wrong)
    assert "PRIVATE" not in repr(KEY)


def seen(modulus, exponent, number):
    """How often each blinded number is seen for a message, over all units."""
    units = [unit for unit in range(modulus) if gcd(unit, modulus) == 1]
    return Counter(number * pow(unit, exponent, modulus) % modulus for unit in units)


def signed(modulus, exponent, number):
    """Whether the signer, whoever it is, can answer with a root of the message."""
    return any(pow(root, exponent, modulus) == number for root in range(modulus))


def test_whatever_key_is_named_what_is_seen_of_those_who_report_is_the_same():
    """All moduli and exponents of a range: messages that are units and have a root. Mutants: one check left out."""
    leaks = {"no units": 0, "no root": 0}
    for modulus, exponent in product(range(2, 60), range(8)):
        laws, others, rootless = set(), set(), set()
        for number in range(modulus):
            law = frozenset(seen(modulus, exponent, number).items())
            unit, root = gcd(number, modulus) == 1, signed(modulus, exponent, number)
            if unit and root:
                laws.add(law)
            elif root:
                others.add(law)
            elif unit:
                rootless.add(law)
        assert len(laws) == 1
        leaks["no units"] += bool(others - laws)
        leaks["no root"] += bool(rootless - laws)
    assert min(leaks.values()) > 100


def test_a_message_that_is_no_unit_is_not_sent():
    """A key with small factors would see which of them a token has."""
    several = PublicKey(3 * (2**2046 + 1), 65537)
    refused = 0
    for number in range(30):
        content = message("a" * 64, f"{number:032x}")
        shared = gcd(encode(content, several.modulus.bit_length()), several.modulus) > 1
        refused += shared
        if shared:
            with pytest.raises(InputError, match="token"):
                blind(several, content)
        else:
            assert blind(several, content).blinded
    assert 0 < refused < 30
