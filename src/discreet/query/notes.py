"""What limits, bounds and declarations do to the outputs of a question, as notes: for its plan and its release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from discreet.core.note import Note
from discreet.core.release import percent, plural
from discreet.core.unit import Unit
from discreet.data.column import Category, Column, Date, Integer, Real, Text, Timestamp
from discreet.data.expression.node import Call, Constant, columns_in
from discreet.data.expression.read import read_expression
from discreet.data.expression.read_dialect import CONDITIONS
from discreet.data.schema import Schema
from discreet.query.aggregate import Additive, Aggregate, Bounded
from discreet.query.compatibility import columns_read
from discreet.query.function import kinds
from discreet.query.grid import Days, Decades, Even, Seconds, grid_for, shown
from discreet.query.key import Key
from discreet.query.modes import Mode
from discreet.query.person_table import person_notes
from discreet.query.predicate import Predicate, beyond, columns_of
from discreet.query.quantile import At, Ordered, Quantile, sortable
from discreet.query.question import Query

__all__ = [
    "cell_notes",
    "condition_notes",
    "declared_notes",
    "expression_notes",
    "join_notes",
    "limit_notes",
    "outside_values",
    "promise_notes",
    "published_notes",
    "unidentified_notes",
    "value_notes",
]

CLIPPED = "clipped"
"""The kind of a note on sums that are cut whatever rows they are of."""

Outputs = Sequence[tuple[str, Aggregate | Ordered]]
_RANGES = (Integer, Real, Date, Timestamp)


def declared_notes(question: Query, schema: Schema) -> list[Note]:
    """Every note that follows from the question and the schema alone. Nothing is read for it."""
    outputs: Outputs = (*question.outputs, *question.ordered)
    groups = None if question.discovered else question.groups(schema)
    names = [name for name, _ in outputs]
    persons = schema.persons
    alone = persons is not None and not persons.table.keys  # one row for each person: no limit cuts any
    rows = schema if persons is None else persons.rows
    return [
        *(unidentified_notes(schema.unit, names) if alone else limit_notes(schema.unit, outputs, groups)),
        *person_notes(schema, names),
        *join_notes(rows, columns_read(question, schema), names),
        *condition_notes(question.condition, [name for name, _ in outputs], schema),
        *expression_notes(_uses(question, outputs), schema),
        *_bounds(question.outputs, schema),
        *_grids(question.ordered, schema),
        *_modes(question.ordered, schema),
        *_complete(question.outputs, schema),
        *_left_out(question.listed, [name for name, _ in outputs], schema),
    ]


def limit_notes(unit: Unit, outputs: Outputs, groups: int | None) -> list[Note]:
    """What the limits on a person do, where `groups` are published (None: nobody knows how many)."""
    if unit.column is None:
        return promise_notes(unit, [name for name, _ in outputs])
    who = unit.column
    notes, names = [], [name for name, _ in outputs]
    if groups is None or groups > unit.groups:
        text = (
            f"Each {who} counts in at most {plural(unit.groups, 'group')}, picked at random, the same for all outputs; "
            "what they have in others is left out."
        )
        notes.append(Note("groups", text, tuple(names)))
    if unit.rows_total is not None:
        notes.append(Note("rows", _drawn(unit, "group"), tuple(names)))
    rows = plural(unit.rows, "row")
    texts: dict[tuple[str, str], list[str]] = {}
    for kind in kinds():
        for output in (output for _, output in outputs if type(output) is kind):
            if (note := output.limited(who, rows)) and (unit.rows_total is None or note[0] == CLIPPED):
                texts[note] = [name for name, other in outputs if other.limited(who, rows) == note]
    notes += [Note(kind, text, tuple(named)) for (kind, text), named in texts.items()]
    return [*notes, *unidentified_notes(unit, names)]


def promise_notes(unit: Unit, names: Sequence[str]) -> list[Note]:
    """What nothing but the custodian's word stands for, where a unit is several rows of nobody knows whom."""
    if not unit.promised:
        return []
    text = (
        f"The custodian promises that nobody has more than {plural(unit.rows, 'row')}. No column identifies a person, "
        "so this is not enforced: whoever has more rows is protected less."
    )
    return [Note("promise", text, tuple(names))]


def _drawn(unit: Unit, cell: str) -> str:
    """What a limit on the rows of all groups does."""
    within = f", at most {unit.rows:,} of them in one {cell}" if unit.most_rows < unit.most_total else ""
    return (
        f"Each {unit.column} counts with at most {plural(unit.most_total, 'row')} over all {cell}s{within}, drawn at "
        "random. Sums, means and quantiles are computed from these rows; the others are left out."
    )


def join_notes(schema: Schema, columns: Iterable[str], names: Sequence[str]) -> list[Note]:
    """What the limits of joined tables leave out, where a column of theirs is read."""
    read, notes = set(columns), []
    for name, join in schema.joins.items():
        if read & set(join.columns):
            text = (
                f"Each {schema.unit.column} counts with at most {plural(join.rows, 'row')} of {name}, the first in the "
                "order of their values; the others are left out."
            )
            notes.append(Note("joined", text, tuple(names)))
    return notes


def unidentified_notes(unit: Unit, names: Sequence[str]) -> list[Note]:
    """Rows that are nobody's, where the unit is a person: no limit could hold for them."""
    if unit.column is None:
        return []
    return [Note("unidentified", f"Rows without a value of {unit.column} are left out.", tuple(names))]


def cell_notes(
    schema: Schema,
    keys: Iterable[Key],
    condition: Predicate | None = None,
    *,
    cells: int | None,
    cell: str = "cell",
    of: str = "",
    outputs: Sequence[str] = (),
) -> list[Note]:
    """What is left out where rows are counted in cells, of which there are `cells` (None: more than anybody is in).

    `cell` is what one is called, `of` what it consists of. Rows with other values than those of the keys are in none.
    """
    unit, notes, names = schema.unit, [], tuple(outputs)
    if unit.column is not None:
        if cells is None or cells > unit.groups:
            text = (
                f"Each {unit.column} counts in at most {plural(unit.groups, cell)}{of}, picked at random; what they "
                "have in others is left out."
            )
            notes.append(Note("groups", text, names))
        rows = plural(unit.rows, "row")
        text = f"Each {unit.column} counts with at most {rows} in a {cell}; further rows are left out."
        text = text if unit.rows_total is None else _drawn(unit, cell)
        notes.append(Note("rows", text, names))
    notes += [*promise_notes(unit, names), *unidentified_notes(unit, names)]
    listed = list(keys)
    named = [key.column for key in listed] + ([] if condition is None else list(columns_of(condition)))
    notes += join_notes(schema, named, names)
    notes += expression_notes([(name, names) for name in named], schema)
    outside = [_outside(key, schema, listed=True) for key in listed]
    notes += [Note("outside", f"Rows whose {text} are left out.", names) for text in outside if text]
    return [*notes, *condition_notes(condition, names, schema)]


def condition_notes(condition: Predicate | None, names: Sequence[str], schema: Schema) -> list[Note]:
    """A condition compares values as they are stored; what is to be said where no declared value meets it."""
    name = None if condition is None else beyond(condition, schema)
    if name is None:
        return []
    column: Any = schema.columns[name]
    ends = f"{column.lower}..{column.upper}"
    if name in schema.columns:
        text = f"No declared value of {name} meets the condition: all rows whose {name} is within {ends} are left out."
    else:  # computed of values within their bounds
        text = f"No value that {name} can have meets the condition: all rows are left out."
    return [Note("condition", text, tuple(names))]


def expression_notes(uses: Iterable[tuple[str, Sequence[str]]], schema: Schema) -> list[Note]:
    """What becomes of values outside the bounds of columns that are read by expressions and derived columns.

    `uses` are the names that a question uses, each with the outputs it is used for; declared ones are passed over.
    """
    texts: dict[str, list[str]] = {}
    for used, names in uses:
        derived = schema.derived.get(used)
        if derived is None and used in schema.columns:
            continue
        read = schema.read_by([used]) if derived is None else columns_in(read_expression(derived.expression))
        numbers = [(name, schema.columns[name]) for name in dict.fromkeys(read)]
        ranges = [f"{name} outside {_ends(column)}" for name, column in numbers if isinstance(column, _RANGES)]
        if ranges:
            whole = any(isinstance(column, Integer) for _, column in numbers)
            rounded = "; fractions of whole numbers are rounded" if whole else ""
            text = f"In {_shown(used)}, values of {', of '.join(ranges)} are clipped to the nearer bound{rounded}."
            texts.setdefault(text, []).extend(names)
    return [Note("bounds", text, tuple(dict.fromkeys(names))) for text, names in texts.items()]


def _uses(question: Query, outputs: Outputs) -> list[tuple[str, Sequence[str]]]:
    """Every column and expression of a question, and the outputs it decides about: a key or a condition about all."""
    names = [name for name, _ in outputs]
    found: list[tuple[str, Sequence[str]]] = [
        (column, [name]) for name, output in outputs if (column := getattr(output, "column", None)) is not None
    ]
    conditions = [] if question.condition is None else columns_of(question.condition)
    return found + [(column, names) for column in (*(key.column for key in question.keys), *conditions)]


def _ends(column: Integer | Real | Date | Timestamp) -> str:
    """The bounds of a column as they were declared."""
    if isinstance(column, Date | Timestamp):
        return f"{column.lower}..{column.upper}"
    return f"{_bound(column.lower)}..{_bound(column.upper)}"


def published_notes(
    outputs: Sequence[tuple[str, Aggregate]], columns: Mapping[str, Sequence[Any]], confidence: float
) -> list[Note]:
    """What is to be said of the published numbers themselves."""
    notes = []
    below = [name for name, output in outputs if output.never_negative and any(value < 0 for value in columns[name])]
    if below:
        text = (
            "Below zero because of the noise: there are few rows or none. Not set to zero, so that sums over groups "
            "stay unbiased."
        )
        notes.append(Note("negative", text, tuple(below)))
    if unknown := [name for name, _ in outputs if None in columns[name]]:
        sure = percent(confidence)
        text = (
            f"Missing where there are too few rows to exclude any possible value with {sure} confidence. Noise decides "
            "which small groups are shown, so intervals of small groups contain the true value less often than "
            f"{sure}."
        )
        notes.append(Note("unknown", text, tuple(unknown)))
    return notes


def value_notes(outputs: Sequence[tuple[str, Aggregate]], schema: Schema) -> list[Note]:
    """What becomes of values outside bounds, between the points of a grid, and missing where none should be."""
    return [*_bounds(outputs, schema), *_complete(outputs, schema)]


def _bounds(outputs: Iterable[tuple[str, Aggregate]], schema: Schema) -> list[Note]:
    """Values outside bounds, and between the points of a grid that is not part of the interval."""
    texts: dict[str, list[str]] = {}
    for name, output in outputs:
        if (text := output.clipped(schema)) is not None:
            texts.setdefault(text, []).append(name)
        if not isinstance(output, Bounded) or output.private:
            continue
        lower, upper = output.limits(schema)
        step = output.step(schema) if isinstance(output, Additive) else 1
        rounded = f" and are rounded to multiples of {float(step):g}" if step != 1 else ""
        column = schema.numeric(output.column, "column")
        if output.column not in schema.columns and (lower, upper) == (column.lower, column.upper):
            if not rounded:  # nothing is outside: it is computed of values within their bounds
                continue
            text = f"Values of {output.column}{rounded.removeprefix(' and')}."
        else:
            if isinstance(column, Integer):
                rounded = f"{rounded}; fractions are rounded to whole numbers"
            ends = f"{_bound(lower)}..{_bound(upper)}"
            text = f"Values of {output.column} outside {ends} are clipped to the nearer bound{rounded}."
        texts.setdefault(text, []).append(name)
    return [Note("bounds", text, tuple(names)) for text, names in texts.items()]


def _bound(end: Any) -> str:
    """A bound as it was declared: 1000001, not 1e+06."""
    return f"{float(end):.15g}"


def _grids(outputs: Iterable[tuple[str, Ordered]], schema: Schema) -> list[Note]:
    """Values outside the grid of a quantile, between its points, and between two values."""
    texts: dict[tuple[str, str], list[str]] = {}
    for name, output in outputs:
        if not isinstance(output, Quantile):
            continue
        grid = grid_for(sortable(schema, output.column), output.grid)
        ends, steps = f"{shown(grid, grid.start(0))}..{shown(grid, grid.end(grid.bins - 1))}", ""
        bin_ = "one of the values"
        match grid:
            case Days():
                steps = "" if grid.width == 1 else f" and are distinguished in steps of {grid.width:,} days"
                bin_ = bin_ if grid.width == 1 else f"a bin of {grid.width:,} days"
            case Seconds():
                steps = "" if grid.width == 1 else f" and are distinguished in steps of {grid.width:,} seconds"
                bin_ = bin_ if grid.width == 1 else f"a bin of {grid.width:,} seconds"
            case Decades():
                ends = f"{_bound(grid.start(0))}..{_bound(grid.end(grid.bins - 1))}"
                steps = f" and are sorted into {grid.bins:,} bins that end at round numbers"
                bin_ = "a bin between two round numbers"
            case Even():
                ends = f"{_bound(grid.start(0))}..{_bound(grid.end(grid.bins - 1))}"
                fine = grid.whole and grid.width == 1
                steps = "" if fine else f" and are distinguished in steps of {float(grid.width):g}"
                bin_ = bin_ if fine else f"a bin {float(grid.width):g} wide"
        kind = "Days" if isinstance(grid, Days) else "Times" if isinstance(grid, Seconds) else "Values"
        text = f"{kind} of {output.column} outside {ends} are clipped to the nearer bound{steps}."
        texts.setdefault(("bounds", text), []).append(name)
        if isinstance(output, At) and output.take != "middle":  # a round number outside of it
            continue
        text = f"A quantile is {bin_}, the first that enough rows do not exceed: SQL interpolates between two values."
        texts.setdefault(("grid", text), []).append(name)
    return [Note(kind, text, tuple(names)) for (kind, text), names in texts.items()]


def _modes(outputs: Iterable[tuple[str, Ordered]], schema: Schema) -> list[Note]:
    """Values that are never the most frequent one, and how its interval is read."""
    notes = []
    for name, output in outputs:
        if not isinstance(output, Mode):
            continue
        if output.column in schema.columns:
            column = schema.columns[output.column]
            ends = (column.lower, column.upper) if isinstance(column, Date) else None
            outside = outside_values(Key(output.column, edges=ends), column, missing=False)
            notes.append(Note("outside", f"Rows whose {outside} are not counted.", (name,)))
        text = (
            "The interval reaches, in the order of declaration, from the first to the last value that may be the most "
            "frequent; the value itself is the most frequent one as far as noise allows."
        )
        notes.append(Note("mode", text, (name,)))
    return notes


def _complete(outputs: Iterable[tuple[str, Aggregate]], schema: Schema) -> list[Note]:
    """Missing values where none should be."""
    texts: dict[str, list[str]] = {}
    for name, output in outputs:
        for column in dict.fromkeys(output.columns):
            if schema.columns[column].nullable:
                continue
            text = f"{column} is declared complete: a value that is missing or cannot be read counts {output.gaps}."
            if condition := None if column in schema.columns else _condition(column):
                text = f"Rows for which it is unknown whether {condition} count as rows that do not meet it."
            elif column not in schema.columns:
                text = (
                    f"{_shown(column)} is declared to have a value in every row; a missing value counts {output.gaps}."
                )
            texts.setdefault(text, []).append(name)
    return [Note("complete", text, tuple(names)) for text, names in texts.items()]


def _condition(name: str) -> str:
    """What is met or not, where an expression is 1 for rows that meet it and 0 for all others; else nothing."""
    match read_expression(name):
        case Call("case", (condition, Constant(value=1), Constant(value=0))):
            return str(condition)
    return ""


def _shown(name: str) -> str:
    """An expression as it is shown: a condition that was made a number by itself."""
    match read_expression(name):
        case Call("as_integer", (Call(function=function) as condition,)) if function in CONDITIONS:
            return str(condition)
    return _condition(name) or name


def _left_out(keys: Iterable[Key], names: Sequence[str], schema: Schema) -> list[Note]:
    """Rows that are in no group."""
    texts = [_outside(key, schema) for key in keys]
    return [Note("outside", f"Rows whose {text} are in no group.", tuple(names)) for text in texts if text]


def _outside(key: Key, schema: Schema, *, listed: bool = False) -> str:
    """Which values of a key are in none of its groups; of a complete expression those that are missing all the same."""
    column = schema.columns[key.column]
    text = outside_values(key, column, listed=listed)
    return text or ("" if key.column in schema.columns or column.nullable else f"{key.column} is missing")


def outside_values(key: Key, column: Column, *, missing: bool = True, listed: bool = False) -> str:
    """Which values of a key's column are in none of its groups, in words; none where all are in one.

    Without `missing`, missing values are in none either. Values that were listed were chosen, so nothing is said of the
    others unless `listed` asks for it.
    """
    name, gaps = key.column, column.nullable and missing
    if key.edges is not None and isinstance(column, Integer | Real | Date | Timestamp):
        low, high = max(key.edges[0], column.lower), min(key.edges[-1], column.upper)
        return f"{name} is outside {low}..{high}" + ("" if gaps and key.missing else ", or missing,")
    if key.values is not None or isinstance(column, Text):
        many = 0 if key.values is None else len(key.values)
        return f"{name} is not one of the {plural(many, 'value')} listed" if listed and many else ""
    if isinstance(column, Integer):
        return f"{name} is outside {column.lower}..{column.upper}" + ("" if gaps else ", or missing,")
    if gaps:
        return ""
    return f"{name} is missing" + (" or not declared" if isinstance(column, Category) else "")
