"""An issuer of identities on this machine: a real HTTP server with keys, codes and PKCE, and lies on request."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

CLIENT, SECRET, AUDIENCE = "discreet", "s3cret/+", "discreet-api"
_RSA = [rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2)]
_EC = ec.generate_private_key(ec.SECP256R1())


class LocalIssuer:
    """What it knows and says: `claims` are those of whoever signs in next, `lie` changes the signed token."""

    def __init__(self, url):
        self.url = url
        self.signing = ("one", _RSA[0], "RS256")
        self.published = {"one": _RSA[0]}
        self.claims = {"sub": "7", "email": "ann@agency.example", "email_verified": True, "groups": ["stats"]}
        self.lie = lambda claims: claims
        self.sign = self.signed
        self.codes = {}
        self.keys_read = 0
        self.asked = []

    def rotate(self):
        """Sign with another key, and publish that one alone."""
        self.signing, self.published = ("two", _RSA[1], "RS256"), {"two": _RSA[1]}

    def use_curve(self):
        self.signing, self.published = ("curve", _EC, "ES256"), {"curve": _EC}

    def word(self, audience=CLIENT, **claims):
        now = int(time.time())
        whole = {"iss": self.url, "aud": audience, "iat": now, "exp": now + 300, **self.claims, **claims}
        return self.lie(whole)

    def signed(self, claims):
        kid, key, algorithm = self.signing
        return jwt.encode(claims, key, algorithm=algorithm, headers={"kid": kid})

    def access_token(self, **claims):
        return self.sign(self.word(**{"audience": AUDIENCE, **claims}))

    def keys(self):
        self.keys_read += 1
        found = []
        for kid, key in self.published.items():
            kind = (
                jwt.algorithms.ECAlgorithm
                if isinstance(key, ec.EllipticCurvePrivateKey)
                else jwt.algorithms.RSAAlgorithm
            )
            found.append({**json.loads(kind.to_jwk(key.public_key())), "kid": kid, "use": "sig"})
        return {"keys": found}

    def public_pem(self):
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        return self.signing[1].public_key().public_bytes(serialization.Encoding.PEM, form)

    def authorize(self, asked):
        """Where the browser is sent back to, as if someone had typed their password."""
        self.asked.append(asked)
        code = f"code-{len(self.asked)}"
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state'], 'iss': self.url})}"

    def exchange(self, form, authorization):
        """The token for a code: once, for the client that has the secret and the verifier."""
        asked = self.codes.pop(form.get("code"), None)
        pair = base64.b64encode(f"{CLIENT}:s3cret%2F%2B".encode()).decode()
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked is None or authorization != f"Basic {pair}" or asked["code_challenge"] != challenge:
            return None
        if form["redirect_uri"] != asked["redirect_uri"] or asked["code_challenge_method"] != "S256":
            return None
        return {"token_type": "Bearer", "id_token": self.sign(self.word(nonce=asked["nonce"]))}


@contextmanager
def local_issuer():
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args):
            pass

        def _json(self, value, status=200):
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            path = urlsplit(self.path)
            if path.path == "/.well-known/openid-configuration":
                ends = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
                self._json({"issuer": issuer.url, **{name: f"{issuer.url}/{end}" for name, end in ends.items()}})
            elif path.path == "/keys":
                self._json(issuer.keys())
            elif path.path == "/authorize":
                asked = {name: values[0] for name, values in parse_qs(path.query).items()}
                self.send_response(302)
                self.send_header("location", issuer.authorize(asked))
                self.send_header("content-length", "0")
                self.end_headers()
            else:
                self._json({}, 404)

        def do_POST(self):
            text = self.rfile.read(int(self.headers["content-length"])).decode()
            form = {name: values[0] for name, values in parse_qs(text).items()}
            told = issuer.exchange(form, self.headers.get("authorization"))
            self._json(told or {"error": "invalid_grant"}, 200 if told else 400)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    issuer = LocalIssuer(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
