"""Outputs and keys as people write them in one line: `mean(pay)`, `visit_date/month`.

A name that has one of the signs of this notation in it stands in double quotes, as in SQL: `mean("pay, in €")`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from discreet.data.column import Date, Timestamp
from discreet.data.expression.node import quoted
from discreet.data.instant import Instant
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.aggregate import PRIVATE, Aggregate, mean
from discreet.query.aggregate.base import plain_name
from discreet.query.function import Function, listed_functions
from discreet.query.key import Key, bins, discover, key
from discreet.query.predicate import And, Compare, IsIn, IsMissing, Not, Or, Predicate
from discreet.query.quantile import Ordered
from discreet.query.question import output_from

__all__ = ["read_key", "read_outputs", "write_condition"]

_OUTPUT = re.compile(r"(?:(?P<name>\w+)=)?(?P<of>\w+)(?:\((?P<inner>.*)\))?", re.DOTALL)
_VECTOR = re.compile(r"mean\(\s*\[(?P<columns>.*)\]\s*,\s*norm\s*=\s*(?P<norm>[^,\[\]]+)\)", re.DOTALL)
_RANGE = r"(?P<low>-?[\d.]*?\d)\.\.(?P<high>-?[\d.]*\d)\s*$"
_PERSON = re.compile(rf",\s*person={_RANGE}")
_BOUNDS = re.compile(rf",\s*{_RANGE}")
_BINS = re.compile(r"[-+]?[\d.]+([eE][-+]?\d+)?(/\d+)?|\d+ *[A-Za-z]+|[A-Za-z]+|[-+.\d][^,]*(,\s*[-+.\d][^,]*)+")
_ENDS = {"min": "0.01", "minimum": "0.01", "max": "0.99", "maximum": "0.99"}
_COMMON = {"average": "mean", "var": "variance", "nunique": "distinct", "n": "count", "size": "count", "len": "count"}
_QUOTED = re.compile(r'\s*"(?P<name>(?:[^"]|"")+)"\s*')
_EXAMPLES = "such as count, people, sum(pay), median(pay), quantile(pay,0.9) or average=mean(pay)"
_OPERATORS = {"==": "=", "!=": "<>"}
_HINT = "Put a name with special characters in double quotes: 'mean(\"pay, in €\")'."


def read_outputs(texts: list[str]) -> dict[str, Aggregate | Ordered]:
    """Outputs by their names, each from a text.

    >>> list(read_outputs(["count", 'mean("pay, in €")', "top=quantile(pay,0.9)", "mean([x, y], norm=2)"]))
    ['count', 'mean_pay_in', 'top', 'mean_x', 'mean_y']
    """
    known, outputs = listed_functions(), dict[str, Aggregate | Ordered]()
    for text in texts:
        if vector := _VECTOR.fullmatch(text.strip()):
            for name, coordinate in mean(_listed(vector["columns"]), norm=vector["norm"].strip()).items():
                _add(outputs, name, coordinate, text)
            continue
        match = _OUTPUT.fullmatch(text.strip())
        if match is None:
            raise InputError("outputs", text, _EXAMPLES, _HINT)
        if (match["inner"] or "").lstrip().startswith("["):
            raise InputError("outputs", text, "a list of columns with its length, without a name: mean([x,y],norm=2)")
        if match["of"] not in known:
            raise _unknown(match["of"], match["inner"] or "", known)
        function, argument = known[match["of"]], known[match["of"]].argument
        required = argument is not None and argument.required
        word = PRIVATE if argument is None else argument.example
        inner, person = _ended(_PERSON, match["inner"] or "")
        inner, bounds = _ended(_BOUNDS, inner) if argument is not None and argument.field == "bounds" else (inner, None)
        column, rest = _split(inner, None if required else word)
        if not column and function.column == "required":
            raise InputError("outputs", text, f"a function with its column in brackets: {_example(function)}")
        if argument is not None and required and rest is None:
            allowed = f"a column and {argument.words}, such as {function.written('pay', argument.example)}"
            raise InputError("outputs", text, allowed)
        if rest is not None and not required and rest != word:
            raise InputError("outputs", text, f"a column, optionally followed by a comma and {word}", _HINT)
        entry: dict[str, Any] = {"of": function.name} | ({"column": column} if column else {})
        if column and function.column == "none":  # people(age >= 65): those with a row that meets a condition
            entry = {"of": function.name, "where": inner.strip()}
        entry |= {} if rest is None else {argument.field: argument.read(rest)} if argument else {"bounds": rest}
        entry |= {} if bounds is None else {"bounds": bounds}
        entry |= {} if person is None else {"person": person}
        output = output_from(entry)
        label = function.name if function.label is None else function.label(output)
        named = [label, column.lstrip('"')] if argument is None or not argument.column else [label, *output.columns]
        name = match["name"] or plain_name("_".join(named) if column else label)
        _add(outputs, name, output, text, f"Write {name}_2={text.strip()[match.start('of') :]}.")
    return outputs


def _add(outputs: dict[str, Any], name: str, output: Aggregate | Ordered, text: str, hint: str = "") -> None:
    if outputs.get(name, output) != output:
        raise InputError("outputs", text, f"under a name of its own: {name} is another", hint)
    outputs[name] = output


def _listed(text: str) -> list[str]:
    """Columns and expressions with commas between them."""
    before, comma, last = _last_comma(text)
    column = match["name"].replace('""', '"') if (match := _QUOTED.fullmatch(last)) else last.strip()
    return [*(_listed(before) if comma else []), column]


def _unknown(name: str, inner: str, known: Mapping[str, Function]) -> InputError:
    """The error for a function that is called otherwise here, or that nothing is called."""
    folded = name.lower()
    others = {word.lower(): one.name for one in known.values() for word in (*one.sql, one.call.partition("(")[0])}
    if folded in _ENDS:
        instead = f"quantile({inner or 'COLUMN'},{_ENDS[folded]})"
        return InputError("outputs", name, _EXAMPLES, f"The last value on either side is one person's. Use {instead}.")
    if folded == "top":
        return InputError("outputs", name, _EXAMPLES, f"Use --top {inner or 'COLUMN'} --k 1, without outputs.")
    if (function := known.get(_COMMON.get(folded) or others.get(folded, ""))) is not None:
        written = f"{function.name}({inner})" if inner else _example(function)
        return InputError("outputs", name, _EXAMPLES, f"Did you mean `{written}`?")
    return InputError("outputs", name, hint="Examples: count, 'mean(pay)'.", among=known)


def _example(function: Function) -> str:
    argument = "" if function.argument is None else function.argument.example
    return function.written("" if function.column == "none" else "COLUMN", argument)


def read_key(text: str, schema: Schema) -> Key:
    """What to group by: COLUMN, COLUMN/WIDTH, COLUMN/month, COLUMN/0,18,65,100 or COLUMN?.

    A declared column needs no quotes, whatever its name.
    """
    name, how = (text, "") if text in schema.columns else _parted(text, schema)
    if how == "?":
        return discover(name)
    if not how:
        return key(name)
    width = how[1:].strip()
    if "," in width:
        return bins(name, [part.strip() for part in width.split(",")])
    column = schema.column(name, "--by")
    if isinstance(column, Date | Timestamp) and (
        width.isalpha() if isinstance(column, Timestamp) else not width.isdigit()
    ):
        return bins(name, every=width)
    return bins(name, width=width)


def write_condition(condition: Predicate) -> str:
    """A condition as it may be typed.

    >>> from discreet.query.parse import parse_condition
    >>> write_condition(parse_condition("hours > 0 and not (county in ('Ash', 'Elm') or pay is null)"))
    "hours > 0 and not (county in ('Ash', 'Elm') or pay is null)"
    """
    match condition:
        case Compare(name, operator, value):
            return f"{quoted(name)} {_OPERATORS.get(operator, operator)} {_constant(value)}"
        case IsIn(name, values):
            return f"{quoted(name)} in ({', '.join(map(_constant, values))})"
        case IsMissing(name):
            return f"{quoted(name)} is null"
        case And(parts):
            return " and ".join(map(_part, parts))
        case Or(parts):
            return " or ".join(map(_part, parts))
        case Not(part):
            return f"not ({write_condition(part)})"


def _part(condition: Predicate) -> str:
    text = write_condition(condition)
    return f"({text})" if isinstance(condition, (And, Or)) else text


def _constant(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, date, Instant)):
        return "'" + str(value).replace("'", "''") + "'"
    return f"{value}"


def _split(inner: str, only: str | None) -> tuple[str, str | None]:
    """The column of an output, and what stands after the last comma: `only` that, unless a quoted name ends there.

    A quoted name with more behind it begins an expression, which keeps its quotes: `"pay, in €" / 12`.
    """
    if (match := _QUOTED.match(inner)) and inner[match.end() :][:1] in ("", ","):
        rest = inner[match.end() :]
        return match["name"].replace('""', '"'), rest[1:].strip() if rest else None
    before, comma, rest = _last_comma(inner)
    if comma and only in (None, rest.strip()):
        return before.strip(), rest.strip()
    return inner.strip(), None


def _ended(pattern: re.Pattern[str], inner: str) -> tuple[str, list[str] | None]:
    """What stands in the brackets, and the bounds at its end: `pay, 0..80`, `pay, person=0..500`."""
    match = pattern.search(inner)
    return (inner, None) if match is None else (inner[: match.start()], [match["low"], match["high"]])


def _last_comma(inner: str) -> tuple[str, str, str]:
    """What stands before and after the last comma that is in no brackets and no quotes."""
    depth, within = 0, False
    for place in range(len(inner) - 1, -1, -1):
        mark = inner[place]
        within ^= mark == '"'
        depth += 0 if within else (mark == ")") - (mark == "(")
        if mark == "," and depth == 0 and not within:
            return inner[:place], ",", inner[place + 1 :]
    return "", "", inner


def _parted(text: str, schema: Schema) -> tuple[str, str]:
    """The column of a key, and the rest: nothing, a question mark, or a slash and the bins.

    A slash that stands not between a column and the width or the edges of bins divides: `FLOOR(age / 10)`, `age // 10`.
    """
    if (match := _QUOTED.match(text)) and text[match.end() :][:1] in ("", "/", "?"):
        return match["name"].replace('""', '"'), text[match.end() :]
    if text.endswith("?"):
        return text[:-1], "?"
    name, slash, how = (part.strip() for part in text.partition("/"))
    plain = name in schema.columns or re.fullmatch(r"\w+", name) is not None
    other = how.isalpha() and how in schema.columns and not isinstance(schema.columns.get(name), Date | Timestamp)
    if slash and plain and not other and _BINS.fullmatch(how):
        return name, f"/{how}"
    return text, ""
