"""The way to a server: a token goes to it alone, and over TLS only to one that is trusted."""

import http.server
import threading
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

import discreet
from discreet import Budget
from discreet.errors import DiscreetError, InputError
from servers import serving

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
from remote import SCHEMA, TABLE

from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Tokens
from discreet.apps.web.site import application


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_token_does_not_follow_to_another_place(status):
    seen = []

    class Elsewhere(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append((self.path, self.headers.get("authorization")))
            self.send_response(status)
            self.send_header("location", f"http://127.0.0.1:{self.server.server_port}/stolen")
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"[]")

        def log_message(self, *args):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Elsewhere)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        with pytest.raises(DiscreetError, match=str(status)):
            discreet.connect(f"http://127.0.0.1:{server.server_port}", "dsc_a_secret")
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
    assert seen == [("/api/datasets", "Bearer dsc_a_secret")]


def certificate(folder, name):
    """A certificate of our own for this machine, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    named = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(named)
        .issuer_name(named)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / f"{name}.pem").write_bytes(made.public_bytes(Encoding.PEM))
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / f"{name}.key").write_bytes(secret)
    return folder / f"{name}.pem", folder / f"{name}.key"


def test_over_tls_only_who_is_trusted_is_spoken_to(tmp_path):
    own, key = certificate(tmp_path, "own")
    other, _ = certificate(tmp_path, "other")
    curator = discreet.open(TABLE, SCHEMA, ledger=tmp_path / "b.db", budget=Budget(2), create=True)
    service = Service({"people": curator}, Tokens(tmp_path / "tokens.db"))
    token = service.tokens.create("ann", "analyst")
    with serving(application(service), ssl_certfile=str(own), ssl_keyfile=str(key)) as url:
        assert discreet.connect(url, token, certificate=own).standing() == curator.standing()
        for trusted in (None, other):
            with pytest.raises(InputError, match="answers"):
                discreet.connect(url, token, certificate=trusted)
        with pytest.raises(InputError, match="certificates"):
            discreet.connect(url, token, certificate=tmp_path / "nowhere.pem")
