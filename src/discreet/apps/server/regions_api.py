"""The paths of population groups and of censuses that were released: files, noisy counts, sums and maps. All free."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response

from discreet.apps.server.access import Access
from discreet.apps.server.requests import MapRequest
from discreet.apps.server.responses import ZIPPED, FigureResponse, Json, answers, binary, file_response
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Caller
from discreet.errors import InputError
from discreet.trees.detail.sums import parse_groups
from discreet.trees.export import archive

if TYPE_CHECKING:
    from discreet.trees.census import CensusRelease
    from discreet.trees.detail import DetailRelease

__all__ = ["add_regions"]

_MAPPED: dict[int | str, dict[str, Any]] = {
    200: {"description": "the map, one HTML file", "content": binary("application/octet-stream")}
}


def add_regions(
    api: APIRouter, service: Service, access: Access, found: Callable[[str, str, str, Caller], Any]
) -> None:
    """Add the paths; `found` reads a release of a kind."""
    for kind, words in (("detail", "table"), ("census", "tables, a folder each,")):
        files, measurements = _folders(service, access, found, kind)
        files.__doc__ = f"The {words} with a data dictionary and metadata, as one ZIP file."
        measurements.__doc__ = "The noisy counts, the laws of their noise and the tree, as one ZIP file."
        files.__name__, measurements.__name__ = f"{kind}_files", f"{kind}_measurements"
        api.get(f"/{kind}/{{release}}/files", response_class=Response, responses=ZIPPED)(files)
        api.get(f"/{kind}/{{release}}/measurements", response_class=Response, responses=ZIPPED)(measurements)

    @api.get("/detail/{release}/sum", responses=answers(FigureResponse, "the sum, with its interval"))
    def detail_sum(
        name: str, release: str, of: Annotated[str, Query(max_length=20_000)] = "", caller: Caller = access.anyone
    ) -> Json:
        """A sum over regions, groups and cells: `county=Ash,Elm; group=white; cell=sex=female`."""
        whole: DetailRelease = found(name, "detail", release, caller)
        with service.plans.turn(caller.name):
            return Json(whole.sum(**parse_groups(whole.known, of, "of")).to_dict())

    @api.post("/detail/{release}/map", response_class=Response, responses=_MAPPED)
    def detail_map(name: str, release: str, asked: MapRequest, caller: Caller = access.anyone) -> Response:
        """A map of the totals of all groups, with intervals: one HTML file that needs no network."""
        whole: DetailRelease = found(name, "detail", release, caller)
        _plain(asked)
        with service.plans.turn(caller.name):
            drawn = service.draw(whole, asked.geometry, code_property=asked.code_property)
        return file_response(drawn.html, "map", "html")

    @api.post("/census/{release}/map", response_class=Response, responses=_MAPPED)
    def census_map(
        name: str,
        release: str,
        asked: MapRequest,
        table: Annotated[str | None, Query(description="Which table; the first.", max_length=200)] = None,
        caller: Caller = access.anyone,
    ) -> Response:
        """A map of one of its tables, with intervals: one HTML file that needs no network."""
        whole: CensusRelease = found(name, "census", release, caller)
        _plain(asked)
        how = {"code_property": asked.code_property, "intervals": asked.intervals, "table": table}
        with service.plans.turn(caller.name):
            drawn = service.draw(whole, asked.geometry, **how)
        return file_response(drawn.html, "map", "html")


def _folders(
    service: Service, access: Access, found: Callable[[str, str, str, Caller], Any], kind: str
) -> tuple[Callable[..., Response], Callable[..., Response]]:
    def files(
        name: str, release: str, format: Literal["csv", "parquet"] = "parquet", caller: Caller = access.anyone
    ) -> Response:
        whole = found(name, kind, release, caller)
        with service.plans.turn(caller.name):
            return file_response(archive(lambda folder: whole.save(folder, kind=format)), release, "zip")

    def measurements(name: str, release: str, caller: Caller = access.anyone) -> Response:
        whole = found(name, kind, release, caller)
        with service.plans.turn(caller.name):
            return file_response(archive(whole.save_measurements), f"{release}-measurements", "zip")

    return files, measurements


def _plain(asked: MapRequest) -> None:
    """Refuse what maps of other kinds than hierarchies do not show."""
    if asked.compare or asked.label:
        raise InputError("compare", next(iter(asked.compare), asked.label), "left out unless a hierarchy is drawn")
