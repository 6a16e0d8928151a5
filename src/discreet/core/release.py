"""An answer: a table of values with intervals, what it cost and where it came from."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.core.note import Note
from discreet.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from discreet.core.decision import Decision
    from discreet.show.picture import Picture

__all__ = [
    "ALL",
    "UNKNOWN",
    "Release",
    "csv_text",
    "harmless",
    "inline",
    "number",
    "percent",
    "plural",
    "with_interval",
    "with_notes",
    "write_notes",
]

UNKNOWN = "too few rows"
"""What stands for a number of which nothing is known."""

ALL = "(all)"
"""What stands for a key in a row about all its values, as ROLLUP has them."""

# What makes a spreadsheet run a cell as a formula, in both widths.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


@dataclass(frozen=True, slots=True)
class Release:
    """A published table. Reading it again is free.

    Every output `x` comes as three columns: `x`, `x_lower`, `x_upper`. The interval holds the true value with the
    stated confidence, for each number by itself.
    """

    id: str
    dataset: str
    columns: Mapping[str, list[Any]]
    keys: tuple[str, ...]
    outputs: tuple[str, ...]
    confidence: float
    cost: str
    mechanism: str
    digest: str
    remaining: str = ""
    query: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    """What the intervals do not hold, of which outputs: limits, bounds, missing values."""
    replayed: bool = field(default=False, compare=False)
    """Whether it was on the books already: then `cost` was paid before, and nothing was spent this time."""
    data: str = ""
    """The version of the data it was made from."""
    absent: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """The rows that do not have a column: totals over all values of a key, numbers that were not asked for there."""
    facts: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """What else is known of it: a title, the condition, what is protected, when it was released, the price in numbers,
    what its outputs are in words, and code that asks the same."""

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def __getitem__(self, name: str) -> list[Any]:
        if name not in self.columns:
            raise InputError("column", name, among=self.columns)
        return self.columns[name]

    @property
    def title(self) -> str:
        """What it is about, in a line."""
        by = f" by {', '.join(self.keys)}" if self.keys else ""
        return str(self.facts.get("title") or ", ".join(self.outputs or ("rows",)) + by)

    def tables(self) -> dict[str, Release]:
        """Itself, under no name: what every release can be asked for."""
        return {"": self}

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary a row."""
        return [dict(zip(self.columns, values, strict=True)) for values in zip(*self.columns.values(), strict=True)]

    def to_dict(self) -> dict[str, Any]:
        """Plain values: the table and its provenance."""
        facts = {name: value for name, value in self.facts.items() if name != "code"}  # which is made of the query
        return {
            "id": self.id,
            "dataset": self.dataset,
            "keys": list(self.keys),
            "outputs": list(self.outputs),
            "confidence": self.confidence,
            "cost": self.cost,
            "mechanism": self.mechanism,
            "digest": self.digest,
            "data": self.data,
            "remaining": self.remaining,
            "query": dict(self.query),
            "notes": [note.to_dict() for note in self.notes],
            "columns": dict(self.columns),
            **({"absent": {name: list(rows) for name, rows in self.absent.items()}} if self.absent else {}),
            **({"facts": facts} if facts else {}),
        }

    def to_json(self) -> str:
        """The release as JSON text."""
        return json.dumps(self.to_dict())

    def to_csv(self, path: str | Path | None = None) -> str:
        """The table as CSV; text that a spreadsheet would run as a formula is quoted.

        What is known of it goes beside a file, to `path` with "-metadata.json" after it: where readers of CSV on the
        Web look for it.
        """
        text = csv_text(self.columns)
        if path is not None:
            from discreet.core.release_file import sidecar

            Path(path).write_bytes(text.encode())
            Path(f"{path}-metadata.json").write_bytes(sidecar(self, Path(path).name))
        return text

    def save(self, path: str | Path, output: str | None = None) -> list[Path]:
        """Write it as .csv (with its metadata beside it), .json, .parquet, .md or .html, or a picture of an output as
        .svg, .png or .pdf. Every file says what it is: title, epsilon, confidence, unit, filter and id."""
        from discreet.core.release_file import save

        return save(self, path, output)

    def to_markdown(self) -> str:
        """The table as Markdown, values with their intervals."""
        head = self.head()
        lines = ["| " + " | ".join(inline(name) for name in head) + " |", "|" + "---|" * len(head)]
        lines.extend("| " + " | ".join(inline(cell) for cell in cells) + " |" for cells in self.cells())
        if self.notes:
            lines += ["", *(f"* {inline(str(note))}" for note in self.notes)]
        return "\n".join(lines)

    def cells(self) -> list[list[str]]:
        """The table as text: keys, each value with its interval, and what else there is of it, under `head`."""
        out, typical, rated = [], self._with("typical", "_lower"), self._with("quality")
        absent = {(name, place) for name, places in self.absent.items() for place in places}
        for place, row in enumerate(self.labelled()):
            cells = [row[key] for key in self.keys]
            cells += ["-" if (name, place) in absent else with_interval(row, name) for name in self.outputs]
            cells += [_span(row, f"{name}_typical") for name in typical]
            out.append(cells + [row[f"{name}_quality"] for name in rated])
        return out

    def head(self) -> list[str]:
        """The heads of the columns of `cells`: outputs with two kinds of intervals say which one stands beside them."""
        typical, many = self._with("typical", "_lower"), len(self.outputs) > 1
        named = [f"{name} [each]" if name in typical else name for name in self.outputs]
        more = [("typical", name) for name in typical] + [("quality", name) for name in self._with("quality")]
        return [*self.keys, *named, *(f"{name}, {kind}" if many else kind for kind, name in more)]

    def _with(self, kind: str, end: str = "") -> list[str]:
        """The outputs that have columns of a kind, which are no keys or outputs of that name."""
        named = (*self.keys, *self.outputs)
        return [n for n in self.outputs if f"{n}_{kind}{end}" in self.columns and f"{n}_{kind}" not in named]

    def labelled(self) -> list[dict[str, Any]]:
        """The rows with their keys as people read them: (missing), and (all) in a row about all values of a key."""
        absent = {(name, place) for name, places in self.absent.items() for place in places}
        return [
            row | {key: ALL if (key, place) in absent else _key_text(row[key]) for key in self.keys}
            for place, row in enumerate(self.rows())
        ]

    def to_arrow(self) -> Any:
        """A pyarrow table; its notes, and what else is known of it, are in the schema's metadata."""
        import pyarrow

        from discreet.core.metadata import metadata

        table = with_notes(pyarrow.table(dict(self.columns)), self.notes)
        told = {**(table.schema.metadata or {}), b"discreet.metadata": json.dumps(metadata(self)).encode()}
        return table.replace_schema_metadata(told)

    def to_pandas(self) -> Any:
        """A pandas frame; its notes are in `attrs`."""
        import pandas

        frame = pandas.DataFrame(dict(self.columns))
        frame.attrs["notes"] = [note.to_dict() for note in self.notes]
        return frame

    def to_polars(self) -> Any:
        """A Polars frame."""
        return _module("polars", "polars").DataFrame(dict(self.columns))

    def decide(
        self,
        *,
        fund: float | None = None,
        threshold: float | None = None,
        by: str | Mapping[Any, Any] | None = None,
        output: str | None = None,
        repair: str | None = None,
    ) -> Decision:
        """What noise does to a decision by these numbers: a fund dealt by them, or a threshold. Costs nothing.

        `by` is a key, "size" for classes of true numbers, or a public label for each group: {"Kent": "south"}. Then
        what each group gets beside its due is told too. With `repair="groups"` every group is given what unbiased
        estimates give it. `output` is what is decided by, the first unless named.
        """
        from discreet.core.decision import decide
        from discreet.core.trials import table_trials

        trials = table_trials(self, output, natural=fund is not None)
        return decide(trials, fund=fund, threshold=threshold, by=by, repair=repair, confidence=self.confidence)

    def plot(self, output: str | None = None) -> Picture:
        """Bars with intervals, for a notebook or `.save("picture.svg")`; .png and .pdf need the `charts` extra."""
        from discreet.core.chart import chart

        return chart(self, output if output is not None else self.outputs[0])

    def _repr_html_(self) -> str:
        from discreet.core.release_view import release_cell

        return release_cell(self)

    def __repr__(self) -> str:
        shown = self.cells()
        head = self.head()
        body = [head, *shown[:20]]
        widths = [max(len(row[i]) for row in body) for i in range(len(head))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in body]
        if len(shown) > 20:
            lines.append(f"... {len(shown) - 20} more rows")
        lines += [f"Note: {note}" for note in self.notes]
        after = f"; left: {self.remaining}" if self.remaining else ""
        data = f"; data {self.data}" if self.data else ""
        intervals = f"{percent(self.confidence)} intervals; " if self.outputs else ""
        about = f"{intervals}cost {self.cost}{after}; release {self.id}{data}"
        lines.append(f"[{about}; {self.digest[:12]}]")
        return "\n".join(lines)


def csv_text(columns: Mapping[str, Sequence[Any]]) -> str:
    """Columns as CSV; text that a spreadsheet would run as a formula is quoted."""
    out = io.StringIO()
    cells = itertools.chain(columns, *columns.values())
    # A lone carriage return ends a line for many readers, and the csv module does not quote it by itself.
    returns = any(isinstance(cell, str) and "\r" in cell for cell in cells)
    writer = csv.writer(out, lineterminator="\n")
    if returns:
        writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow([harmless(name) for name in columns])
    writer.writerows([harmless(value) for value in row] for row in zip(*columns.values(), strict=True))
    return out.getvalue()


def with_notes(table: Any, notes: Sequence[Note]) -> Any:
    """A pyarrow table with notes in the metadata of its schema, which Parquet files keep."""
    said = json.dumps([note.to_dict() for note in notes])
    return table.replace_schema_metadata({"discreet.notes": said}) if notes else table


def write_notes(path: str | Path, notes: Sequence[Note], about: Mapping[str, Any] | None = None) -> Path | None:
    """Write notes, and what else is known about it, beside a CSV file: where readers of CSV on the Web look for them.

    No file if there is nothing to say.
    """
    if not notes and not about:
        return None
    said = {"@context": "http://www.w3.org/ns/csvw", "url": Path(path).name, **(about or {})}
    beside = Path(f"{path}-metadata.json")
    noted = {"notes": [note.to_dict() for note in notes]} if notes else {}
    beside.write_text(json.dumps({**said, **noted}, indent=1) + "\n", encoding="utf-8")
    return beside


def with_interval(row: Mapping[str, Any], name: str) -> str:
    """An output of a row and its interval, as people read it."""
    low, high = row[f"{name}_lower"], row[f"{name}_upper"]
    if row[name] is low is high is None:
        return UNKNOWN
    return f"{number(row[name])} [{number(low)}, {number(high)}]"


def _span(row: Mapping[str, Any], name: str) -> str:
    low, high = row[f"{name}_lower"], row[f"{name}_upper"]
    return "-" if low is None else f"[{number(low)}, {number(high)}]"


def number(value: Any) -> str:
    """A number people can read."""
    if value is None:
        return "-"
    if isinstance(value, str | bool):  # a day, a label or a truth
        return str(value)
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    if value and abs(value) < 1e-3:
        return f"{value:.3g}"
    return f"{value:,.3f}" if abs(value) < 1000 else f"{value:,.1f}"


def plural(many: int, noun: str) -> str:
    """So many of something.

    >>> plural(1, "row"), plural(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{many:,} {noun}" if many == 1 else f"{many:,} {noun}s"


def percent(confidence: float) -> str:
    """A confidence people can read: 95%, 99.9%, and never 100%."""
    return f"{float(str(confidence)) * 100:.12g}%"


def _key_text(value: Any) -> str:
    """A key on one line, and nothing that a terminal would obey: discovered keys are whatever people typed."""
    if value is None:
        return "(missing)"
    return "".join(mark if mark.isprintable() else repr(mark)[1:-1] for mark in str(value))


def inline(cell: str) -> str:
    """Text that stays in its cell of a Markdown table, and is no markup."""
    text = "".join("\\" + mark if mark in "\\|`*<>" else mark for mark in " ".join(cell.split()))
    return text.replace("](", "]\\(").replace("][", "]\\[")  # neither a link nor a picture of another host


def harmless(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula.

    >>> harmless("=HYPERLINK()"), harmless("plain"), harmless(-3)
    ("'=HYPERLINK()", 'plain', -3)
    """
    if isinstance(value, str) and value.lstrip(" ")[:1] in _FORMULA:
        return "'" + value
    return value


def _module(name: str, extra: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(extra, name) from None
