"""Every way there is to read a stored release again: each gives its values, or says that it cannot.

A way is either `release`, the one that is meant for all kinds, or `own`, one that is of a kind alone.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

import discreet
from asgi_client import Client
from asks import ASKS, DATASET, WITH_CODE, Ask, Tables, Town, identity, model_of, sorted_columns
from discreet.apps.cli import main
from discreet.core.chart import format_of, vague
from discreet.core.release import number
from discreet.curator import Curator
from discreet.curator.loads import LoadDesk
from discreet.errors import DiscreetError
from discreet.power.schema import PublicGrid
from paid_release import MADE
from servers import serving

GRID, HIDDEN = "loads", "values"
SURFACES = ("curator", "command", "api", "client", "page")
NOT_YET = "-"
PARTLY = "partly"
# How a stored release is read: `release`, in the way that is meant for all kinds; `own`, in one of its kind alone.
# `partly` would be without some of what it had when it was made, `-` not at all.
READ = {
    # kind        curator   command   api       client    page
    "question": ("release", "release", "release", "release", "release"),
    "top": ("release", "release", "release", "release", "release"),
    "choose": ("release", "release", "release", "release", "release"),
    "batch": ("release", "release", "release", "release", "release"),
    "stream": ("release", "release", "release", "release", "release"),
    "tree": ("release", "release", "release", "release", "own"),
    "detail": ("release", "release", "release", "release", "release"),
    "census": ("release", "release", "release", "release", "own"),
    "flows": ("release", "release", "release", "release", "release"),
    "commute": ("release", "release", "release", "release", "release"),
    "synth": ("release", "release", "release", "release", "own"),
    "relations": ("release", "release", "release", "release", "release"),
    "train": ("release", "own", "own", "release", "release"),
    "search": ("release", "own", "own", "release", "release"),
    "hidden": ("release", "release", "release", "release", "release"),
    "loads": ("release", "release", "release", "release", "release"),
}
BESIDE = {"predictions"}  # what is no table of its own
Read = Callable[[str, list[str]], Tables]


class UnreadableError(Exception):
    """This way leads to no values."""


def command(*words: str) -> tuple[str, int]:
    """What `discreet` prints to stdout, and its exit code."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
        try:
            main([*words])
        except SystemExit as end:
            return said.getvalue(), int(end.code or 0)
    return said.getvalue(), 0


@dataclass(frozen=True)
class Surfaces:
    """A town with its ledger, read from Python, the command line, over HTTP, by the client and on pages."""

    here: Town
    ledger: Path
    web: Client
    url: str
    dataset: str = DATASET

    def read(self, surface: str, name: str, ask: Ask, parts: Iterable[str]) -> tuple[str, Tables | None]:
        """Which way an ask's release can be read on a surface, and its values."""
        there = replace(self, dataset=ask.dataset)
        for way in ("release", "own"):
            reader: Read | None = getattr(there, f"_{surface}_{way}_{ask.kind}", None)
            reader = reader or getattr(there, f"_{surface}_{way}", None)
            if reader is not None:
                with contextlib.suppress(DiscreetError, UnreadableError, KeyError, AttributeError, TypeError):
                    if ask.steps == 1:
                        values = reader(identity(name), list(parts))
                        return way, sorted_columns(values) if ask.kind == "commute" else values
                    return way, {step: reader(f"{identity(name)}/{step}", [""])[""] for step in parts}
        return NOT_YET, None

    def way(self, surface: str, name: str, expected: Tables) -> str:
        """How an ask's release can be read on a surface, a word of `READ`; values that differ from what is expected
        are an error."""
        way, values = self.read(
            surface, name, {**ASKS, **WITH_CODE}[name], [part for part in expected if part not in BESIDE]
        )
        if values is None:
            return way
        got = comparable(values)
        for part, columns in got.items():
            known = [column for column in expected[part] if column in columns]
            if any(columns[column] != expected[part][column] for column in known):
                raise AssertionError(f"{name} by {surface}: {columns} is not {expected[part]}")
            way = way if len(known) == len(expected[part]) else PARTLY
        return way if set(expected) - set(got) <= {"predictions"} else PARTLY  # weights tell them

    # Python: `curator.release(id)`

    def _curator_release(self, release: str, parts: list[str]) -> Tables:
        curator = curator_of(self.here, self.dataset)
        return {part: dict(curator.release(release, part).columns) for part in parts}

    def _curator_release_train(self, release: str, parts: list[str]) -> Tables:
        return model_of(self.here.curator.release(release))

    _curator_release_search = _curator_release_train

    # The command line: `discreet releases show`, and `discreet KIND show`

    def _shown(self, *words: str) -> str:
        said, code = command(*words, "--ledger", str(self.ledger))
        if code:
            raise UnreadableError
        return said

    def _command_release(self, release: str, parts: list[str]) -> Tables:
        told = json.loads(self._shown("releases", "show", release, "--json"))
        return {part: (told[part] if part else told)["columns"] for part in parts}

    def _command_release_loads(self, release: str, parts: list[str]) -> Tables:
        told = json.loads(self._shown("releases", "show", release, "--json"))
        return {"": told["columns"], "noisy": {"mw": told["noisy"]}}

    def _command_release_hidden(self, release: str, parts: list[str]) -> Tables:
        told = json.loads(self._shown("releases", "show", release, "--json"))
        return {"": told["columns"], "noisy": {"value": told["noisy"]}}

    def _command_own(self, release: str, parts: list[str]) -> Tables:
        return json.loads(self._shown(release.split("-")[0], "show", release, "--json"))["columns"]

    def _command_own_tree(self, release: str, parts: list[str]) -> Tables:
        with tempfile.TemporaryDirectory() as folder:
            self._shown("tree", "show", release, "--out", folder, "--format", "csv", "--json")
            files = {path.stem: path.read_text(encoding="utf-8") for path in Path(folder).glob("*.csv")}
        return {part: _rows(files[part])["rows"] for part in parts}

    def _command_own_synth(self, release: str, parts: list[str]) -> Tables:
        with tempfile.TemporaryDirectory() as folder:
            self._shown("synth", "show", release, "--out", f"{folder}/rows.csv", "--json")
            return _rows(Path(folder, "rows.csv").read_text(encoding="utf-8"))

    def _command_own_train(self, release: str, parts: list[str]) -> Tables:
        with tempfile.TemporaryDirectory() as folder:
            self._shown("train", "show", release, "--out", f"{folder}/m.npz", "--json")
            weights = _weights(Path(folder, "m.npz").read_bytes())
            Path(folder, "seen.csv").write_text("age,works\n20,true\n70,false\n", encoding="utf-8")
            told = json.loads(self._shown("train", "predict", release, f"{folder}/seen.csv", "--json"))
        return {"weights": weights, "predictions": told}

    _command_own_search = _command_own_train

    # HTTP

    def _fetched(self, path: str, **query: str) -> Any:
        answer = self.web.get(f"/api/datasets/{self.dataset}{path}", params=query)
        if answer.status_code != 200:
            raise UnreadableError
        return answer

    def _api_release(self, release: str, parts: list[str]) -> Tables:
        path = f"/releases/{quote(release, safe='')}"
        return {part: self._fetched(path, part=part).json()["columns"] for part in parts}

    def _api_own(self, release: str, parts: list[str]) -> Tables:
        return {"": self._fetched(f"/{release.split('-')[0]}/{release}").json()["columns"]}

    def _api_own_tree(self, release: str, parts: list[str]) -> Tables:
        return {part: self._fetched(f"/tree/{release}/table", level=part).json()["columns"] for part in parts}

    def _api_own_synth(self, release: str, parts: list[str]) -> Tables:
        return _rows(self._fetched(f"/synth/{release}/rows").text)

    def _api_own_train(self, release: str, parts: list[str]) -> Tables:
        return {"weights": _weights(self._fetched(f"/train/{release}/weights").content)}

    _api_own_search = _api_own_train

    # The client

    def there(self) -> Any:
        """A curator by the server."""
        return discreet.connect(self.url, dataset=self.dataset)

    def _client_release(self, release: str, parts: list[str]) -> Tables:
        return {part: dict(self.there().release(release, part).columns) for part in parts}

    def _client_release_train(self, release: str, parts: list[str]) -> Tables:
        return model_of(self.there().release(release))

    _client_release_search = _client_release_train

    # The pages, which show what their files hold

    def page(self, path: str, **query: str) -> Any:
        """A page, or a file that it offers."""
        answer = self.web.get(f"/d/{self.dataset}{path}", params=query, headers={"accept": "text/html"})
        if answer.status_code != 200:
            raise UnreadableError
        return answer

    def _page_release(self, release: str, parts: list[str]) -> Tables:
        found = {}
        for part in parts:
            shown = self.page(f"/releases/{release}", part=part).text
            table = self.page(f"/releases/{release}/download.json", part=part).json()
            columns, keys = table["columns"], tuple(table["keys"])
            answer = replace(MADE, columns=columns, keys=keys, outputs=tuple(table["outputs"]))
            for output in table["outputs"]:
                written, unknown = format_of(answer, output), vague(answer, output)
                values = [value for row, value in enumerate(columns[output]) if row not in unknown]
                if any(written(value) not in shown and _text(value) not in shown for value in values):
                    raise UnreadableError
            found[part] = columns
        return found

    def _page_release_train(self, release: str, parts: list[str]) -> Tables:
        shown = self.page(f"/releases/{release}").text
        if "Model card" not in shown or "model.npz" not in shown:
            raise UnreadableError
        return {"weights": _weights(self.page(f"/releases/{release}/model.npz").content)}

    _page_release_search = _page_release_train

    def _page_own_tree(self, release: str, parts: list[str]) -> Tables:
        self.page("/map", release=release)
        return {
            part: self.page("/map/table", release=release, level=part, format="json").json()["columns"]
            for part in parts
        }

    def _page_own_census(self, release: str, parts: list[str]) -> Tables:
        found = {}
        for name in parts:
            part, _, level = name.partition(".")
            self.page("/map", release=release, part=part)
            table = self.page("/map/table", release=release, part=part, level=level, format="json")
            found[name] = table.json()["columns"]
        return found

    def _page_own_synth(self, release: str, parts: list[str]) -> Tables:
        self.page("/synthetic", release=release)
        return _rows(self.page("/synthetic/rows", release=release).text)


@contextlib.contextmanager
def surfaces(here: Town, ledger: Path) -> Iterator[Surfaces]:
    """All surfaces over one town. Whoever reaches this server is its custodian."""
    from discreet.apps.server.service import Limits, Service
    from discreet.apps.web.site import application  # an extra: looked for when it is used

    curators = {DATASET: here.curator}
    if GRID in here.ledger.datasets():
        curators[GRID] = curator_of(here, GRID)
    if HIDDEN in here.ledger.datasets():
        curators[HIDDEN] = curator_of(here, HIDDEN)
    service = Service(curators, None, Limits(rate=1e6, burst=1e6))
    app = application(service)
    with serving(app) as url:
        yield Surfaces(here, ledger, Client(app), url)


def curator_of(here: Town, dataset: str) -> Curator:
    """The curator of a dataset of a town: its table, the loads of its grid, or numbers."""
    if dataset == DATASET:
        return here.curator
    if dataset == HIDDEN:
        return Curator(ASKS["hidden"].begin(here, **ASKS["hidden"].fields).desk)
    about = PublicGrid.of(GRID, 1, here.grid)
    return Curator(LoadDesk(here.ledger, here.curator.who, about, here.loads))


def comparable(tables: Tables) -> dict[str, dict[str, list[Any]]]:
    """Values that can be compared whether they came as JSON or as CSV: numbers as floats, all else as text."""
    return {
        name: {column: [_cell(value) for value in values] for column, values in columns.items()}
        for name, columns in tables.items()
    }


def _cell(value: Any) -> Any:
    try:
        return str(value) if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return str(value)


def _text(value: Any) -> str:
    return "too few rows" if value is None else number(value)


def _rows(text: str) -> Tables:
    head, *rows = csv.reader(io.StringIO(text))
    return {"rows": {name: [row[place] for row in rows] for place, name in enumerate(head)}}


def _weights(content: bytes) -> dict[str, list[float]]:
    with np.load(io.BytesIO(content)) as arrays:
        listed = [arrays[name] for name in arrays.files]
    return {str(place): [float(value) for value in array.ravel()] for place, array in enumerate(listed)}
