"""What every file and column of a published hierarchy means: for people, for readers of CSV on the Web, for Parquet."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from discreet.core.release import Release, harmless, inline, percent
from discreet.trees.quality import CARE, FLAGS, UNFIT
from discreet.trees.sizes import SIZE_NAME, size_name

if TYPE_CHECKING:
    from discreet.trees.release import TreeRelease
    from discreet.trees.rules import Rules

__all__ = ["Field", "File", "Published", "csvw", "describe", "facts", "parquet_table", "to_markdown"]

_LISTED = 30  # labels that a line of the dictionary has room for
_DATATYPES: dict[str, Any] = {
    "text": "string",
    "integer": "integer",
    "number": "double",
    "boolean": {"base": "boolean", "format": "True|False"},
}


@dataclass(frozen=True, slots=True)
class Field:
    """A column: what it holds, in which unit, which values it may have, and when it has none."""

    name: str
    type: str
    meaning: str
    unit: str = ""
    values: str = ""
    missing: str = "never"


class Published(Protocol):
    """A release that is written to files: what concerns every number of it."""

    @property
    def id(self) -> str:
        """Its id."""
        ...

    @property
    def dataset(self) -> str:
        """The dataset that it is about."""
        ...

    @property
    def cost(self) -> str:
        """What it cost, in words."""
        ...

    @property
    def protects(self) -> str:
        """What is protected, in words."""
        ...

    @property
    def mechanism(self) -> str:
        """What added the noise."""
        ...

    @property
    def method(self) -> str:
        """How numbers were made of noisy ones."""
        ...

    @property
    def confidence(self) -> float:
        """Of its intervals."""
        ...

    @property
    def data(self) -> str:
        """The version of the data."""
        ...

    @property
    def rules(self) -> Rules:
        """Public facts that its numbers keep."""
        ...

    @property
    def notes(self) -> Iterable[object]:
        """What is to be said beside its numbers."""
        ...

    @property
    def magnitude(self) -> object:
        """What is summed; None where rows are counted."""
        ...

    @property
    def quantity(self) -> str:
        """What its numbers are, in words."""
        ...

    @property
    def rounding(self) -> Any:
        """What its numbers are multiples of."""
        ...


@dataclass(frozen=True, slots=True)
class File:
    """A file: what its rows are, and its columns."""

    name: str
    holds: str
    rows: int
    keys: tuple[str, ...]
    fields: tuple[Field, ...]


def describe(release: TreeRelease, name: str, table: Release, holds: str) -> File:
    """The file of that name, with every column of its table."""
    fields = tuple(_field(release, column, table) for column in table.columns)
    return File(name, holds, len(table), table.keys, fields)


def facts(release: Published) -> dict[str, Any]:
    """What concerns every number of a release, by name."""
    found = {
        "release": release.id,
        "dataset": release.dataset,
        "cost": release.cost,
        "protects": release.protects,
        "mechanism": release.mechanism,
        "method": release.method,
        "confidence": release.confidence,
        "data": release.data,
        "rules": list(release.rules.declared),
    }
    if release.magnitude is not None:
        found |= {"numbers": release.quantity, "rounding": float(release.rounding)}
    return {name: value for name, value in found.items() if value not in ("", [])}


def _field(release: TreeRelease, name: str, table: Release) -> Field:
    if name in release.levels:
        many = f"{release.tree.sizes[release.tree.level(name)]:,} codes"
        return Field(name, "text", f"Code of the {name} that the row is about, or that its region lies in", "", many)
    if name in (families := {one.name: one for one in release.targets}):
        said = f"The {name} that the row is about: it consists of regions of the level {release.levels[-1]}"
        return Field(name, "text", said, "", f"{len(families[name].codes):,} names")
    labels = dict(release.by).get(name)
    if name == SIZE_NAME and release.largest is not None:
        said = "The size in words: the last one stands for all groups that are larger, too"
        return Field(name, "text", said, "", _listed(tuple(table.columns[name][: release.largest])))
    if labels is not None and name in table.keys:
        size = name == "size" and release.largest is not None
        said = "How many members a group has" if size else f"{name}, as declared: which cell of the region the row is"
        if size and SIZE_NAME in table.columns:
            said += f"; {release.largest} stands for {size_name(release.largest or 0, release.largest or 0)}"
        missing = "rows of the data without a declared value" if None in labels else "never"
        return Field(name, _type(labels), said, "members" if size else "", _listed(labels), missing)
    return _number(release, name, table.columns[name][:1] == [None])  # a method states all intervals or none


def _number(release: TreeRelease, name: str, missing: bool) -> Field:
    """A column of published numbers, of ends of intervals, of flags or of replicates."""
    sure, noun, magnitude = percent(release.confidence), release.counted, release.magnitude
    output = release.output if name.startswith(release.output) else "count"  # of groups by size, too
    what = release.quantity + (" of that size or larger" if output == "at_least" else "")
    kind = "integer" if release.step.denominator == 1 else "number"
    if magnitude is not None:
        noun = "sum of weights" if magnitude.weight else magnitude.column
    multiples = "" if release.rounding == 1 else f", multiples of {float(release.rounding):g}"
    absent = "where no interval is stated" if missing else "never"
    rest = name.removeprefix(output)
    if rest == "_quality":
        said = (
            f"Whether to rely on the {what}, by its standard error{_apart(magnitude)} as a part of it: "
            f"up to {percent(round(CARE, 3))}, "
            f"up to {percent(round(UNFIT, 3))}, and beyond"
        )
        return Field(name, "text", said, "", ", ".join(FLAGS))
    end = "Lower" if rest.endswith("lower") else "Upper"
    match rest:
        case "":
            whole = " whole," if release.rounding == 1 else ""
            said = f"Published {what}: computed from noisy numbers,{whole} and the sum of those of the regions inside"
        case "_lower" | "_upper":
            said = (
                f"{end} end of the {sure} confidence interval of this one {what} (not simultaneous), cut at zero: "
                "a short one need not mean little noise"
            )
        case "_typical_lower" | "_typical_upper":
            said = (
                f"{end} end of an interval, shorter where a level has many regions: of its numbers of "
                f"about one true size about {sure} lie in theirs; not for one region"
            )
        case _:
            number = rest.rpartition("_")[2]
            said = f"The {what} as it might have come out with other noise: replicate {number}, which may be negative"
            return Field(name, kind, said, noun, multiples.removeprefix(", ") or "whole numbers")
    return Field(name, kind, said, noun, "0 or more" if rest else f"0 or more{multiples}", absent)


def _type(values: Iterable[Any]) -> str:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return "boolean"
    if kinds == {int}:
        return "integer"
    return "number" if kinds and kinds <= {int, float} else "text"


def _listed(labels: tuple[Any, ...]) -> str:
    said = [str(label) for label in labels if label is not None]
    return ", ".join(said) if len(said) <= _LISTED else f"{', '.join(said[:_LISTED])} and {len(said) - _LISTED} more"


def to_markdown(release: Published, files: Iterable[File]) -> str:
    """The data dictionary, as people read it."""
    lines = [f"# {inline(release.dataset)}: data dictionary", ""]
    for name, value in facts(release).items():
        said = percent(value) if name == "confidence" else " ".join(value) if isinstance(value, list) else str(value)
        lines.append(f"- {name}: {inline(said)}")
    if release.notes:
        lines += ["", "## Notes", "", *(f"- {inline(str(note))}" for note in release.notes)]
    head = ("column", "type", "meaning", "unit", "values", "missing")
    for file in files:
        lines += ["", f"## {inline(file.name)}", "", f"{inline(file.holds)}. {file.rows:,} rows.", ""]
        lines += [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
        for field in file.fields:
            lines.append("| " + " | ".join(inline(str(cell)) or "-" for cell in asdict(field).values()) + " |")
    return "\n".join(lines) + "\n"


def csvw(release: Published, file: File) -> dict[str, Any]:
    """The file as tabular metadata (W3C, Metadata Vocabulary for Tabular Data), but for context, address and notes."""
    schema: dict[str, Any] = {"columns": [_column(field) for field in file.fields]}
    keys = [field for field in file.fields if field.name in file.keys]
    if keys and all(field.missing == "never" for field in keys):
        schema["primaryKey"] = [_variable(field.name) for field in keys]
    return {
        "dc:title": f"{release.dataset}: {file.name}",
        "dc:description": f"{file.holds}.",
        "dc:identifier": release.id,
        "schema:additionalProperty": [
            {"@type": "schema:PropertyValue", "schema:name": name, "schema:value": value}
            for name, value in facts(release).items()
        ],
        "tableSchema": schema,
    }


def _column(field: Field) -> dict[str, Any]:
    found = {
        "name": _variable(field.name),
        "titles": harmless(field.name),
        "datatype": _DATATYPES[field.type],
        "required": field.missing == "never",
        "dc:description": f"{field.meaning}." + (f" Values: {field.values}." if field.values else ""),
    }
    if field.missing != "never":
        found["dc:description"] += f" Missing: {field.missing}."
    return {**found, "schema:unitText": field.unit} if field.unit else found


def _variable(name: str) -> str:
    """A name as URI templates allow it: letters, digits, underscores, and the rest in percent."""
    return re.sub(r"[-~]", lambda mark: f"%{ord(mark[0]):02X}", quote(name, safe="")).lstrip("_") or "column"


def parquet_table(release: Published, file: File, table: Release) -> Any:
    """An Arrow table whose schema says what the file and its columns are."""
    import pyarrow

    found = table.to_arrow()
    said = {
        "title": f"{release.dataset}: {file.name}",
        "description": f"{file.holds}.",
        **{
            f"discreet.{name}": value if isinstance(value, str) else json.dumps(value)
            for name, value in facts(release).items()
        },
        "discreet.columns": json.dumps([asdict(field) for field in file.fields]),
    }
    fields = [
        pyarrow.field(one.name, one.type, metadata={"description": field.meaning, "unit": field.unit})
        for one, field in zip(found.schema, file.fields, strict=True)
    ]
    return found.cast(pyarrow.schema(fields, metadata={**(found.schema.metadata or {}), **said}))


def _apart(magnitude: Any) -> str:
    """What a standard error does not hold, where that is much of it."""
    if magnitude is None:
        return ""
    return " (of the noise alone, not of the sample)" if magnitude.weight else " (after values are cut to their bounds)"
