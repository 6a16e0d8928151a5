"""Synthetic data: planned and made as a job; what was made, with its quality in pictures and words, as files."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, Depends, HTTPException
from starlette.requests import Request
from starlette.responses import Response

from discreet.apps.server.tokens import Caller
from discreet.apps.web.cache import Cache
from discreet.apps.web.files import attached, parquet
from discreet.apps.web.frame import Frame
from discreet.apps.web.job_form import JobForm
from discreet.apps.web.map_page import made
from discreet.apps.web.releases import kind_of
from discreet.ledger.outcome import Outcome
from discreet.ledger.quote import price_text
from discreet.query.ask import Ask
from discreet.show import Markup, element
from discreet.synth.methods import METHODS
from discreet.synth.release import SyntheticRelease
from discreet.synth.report.page import sections
from discreet.synth.report.words import INTERVALS, PUBLIC

__all__ = ["routes"]

_HEAD = 8  # rows shown
_WORDS = {
    "mosaic": "mosaic: discreet's own",
    "aim": "aim: what the model gets most wrong",
    "mst": "mst: the tree of pairs that matter most",
    "rap": "rap: a relaxed table, fitted",
    "independent": "independent: every column alone",
}


def routes(frame: Frame) -> APIRouter:
    """/d/{dataset}/synthetic and what is under it"""
    pages = frame.router(Ask)
    frame.links.append(("synthetic", "Synthetic data"))
    frame.tables.add("synthetic")
    service = frame.service
    anyone: Any = Depends(frame.caller)
    tables: Cache[SyntheticRelease] = Cache(4)
    reports: Cache[tuple[Markup, str]] = Cache(8)

    def known(dataset: str, release: str, caller: Caller) -> tuple[SyntheticRelease, Outcome]:
        curator = service.curator(dataset, caller)
        outcome = service.stored(dataset, release)
        if outcome is None or kind_of(outcome) != "synth":
            raise HTTPException(404, "There are no synthetic rows of this id.")
        return tables.get(f"{dataset}/{release}", lambda: curator.release(release)), outcome

    def quality(dataset: str, rows: SyntheticRelease) -> tuple[Markup, str]:
        """The public report: its parts for the page, and the whole as a file. Made once, from the release alone."""

        def new() -> tuple[Markup, str]:
            report = rows.report()
            return element("div", {"class": "quality"}, *sections(rows, report.figures)), report.to_html()

        return reports.get(f"{dataset}/{rows.id}", new)

    def more(dataset: str, caller: Caller) -> dict[str, Any]:
        methods = [("auto", "chosen for you"), *((name, _WORDS.get(name, name)) for name in METHODS)]
        return {"made": made(frame, dataset, caller, "synth"), "methods": methods}

    def first(dataset: str, caller: Caller) -> dict[str, str]:
        return {"workload": "pairs"}

    form = JobForm(frame, "synthetic", "synthetic_form.html", "synth", more, first)
    form.add(pages)

    @pages.get("/d/{dataset}/synthetic")
    def page(request: Request, dataset: str, release: str = "", caller: Caller = anyone) -> Response:
        if not release:
            return form.begun(request, dataset, caller)
        rows, outcome = known(dataset, release, caller)
        record = outcome.charged
        budget = service.curators[dataset].ledger.account(dataset).budget
        head = rows.to_arrow().slice(0, _HEAD).to_pylist()
        return frame.page(
            request,
            "synthetic.html",
            caller,
            rows=rows,
            head=[[_written(one[name]) for name in rows.columns] for one in head],
            figures=[name for name in rows.columns if any(_is_figure(one[name]) for one in head)],
            quality=quality(dataset, rows)[0],
            words=(PUBLIC, INTERVALS),
            record=record,
            cost=price_text(budget.allotment(record.allotment), record.charge),
            mine=caller.role == "custodian" or record.who == caller.name,
        )

    @pages.get("/d/{dataset}/synthetic/rows")
    def file(
        dataset: str, release: str, format: Literal["csv", "parquet"] = "csv", caller: Caller = anyone
    ) -> Response:
        """The rows as a file: the same ones whenever they are fetched."""
        rows, _ = known(dataset, release, caller)
        content = rows.to_csv() if format == "csv" else parquet(rows.to_arrow())
        return attached(content, f"{dataset}-synthetic", format)

    @pages.get("/d/{dataset}/synthetic/report")
    def report(dataset: str, release: str, caller: Caller = anyone) -> Response:
        """The quality report as one file, to be published with the rows."""
        return attached(quality(dataset, known(dataset, release, caller)[0])[1], f"{dataset}-quality", "html")

    return pages


def _is_figure(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _written(value: Any) -> str:
    """A value as a table shows it: digits beyond the sixth are in the files."""
    if value is None:
        return ""
    return f"{value:,.6g}" if isinstance(value, float) else str(value)
