"""A curator that lives elsewhere: `discreet.connect(url, token)` has the same words as one opened here.

Questions are put together on this side, where no data is; prices and answers come from the server. Only the standard
library is needed.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from typing import Any

from discreet.core.exact import Number
from discreet.core.release import Release
from discreet.errors import BudgetError, DiscreetError, InputError, RunError
from discreet.ledger.budget import Charge
from discreet.query.aggregate import Aggregate
from discreet.query.key import Key
from discreet.query.kinds import Asked
from discreet.query.predicate import Predicate
from discreet.query.quantile import Ordered
from discreet.query.question import Query

__all__ = ["RemoteCurator", "RemoteOffer", "RemoteQuestion", "connect"]

_SECONDS = 90.0


class _Straight(urllib.request.HTTPRedirectHandler):
    """Goes nowhere else: a token must not follow an answer that points to another place, or to plain http."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_Straight)


@dataclass(frozen=True, slots=True)
class Line:
    """The way to a server: where it is, and the token to show."""

    url: str
    token: str | None

    def __repr__(self) -> str:
        return f"Line({self.url!r})"  # never the token

    def sent(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """The answer to a request; the server's errors are raised here as they would have been there."""
        headers = {"accept": "application/json"}
        if self.token is not None:
            headers["authorization"] = f"Bearer {self.token}"
        data = None
        if body is not None:
            headers["content-type"] = "application/json"
            data = json.dumps(body, default=str).encode()
        request = urllib.request.Request(self.url + path, data=data, headers=headers)
        try:
            with _OPENER.open(request, timeout=_SECONDS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as problem:
            raise _error(problem) from None
        except (urllib.error.URLError, TimeoutError, ValueError) as problem:
            hint = "Is it running? If a release was on its way, ask again under the same id: it is charged once."
            raise InputError("url", self.url, f"a server that answers ({type(problem).__name__})", hint) from None


def _error(problem: urllib.error.HTTPError) -> DiscreetError:
    try:
        found = json.load(problem)
    except ValueError:
        found = None
    told = found if isinstance(found, dict) else {}
    said = str(told.get("message") or told.get("detail") or problem.reason)
    match told.get("error"):
        case "BudgetError":
            nothing = Charge(0)  # type: ignore[arg-type]
            return BudgetError(said, asked=nothing, left=nothing, allotment="")
        case "RunError":
            return RunError(said, release="")
        case _:
            return DiscreetError(f"The server answered {problem.code}: {said}")


def connect(url: str, token: str | None = None, dataset: str | None = None) -> RemoteCurator:
    """A curator on a server; `dataset` is needed where there are several."""
    parts = urllib.parse.urlsplit(url)
    local = parts.hostname in ("localhost", "127.0.0.1", "::1")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError("url", url, "an address such as https://curator.example")
    if parts.scheme == "http" and token is not None and not local:
        raise InputError("url", url, "https: a token sent over http can be read on the way")
    line = Line(url.rstrip("/"), token)
    listed = line.sent("/api/datasets")
    names = [one["dataset"] for one in listed]
    if dataset is None and len(names) != 1:
        raise InputError("dataset", dataset, "one of " + ", ".join(names))
    if dataset is not None and dataset not in names:
        raise InputError("dataset", dataset, "one of " + ", ".join(names))
    return RemoteCurator(line, dataset or names[0])


@dataclass(frozen=True, slots=True)
class RemoteCurator:
    """A dataset on a server."""

    line: Line
    dataset: str

    @property
    def _path(self) -> str:
        return "/api/datasets/" + urllib.parse.quote(self.dataset, safe="")

    def describe(self) -> dict[str, Any]:
        """Its schema, whom it protects, and what is left."""
        found: dict[str, Any] = self.line.sent(self._path)
        return found

    def table(self, name: str | None = None) -> RemoteQuestion:
        """Begin a question."""
        if name not in (None, self.dataset):
            raise InputError("table", name, f"{self.dataset!r}, the table of this curator")
        return RemoteQuestion(self, Query())

    def sql(self, text: str) -> RemoteQuestion:
        """A question in SQL."""
        return RemoteQuestion(self, text)

    def releases(self) -> list[str]:
        """Ids of what was released."""
        found: list[str] = self.line.sent(f"{self._path}/releases")
        return found

    def release(self, release: str, part: str = "") -> Release:
        """A release made before, read again for free."""
        name = urllib.parse.quote(release, safe="")
        return _read(self.line.sent(f"{self._path}/releases/{name}?" + urllib.parse.urlencode({"part": part})))

    def __repr__(self) -> str:
        left = ", ".join(
            f"{one['allotment']}: {one['currency']} = {one['left']:g} left" for one in self.describe()["allotments"]
        )
        return f"<Curator of {self.dataset!r} at {self.line.url}; {left}>"


@dataclass(frozen=True, slots=True)
class RemoteQuestion:
    """A question for a server, being put together. Nothing is sent until it is planned."""

    curator: RemoteCurator
    query: Asked | str

    @property
    def _built(self) -> Query:
        if not isinstance(self.query, Query):
            raise InputError("question", "in SQL", "put together from table()", "SQL says everything by itself.")
        return self.query

    def where(self, condition: str | Predicate) -> RemoteQuestion:
        """Keep the rows for which the condition is true."""
        return RemoteQuestion(self.curator, self._built.where(condition))

    def group_by(self, *keys: str | Key) -> RemoteQuestion:
        """Answer for every group."""
        return RemoteQuestion(self.curator, self._built.group_by(*keys))

    def agg(self, /, **outputs: Aggregate | Ordered) -> RemoteQuestion:
        """Name what is computed."""
        return RemoteQuestion(self.curator, self._built.agg(**outputs))

    def plan(self, **price: Number | str | float | None) -> RemoteOffer:
        """Price it, by epsilon, rho, share or within, as a curator here would. Free."""
        asked = {"sql": self.query} if isinstance(self.query, str) else {"query": self.query.to_dict()}
        body = asked | {name: value for name, value in price.items() if value is not None}
        return RemoteOffer(self.curator, body, self.curator.line.sent(f"{self.curator._path}/plan", body))


@dataclass(frozen=True, slots=True)
class RemoteOffer:
    """A plan by a server. `print(offer)` before, `offer.release()` to spend."""

    curator: RemoteCurator
    body: dict[str, Any]
    plan: dict[str, Any]

    def explain(self) -> str:
        """Cost, noise and expected error, in the server's words."""
        return str(self.plan["text"])

    def release(self, *, release: str | None = None, why: str = "") -> Release:
        """Spend and answer. Asked again under the same id, the stored answer comes back at no cost."""
        body = {**self.body, "why": why} | ({} if release is None else {"release": release})
        found = self.curator.line.sent(f"{self.curator._path}/release", body)
        if "columns" not in found:
            raise RunError(f"{found['text']} Its id is {found['release']!r}.", release=found["release"])
        return _read(found)

    def __str__(self) -> str:
        return self.explain()


def _read(entry: dict[str, Any]) -> Release:
    """A release from its plain values."""
    plain: dict[str, Any] = dict(entry)
    plain |= {name: tuple(plain[name]) for name in ("keys", "outputs")}
    return Release(**plain)
