"""What every ask about regions says: the levels, where codes are, which rows count, and shapes to draw them by."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase, kind_of
from discreet.query.ask import Ask, Form, option
from discreet.query.forms import COLUMN, CONDITION, TEXT, names_in, sizes_in
from discreet.query.predicate import Predicate
from discreet.trees.geography import hierarchy_from, public_table
from discreet.trees.tree import Hierarchy

__all__ = ["RegionAsk", "parse_table"]


def _levels(value: Any) -> Any:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InputError("levels", value, "a list of levels, the widest first, or {level: length of its codes}")
    return dict(value) if isinstance(value, Mapping) else tuple(value)


def _parse_levels(text: str) -> Any:
    return names_in(text) if "=" not in text else sizes_in(text, "levels", "state=2,county=5")


LEVELS = Form(
    list[str] | dict[str, int],
    settle=_levels,
    write=lambda value: value if isinstance(value, dict) else list(value),
    parse=_parse_levels,
)


def _regions(value: Any) -> Any:
    """A list of leaf codes, or a public table as columns; a file is read here."""
    return tuple(value) if isinstance(value, (list, tuple, set, frozenset)) else public_table(value)


def _regions_from(value: Any, schema: Schema) -> Any:
    if not isinstance(value, (list, Mapping)):
        raise InputError("geography", kind_of(value), "a table of columns, or a list of leaf codes")
    return value


def parse_table(text: str) -> dict[str, list[str]] | list[str] | None:
    """A public list of leaf codes, one on a line, or a table with a line of names first."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not any("," in line for line in lines):
        return [line.strip() for line in lines] or None
    head, *body = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO("\n".join(lines)))]
    if any(len(row) != len(head) for row in body) or len(set(head)) != len(head):
        raise InputError(
            "geography",
            Phrase("lines of different lengths"),
            "a table: names of levels first, then one line for each region",
        )
    return {name: [row[index] for row in body] for index, name in enumerate(head)}


GEOGRAPHY = Form(
    dict[str, list[str]] | list[str],
    settle=_regions,
    write=lambda value: value if isinstance(value, dict) else list(value),
    read=_regions_from,
    parse=parse_table,
    load=public_table,
)


def _shapes(value: Any) -> Any:
    """GeoJSON or TopoJSON, or that for each level by name; files are read here."""
    from discreet.show.map.topojson import read

    if isinstance(value, Mapping) and "type" not in value:
        return {level: read(one) for level, one in value.items()}
    return read(value)


def _shapes_from(value: Any, schema: Schema) -> Any:
    # A source without a type would be taken for a path: of this machine.
    parts = value.values() if isinstance(value, Mapping) and "type" not in value else [value]
    if not parts or not all(isinstance(part, Mapping) and isinstance(part.get("type"), str) for part in parts):
        raise InputError("geometry", kind_of(value), "GeoJSON or TopoJSON, with its type")
    return value


def _parse_shapes(text: str) -> Any:
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("geometry", Phrase("another text"), "GeoJSON or TopoJSON") from None


SHAPES = Form(
    dict[str, Any], settle=_shapes, read=_shapes_from, parse=_parse_shapes, load=lambda path: _shapes(Path(path))
)


@frozen(eq=False)
class RegionAsk(Ask):
    """A job about regions within regions."""

    levels: Sequence[str] | Mapping[str, int] = option(
        LEVELS,
        help="Levels, the widest first: state,county,tract; or with the length of codes: state=2,county=5",
        names_columns=True,
    )
    column: str | None = option(
        COLUMN,
        None,
        help="Column with the code of the leaf region; the last level by default",
        names_columns=True,
        kw_only=True,
    )
    geography: Any = option(
        GEOGRAPHY, None, help="Public CSV or Parquet file of regions, one row for each leaf region", kw_only=True
    )
    where: str | Predicate | None = option(CONDITION, None, help="Which rows of the data count", kw_only=True)
    geometry: Any = option(
        SHAPES,
        None,
        help="GeoJSON or TopoJSON file with the shapes of regions, for the map: compared with their codes beforehand",
        kw_only=True,
        passing=True,
    )
    code_property: str | None = option(
        TEXT,
        None,
        help="Property of its features that is a region's code, if not the id",
        kw_only=True,
        passing=True,
    )

    def regions(self, schema: Schema) -> tuple[Hierarchy, str]:
        """The regions, and the column that says in which leaf region a row is."""
        return hierarchy_from(self.levels, self.column, self.geography, schema)

    def shape_notes(self, tree: Hierarchy) -> tuple[str, ...]:
        """Which regions have shapes. `InputError` where none has, and where a map could not be drawn by them."""
        if self.geometry is None:
            if self.code_property is not None:
                raise InputError("code_property", self.code_property, "left out unless geometry is given")
            return ()
        from discreet.show.map.fit import fit_shapes

        codes = {name: tree.codes[level] if level else (name,) for level, name in enumerate(tree.names)}
        found = fit_shapes(codes, self.geometry, self.code_property)
        listed = "; ".join(str(one) for one in found if one.level != tree.names[0] or not one.missing)
        return (f"Shapes for the map: {listed}.",)
