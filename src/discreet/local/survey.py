"""A survey: a name, a mechanism, and replies that say which survey they belong to.

A reply carries the survey's id, which stands for its name, its labels and every parameter of its mechanism, and a token
drawn at random that tells it from all others. Replies to another survey, or to the same one with another epsilon, and
replies that come twice are refused.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from attrs import fields
from numpy.typing import NDArray

from discreet.core.check import settle
from discreet.core.mechanism import Bits
from discreet.core.wire import Json, fraction
from discreet.errors import MISSING, InputError, Phrase, kind_of
from discreet.local.duchi import Duchi
from discreet.local.estimate import Tally
from discreet.local.grr import GRR
from discreet.local.hadamard import Hadamard
from discreet.local.hybrid import Hybrid
from discreet.local.olh import OLH
from discreet.local.piecewise import Piecewise
from discreet.local.protocol import Oracle, Report, Responder, identity
from discreet.local.subset import Subset
from discreet.local.unary import OUE, SUE
from discreet.local.vector import VectorMean
from discreet.noise.bits import SystemBits

__all__ = ["KINDS", "TOKEN", "Batch", "Reply", "Survey", "responder_from_dict"]

TOKEN = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Reply:
    """One scrambled answer on its way to the collector."""

    survey: str
    token: str
    report: Report

    def to_dict(self) -> dict[str, Json]:
        """As plain values, ready for JSON."""
        plain = self.report if isinstance(self.report, int) else base64.b64encode(self.report).decode()
        return {"survey": self.survey, "token": self.token, "report": plain}


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Many scrambled answers to one survey: `reports` and a token for each (rows of 16 bytes)."""

    survey: str
    reports: NDArray[Any]
    tokens: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.reports)

    def hex_tokens(self) -> list[str]:
        """The tokens as text."""
        text = self.tokens.tobytes().hex()
        return [text[start : start + 32] for start in range(0, len(text), 32)]


@dataclass(frozen=True, slots=True)
class Survey:
    """One question asked of many people who trust nobody with the answer.

    >>> from discreet.local import GRR
    >>> survey = Survey("flu", GRR(2, epsilon=1), labels=("no", "yes"))
    >>> reply = survey.respond("yes")              # on the respondent's own device
    >>> survey.read(reply.to_dict()) == reply      # at the collector's
    True
    """

    name: str
    mechanism: Responder
    labels: tuple[str, ...] | None = None

    def __init__(self, name: str, mechanism: Responder, labels: Sequence[str] | None = None) -> None:
        if not isinstance(name, str) or not name:
            raise InputError("name", name, "the survey's name, a text")
        if not isinstance(mechanism, Responder):
            raise InputError("mechanism", kind_of(mechanism), "a mechanism of discreet.local")
        if labels is not None:
            if isinstance(labels, str) or not all(isinstance(label, str) for label in labels):
                raise InputError("labels", labels, "a list of texts, one for each category")
            count = mechanism.categories if isinstance(mechanism, Oracle) else 0
            if len(set(labels)) != len(labels) or len(labels) != count:
                raise InputError(
                    "labels", Phrase(f"{len(labels)} of them"), f"{count} different texts, one for each category"
                )
        settle(self, name=name, mechanism=mechanism, labels=None if labels is None else tuple(labels))

    @property
    def id(self) -> str:
        """What every reply carries."""
        return identity(self.to_dict())

    def to_dict(self) -> dict[str, Json]:
        """Everything both sides must agree on."""
        labels: Json = None if self.labels is None else list(self.labels)
        return {"name": self.name, "labels": labels, "mechanism": self.mechanism.to_dict()}

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Survey:
        """Read back what `to_dict` wrote."""
        if not isinstance(entry, Mapping) or set(entry) != {"name", "labels", "mechanism"}:
            raise InputError("survey", entry, "an object with name, labels and mechanism")
        return cls(entry["name"], responder_from_dict(entry["mechanism"]), entry["labels"])

    # the respondent's side

    def respond(self, answer: Any, *, bits: Bits | None = None) -> Reply:
        """One reply, scrambled here. Keep it: asked again, send the same one, or the second costs as much again."""
        source = bits if bits is not None else SystemBits()
        report = self.mechanism.privatize(self._encode([answer])[0], bits=source)
        return Reply(self.id, source.read(16).tobytes().hex(), report)

    def collect(self, answers: Any, *, bits: Bits | None = None) -> Batch:
        """Many replies at once: for simulations, and for a collector trusted to scramble before storing."""
        source = bits if bits is not None else SystemBits()
        reports = self.mechanism.privatize(self._encode(answers), bits=source)
        return Batch(self.id, reports, source.read(16 * len(reports)).reshape(-1, 16))

    def _encode(self, answers: Any) -> Any:
        if self.labels is None:
            return answers
        codes = {label: code for code, label in enumerate(self.labels)}
        try:
            return np.array([codes[answer] for answer in answers], dtype=np.int64)
        except (KeyError, TypeError):
            pass
        raise InputError("answers", Phrase("an unknown category"), among=self.labels)

    # the collector's side

    def read(self, entry: Mapping[str, Any]) -> Reply:
        """A reply as it came over the wire, checked: anything else is refused."""
        if not isinstance(entry, Mapping) or set(entry) != {"survey", "token", "report"}:
            raise InputError("reply", Phrase("something else"), "an object with survey, token and report")
        if entry["survey"] != self.id:
            hint = "It answers another survey, or this one with other parameters."
            raise InputError("survey", entry["survey"], f"{self.id}, the id of {self.name!r}", hint)
        if not isinstance(entry["token"], str) or not TOKEN.fullmatch(entry["token"]):
            raise InputError("token", entry["token"], "32 hexadecimal digits")
        report = entry["report"]
        if self.mechanism.layout == "packed":
            try:
                report = base64.b64decode(report, validate=True)
            except (binascii.Error, TypeError, ValueError):
                raise InputError("report", Phrase("something else"), "base64 of packed bits") from None
        elif isinstance(report, bool) or not isinstance(report, int):
            raise InputError("report", kind_of(report), "a whole number")
        self.mechanism.tally([report])  # refuses what the mechanism cannot have made
        return Reply(self.id, entry["token"], report)

    def tally(self, replies: Batch | Sequence[Reply]) -> Tally:
        """Replies added up; foreign ones and ones that came twice are refused."""
        if isinstance(replies, Batch):
            surveys, tokens = {replies.survey}, replies.tokens.view("V16").ravel() if len(replies) else replies.tokens
            reports: Any = replies.reports
        else:
            surveys = {reply.survey for reply in replies}
            tokens = np.array([reply.token for reply in replies])
            reports = [reply.report for reply in replies]
        if foreign := surveys - {self.id}:
            hint = "Replies to another survey, or to this one with other parameters, are among them."
            raise InputError("replies", min(foreign), f"replies to the survey {self.id} alone", hint)
        if len(np.unique(tokens)) != len(tokens):
            again = len(tokens) - len(np.unique(tokens))
            raise InputError(
                "replies", Phrase(f"{again} that came twice"), "different replies", "Drop replies with known tokens."
            )
        return self.mechanism.tally(reports)

    def estimate(self, replies: Batch | Sequence[Reply] | Tally) -> Any:
        """What the mechanism estimates from these replies."""
        found = replies if isinstance(replies, Tally) else self.tally(replies)
        return self.mechanism.estimate(found)


KINDS: dict[str, type[Any]] = {
    kind.kind: kind for kind in (GRR, OUE, SUE, OLH, Hadamard, Subset, Duchi, Piecewise, Hybrid, VectorMean)
}
_FRACTIONS = {"epsilon", "ratio", "lower", "upper", "share"}


def responder_from_dict(entry: Mapping[str, Any]) -> Responder:
    """Read back what `to_dict` wrote.

    >>> responder_from_dict(GRR(5, epsilon=1).to_dict()) == GRR(5, epsilon=1)
    True
    """
    values = dict(entry) if isinstance(entry, Mapping) else {}
    kind = KINDS.get(str(values.pop("kind", None)))
    if kind is None:
        raise InputError("kind", entry.get("kind") if isinstance(entry, Mapping) else entry, among=KINDS)
    known = {one.name for one in fields(kind)}
    if unknown := set(values) - known:
        raise InputError.unknown(min(unknown), sorted(known))
    if missing := known - set(values):
        raise InputError(min(missing), MISSING, "given")
    for name in _FRACTIONS & known:
        values[name] = fraction(values[name], name)
    made: Responder = kind(**values)
    if made.to_dict() != dict(entry):
        raise InputError("mechanism", dict(entry), "parameters that belong together")
    return made
