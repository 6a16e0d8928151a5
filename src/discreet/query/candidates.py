"""What is chosen from: options, and for each what one row adds to its score, as an expression of columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.core.exact import Number, as_written
from discreet.core.lattice import Lattice
from discreet.core.unit import Neighbours
from discreet.data.column import Boolean, Category, Integer, Text
from discreet.data.expression import Call, Constant, Expression, read_expression
from discreet.data.expression.node import columns_in
from discreet.data.expression.substitution import substituted
from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase, kind_of
from discreet.query.aggregate import Count, Sum, count
from discreet.query.key import key
from discreet.query.measure import Total, contribution, lattice_for
from discreet.query.predicate import Predicate
from discreet.query.question import Query

__all__ = ["MOST_OPTIONS", "OPTION", "Candidates", "Score", "read_candidates"]

OPTION = "option"
"""What stands for an option in the expression of a score, and what the column of the one chosen is called."""
MOST_OPTIONS = 256

Score = str | Query
_HINT = 'Such as score="nationality", or score="CASE WHEN bid >= option THEN option ELSE 0 END".'


@dataclass(frozen=True, slots=True)
class Candidates:
    """Options with the sums that are their scores, all on one lattice.

    Guarantee: a unit moves every score by at most `sensitivity` steps; where `monotone`, all of them the same way.
    Proof: docs/proofs/query-choose.md.
    """

    labels: tuple[Any, ...]
    question: Query
    """The rows that count, and the expressions that are read; nobody is answered it."""
    measures: tuple[Total, ...]
    schema: Schema

    @property
    def step(self) -> Fraction:
        """The size of one step of a score."""
        return self.measures[0].lattice.step

    @property
    def sensitivity(self) -> int:
        """How far one unit moves a score at most, in steps."""
        ends = [contribution(measure, self.schema.unit) for measure in self.measures]
        if self.schema.unit.neighbours is Neighbours.ADD_REMOVE:
            return max(max(-low, high) for low, high in ends)
        return max(high - low for low, high in ends)

    @property
    def monotone(self) -> bool:
        """Whether whoever comes adds to scores and takes from none, or the other way round."""
        ends = [contribution(measure, self.schema.unit) for measure in self.measures]
        one_way = all(low == 0 for low, _ in ends) or all(high == 0 for _, high in ends)
        return one_way and self.schema.unit.neighbours is Neighbours.ADD_REMOVE

    @property
    def each(self) -> int:
        """How much one row adds to a score at most, in steps."""
        return max(max(-measure.lowest, measure.highest) for measure in self.measures)


def read_candidates(
    score: Score,
    options: Sequence[Any] | None,
    bound: Number | None,
    where: str | Predicate | None,
    schema: Schema,
) -> Candidates:
    """Options and scores, read against a schema. Every error comes from here, before anything is spent."""
    rows = Query()
    if isinstance(score, Query):
        rows = Query(score.condition, person_limits=score.person_limits)
        column, amount = _of_question(score, schema)
        given = _typed(column, options, schema)
        scores = [_where_it_is(column, label, amount, schema) for label in given]
    elif not isinstance(score, str):
        raise InputError("score", kind_of(score), "a column, an expression, or a question", _HINT)
    elif OPTION in columns_in(template := read_expression(score, "score")):
        given = _given(options, score, schema)
        scores = [substituted(template, {OPTION: Constant(_number(label))}) for label in given]
    else:
        column = schema.canonical(score, "score")
        given = _typed(column, options, schema)
        scores = [_where_it_is(column, label, Constant(1), schema) for label in given]
    _check_options(given)
    schema = rows.limited(schema)
    names = [schema.canonical(str(one), "score") for one in scores]
    rows = rows if where is None else rows.where(where)
    rows = rows.agg(**{f"{OPTION}_{place}": count(name) for place, name in enumerate(names)})
    return Candidates(tuple(given), rows.checked(schema), _measures(names, bound, schema), schema)


def _check_options(options: Sequence[Any]) -> None:
    if strange := [one for one in options if not isinstance(one, (str, int, float))]:
        raise InputError("options", kind_of(strange[0]), "texts, numbers, true or false")
    names = [str(one) for one in options]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError("options", Phrase(f"{twice[0]} twice"), "all different")
    if not 2 <= len(options) <= MOST_OPTIONS:
        many = Phrase(f"{len(options)} option" if len(options) == 1 else f"{len(options)} options")
        hint = "The most common of many values: top(column, k=1, counts=False)."
        raise InputError("options", many, f"2 to {MOST_OPTIONS} different options", hint)


def _given(options: Sequence[Any] | None, score: str, schema: Schema) -> list[Any]:
    """Options that stand in an expression."""
    if OPTION in schema.columns:
        raise InputError("score", score, "of columns with other names: `option` stands for each option in turn")
    if options is None:
        raise InputError("options", Phrase("none"), "given where `option` stands in the score", _HINT)
    return list(options)


def _typed(column: str, options: Sequence[Any] | None, schema: Schema) -> list[Any]:
    """Options that are values of a column, as it has them: those that are declared, unless given."""
    read = schema.column(column, "score")
    if not isinstance(read, Category | Boolean | Integer | Text):
        hint = f'Write what a row adds to an option, such as score="CASE WHEN {column} >= option THEN option END".'
        raise InputError("score", column, "a column with few values, or an expression with `option` in it", hint)
    if options is None:
        return [label for label in key(column).checked(schema).labels(schema) if label is not None]
    if isinstance(read, Boolean):
        truths = {"true": True, "false": False}
        return [truths.get(str(label).lower(), label) for label in options]
    if isinstance(read, Integer):
        return [_number(label) for label in options]
    labels = [str(label) for label in options]
    if isinstance(read, Category) and (strange := [label for label in labels if label not in read.values]):
        raise InputError("options", strange[0], "a declared value", among=read.values)
    return labels


def _where_it_is(column: str, label: Any, amount: Expression, schema: Schema) -> Expression:
    """What a row adds to the score of an option: an amount where a column has it, and nothing elsewhere."""
    return Call("case", (Call("eq", (schema.expression(column, "score"), Constant(label))), amount, Constant(0)))


def _number(label: Any) -> Any:
    """A text that is a number as the number; anything else as it is."""
    if not isinstance(label, str):
        return label
    try:
        number = as_written(label, "options")
    except InputError:
        return label
    return int(number) if number.denominator == 1 else float(label)


def _measures(names: Iterable[str], bound: Number | None, schema: Schema) -> tuple[Total, ...]:
    """A sum for each option: within the bounds of its expression, and `bound`, on one lattice."""
    most = None if bound is None else as_written(bound, "bound")
    if most is not None and most <= 0:
        raise InputError("bound", bound, "more than zero")
    sums: list[tuple[str, Fraction, Fraction]] = []
    exponents: list[int] = []
    for name in names:
        if isinstance(schema.column(name, "score"), Boolean):
            hint = "Rows that meet a condition: CASE WHEN bid >= option THEN 1 ELSE 0 END."
            raise InputError("score", name, "a number for each option", hint)
        column = schema.numeric(name, "score")
        low, high = (Fraction(end) for end in (column.lower, column.upper))
        if most is not None:
            low, high = (min(max(end, -most), most) for end in (low, high))
        sums.append((name, low, high))
        if low < high:
            exponents.append(lattice_for(column, low, high).exponent)
    exponent = max(exponents, default=0)  # one lattice for all, so that scores compare
    return tuple(Total(name, Lattice(low, high, exponent)) for name, low, high in sums)


def _of_question(question: Query, schema: Schema) -> tuple[str, Expression]:
    """The column of the options, and what a row of theirs adds: of a question by one key, with one count or sum."""
    output = question.outputs[0][1] if len(question.outputs) == 1 else None
    bare = not question.ordered and question.persons is None and question.combinations is None
    if len(question.keys) != 1 or not bare or not isinstance(output, Count | Sum):
        allowed = "a question by one key, with one count() or total(...) and nothing else"
        raise InputError("score", Phrase(", ".join(question.names) or "no outputs"), allowed)
    (by,) = question.keys
    if by.discovered or by.edges is not None or by.values is not None:
        raise InputError("score", by.title, "a question by a column or an expression as it is")
    if isinstance(output, Sum) and (output.bounds is not None or output.person is not None):
        raise InputError("score", Phrase("bounds"), "a sum without bounds of its own", "Give them as bound=....")
    column = by.checked(schema).column
    if output.column is None:
        return column, Constant(1)
    value = schema.expression(schema.canonical(output.column, "score"), "score")
    if isinstance(output, Sum):
        return column, value
    return column, Call("case", (Call("missing", (value,)), Constant(0), Constant(1)))
