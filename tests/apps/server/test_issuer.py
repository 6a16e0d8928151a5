"""An issuer's word: taken when it is signed, for us, in force and for this attempt; refused in every other case."""

import base64
import json

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jwt")
import jwt
from local_issuer import AUDIENCE, CLIENT, SECRET, local_issuer

from discreet.apps.server import issuer as module
from discreet.apps.server.identity import Person, Provider
from discreet.apps.server.issuer import Issuer, Trip
from discreet.errors import IdentityError

BACK = "https://curator.example/login/oidc/callback"


@pytest.fixture(name="there")
def there_fixture():
    with local_issuer() as issuer:
        yield issuer


@pytest.fixture(name="issuer")
def issuer_fixture(there, tmp_path):
    (tmp_path / "secret").write_text(SECRET + "\n")
    return Issuer(Provider(there.url, CLIENT, secret=str(tmp_path / "secret"), audience=AUDIENCE))


def signed_in(issuer, there, trip=None, shown=None):
    """Who is there after a way to the issuer and back."""
    trip = trip or Trip("x" * 43)
    from urllib.parse import parse_qs, urlsplit

    asked = {name: values[0] for name, values in parse_qs(urlsplit(issuer.address(trip, BACK)).query).items()}
    back = parse_qs(urlsplit(there.authorize(asked)).query)
    assert back["state"] == [trip.state]
    return issuer.person(shown or trip, back["code"][0], BACK)


def test_people_are_named_by_a_verified_address_and_their_groups(issuer, there):
    assert signed_in(issuer, there) == Person("ann@agency.example", ("stats",))
    there.use_curve()
    issuer._keys_read -= 60
    assert signed_in(issuer, there).name == "ann@agency.example"


def test_state_nonce_and_verifier_differ_and_are_those_of_the_trip(issuer, there):
    one, two = Trip("a" * 43), Trip("b" * 43)
    parts = {one.state, one.nonce, one.verifier, one.challenge, two.state, two.nonce, two.verifier, two.challenge}
    assert len(parts) == 8
    signed_in(issuer, there, one)
    (asked,) = there.asked
    assert (asked["nonce"], asked["code_challenge"], asked["code_challenge_method"]) == (
        one.nonce,
        one.challenge,
        "S256",
    )
    assert one.verifier not in asked.values()


def test_a_code_of_another_trip_signs_nobody_in(issuer, there):
    with pytest.raises(IdentityError, match="refused"):  # the issuer finds that the verifier is another one
        signed_in(issuer, there, Trip("a" * 43), Trip("b" * 43))


LIES = {
    "expired": lambda c: {**c, "exp": c["iat"] - 60},
    "no end": lambda c: {name: value for name, value in c.items() if name != "exp"},
    "another audience": lambda c: {**c, "aud": "another"},
    "another party": lambda c: {**c, "aud": [CLIENT, "another"], "azp": "another"},
    "another issuer": lambda c: {**c, "iss": "https://evil.example"},
    "another nonce": lambda c: {**c, "nonce": "x"},
    "no nonce": lambda c: {name: value for name, value in c.items() if name != "nonce"},
    "not yet": lambda c: {**c, "nbf": c["iat"] + 3600},
    "issued later": lambda c: {**c, "iat": c["iat"] + 3600},
    "unverified address": lambda c: {**c, "email_verified": False},
    "unsaid address": lambda c: {name: value for name, value in c.items() if name != "email_verified"},
    "no name": lambda c: {name: value for name, value in c.items() if name != "email"},
    "a name with a line": lambda c: {**c, "email": "a\nb"},
}


@pytest.mark.parametrize("lie", LIES.values(), ids=list(LIES))
def test_a_word_that_is_not_good_signs_nobody_in(issuer, there, lie):
    there.lie = lie
    with pytest.raises(IdentityError):
        signed_in(issuer, there)


def _part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def forged(there, header, signature="", **claims):
    return f"{_part(header)}.{_part(there.word(AUDIENCE, **claims))}.{signature}"


def test_an_access_token_is_taken_for_our_audience_alone(issuer, there):
    assert issuer.bearer(there.access_token()) == Person("ann@agency.example", ("stats",))
    assert issuer.bearer(there.access_token(audience=CLIENT)) is None  # an ID token is no access token
    assert issuer.bearer(there.access_token(exp=1)) is None
    assert issuer.bearer("dsc_0123456789ab_secret") is None
    assert Issuer(Provider(there.url, CLIENT)).bearer(there.access_token()) is None


def test_no_signature_is_no_signature(issuer, there):
    for name in ("none", "None", "NONE", ""):
        assert issuer.bearer(forged(there, {"alg": name, "kid": "one"})) is None
        assert issuer.bearer(forged(there, {"alg": name})) is None


def test_a_public_key_is_no_shared_secret(issuer, there):
    import hashlib
    import hmac

    for secret in (there.public_pem(), there.public_pem().strip()):
        text = forged(there, {"alg": "HS256", "typ": "JWT", "kid": "one"}).rstrip(".")
        mac = base64.urlsafe_b64encode(hmac.new(secret, text.encode(), hashlib.sha256).digest()).rstrip(b"=").decode()
        assert issuer.bearer(f"{text}.{mac}") is None


def test_a_shared_secret_among_published_keys_verifies_nothing(issuer, there, monkeypatch):
    key = base64.urlsafe_b64encode(b"k" * 32).rstrip(b"=").decode()
    monkeypatch.setattr(there, "keys", lambda: {"keys": [{"kty": "oct", "kid": "s", "alg": "HS256", "k": key}]})
    token = jwt.encode(there.word(AUDIENCE), b"k" * 32, algorithm="HS256", headers={"kid": "s"})
    assert issuer.bearer(token) is None


def test_a_changed_token_is_refused(issuer, there):
    head, _, signature = there.access_token().split(".")
    body = _part(there.word(AUDIENCE, groups=["custodians"]))
    assert issuer.bearer(f"{head}.{body}.{signature}") is None
    assert issuer.bearer(there.access_token() + "x") is None


def test_a_key_that_the_token_brings_along_is_not_used(issuer, there):
    _, key, _ = there.signing
    there.rotate()
    public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
    token = jwt.encode(there.word(AUDIENCE), key, algorithm="RS256", headers={"kid": "two", "jwk": public})
    assert issuer.bearer(token) is None


def test_keys_are_rotated_without_a_restart_and_made_up_ids_cost_the_issuer_nothing(issuer, there, monkeypatch):
    old = there.access_token()
    assert issuer.bearer(old) is not None
    there.rotate()
    new = there.access_token()
    assert issuer.bearer(new) is None  # read a moment ago
    now = module.time.monotonic()
    monkeypatch.setattr(module.time, "monotonic", lambda: now + 11)
    assert issuer.bearer(new) is not None
    assert issuer.bearer(old) is None
    read = there.keys_read
    for number in range(20):
        issuer.bearer(jwt.encode(there.word(AUDIENCE), there.signing[1], "RS256", headers={"kid": f"made-up-{number}"}))
    assert there.keys_read == read


def test_a_short_key_is_not_used(issuer, there):
    from cryptography.hazmat.primitives.asymmetric import rsa

    there.published = {"one": rsa.generate_private_key(public_exponent=65537, key_size=1024)}
    there.signing = ("one", there.published["one"], "RS256")
    with pytest.warns(jwt.warnings.InsecureKeyLengthWarning) if hasattr(jwt, "warnings") else _nothing():
        token = there.access_token()
    assert issuer.bearer(token) is None


def _nothing():
    import contextlib

    return contextlib.nullcontext()


def test_an_issuer_that_is_not_there_or_calls_itself_otherwise_signs_nobody_in(there):
    with pytest.raises(IdentityError, match="another name"):
        Issuer(Provider(there.url + "/", CLIENT)).address(Trip("a" * 43), BACK)
    with pytest.raises(IdentityError, match="does not answer"):
        Issuer(Provider("http://127.0.0.1:9", CLIENT)).address(Trip("a" * 43), BACK)


def test_an_issuer_that_hangs_keeps_few_waiting_and_nobody_whose_key_is_known(there, monkeypatch):
    import threading

    issuer = Issuer(Provider(there.url, CLIENT, audience=AUDIENCE))
    good = there.access_token()
    assert issuer.bearer(good) is not None
    now = module.time.monotonic()
    monkeypatch.setattr(module.time, "monotonic", lambda: now + 11)  # an unknown key is asked for again
    began, ended, asked = threading.Event(), threading.Event(), []

    def hang(address, *rest):
        asked.append(address)
        began.set()
        ended.wait()
        raise IdentityError("The issuer does not answer.")

    monkeypatch.setattr(issuer, "_fetch", hang)
    _, body, signature = good.split(".")
    strange = f"{_part({'alg': 'RS256', 'kid': 'made-up'})}.{body}.{signature}"
    waiting = [threading.Thread(target=issuer.bearer, args=(strange,)) for _ in range(module._WAITING)]
    try:
        for thread in waiting:
            thread.start()
        began.wait()
        while issuer._turns.acquire(blocking=False):  # until every one of them waits
            issuer._turns.release()
        assert issuer.bearer(strange) is None  # at once, in this thread
        assert issuer.bearer(good) is not None
        with pytest.raises(IdentityError, match="does not answer"):
            issuer.person(Trip("a" * 43), "made-up", BACK)
    finally:
        ended.set()
        for thread in waiting:
            thread.join()
    assert len(asked) == 1  # those who waited were told what the first one was
    assert issuer.bearer(strange) is None
    assert len(asked) == 1  # and it is not asked again for a while
    monkeypatch.setattr(module.time, "monotonic", lambda: now + 22)
    assert issuer.bearer(strange) is None
    assert len(asked) == 2
