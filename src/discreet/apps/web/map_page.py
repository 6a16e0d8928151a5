"""Map: a hierarchy planned and released as a job; one that was released, as a map with intervals to drill down in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

from fastapi import APIRouter, Depends, HTTPException
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from discreet.apps.server.limits import check_replicates
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Caller
from discreet.apps.web.cache import Cache
from discreet.apps.web.files import attached, table_file
from discreet.apps.web.frame import Frame
from discreet.apps.web.job_form import JobForm
from discreet.apps.web.pictures import output_chart, text
from discreet.apps.web.releases import kind_of, seen_by
from discreet.apps.web.shapes import LARGEST, UploadedShapes
from discreet.apps.web.store import Store
from discreet.core.release import Release, number
from discreet.curator.kinds import table_of
from discreet.curator.title import title_of
from discreet.data.column import Category, Integer, Real
from discreet.errors import BusyError, InputError
from discreet.ledger.outcome import Outcome
from discreet.ledger.quote import price_text
from discreet.query.ask import Ask
from discreet.show.map.content import head_of
from discreet.show.map.drawing import Map, controls, script
from discreet.trees.atlas import map_title
from discreet.trees.census import CensusRelease
from discreet.trees.export import archive, table_parquet
from discreet.trees.release import TreeRelease
from discreet.trees.replicates import REPLICATES
from discreet.trees.simulation import Simulation
from discreet.trees.sums import figure_of

__all__ = ["made", "routes"]

_SHOWN = 500  # rows of a table on a page; files have them all
_REGIONS = ("county", "state", "region", "district", "province", "tract", "block", "municipality", "canton", "area")
_CONTENT = 'await fetch(document.getElementById("atlas").dataset.content).then((answer) => answer.json())'
_LEVEL = (
    '(level) => fetch(document.getElementById("atlas").dataset.content + "&level=" + level)'
    ".then((answer) => (answer.ok ? answer.json() : Promise.reject(answer.status)))"
)
_BEFORE = (
    'document.getElementById("atlas").hidden = false;\ndocument.getElementById("plain").removeAttribute("open");\n'
)


def routes(frame: Frame) -> APIRouter:
    """/d/{dataset}/map and what is under it"""
    pages = frame.router(Ask)
    frame.links.append(("map", "Map"))
    frame.tables.add("map")
    frame.static["map.js"] = script(_CONTENT, _LEVEL, _BEFORE).encode()
    service = frame.service
    anyone: Any = Depends(frame.caller)
    trees: Cache[TreeRelease | CensusRelease] = Cache(4)
    maps: Cache[Map] = Cache(4)

    def whole(dataset: str, release: str, caller: Caller) -> tuple[TreeRelease | CensusRelease, Outcome]:
        curator = service.curator(dataset, caller)
        outcome = service.stored(dataset, release)
        if outcome is None or kind_of(outcome) not in ("tree", "census"):
            raise HTTPException(404, "There is no hierarchy of this id.")
        return trees.get(f"{dataset}/{release}", lambda: curator.release(release)), outcome

    def known(dataset: str, release: str, caller: Caller, part: str = "") -> tuple[TreeRelease, Outcome]:
        """A hierarchy, or the table of a census: its first one unless `part` names another."""
        found, outcome = whole(dataset, release, caller)
        if isinstance(found, TreeRelease):
            return found, outcome
        return found[part or next(iter(found))], outcome

    shapes = UploadedShapes(service, Store(service.jobs.path))

    def drawn(dataset: str, tree: TreeRelease, caller: Caller, compare: str = "", part: str = "") -> Map:
        own, since = shapes.of(dataset, caller.name, tree.id)
        key = f"{dataset}/{tree.id}" + (f"/{caller.name}/{since}" if own else "") + f"/{compare}/{part}"

        def draw() -> Map:
            others = {compare: known(dataset, compare, caller)[0]} if compare else None
            title = f"{map_title(tree)} ({part})" if part else None
            return shapes.draw(
                dataset, caller.name, tree, label=tree.id if compare else "", compare=others, title=title
            )

        return maps.get(key, draw)

    def first(dataset: str, caller: Caller) -> dict[str, str]:
        columns = service.curator(dataset, caller).schema.columns
        names = [name for name, column in columns.items() if isinstance(column, Category)]
        likely = [name for name in names if any(part in name.lower() for part in _REGIONS)]
        return {"levels": next(iter(likely or names), "")} if names else {}

    def more(dataset: str, caller: Caller) -> dict[str, Any]:
        columns = service.curator(dataset, caller).schema.columns
        sums = [name for name, column in columns.items() if isinstance(column, Integer | Real)]
        return {"made": made(frame, dataset, caller, "tree"), "sums": sums}

    form = JobForm(frame, "map", "map_form.html", "tree", more, first)
    form.add(pages)

    @pages.get("/d/{dataset}/map")
    def page(
        request: Request,
        dataset: str,
        release: str = "",
        level: str = "",
        inside: str = "",
        of: str = "",
        share_of: str = "",
        compare: str = "",
        simulation: bool = False,
        part: str = "",
        caller: Caller = anyone,
    ) -> Response:
        if not release:
            return form.begun(request, dataset, caller)
        tree, outcome = known(dataset, release, caller, part)
        census = whole(dataset, release, caller)[0]
        parts = list(census) if isinstance(census, CensusRelease) else []
        place = tree.levels.index(level) if level in tree.levels else min(1, len(tree.levels) - 1)
        level = tree.levels[place]
        above = tree.levels[place - 1] if place > 1 else ""
        if not (above and inside in tree.tree.codes[place - 1]):
            inside = ""
        record = outcome.charged
        budget = service.curators[dataset].ledger.account(dataset).budget
        numbers, broken = None, ""
        try:
            numbers = _numbers(tree, level, above, inside)
        except InputError as problem:  # the method failed on the noisy counts, which are safe
            broken = str(problem)
        part = (part or parts[0]) if parts else ""
        compare, odd = _compared("" if parts else compare, lambda: drawn(dataset, tree, caller, compare))
        return frame.page(
            request,
            "map.html",
            caller,
            tree=tree,
            title=map_title(tree) + (f" ({part})" if part else ""),
            parts=parts,
            part=part,
            atlas=controls(),
            level=level,
            below=tree.levels[place + 1] if place + 1 < len(tree.levels) else "",
            above=above,
            inside=inside,
            numbers=numbers,
            summed=None if broken or not of else _summed(tree, of, share_of),
            of=of,
            share_of=share_of,
            small=not tree.cumulative
            and tree.magnitude is None
            and not parts,  # tables of a census are bound to others
            tried=_tried(service, tree, caller) if simulation and not broken else None,
            files=[name for name in tree.tables() if name == level or name.startswith(f"{level}-")],
            broken=broken,
            own=bool(shapes.of(dataset, caller.name, tree.id)[0]),
            most=LARGEST,
            compare=compare,
            odd=odd,
            others=[
                one.charged
                for one, *_ in made(frame, dataset, caller, "tree")
                if one.charged.release != tree.id and not parts
            ],
            record=record,
            cost=price_text(budget.allotment(record.allotment), record.charge),
            mine=caller.role == "custodian" or record.who == caller.name,
        )

    @pages.get("/d/{dataset}/map/content")
    def content(
        dataset: str,
        release: str,
        level: int | None = None,
        compare: str = "",
        part: str = "",
        caller: Caller = anyone,
    ) -> Response:
        """What the script draws: its head, or a level's published numbers with their intervals, and shapes."""
        shown = drawn(dataset, known(dataset, release, caller, part)[0], caller, compare, part).content
        if level is None:
            return JSONResponse(head_of(shown))
        if not 0 <= level < len(shown["layers"]):
            raise HTTPException(404, "There is no such level.")
        return JSONResponse(shown["layers"][level])

    @pages.get("/d/{dataset}/map/file")
    def file(dataset: str, release: str, compare: str = "", part: str = "", caller: Caller = anyone) -> Response:
        """The map as one file that needs no server."""
        shown = drawn(dataset, known(dataset, release, caller, part)[0], caller, compare, part)
        return attached(shown.html, f"{dataset}-map", "html")

    @pages.post("/d/{dataset}/map/shapes", dependencies=[Depends(frame.marked)])
    async def upload(
        request: Request, dataset: str, release: str, code_property: str = "", caller: Caller = anyone
    ) -> Response:
        """Shapes of regions to draw this map by, for whoever sends them; an empty file takes them back."""
        content = await request.body()

        def keep() -> None:
            tree, _ = known(dataset, release, caller)
            with service.plans.turn(caller.name):
                shapes.keep(dataset, caller.name, tree, content, code_property.strip()[:200])

        try:
            await run_in_threadpool(keep)
        except (InputError, BusyError) as problem:
            return JSONResponse({"message": str(problem)}, 422)
        return JSONResponse({"kept": bool(content)})

    @pages.get("/d/{dataset}/map/table")
    def table(
        dataset: str,
        release: str,
        level: str,
        format: Literal["csv", "json", "parquet"] = "csv",
        part: str = "",
        caller: Caller = anyone,
    ) -> Response:
        """A table as a file, called as files of releases are: a level, its totals, its margins."""
        tree, outcome = known(dataset, release, caller, part)
        table, named = seen_by(caller, table_of(tree, level, "level"), outcome), f"{dataset}-{level}"
        if format == "parquet":  # with all that the saved file says of itself
            return attached(table_parquet(tree, level), named, "parquet")
        return table_file(table, named, format)

    @pages.get("/d/{dataset}/map/files")
    def files(
        dataset: str,
        release: str,
        format: Literal["csv", "parquet", "measurements", "replicates"] = "csv",
        part: str = "",
        caller: Caller = anyone,
    ) -> Response:
        """All tables with a data dictionary, the noisy counts, or replicates, in one ZIP file; of a census all of it
        unless a table of it is named."""
        tree = known(dataset, release, caller, part)[0] if part else whole(dataset, release, caller)[0]
        with service.plans.turn(caller.name):
            if format == "measurements":
                return attached(archive(tree.save_measurements), f"{dataset}-measurements", "zip")
            if format == "replicates":
                if not isinstance(tree, TreeRelease):
                    raise HTTPException(404, "There are no replicates of a census.")
                check_replicates(REPLICATES, tree)
                made = archive(lambda folder: tree.replicates(REPLICATES).save(folder, "csv"))
                return attached(made, f"{dataset}-replicates", "zip")
            return attached(archive(lambda folder: tree.save(folder, format)), f"{dataset}-{format}", "zip")

    return pages


def made(frame: Frame, dataset: str, caller: Caller, kind: str) -> list[tuple[Outcome, str, bool, str]]:
    """What jobs of a kind have released, the newest first: cost, whether who and why may be shown, and a title."""
    books = frame.service.curators[dataset].ledger
    budget = books.account(dataset).budget
    found = []
    for one in reversed(books.releases(dataset)):
        if one.answer is not None and kind_of(one) == kind:
            mine = caller.role == "custodian" or one.charged.who == caller.name
            title = title_of(one.charged.query, one.kind)
            found.append((one, price_text(budget.allotment(one.charged.allotment), one.charged.charge), mine, title))
    return found


def _numbers(tree: TreeRelease, level: str, above: str, inside: str) -> dict[str, Any]:
    """The numbers of a level, or of the regions inside one: totals as bars, and every cell in a table."""
    whole = _inside(table_of(tree, level), above, inside)
    (output,) = whole.outputs
    typical = f"{output}_typical_lower" in whole.columns
    totals = None if tree.cumulative else _inside(tree.totals(level), above, inside)
    rows = whole.rows()
    shown = None if totals is None else output_chart(_named(totals, level), tree.output)
    keys = [key for key in whole.keys if key != above or not inside]
    return {
        "bars": shown,
        "keys": keys,
        "typical": typical,
        "rows": [
            (
                [text(row[key]) for key in keys],
                number(row[output]),
                _span(row, output),
                _span(row, f"{output}_typical") if typical else "",
                row[f"{output}_quality"],
            )
            for row in rows[:_SHOWN]
        ],
        "more": len(rows) - _SHOWN,
        "regions": [] if totals is None or level not in totals.keys else totals.columns[level][:_SHOWN],
    }


def _compared(compare: str, draw: Callable[[], Map]) -> tuple[str, str]:
    """The release to compare with, and what is wrong with comparing."""
    if not compare:
        return "", ""
    try:
        draw()
    except InputError as problem:
        return "", str(problem)
    return compare, ""


def _summed(tree: TreeRelease, of: str, share_of: str) -> tuple[str, bool]:
    """A sum or share of the reader's own in words, and whether it could be read."""
    try:
        return str(figure_of(tree, of, share_of or None, field="sum", whole="share of")), True
    except InputError as problem:
        return str(problem), False


def _tried(service: Service, tree: TreeRelease, caller: Caller) -> Simulation | None:
    """The method of a release tried out; nothing where it cannot be."""
    with service.plans.turn(caller.name):
        try:
            return tree.simulation
        except InputError:
            return None


def _span(row: dict[str, Any], output: str) -> str:
    low, high = row[f"{output}_lower"], row[f"{output}_upper"]
    return "not stated" if low is None else f"{number(low)} to {number(high)}"


def _inside(table: Release, above: str, code: str) -> Release:
    if not code:
        return table
    kept = [place for place, value in enumerate(table.columns[above]) if value == code]
    return replace(table, columns={name: [column[at] for at in kept] for name, column in table.columns.items()})


def _named(table: Release, level: str) -> Release:
    """The same with the level's own codes as its only key, which a picture has room for."""
    return replace(table, keys=(level,) if level in table.keys else ())
