"""The way to a server: requests, and its errors raised here as they would have been there."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from discreet.errors import (
    BudgetError,
    BusyError,
    CapError,
    DiscreetError,
    InputError,
    LedgerError,
    LossError,
    Phrase,
    RunError,
    SourceError,
)
from discreet.ledger.budget import Charge

__all__ = ["Transport"]


class _Straight(urllib.request.HTTPRedirectHandler):
    """Goes nowhere else: a token must not follow an answer that points to another place, or to plain http."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


@dataclass(frozen=True)
class Transport:
    """Where a server is, the token to show, how long to wait for it, and whose certificates to trust."""

    url: str
    token: str | None
    timeout: float = 90.0
    certificate: str | None = None

    def __repr__(self) -> str:
        return f"Transport({self.url!r})"  # never the token

    @cached_property
    def _opener(self) -> urllib.request.OpenerDirector:
        if self.certificate is None:
            return urllib.request.build_opener(_Straight)
        try:
            trusted = ssl.create_default_context(cafile=self.certificate)
        except (OSError, ssl.SSLError):
            raise InputError("certificate", self.certificate, "a file of certificates (PEM)") from None
        return urllib.request.build_opener(_Straight, urllib.request.HTTPSHandler(context=trusted))

    def send(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """The answer to a request; the server's errors are raised here as they would have been there."""
        headers = {"accept": "application/json"}
        if self.token is not None:
            headers["authorization"] = f"Bearer {self.token}"
        data = None
        if body is not None:
            headers["content-type"] = "application/json"
            data = json.dumps(body, default=str).encode()
        request = urllib.request.Request(self.url + path, data=data, headers=headers)
        opener = self._opener
        try:
            with opener.open(request, timeout=self.timeout) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as problem:
            raise _error(problem) from None
        except (OSError, ValueError) as problem:
            hint = "Is it running? If a release was on its way, ask again under the same id: it is charged once."
            raise InputError("url", self.url, f"a server that answers ({type(problem).__name__})", hint) from None


def _error(problem: urllib.error.HTTPError) -> DiscreetError:
    with problem:
        try:
            found = json.load(problem)
        except (OSError, ValueError):
            found = None
    told = found if isinstance(found, dict) else {}
    said = str(told.get("message") or problem.reason)
    return raised(str(told.get("error", "")), said, told, f"The server answered {problem.code}: {said}", problem.code)


def raised(error: str, said: str, told: dict[str, Any], otherwise: str, status: int = 0) -> DiscreetError:
    """The error of that name, with what else is known of it."""
    match error:
        case "InputError" if status in (0, 404, 422):
            again = InputError(*(str(told.get(name, "")) for name in ("field", "got", "allowed", "hint")))
            again.args = (said,)  # in the words of the server
            return again
        case "LossError":
            return LossError(said)
        case "BudgetError" | "CapError":
            asked, left = (_charge(told.get(name)) for name in ("asked", "left"))
            how: dict[str, Any] = {"asked": asked, "left": left, "allotment": str(told.get("allotment", ""))}
            return (
                BudgetError(said, **how)
                if error == "BudgetError"
                else CapError(said, **how, frees=str(told.get("frees", "")))
            )
        case "RunError":
            return RunError(said, release=str(told.get("release", "")))
        case "SourceError":
            down = SourceError("source", Phrase("nothing"), "data that can be reached")
            down.args = (said,)
            return down
        case "LedgerError":
            return LedgerError(said)
        case _:
            return BusyError(otherwise) if status == 429 or error == "BusyError" else DiscreetError(otherwise)


def _charge(found: Any) -> Charge:
    try:
        return Charge(Fraction(found["amount"]), Fraction(found["delta"]))
    except (TypeError, KeyError, ValueError, ZeroDivisionError):
        return Charge(Fraction(0))
