"""Releases: published answers with intervals, as pictures, tables and files. Reading again is free."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
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
from discreet.apps.web.question_reading import from_release
from discreet.apps.web.release_list import CHOICES, Line, Listing
from discreet.apps.web.release_view import FILES, view_release, with_code
from discreet.core.note import LIMITED
from discreet.core.release import Release
from discreet.curator.kinds import kind_of as kind_of_ask
from discreet.curator.kinds import read_outcome
from discreet.curator.request import stated_price
from discreet.curator.title import title_of
from discreet.data.schema import Schema
from discreet.errors import DiscreetError, InputError
from discreet.ledger.outcome import Outcome
from discreet.ledger.quote import price_text
from discreet.query.limit_choice import draw_limits, table_of
from discreet.trees.export import archive

if TYPE_CHECKING:
    from discreet.flows.commuting.release import CommuteRelease
    from discreet.learn.release import ModelRelease
    from discreet.trees.detail import DetailRelease

__all__ = ["kind_of", "routes", "seen_by"]

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

    def coded(dataset: str, outcome: Outcome, release: Release, caller: Caller) -> Release:
        declared = service.curators[dataset].declared
        seen = seen_by(caller, release, outcome)
        return with_code(seen, declared if isinstance(declared, Schema) else None, _price(outcome))

    @pages.get("/d/{dataset}/releases")
    def listed(request: Request, dataset: str, caller: Caller = anyone) -> Response:
        curator = service.curator(dataset, caller)
        budget = curator.ledger.account(dataset).budget
        found = [
            Line.of(outcome, budget.allotment(outcome.charged.allotment), caller)
            for outcome in reversed(curator.ledger.releases(dataset))
        ]
        chosen = {name: request.query_params.get(name, "") for name in CHOICES}
        return frame.page(
            request,
            "releases.html",
            caller,
            listing=Listing.of(found, chosen, f"/d/{quote(dataset, safe='')}/releases"),
        )

    @pages.get("/d/{dataset}/releases/{identity:path}")
    def one(
        request: Request,
        dataset: str,
        identity: str,
        part: str = "",
        output: str = "",
        new: str = "",
        of: str = "",
        caller: Caller = anyone,
    ) -> Response:
        for ending, _, _ in FILES:
            if identity.endswith(f"/download.{ending}"):
                outcome = known(dataset, identity.removesuffix(f"/download.{ending}"), caller)
                if outcome.answer is None:
                    raise HTTPException(404, "There is no answer to this release, and so no file of it.")
                release = coded(dataset, outcome, _chosen(parts_of(dataset, outcome), part), caller)
                with service.plans.turn(caller.name):
                    return table_file(release, f"{dataset}-{release.id}", ending, output or None)
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
            "asked": title_of(record.query, outcome.kind),
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
        release = coded(dataset, outcome, _chosen(found, part), caller)
        choice = table_of(record.query)
        grouped = kind_of(outcome) == "detail" and getattr(release, "measured", None) is not None
        draw = None if choice is None else draw_limits
        here = f"/d/{quote(dataset, safe='')}/releases/{quote(identity, safe='')}"
        view = view_release(
            release if choice is None else choice.apply(release), here, dict(request.query_params), draw
        )
        return frame.page(
            request,
            "release.html",
            caller,
            **values,
            release=view.release,
            view=view,
            parts=[name for name in found if name],
            part=part if part in found else next(iter(found)),
            discovered=_discovered(record.query),
            edit=_edit(service, dataset, outcome),
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


def seen_by(caller: Caller, release: Release, outcome: Outcome) -> Release:
    """A table as a caller may see it: where another allotment stands is not theirs to see, in a file neither."""
    return release if caller.sees(outcome.charged.allotment) else replace(release, remaining="")


def _discovered(query: Any) -> list[str]:
    """The keys whose values were not known before."""
    keys = query.get("group_by", ()) if isinstance(query, dict) else ()
    return [str(key["column"]) for key in keys if isinstance(key, dict) and key.get("discover")]


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


def _place(dataset: str, *identity: str) -> str:
    """The address of the list of releases, or of one of them."""
    return "/".join([f"/d/{quote(dataset, safe='')}/releases", *(quote(one, safe="") for one in identity)])


def _chosen(tables: dict[str, Release], part: str) -> Release:
    return tables.get(part) or next(iter(tables.values()))


def _price(outcome: Outcome) -> dict[str, Any]:
    """The price as it was stated; as it was charged, where no record says how."""
    stated = stated_price(outcome)
    return stated or {"epsilon": float(outcome.charged.charge.amount)}


def _edit(service: Service, dataset: str, outcome: Outcome) -> str:
    """Where the question can be asked again in other words; "" where no form or statement can ask it."""
    curator = service.curators[dataset]
    if not isinstance(curator.declared, Schema) or kind_of(outcome) not in ("question", "top"):
        return ""
    try:
        from_release(outcome, curator)
    except DiscreetError:
        return ""
    return f"/d/{quote(dataset, safe='')}/ask?from={quote(outcome.charged.release, safe='')}"
