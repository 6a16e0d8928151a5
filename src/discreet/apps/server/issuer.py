"""An issuer of identities (OpenID Connect): where to send people, and whether what comes back is its word.

Signatures are checked by PyJWT with the issuer's published keys, each for the one algorithm that its type has: RSA keys
verify RS256, keys on P-256 verify ES256, and nothing verifies `none` or a shared secret (RFC 8725, sections 3.1-3.3).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import jwt

from discreet.apps.server.identity import Person, Provider
from discreet.errors import IdentityError

__all__ = ["Issuer", "Trip"]

_FRESH = 3600.0  # seconds that what the issuer says of itself is taken for granted
_PAUSE = 10.0  # seconds between two looks for a key that is not known, or at one who did not answer
_WAITING = 8  # threads that the issuer keeps waiting at once: all others are for those who do not need it
_LARGEST = 1 << 20
_LEEWAY = 30.0  # seconds that clocks may differ
_BITS = 2048
_LONGEST = 16_384  # characters of a token
_LOCAL = ("localhost", "127.0.0.1", "::1")
_AWAY = "The issuer does not answer. Nobody was signed in; try again later."


class Trip:
    """One way to the issuer and back, all of it made from a secret that only the browser that began it holds."""

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self.state, self.nonce, self._verifier = (self._part(name) for name in ("state", "nonce", "verifier"))

    def _part(self, name: str) -> str:
        digest = hmac.new(self._secret.encode(), f"discreet sign-in {name}".encode(), hashlib.sha256).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()

    @property
    def verifier(self) -> str:
        """What the issuer is shown with the code, and nobody before (RFC 7636)."""
        return self._verifier

    @property
    def challenge(self) -> str:
        """Its hash, which the browser carries."""
        return base64.urlsafe_b64encode(hashlib.sha256(self._verifier.encode()).digest()).rstrip(b"=").decode()


class Issuer:
    """A provider that is asked: what it publishes is kept, and read again when it is old or has no key of that id.

    One that hangs keeps `_WAITING` requests waiting, however many strangers show made-up tokens or begin to sign in.
    """

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self._lock = threading.Lock()
        self._turns = threading.BoundedSemaphore(_WAITING)
        self._failed = float("-inf")
        self._about: tuple[float, dict[str, Any]] | None = None
        self._keys: dict[str, jwt.PyJWK] = {}
        self._keys_read = float("-inf")
        self._opener = _opener(provider.certificate)

    def address(self, trip: Trip, back: str) -> str:
        """Where a browser goes to be known, and from there `back`."""
        asked = {
            "response_type": "code",
            "client_id": self.provider.client,
            "redirect_uri": back,
            "scope": " ".join(self.provider.scopes),
            "state": trip.state,
            "nonce": trip.nonce,
            "code_challenge": trip.challenge,
            "code_challenge_method": "S256",
        }
        there = self._endpoint("authorization_endpoint")
        return f"{there}{'&' if '?' in there else '?'}{urlencode(asked)}"

    def person(self, trip: Trip, code: str, back: str) -> Person:
        """Whom the issuer names for a code; `IdentityError` unless its word is good, for us, and for this trip."""
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": back, "code_verifier": trip.verifier}
        headers = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
        if self.provider.secret is None:
            form["client_id"] = self.provider.client
        else:
            secret = Path(self.provider.secret).read_text(encoding="utf-8").strip()
            pair = f"{quote(self.provider.client, safe='')}:{quote(secret, safe='')}"
            headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        there = self._endpoint("token_endpoint")
        with self._turn():
            told = self._fetch(there, urlencode(form).encode(), headers)
        claims = self._claims(str(told.get("id_token", "")), self.provider.client)
        if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), trip.nonce.encode()):
            raise IdentityError("The issuer answered for another attempt to sign in. Sign in again.")
        parties = claims["aud"]
        if isinstance(parties, list) and len(parties) > 1 and claims.get("azp") != self.provider.client:
            raise IdentityError("The issuer's ID token is for another application. Nobody was signed in.")
        return self._person(claims)

    def bearer(self, token: str) -> Person | None:
        """Whose access token this is, for this server's API; None for any other."""
        if self.provider.audience is None or token.count(".") != 2:
            return None
        try:
            return self._person(self._claims(token, self.provider.audience))
        except IdentityError:
            return None

    def _person(self, claims: Mapping[str, Any]) -> Person:
        person = self.provider.person(claims)
        if person is None:
            raise IdentityError(
                f"The issuer gave no name that can be used: the claim {self.provider.name!r} is missing, or nobody "
                "verified the address. Ask the custodian which claim names people here."
            )
        return person

    def _claims(self, token: str, audience: str) -> dict[str, Any]:
        """The claims of a token that the issuer signed for an audience and that is in force."""
        if len(token) > _LONGEST:
            raise IdentityError("The issuer's ID token could not be verified. Nobody was signed in.")
        try:
            key = self._key(str(jwt.get_unverified_header(token).get("kid", "")))
            found: dict[str, Any] = jwt.decode(
                token,
                key.key,
                algorithms=[key.algorithm_name],  # as the key says: what the token says of itself decides nothing
                audience=audience,
                issuer=self.provider.issuer,
                leeway=_LEEWAY,
                options={"require": ["exp", "iat", "iss", "aud", "sub"]},
            )
        except jwt.ExpiredSignatureError:
            raise IdentityError(
                "The issuer's ID token has expired. Sign in again. If it happens again, compare the clocks."
            ) from None
        except jwt.InvalidAudienceError:
            raise IdentityError("The issuer's ID token is for another application. Nobody was signed in.") from None
        except (jwt.PyJWTError, ValueError, TypeError):
            raise IdentityError("The issuer's ID token could not be verified. Nobody was signed in.") from None
        return found

    def _key(self, identity: str) -> jwt.PyJWK:
        """A key of the issuer by its id: what it publishes is read again where it is old, or does not have it."""
        if self._stale(identity):
            address = self._endpoint("jwks_uri")
            with self._turn(), self._lock:
                if self._stale(identity):  # or another has read them meanwhile
                    self._keys = _public_keys(self._read(address))
                    self._keys_read = time.monotonic()
        if (key := self._keys.get(identity)) is None:
            raise jwt.InvalidKeyError
        return key

    def _stale(self, identity: str) -> bool:
        age = time.monotonic() - self._keys_read
        return age >= _FRESH or (identity not in self._keys and age >= _PAUSE)

    def _endpoint(self, name: str) -> str:
        if (about := self._recent()) is None:
            with self._turn(), self._lock:
                if (about := self._recent()) is None:
                    about = self._read(f"{self.provider.issuer.rstrip('/')}/.well-known/openid-configuration")
                    if about.get("issuer") != self.provider.issuer:
                        raise IdentityError("The issuer calls itself by another name than the configuration does.")
                    self._about = (time.monotonic(), about)
        address = about.get(name)
        if not isinstance(address, str) or not _private(address):
            raise IdentityError("The issuer's sign-in address must begin with https. Nobody was signed in.")
        return address

    def _recent(self) -> dict[str, Any] | None:
        about = self._about
        return None if about is None or time.monotonic() - about[0] >= _FRESH else about[1]

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """While this lasts a thread may wait for the issuer; `IdentityError` at once where enough of them do."""
        if not self._turns.acquire(blocking=False):
            raise IdentityError(_AWAY)
        try:
            yield
        finally:
            self._turns.release()

    def _read(self, address: str) -> Any:
        """What the issuer publishes. Where it does not answer, it is not asked again for a while."""
        if time.monotonic() - self._failed < _PAUSE:
            raise IdentityError(_AWAY)
        try:
            return self._fetch(address)
        except IdentityError:
            self._failed = time.monotonic()
            raise

    def _fetch(self, address: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> Any:
        request = urllib.request.Request(address, data=body, headers=dict(headers or {"accept": "application/json"}))
        try:
            with self._opener.open(request, timeout=10) as answer:
                told = json.loads(answer.read(_LARGEST))
        except urllib.error.HTTPError as problem:
            problem.close()
            raise IdentityError("The issuer refused this attempt to sign in. Sign in again.") from None
        except (OSError, ValueError):
            raise IdentityError(_AWAY) from None
        if not isinstance(told, dict):
            raise IdentityError("The issuer's answer cannot be read. Nobody was signed in.")
        return told


def _public_keys(told: Mapping[str, Any]) -> dict[str, jwt.PyJWK]:
    """The keys that verify, by their ids."""
    listed = told.get("keys")
    found: dict[str, jwt.PyJWK] = {}
    for one in listed if isinstance(listed, list) else []:
        key = _public_key(one)
        if key is not None:
            found[str(one.get("kid", ""))] = key
    return found


def _public_key(value: Any) -> jwt.PyJWK | None:
    """A key that verifies by the one algorithm of its type; None for any other, shared secrets among them."""
    if not isinstance(value, dict) or value.get("use", "sig") != "sig":
        return None
    algorithm = {("RSA", None): "RS256", ("EC", "P-256"): "ES256"}.get((value.get("kty", ""), value.get("crv")))
    if algorithm is None or value.get("alg", algorithm) != algorithm:
        return None
    public = {name: part for name, part in value.items() if name in ("kty", "crv", "x", "y", "n", "e")}
    try:
        key = jwt.PyJWK.from_dict(public, algorithm=algorithm)
    except jwt.PyJWTError:
        return None
    return None if algorithm == "RS256" and key.key.key_size < _BITS else key


class _Straight(urllib.request.HTTPRedirectHandler):
    """Goes nowhere else: a code and a secret are for the issuer alone."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


def _opener(certificate: str | None) -> urllib.request.OpenerDirector:
    trusted = ssl.create_default_context(cafile=certificate)
    return urllib.request.build_opener(_Straight, urllib.request.HTTPSHandler(context=trusted))


def _private(address: str) -> bool:
    """Whether nobody else reads what is sent there: over TLS, or on this machine."""
    parts = urlsplit(address)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOCAL)
