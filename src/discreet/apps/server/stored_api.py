"""The paths of what long jobs made: tables of a hierarchy, synthetic rows, weights and card of a model. All free."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response

from discreet.apps.server.access import Access
from discreet.apps.server.limits import check_fed, check_replicates
from discreet.apps.server.regions_api import add_regions
from discreet.apps.server.requests import MapRequest, PublishRequest
from discreet.apps.server.responses import (
    PARQUET,
    ZIPPED,
    AnyResponse,
    FigureResponse,
    Json,
    ReleaseResponse,
    SimulationResponse,
    StoredResponse,
    WireResponse,
    answers,
    binary,
    file_response,
    paths,
)
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Caller
from discreet.curator import KINDS, Curator, read_release
from discreet.curator.kinds import table_of
from discreet.errors import InputError, MissingError
from discreet.ledger.door import Answer, stored
from discreet.ledger.quote import Quote
from discreet.synth.release import SyntheticRelease
from discreet.trees.export import archive, table_parquet
from discreet.trees.release import TreeRelease
from discreet.trees.replicates import check_many
from discreet.trees.sums import figure_of

__all__ = ["routes"]

TableFormat = Literal["json", "csv", "parquet"]


def routes(service: Service, access: Access) -> APIRouter:
    """The paths of a service under which results of jobs are found."""
    api = paths("/api/datasets/{name}", "results")
    summary = answers(StoredResponse, "what it is, without its numbers")
    wire = answers(WireResponse, "the record, for the Python client")

    def found(name: str, kind: str, release: str, caller: Caller) -> Any:
        """A release read as what it is; `MissingError` where there is none of that kind."""
        curator = service.curator(name, caller)
        try:
            return read_release(curator.ledger, release, dataset=name, kind=kind)
        except InputError:
            noun = KINDS[kind].noun
            raise MissingError("release", release, f"the id of a {noun}", "A job that runs has none yet.") from None

    @api.get("/tree/{release}", responses=summary)
    def tree(name: str, release: str, caller: Caller = access.anyone) -> Json:
        """A hierarchy: its levels, method, cost."""
        return Json(service.shown(name, release, found(name, "tree", release, caller).to_dict(), caller))

    @api.get(
        "/tree/{release}/table",
        responses={200: {"model": ReleaseResponse, "description": "the table", "content": binary("text/csv", PARQUET)}},
    )
    def tree_table(
        name: str,
        release: str,
        level: Annotated[str, Query(description="A level; or a table as files name it.", max_length=200)],
        format: TableFormat = "json",
        totals: bool = False,
        caller: Caller = access.anyone,
    ) -> Response:
        """The table of a level, or of its totals over all cells, with both kinds of intervals and quality flags.

        Tables are called as their files are: `county`, `county-totals`, `county-by-sex`; of groups by size `county` has
        those of exactly each size, and `county-at-least` those of that size or larger.
        """
        whole: TreeRelease = found(name, "tree", release, caller)
        wanted = f"{level}-totals" if totals and whole.measured.cells > 1 else level
        table = table_of(whole, wanted, "level")
        if format == "json":
            return Json(service.shown(name, release, table.to_dict(), caller))
        return file_response(table.to_csv() if format == "csv" else table_parquet(whole, wanted), wanted, format)

    @api.post(
        "/tree/{release}/map",
        response_class=Response,
        responses={200: {"description": "the map, one HTML file", "content": binary("application/octet-stream")}},
    )
    def tree_map(name: str, release: str, asked: MapRequest, caller: Caller = access.anyone) -> Response:
        """A map with intervals and drill-down: one HTML file that needs no network."""
        whole: TreeRelease = found(name, "tree", release, caller)
        others = {label: found(name, "tree", other, caller) for label, other in asked.compare.items()}
        how = {"code_property": asked.code_property, "intervals": asked.intervals, "label": asked.label}
        with service.plans.turn(caller.name):
            drawn = service.draw(whole, asked.geometry, compare=others or None, **how)
        return file_response(drawn.html, "map", "html")

    @api.get("/tree/{release}/files", response_class=Response, responses=ZIPPED)
    def tree_files(
        name: str, release: str, format: Literal["csv", "parquet"] = "parquet", caller: Caller = access.anyone
    ) -> Response:
        """All tables with a data dictionary and metadata, as one ZIP file."""
        whole: TreeRelease = found(name, "tree", release, caller)
        with service.plans.turn(caller.name):
            return file_response(archive(lambda folder: whole.save(folder, format)), release, "zip")

    @api.get("/tree/{release}/measurements", response_class=Response, responses=ZIPPED)
    def tree_measurements(name: str, release: str, caller: Caller = access.anyone) -> Response:
        """The noisy counts, the law of their noise and the tree: `discreet.trees.read_measurements` reads them."""
        whole: TreeRelease = found(name, "tree", release, caller)
        with service.plans.turn(caller.name):
            return file_response(archive(whole.save_measurements), f"{release}-measurements", "zip")

    @api.get("/tree/{release}/replicates", response_class=Response, responses=ZIPPED)
    def tree_replicates(
        name: str,
        release: str,
        many: int = 80,
        format: Literal["csv", "parquet"] = "parquet",
        caller: Caller = access.anyone,
    ) -> Response:
        """Replicates of every table, for errors of one's own statistics, as one ZIP file."""
        whole: TreeRelease = found(name, "tree", release, caller)
        check_many(many, "many")
        check_replicates(many, whole)
        with service.plans.turn(caller.name):
            files = archive(lambda folder: whole.replicates(many).save(folder, format))
        return file_response(files, f"{release}-replicates", "zip")

    @api.get("/tree/{release}/sum", responses=answers(FigureResponse, "the sum or share, with its interval"))
    def tree_sum(
        name: str,
        release: str,
        of: Annotated[str, Query(max_length=20_000)] = "",
        share_of: Annotated[str | None, Query(max_length=20_000)] = None,
        caller: Caller = access.anyone,
    ) -> Json:
        """A sum over regions and cells, `county=Ash,Elm; sex=female`, or the share that it is of another one."""
        whole: TreeRelease = found(name, "tree", release, caller)
        with service.plans.turn(caller.name):
            return Json(figure_of(whole, of, share_of, field="of").to_dict())

    @api.get("/tree/{release}/simulation", responses=answers(SimulationResponse, "what noise does to small regions"))
    def tree_simulation(name: str, release: str, caller: Caller = access.anyone) -> Json:
        """Its method simulated on a plausible table: the part of people placed in empty regions, and
        bias by size of a region."""
        whole: TreeRelease = found(name, "tree", release, caller)
        with service.plans.turn(caller.name):
            return Json(whole.simulation.to_dict())

    add_regions(api, service, access, found)

    @api.get("/loads/{release}/ac", responses=answers(AnyResponse, "the loads, and a report of the repair for AC"))
    def loads_ac(
        name: str,
        release: str,
        power_factor: Annotated[str, Query(max_length=100)] = "0.95",
        beta: Annotated[str, Query(max_length=100)] = "0.01",
        caller: Caller = access.anyone,
    ) -> Json:
        """Released loads moved until AC optimal power flow converges, with a public power factor. Free."""
        found(name, "loads", release, caller)
        curator = service.curator(name, caller)
        check_fed(curator.declared)
        with service.plans.turn(caller.name):
            moved = curator.for_ac(release, power_factor=power_factor, beta=beta)
        return Json(service.shown(name, release, moved.to_dict(), caller))

    @api.get("/synth/{release}", responses=summary)
    def synth(name: str, release: str, caller: Caller = access.anyone) -> Json:
        """Synthetic rows: how many, by which method, at what cost."""
        return Json(service.shown(name, release, found(name, "synth", release, caller).to_dict(), caller))

    @api.get(
        "/synth/{release}/rows",
        response_class=Response,
        responses={200: {"description": "the rows", "content": binary("text/csv", PARQUET)}},
    )
    def synth_rows(
        name: str, release: str, format: Literal["csv", "parquet"] = "csv", caller: Caller = access.anyone
    ) -> Response:
        """The rows themselves: the same ones whenever they are fetched."""
        rows: SyntheticRelease = found(name, "synth", release, caller)
        return file_response(rows.to_csv(), "rows", "csv") if format == "csv" else _parquet(rows.to_arrow(), "rows")

    @api.get("/train/{release}", responses=summary)
    def train(name: str, release: str, caller: Caller = access.anyone) -> Json:
        """A model: its cost, its size, its card."""
        return Json(service.shown(name, release, found(name, "train", release, caller).to_dict(), caller))

    @api.get(
        "/train/{release}/card",
        responses={200: {"description": "the model card", "content": binary("text/markdown")}},
    )
    def train_card(
        name: str, release: str, format: Literal["json", "md"] = "json", caller: Caller = access.anyone
    ) -> Response:
        """The model card: what the weights may give away, how that is known, and what is not known."""
        card = found(name, "train", release, caller).card()
        return Json(card.to_dict()) if format == "json" else file_response(card.to_markdown(), "card", "md")

    @api.get(
        "/train/{release}/weights",
        response_class=Response,
        responses={200: {"description": "the weights", "content": binary("application/octet-stream")}},
    )
    def train_weights(
        name: str, release: str, format: Literal["npz", "safetensors"] = "npz", caller: Caller = access.anyone
    ) -> Response:
        """The weights, for numpy.load or for safetensors."""
        model = found(name, "train", release, caller)
        with tempfile.TemporaryDirectory() as folder:
            content = model.save(Path(folder) / f"model.{format}").read_bytes()
        return file_response(content, "model", format)

    @api.get("/record/{release:path}", responses=wire)
    def record(name: str, release: str, caller: Caller = access.anyone) -> Json:
        """All that the ledger holds of a release of any kind: `discreet.connect` reads it."""
        curator, known = service.curator(name, caller), service.answered(name, release, "A job that runs has none yet.")
        return Json(service.shown(name, release, record_values(curator, stored(known)), caller))

    @api.post("/publish", responses=wire)
    def publish(name: str, asked: PublishRequest, caller: Caller = access.spends) -> Json:
        """What was measured for a release, published again in another way: free, without data and fresh noise."""
        curator = service.curator(name, caller)
        known = service.measured(name, asked.release, caller)
        with service.plans.turn(caller.name):
            answer = asked.answer(curator, known)
        return Json(service.shown(name, asked.release, record_values(curator, answer), caller))

    return api


def record_values(curator: Curator, answer: Answer) -> dict[str, Any]:
    """An answer as the books hold it, as plain values."""
    allotment = curator.allotment(answer.allotment)
    paid = Quote(allotment, answer.charge, curator.ledger.remaining(answer.dataset, answer.allotment))
    return {
        "release": answer.release,
        "dataset": answer.dataset,
        "allotment": answer.allotment,
        "digest": answer.digest,
        "mechanism": answer.mechanism,
        "charge": {"amount": str(answer.charge.amount), "delta": str(answer.charge.delta)},
        "time": answer.time,
        "data": None if answer.data is None else answer.data.to_json(),
        "query": answer.query,
        "result": answer.result,
        "measured": None if answer.measured is answer.result else answer.measured,
        "kind": answer.kind,
        "version": answer.version,
        "unit": answer.unit,
        "price": paid.price,
        "cost": paid.cost,
        "remaining": paid.remaining,
    }


def _parquet(table: Any, name: str) -> Response:
    import pyarrow.parquet

    out = io.BytesIO()
    pyarrow.parquet.write_table(table, out)
    return file_response(out.getvalue(), name, "parquet")
