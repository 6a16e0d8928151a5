"""Tokens: shown once, hashed, ended when revoked."""

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
from small_server import service_fixture  # noqa: F401

from discreet.errors import InputError


def test_tokens_are_hashed_and_end_when_revoked(service, tmp_path):
    made = service.tokens.create("bob", "analyst")
    assert made.split("_", 2)[2].encode() not in (tmp_path / "tokens.db").read_bytes()
    assert service.tokens.caller(made).name == "bob"
    assert (tmp_path / "tokens.db").stat().st_mode & 0o077 == 0
    with pytest.raises(InputError, match="no token yet"):
        service.tokens.create("bob", "viewer")
    service.tokens.revoke("bob")
    assert service.tokens.caller(made) is None
    for name, role in (("", "viewer"), ("x", "king")):
        with pytest.raises(InputError):
            service.tokens.create(name, role)
