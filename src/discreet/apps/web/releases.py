"""Releases: published answers with intervals, as pictures, tables and files. Reading again is free."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Caller
from discreet.apps.web.files import attached, table_file
from discreet.apps.web.frame import Frame
from discreet.apps.web.pictures import output_bars
from discreet.core.note import LIMITED
from discreet.core.release import UNKNOWN, Release, number
from discreet.curator.kinds import kind_of as kind_of_ask
from discreet.curator.kinds import read_outcome
from discreet.errors import InputError
from discreet.ledger.outcome import Outcome
from discreet.ledger.quote import price_text
from discreet.query.limit_choice import draw_limits, table_of
from discreet.query.notation import write_condition
from discreet.query.predicate import predicate_from
from discreet.trees.export import archive

if TYPE_CHECKING:
    from discreet.flows.commuting.release import CommuteRelease
    from discreet.learn.release import ModelRelease
    from discreet.trees.detail import DetailRelease

__all__ = ["kind_of", "routes"]

_SHOWN = 500  # rows of a table on a page; files have them all
_PLACES = {"tree": "map", "census": "map", "synth": "synthetic"}  # pages that show what is no table
_MODELS = ("train", "search")


def routes(frame: Frame) -> APIRouter:
    """/d/{dataset}/releases and what is under it"""
    pages = frame.router()
    frame.links.append(("releases", "Releases"))
    service = frame.service
    anyone: Any = Depends(frame.caller)

    def known(dataset: str, identity: str, caller: Caller) -> Outcome:
        found = service.curator(dataset, caller).ledger.find(identity)
        if found is None or found.charged.dataset != dataset:
            raise HTTPException(404, "There is no release of this id.")
        return found

    def whole(dataset: str, outcome: Outcome) -> Any:
        return read_outcome(service.curators[dataset].ledger, outcome)

    def parts_of(dataset: str, outcome: Outcome) -> dict[str, Release]:
        tables: dict[str, Release] = whole(dataset, outcome).tables()
        return tables

    @pages.get("/d/{dataset}/releases")
    def listed(request: Request, dataset: str, caller: Caller = anyone) -> Response:
        curator = service.curator(dataset, caller)
        budget = curator.ledger.account(dataset).budget
        shown = []
        for one in reversed(curator.ledger.releases(dataset)):
            record = one.charged
            state = "answered" if one.answer is not None else "failed" if one.failure is not None else "no answer yet"
            cost = price_text(budget.allotment(record.allotment), record.charge)
            mine = caller.role == "custodian" or record.who == caller.name
            shown.append((one, state, kind_of(one), asked_words(record.query), cost, mine))
        return frame.page(request, "releases.html", caller, shown=shown)

    @pages.get("/d/{dataset}/releases/{identity:path}")
    def one(
        request: Request,
        dataset: str,
        identity: str,
        part: str = "",
        new: str = "",
        of: str = "",
        caller: Caller = anyone,
    ) -> Response:
        for ending in ("csv", "json", "parquet"):
            if identity.endswith(f"/download.{ending}"):
                outcome = known(dataset, identity.removesuffix(f"/download.{ending}"), caller)
                if outcome.answer is None:
                    raise HTTPException(404, "There is no answer to this release, and so no file of it.")
                return _file(parts_of(dataset, outcome), part, ending)
        for name in ("card.md", "model.npz", "model.safetensors"):
            if identity.endswith(f"/{name}"):
                outcome = known(dataset, identity.removesuffix(f"/{name}"), caller)
                if outcome.answer is None or kind_of(outcome) not in _MODELS:
                    raise HTTPException(404, "Nothing is at this address.")
                return _model_file(whole(dataset, outcome), name)
        for name in ("map.html", "csv.zip", "parquet.zip", "measurements.zip"):
            if identity.endswith(f"/{name}"):
                outcome = known(dataset, identity.removesuffix(f"/{name}"), caller)
                if outcome.answer is None or kind_of(outcome) != "detail":
                    raise HTTPException(404, "Nothing is at this address.")
                with service.plans.turn(caller.name):
                    return _group_file(service, whole(dataset, outcome), name)
        if identity.endswith("/area.html"):
            outcome = known(dataset, identity.removesuffix("/area.html"), caller)
            if outcome.answer is None or kind_of(outcome) != "commute":
                raise HTTPException(404, "Nothing is at this address.")
            with service.plans.turn(caller.name):
                area = whole(dataset, outcome).area(*request.query_params.getlist("work"))
                return attached(area.to_html(), f"{dataset}-area", "html")
        outcome = known(dataset, identity, caller)
        record = outcome.charged
        budget = service.curators[dataset].ledger.account(dataset).budget
        values: dict[str, Any] = {
            "outcome": outcome,
            "record": record,
            "cost": price_text(budget.allotment(record.allotment), record.charge),
            "mine": caller.role == "custodian" or record.who == caller.name,
            "asked": asked_words(record.query),
            "query_text": json.dumps(record.query, indent=2, ensure_ascii=False),
            "fresh": bool(new),
        }
        if outcome.answer is None:
            return frame.page(request, "pending.html", caller, **values, other="")
        place = _PLACES.get(kind_of(outcome), "")
        if place and place in dict(frame.links):
            return RedirectResponse(f"/d/{quote(dataset, safe='')}/{place}?release={quote(identity, safe='')}", 303)
        try:
            if kind_of(outcome) in _MODELS:
                return frame.page(request, "model.html", caller, **values, **_model(whole(dataset, outcome)))
            found = parts_of(dataset, outcome)
        except InputError as problem:  # of no kind that is read here
            return frame.page(request, "pending.html", caller, **values, other=str(problem))
        release = found.get(part) or next(iter(found.values()))
        choice = table_of(record.query)
        drawn = [output_bars(release, name) for name in release.outputs]
        if choice is not None:
            release = choice.apply(release)
            picture = draw_limits(release)
            drawn = [picture.figure(picture.title, table=False)]
        rows = release.labelled()
        grouped = kind_of(outcome) == "detail" and getattr(release, "measured", None) is not None
        return frame.page(
            request,
            "release.html",
            caller,
            **values,
            release=release,
            parts=[name for name in found if name],
            part=part if part in found else next(iter(found)),
            drawn=drawn,
            table=[_row(release, place, row) for place, row in enumerate(rows[:_SHOWN])],
            more=len(rows) - _SHOWN,
            discovered=_discovered(record.query),
            grouped=grouped,
            works=_works(whole(dataset, outcome)) if kind_of(outcome) == "commute" else (),
            of=of,
            summed=_summed(release, of) if grouped and of else None,
            limited=choice is None and any(note.kind in LIMITED for note in release.notes),
        )

    return pages


def kind_of(outcome: Outcome) -> str:
    """The kind of job that made it; nothing if it is none that is read here."""
    made = kind_of_ask(outcome.charged.query, outcome.kind)
    return "" if made is None else made.name


def asked_words(query: Any) -> str:
    """A question from the books in a line."""
    if not isinstance(query, dict):
        return ""
    if "top" in query:
        top = query["top"]
        return f"the most common {top.get('column', '') if isinstance(top, dict) else top}"
    if isinstance(parts := query.get("union"), list):
        return "; ".join(
            dict.fromkeys(asked_words(part.get("query", part)) for part in parts if isinstance(part, dict))
        )
    if "outputs" not in query:
        made = kind_of_ask(query)
        return ", ".join(query) if made is None else made.noun
    outputs = [f"{name}" for name in query["outputs"]]
    keys = [str(key.get("column", "")) if isinstance(key, dict) else str(key) for key in query.get("group_by", ())]
    if (choice := table_of(query)) is not None:
        outputs, keys = [f"Limits on {'rows' if choice.by is None else f'groups by {choice.by}'}"], []
    words = ", ".join(outputs) or "which groups there are"
    if keys:
        words += " by " + ", ".join(keys)
    return words + (f", where {write_condition(predicate_from(query['where']))}" if query.get("where") else "")


def _discovered(query: Any) -> list[str]:
    """The keys whose values were not known before."""
    keys = query.get("group_by", ()) if isinstance(query, dict) else ()
    return [str(key["column"]) for key in keys if isinstance(key, dict) and key.get("discover")]


def _row(release: Release, place: int, row: dict[str, Any]) -> tuple[list[str], list[tuple[str, str]]]:
    """Keys as text, then each value with its interval."""
    values = [
        ("-" if place in release.absent.get(name, ()) else UNKNOWN, "")
        if row[name] is None
        else (number(row[name]), _interval(row, name))
        for name in release.outputs
    ]
    return [row[key] for key in release.keys], values


def _interval(row: dict[str, Any], name: str) -> str:
    """Nothing where a number is known: what noise costs."""
    low, high = row[f"{name}_lower"], row[f"{name}_upper"]
    return "" if name == "noise" and low == high else f"{number(low)} to {number(high)}"


def _model(model: ModelRelease) -> dict[str, Any]:
    """What the page of a model shows."""
    about = {
        "name": model.described["name"],
        "target": model.target,
        "features": [] if model.encoding is None else [one.name for one in model.encoding.features],
        "weights": sum(int(one.size) for one in model.weights),
        "steps": model.recipe.steps,
    }
    return {"release": model, "about": about, "card": model.card().to_markdown()}


def _model_file(model: ModelRelease, name: str) -> Response:
    stem, _, ending = name.partition(".")
    if ending == "md":
        return attached(model.card().to_markdown(), stem, ending)
    with tempfile.TemporaryDirectory() as folder:
        return attached(model.save(Path(folder) / name).read_bytes(), stem, ending)


def _summed(release: Any, of: str) -> tuple[str, bool]:
    """A sum of the reader's own in words, and whether it could be read."""
    from discreet.trees.detail.sums import parse_groups

    try:
        return str(release.sum(**parse_groups(release.known, of, "sum"))), True
    except InputError as problem:
        return str(problem), False


def _works(release: CommuteRelease) -> tuple[str, ...]:
    """The destinations of which there is a page; none where a record of an earlier version has no intervals."""
    return () if release.measured is None else release.destinations


def _group_file(service: Service, release: DetailRelease, name: str) -> Response:
    """Files of population groups: a map, a folder of files, the noisy counts."""
    stem, _, ending = name.partition(".")
    if ending == "html":
        return attached(service.draw(release).html, f"{release.dataset}-{stem}", ending)
    if stem == "measurements":
        return attached(archive(release.save_measurements), f"{release.dataset}-{stem}", ending)
    return attached(archive(lambda folder: release.save(folder, kind=stem)), f"{release.dataset}-{stem}", ending)


def _file(parts: dict[str, Release], part: str, ending: str) -> Response:
    release = parts.get(part) or next(iter(parts.values()))
    return table_file(release, f"{release.dataset}-{release.id}", ending)
