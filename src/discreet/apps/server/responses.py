"""What the API answers, for its description: every body is one of these."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict

from discreet.errors import GIVEN, InputError

__all__ = [
    "PARQUET",
    "PROBLEMS",
    "ZIPPED",
    "AnyResponse",
    "DatasetResponse",
    "DecisionResponse",
    "EventsResponse",
    "FigureResponse",
    "Json",
    "LedgerResponse",
    "PendingResponse",
    "PlanResponse",
    "ProblemResponse",
    "ReleaseResponse",
    "SimulationResponse",
    "StoredResponse",
    "SurveyResponse",
    "VerifyResponse",
    "WireResponse",
    "answers",
    "binary",
    "file_response",
    "malformed",
    "paths",
]


_MALFORMED = {
    "json_invalid": "valid JSON",
    "model_attributes_type": "a JSON object, sent with content-type: application/json",
    "missing": "given",
    "list_type": "a list",
    "dict_type": "an object",
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
}
_TYPE = re.compile(r"str|int|float|bool|constrained-\w+|[\w-]+\[.*\]")
_SHOULD = re.compile(r"(?:Value error, |\w+ should be )(?P<be>.+)|\w+ should have (?P<have>.+)", re.DOTALL)


def malformed(errors: Sequence[Mapping[str, Any]], known: Collection[str] = ()) -> list[InputError]:
    """What pydantic refuses, as errors of ours, one a field. Of a field that does not exist, `known` are those that do.

    Where a field takes several types, pydantic refuses each of them: what they are is said once. If what was sent is of
    one of them, what is wrong inside of it is said instead.
    """
    fields: dict[tuple[Any, ...], dict[tuple[Any, ...], list[Mapping[str, Any]]]] = {}
    for error in errors:
        place = () if error["type"] == "json_invalid" else tuple(part for part in error["loc"] if part != "body")
        plain = tuple(part for part in place if not _is_type(part))
        root = next((place[:index] for index, part in enumerate(place) if _is_type(part)), plain)
        fields.setdefault(root, {}).setdefault(plain, []).append(error)
    found = []
    for places in fields.values():
        place = max(places, key=len)
        found.append(_malformed(".".join(map(str, place)), places[place], known))
    return found


def _malformed(field: str, errors: Sequence[Mapping[str, Any]], known: Collection[str]) -> InputError:
    if errors[0]["type"] == "extra_forbidden":
        return InputError.unknown(field, known)
    said = []
    for error in errors:
        should = _SHOULD.fullmatch(str(error["msg"]))
        words = "another value" if should is None else should["be"] or f"of {should['have']}"
        said.append(_MALFORMED.get(error["type"], words))
    return InputError(field or "body", GIVEN, " or ".join(dict.fromkeys(said)))


def _is_type(part: Any) -> bool:
    """Whether a step of the way to a value is the name of a type, among several that it might have."""
    return isinstance(part, str) and _TYPE.fullmatch(part) is not None


class Json(JSONResponse):
    """JSON in which a number that is none (no bound, say) is null, and half a character is written as its code."""

    def render(self, content: Any) -> bytes:
        """The body."""
        try:
            return super().render(content)
        except ValueError:  # seldom, so that all others need not be looked through
            return json.dumps(_finite(content), separators=(",", ":")).encode()


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class _Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class ProblemResponse(_Open):
    """What went wrong, in words that do not depend on the data. `field` names what is not allowed, if anything."""

    error: str
    message: str
    field: str = ""
    allowed: str = ""
    hint: str = ""


class _Amounts(_Open):
    cap: float
    spent: float
    left: float


class _Exact(_Open):
    cap: str
    spent: str
    left: str
    delta_spent: str


class _Standing(_Open):
    allotment: str
    kind: str
    currency: str
    cap: float
    spent: float
    left: float
    exact: _Exact
    delta: _Amounts
    declared: dict[str, Any]


class DatasetResponse(_Open):
    """What is public of a dataset; in a list, of one that cannot be used for now, its name and the `problem` alone."""

    dataset: str
    unit: str = ""
    allotments: list[_Standing] = []
    caps: list[dict[str, Any]] = []
    problem: str = ""


class EventsResponse(_Open):
    """Records of a ledger from a position, and the position to go on from."""

    records: list[dict[str, Any]]
    next: int


class PlanResponse(_Open):
    """A plan: what it costs, how far answers may be off, and `text` for people.

    `answered` names a stored release of the same plan, which is free to read, where there is one.
    """

    dataset: str
    allotment: str
    digest: str
    text: str
    answered: dict[str, Any] | None = None


class ReleaseResponse(_Open):
    """A table that was released, with its intervals."""

    id: str
    dataset: str
    keys: list[str]
    outputs: list[str]
    columns: dict[str, list[Any]]
    confidence: float
    cost: str
    remaining: str
    data: str


class AnyResponse(_Open):
    """A release of any kind: a table with its intervals, tables by name, or what another kind says of itself."""


class PendingResponse(BaseModel):
    """Not finished yet: to be fetched by its id."""

    release: str
    text: str


class StoredResponse(_Open):
    """What a long job made, without its numbers."""

    id: str
    dataset: str
    data: str
    cost: str
    remaining: str


class FigureResponse(_Open):
    """A sum or a share computed from published numbers; null where nothing is known."""

    value: float | None
    lower: float | None
    upper: float | None
    confidence: float
    quality: str


class _SizeClass(_Open):
    to: float | None
    leaves: int
    bias: float


class SimulationResponse(_Open):
    """What noise does to small regions: `misplaced`, the part of people placed in empty leaves, and `classes`, each
    with the sizes (`from`, `to`) of its `leaves` and their `bias` as a part of that size."""

    leaf: str
    misplaced: float
    classes: list[_SizeClass]


class _Effect(_Open):
    group: str
    regions: float


class DecisionResponse(_Open):
    """What a decision gets wrong: of a fund the part `misallocated`, of a limit how many regions are `wrong`; by group
    and, in `columns`, by region. `simulated` where nothing is published yet."""

    fund: float | None
    threshold: float | None
    by: str
    repair: str
    misallocated: float | None
    wrong: float | None
    simulated: bool
    groups: list[_Effect]
    columns: dict[str, list[Any]]


class WireResponse(_Open):
    """A release as the ledger records it."""

    release: str
    dataset: str
    allotment: str
    digest: str
    mechanism: str
    charge: dict[str, str]
    time: str
    data: dict[str, str] | None
    query: Any
    result: dict[str, Any]
    measured: Any
    kind: str
    version: int
    unit: str
    price: dict[str, float]
    cost: str
    remaining: str


class LedgerResponse(_Open):
    """The ledger of a dataset."""

    standing: list[_Standing]
    records: list[dict[str, str]]


class SurveyResponse(BaseModel):
    """A survey that is open here."""

    survey: str
    title: str
    digest: str
    path: str
    results: str
    questions: list[str]


class VerifyResponse(BaseModel):
    """Whether the ledger was verified."""

    ok: bool
    records: int
    problems: list[str]


_WORDS = {
    400: "the request cannot be read",
    401: "a valid token is needed",
    403: "not with this token",
    404: "there is no such thing",
    405: "not by this method",
    409: "the budget does not cover it; nothing was spent",
    413: "the body is too large",
    422: "not allowed; nothing was spent",
    429: "too many requests",
    500: "something went wrong, or a run failed after its cost was recorded",
    501: "this server cannot do that",
    503: "the ledger or the data cannot be reached; nothing was spent",
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": ProblemResponse, "description": words} for status, words in _WORDS.items()
}


PARQUET = "application/vnd.apache.parquet"
_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "parquet": PARQUET,
    "md": "text/markdown; charset=utf-8",
    "zip": "application/zip",
}


def binary(*kinds: str) -> dict[str, Any]:
    """The description of a file of these types."""
    return {kind: {"schema": {"type": "string", "format": "binary"}} for kind in kinds}


ZIPPED: dict[int | str, dict[str, Any]] = {
    200: {"description": "the files, in one ZIP file", "content": binary("application/zip")}
}


def file_response(content: str | bytes, name: str, ending: str) -> Response:
    """A file to be saved, under a name that is safe anywhere."""
    plain = "".join(one for one in name if one.isascii() and (one.isalnum() or one in "-_")) or "table"
    headers = {"content-disposition": f'attachment; filename="{plain}.{ending}"'}
    return Response(content, media_type=_TYPES.get(ending, "application/octet-stream"), headers=headers)


def answers(model: Any, words: str, status: int = 200) -> dict[int | str, dict[str, Any]]:
    """The description of a good answer."""
    return {status: {"model": model, "description": words}}


def paths(prefix: str, *tags: str) -> APIRouter:
    """A part of the API. An operation has the name of its function, which does not change with its path."""
    return APIRouter(
        prefix=prefix, responses=PROBLEMS, tags=list(tags), generate_unique_id_function=lambda route: route.name
    )
