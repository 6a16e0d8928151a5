"""What someone fills in to have a job done: the fields of an ask as texts, its price said in one of several ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from discreet.apps.server.requests import REQUESTS, JobRequest
from discreet.apps.server.responses import malformed
from discreet.apps.web.form import Form
from discreet.apps.web.ways import WAYS, price_sent
from discreet.curator import KINDS, Curator
from discreet.errors import MISSING, InputError
from discreet.query.ask import Option, options

__all__ = ["JobInput"]


@dataclass(frozen=True)
class JobInput:
    """The texts of a form for a kind of job, as they were typed."""

    kind: str
    pairs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def read(cls, kind: str, form: Form) -> JobInput:
        """What a form holds."""
        known = (*fields_of(kind), "way", *WAYS, "confidence", "allotment")
        return cls(kind, tuple((name, text) for name, text in form.pairs if name in known and text.strip()))

    def text(self, name: str, otherwise: str = "") -> str:
        """The text of a field without spaces around it."""
        return next((text.strip() for field, text in self.pairs if field == name), otherwise)

    def all(self, name: str) -> list[str]:
        """Every text sent under a name."""
        return [text for field, text in self.pairs if field == name]

    @property
    def prices(self) -> tuple[str, ...]:
        """The words in which the price may be said; a share as a percentage too."""
        prices: tuple[str, ...] = KINDS[self.kind].ask().prices
        return (*prices, "percent") if "share" in prices else prices

    @property
    def way(self) -> str:
        """How the price is said: one of `WAYS`."""
        way = self.text("way")
        return way if way in WAYS else "epsilon"

    def fields(self) -> list[tuple[str, str]]:
        """Names and texts from which `read` makes the same again: of the price the one way that counts."""
        others = set(WAYS) - {self.way}
        return [(name, text) for name, text in self.pairs if name not in others]

    def with_texts(self, **texts: str) -> JobInput:
        """The same with some fields filled in anew."""
        kept = tuple((name, text) for name, text in self.pairs if name not in texts)
        return replace(self, pairs=(*kept, *texts.items()))

    def with_price(self, way: str, amount: str) -> JobInput:
        """The same at another price."""
        return self.with_texts(**{"way": way, way: amount})

    def priced(self, ways: Mapping[str, str]) -> JobInput:
        """The same with the other ways of saying the price filled in."""
        return self.with_texts(**{way: text for way, text in ways.items() if way != self.way})

    def offer(self, curator: Curator, allotment: str | None) -> tuple[Any, dict[str, Any]]:
        """The plan, priced, and what a program would send for it. `InputError` for what no program may."""
        amount = self.text(self.way)
        sent = {**self.body(), "allotment": allotment}
        if "confidence" in self.prices:
            sent["confidence"] = _number(self.text("confidence", "0.95"), "confidence")
        if amount:
            sent |= price_sent(self.way, amount)
        elif self.kind not in ("train", "search"):  # where steps and noise may fix it
            raise InputError(self.way, MISSING, "a number: the price, in the way you chose")
        return self.request(sent).offer(curator), sent

    def request(self, sent: Mapping[str, Any]) -> JobRequest:
        """The same as a program would send it."""
        try:
            return REQUESTS[self.kind].model_validate({name: one for name, one in sent.items() if one is not None})
        except ValidationError as problem:
            raise malformed(problem.errors())[0] from None

    def body(self) -> dict[str, Any]:
        """What is asked for, without its price."""
        found = {}
        for name, one in fields_of(self.kind).items():
            texts = [text.strip() for text in self.all(name) if text.strip()]
            if one.form.text is bool:
                if bool(texts) != bool(one.default):
                    found[name] = bool(texts)
            elif texts:
                found[name] = _value(one, texts)
        return found

    @staticmethod
    def error(offer: Any) -> float | None:
        """The half-width that `within` is about: the largest that is stated."""
        halves = [one.half_width for one in offer.expected if one.half_width is not None]
        return max(halves) if halves else None


def fields_of(kind: str) -> dict[str, Option]:
    """What a page can ask for."""
    return {name: one for name, one in options(KINDS[kind].ask()).items() if one.shell and not one.here_only}


def _value(one: Option, texts: list[str]) -> Any:
    """The JSON of a field. Of lists, one entry a line; no text is ever taken for a path."""
    if one.form.repeated:
        return one.form.parse([line.strip() for text in texts for line in text.splitlines() if line.strip()])
    if one.form.text is int:
        return int(_number(texts[0].replace(",", ""), one.name, whole=True))
    if one.form.text is float:
        return _number(texts[0], one.name)
    return one.form.parse(",".join(texts))


def _number(text: str, field: str, *, whole: bool = False) -> float:
    try:
        return int(text) if whole else float(text)
    except ValueError:
        raise InputError(field, text, "a whole number" if whole else "a number") from None
