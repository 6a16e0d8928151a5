"""Shapes of regions that a reader of a map sends: public, small, seen by that reader alone, kept with the server."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from discreet.apps.server.service import Service
from discreet.apps.web.store import Store
from discreet.errors import InputError, Phrase
from discreet.show.map import Map
from discreet.trees.release import TreeRelease

__all__ = ["LARGEST", "UploadedShapes"]

LARGEST = 1 << 20
_KEPT = 20  # files of a dataset: the oldest go first
_ALLOWED = "a JSON file of polygons: GeoJSON (a FeatureCollection) or TopoJSON (a Topology)"


@dataclass(frozen=True)
class UploadedShapes:
    """Shapes by dataset, reader and release."""

    service: Service
    store: Store

    def keep(self, dataset: str, who: str, tree: TreeRelease, content: bytes, code_property: str) -> None:
        """Keep a file, if the map can be drawn by it; nothing at all takes back what was kept.

        `InputError` names what is wrong with the file, or which codes it has instead.
        """
        value = None
        if content:
            value = {"geometry": _read(content), "code_property": code_property or None}
            try:
                self.service.draw(tree, **value)
            except InputError as problem:
                hint = problem.hint.replace("with code_property=", "beside the file")
                raise InputError("shapes", Phrase("this file"), problem.allowed, hint) from None
        self.store.keep("shapes", dataset, f"{who}/{tree.id}", value, most=_KEPT)

    def of(self, dataset: str, who: str, release: str) -> tuple[dict[str, Any], str]:
        """How the map is drawn for a reader, and since when; nothing where they gave no shapes."""
        found = self.store.find("shapes", dataset, f"{who}/{release}")
        if found is None:
            return self._planned(dataset, who, release)
        return ({}, "") if found[0] is None else found

    def _planned(self, dataset: str, who: str, release: str) -> tuple[dict[str, Any], str]:
        """The shapes that a reader gave with the form."""
        found = self.service.queue(dataset).request(dataset, release)
        if found is None or found.job.who != who or not found.request:
            return {}, ""
        if (sent := json.loads(found.request)).get("geometry") is None:
            return {}, ""
        return {name: sent.get(name) for name in ("geometry", "code_property")}, found.job.begun

    def draw(self, dataset: str, who: str, tree: TreeRelease, **how: Any) -> Map:
        """The map of a hierarchy, by the shapes that its reader sent, if any."""
        return self.service.draw(tree, **self.of(dataset, who, tree.id)[0], **how)


def _read(content: bytes) -> dict[str, Any]:
    if len(content) > LARGEST:
        hint = "Simplify it first, with mapshaper, say."
        raise InputError("shapes", Phrase(f"{len(content):,} bytes"), f"at most {LARGEST >> 20} MB", hint)
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise InputError("shapes", Phrase("something else"), _ALLOWED) from None
    # Without a type it would be a source for each level, and a source may be a path: of this machine.
    if not isinstance(found, dict) or not isinstance(found.get("type"), str):
        raise InputError("shapes", Phrase("JSON of another kind"), _ALLOWED)
    return found
