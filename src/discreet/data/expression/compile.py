"""An expression as an engine has it, the same on every engine. What is declared is read by `discreet.data.read`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.data.column import Column, Text
from discreet.data.dialect import among, looked_up
from discreet.data.expression.domain import Domain, Domains, constant_domain, domain_of_column, exact_domain, structural
from discreet.data.expression.function import FUNCTIONS, Function, Operand
from discreet.data.expression.layer import expand, layers
from discreet.data.expression.node import Call, Constant, Expression, Name, columns_in
from discreet.data.instant import Instant
from discreet.data.read import as_declared, as_text, closed, with_clocks

__all__ = ["with_expressions"]

_KINDS = {"integer": "int64", "real": "float64", "text": "string", "boolean": "boolean", "date": "date"}
_KINDS |= {"timestamp": "int64"}


def with_expressions(expressions: Mapping[str, Expression], table: Any, columns: Mapping[str, Column]) -> Any:
    """A table with these expressions beside its columns.

    An engine has no names for parts of an expression, and some are used many times over in what is computed of them:
    these are columns of tables inside the table.
    """
    expanded = {name: expand(each, columns) for name, each in expressions.items()}
    bound: dict[str, str] = {}
    used = dict.fromkeys(name for each in expanded.values() for name in columns_in(each))
    table, shown = with_clocks(table, {name: columns[name] for name in used})

    def computed(expression: Expression) -> Any:
        if isinstance(expression, Name) and expression.name in shown:
            column: Any = columns[expression.name]
            return shown[expression.name].seconds(column.naive, int(column.lower), int(column.upper))
        return _operand(expression, table, columns, bound).engine

    for layer in layers(list(expanded.values()), columns):
        slots = {text: f"discreet part {hashlib.sha256(text.encode()).hexdigest()[:20]}" for text in layer}
        table = closed(table.mutate(**{slots[text]: computed(each) for text, each in layer.items()}))
        bound |= slots
    made = {name: _operand(each, table, columns, bound).engine for name, each in expanded.items()}
    return closed(table.mutate(**made)) if bound else table.mutate(**made)


def _operand(expression: Expression, table: Any, columns: Mapping[str, Column], bound: Mapping[str, str]) -> Operand:
    if bound and (slot := bound.get(str(expression))) is not None and not isinstance(expression, Constant):
        domain = structural(expression, Domains(columns))
        loose = isinstance(expression, Call) and FUNCTIONS[expression.function].loose and domain.kind == "real"
        return Operand(table[slot], domain, loose)
    match expression:
        case Name(name):
            column = columns[name]
            raw = table[name]
            read = as_text(raw) if isinstance(column, Text) else as_declared(raw, column)
            return Operand(read, domain_of_column(column))
        case Constant(value):
            return Operand(_literal(value), constant_domain(value))
        case Call(name, arguments):
            function = FUNCTIONS[name]
            operands = [_operand(each, table, columns, bound) for each in arguments]
            result = exact_domain(function.domain(*(operand.domain for operand in operands)))
            if not function.loose:
                operands = [_tight(operand) for operand in operands]
            made = _computed(function, operands, result)
            if not function.strict:
                return Operand(_moved_inside(made, result), result)
            return Operand(made, result, result.kind == "real" and function.loose)
    raise TypeError(f"no expression: {type(expression).__name__}")


def _tight(operand: Operand) -> Operand:
    """The same within its domain. A sum of floats leaves it by rounding: `x + 1e15 - 1e15` may be zero where x cannot,
    and a division by it, or a product of many of them, would make an engine fail."""
    return Operand(_moved_inside(operand.engine, operand.domain), operand.domain) if operand.loose else operand


def _moved_inside(made: Any, domain: Domain) -> Any:
    """A number or a day within its domain. A column that is declared complete may be missing all the same: what then
    stands for it in COALESCE, CASE, LEAST may be anything, and what is computed of it must not make an engine fail.
    """
    import ibis

    if made is None or domain.kind not in ("integer", "real", "date", "timestamp"):
        return made
    if domain.kind == "real":
        low, high = (ibis.literal(float(end), "float64") for end in (domain.lower, domain.upper))
    else:
        low, high = _literal(domain.lower), _literal(domain.upper)
    return ibis.cases((made < low, low), (made > high, high), else_=made)


def _literal(value: Any) -> Any:
    import ibis

    if isinstance(value, bool):
        return ibis.literal(value, "boolean")
    if isinstance(value, int):
        return ibis.literal(int(value), "int64")
    if isinstance(value, str):
        return ibis.literal(value, "string")
    if value is None:
        return None
    if hasattr(value, "isoformat"):
        return ibis.literal(value, "date")
    return ibis.literal(float(Fraction(value)), "float64")


def _computed(function: Function, operands: list[Operand], result: Domain) -> Any:
    if result.kind == "nothing":
        return None
    if (function.strict and all(operand.domain.kind != "nothing" for operand in operands)) or not function.strict:
        made = None if function.engine is None else function.engine(operands, result)
        if made is not None and not _better_mapped(function, operands):
            return made
    return _mapped(function, operands, result)


def _better_mapped(function: Function, operands: list[Operand]) -> bool:
    """Whether an operation on text is a list of values: then no engine's rules about text come in."""
    from discreet.data.expression.words import FUNCTIONS as WORDS

    return function in WORDS.values() and function is not WORDS["concat"] and operands[0].domain.listed() is not None


def _mapped(function: Function, operands: list[Operand], result: Domain) -> Any:
    """One value after the other, for a function of one argument that varies."""
    import ibis

    varying = [
        place
        for place, operand in enumerate(operands)
        if len(operand.domain.listed() or "ab") != 1 or operand.domain.missing
    ]
    kind = _KINDS[result.kind]
    fixed = [
        None if place in varying else (operand.domain.listed() or (None,))[0] for place, operand in enumerate(operands)
    ]
    if not varying:
        value = _stored(function.value(*fixed))
        return ibis.null(kind) if value is None else ibis.literal(value, kind)
    place = varying[0]
    values = operands[place].domain.listed()
    if len(varying) > 1 or values is None:
        raise TypeError("only a function of one listed argument is mapped")
    images = {_stored(value): _stored(function.value(*fixed[:place], value, *fixed[place + 1 :])) for value in values}
    argument = operands[place].engine
    if result.kind == "boolean":
        yes = [value for value, image in images.items() if image is True]
        no = [value for value, image in images.items() if image is False]
        if not no:
            return _where(argument, yes, True, kind)
        if not yes:
            return _where(argument, no, False, kind)
        return (
            _in(argument, yes)
            if len(yes) + len(no) == len(values)
            else ibis.cases(
                (_in(argument, yes), ibis.literal(True)),
                (_in(argument, no), ibis.literal(False)),
                else_=ibis.null(kind),
            )
        )
    if argument.type().is_string():
        there = {value: image for value, image in images.items() if image is not None}
        return looked_up(argument, there, kind) if there else ibis.null(kind)
    pairs = [(value, ibis.literal(image, kind)) for value, image in images.items() if image is not None]
    return argument.cases(*pairs, else_=ibis.null(kind)) if pairs else ibis.null(kind)


def _stored(value: Any) -> Any:
    """A value as engines have it: instants as whole numbers."""
    return int(value) if isinstance(value, Instant) else value


def _in(argument: Any, values: list[Any]) -> Any:
    return among(argument, values) if argument.type().is_string() else argument.isin(values)


def _where(argument: Any, values: list[Any], truth: bool, kind: str) -> Any:
    import ibis

    return _in(argument, values).ifelse(ibis.literal(truth), ibis.null(kind)) if values else ibis.null(kind)
