"""What engines must be told in different words to do the same: sums that hold, text as bytes, a hash, a list of labels.

Everything else of an expression is the same on every engine.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from discreet.mechanisms.inputs import ROOM

__all__ = [
    "added",
    "among",
    "as_bytes",
    "engine_of",
    "gathered",
    "hashed",
    "holds_nothing",
    "in_micros",
    "joins",
    "joins_quickly",
    "listed",
    "looked_up",
    "named_types",
    "shuffles",
]

Expression = Any  # ibis expressions carry no useful static types here

_HALF = 16
_LONG = 500  # words
_FEW = 50  # branches of a CASE
_APART = "\x1f"  # the separator of units, which is what it is for
_DIGITS = 15  # hexadecimal ones, of a hash: as many as fit 64 bits with a sign
_JOINS = ("duckdb", "postgres", "pyspark")


def engine_of(table: Expression) -> str:
    """The engine a table belongs to. One that belongs to none is in memory, which is where DuckDB reads it."""
    from ibis.expr.operations import DatabaseTable, Relation, SQLQueryResult, Value

    # From table to table, past what is computed of them: thousands of nodes, which ibis would all look at.
    left, seen = [table.op()], set()
    while left:
        node = left.pop()
        if isinstance(node, DatabaseTable | SQLQueryResult):
            return str(node.source.name)
        if node not in seen:
            seen.add(node)
            below = node.relations if isinstance(node, Value) else node.__children__
            left.extend(each for each in below if not (isinstance(node, Relation) and isinstance(each, Value)))
    return "duckdb"


def holds_nothing(kind: Any) -> bool:
    """Whether a stored type is that of a column that never holds a value."""
    return bool(kind.is_null() or (kind.is_unknown() and "NULL" in str(kind)))


def named_types(table: Expression) -> Expression:
    """The table with types that ibis has names for: it has none for moments in nanoseconds with a time zone, nor for a
    column that never holds a value.
    """
    read = {name: "string" for name, kind in table.schema().items() if holds_nothing(kind)}
    moments = [name for name, kind in table.schema().items() if kind.is_unknown() and "TIMESTAMPTZ_NS" in str(kind)]
    made = {name: table[name].cast(kind) for name, kind in read.items()}
    made |= {name: in_micros(table[name].cast("timestamp(9)"), "UTC") for name in moments}
    return table.mutate(**made) if made else table


def in_micros(moment: Expression, zone: str | None = None) -> Expression:
    """A moment in nanoseconds, as DuckDB stores them, in microseconds and rounded down: a cast would round up, too."""
    import ibis

    zone = zone or moment.type().timezone
    kind = "timestamp(6)" if zone is None else f"timestamp('{zone}', 6)"

    @ibis.udf.scalar.builtin(signature=((moment.type(),), "int64"))  # type: ignore[untyped-decorator]
    def epoch_ns(moment: Any) -> Any: ...

    @ibis.udf.scalar.builtin(signature=(("int64", "int64"), "int64"))  # type: ignore[untyped-decorator]
    def divide(number: Any, by: Any) -> Any: ...

    name = "make_timestamp" if zone is None else "make_timestamptz"

    @ibis.udf.scalar.builtin(name=name, signature=(("int64",), kind))  # type: ignore[untyped-decorator]
    def of_micros(number: Any) -> Any: ...

    nanos = epoch_ns(moment)
    part = ((nanos % 1000).cast("int64") + 1000) % 1000
    # One that is infinite has no number, and stays what it is.
    return ibis.coalesce(of_micros(divide(nanos - part.cast("int64"), 1000)), moment.cast(kind))


def added(column: Expression, engine: str) -> Expression:
    """The sum of whole numbers as 64 bits. One that leaves noise no room is moved to the end of what does."""
    import ibis

    bounded = ibis.greatest(ibis.least(_wide(column, engine), ROOM), -ROOM)
    # Through a decimal, because engines sum in wider integers than ibis believes, and it would leave the cast out.
    return bounded.cast("decimal(38, 0)").cast("int64")


def gathered(column: Expression, engine: str) -> Expression:
    """The sum of whole numbers that is yet to be bounded or summed once more."""
    return _wide(column, engine) if engine in ("duckdb", "postgres") else added(column, engine)


def _wide(column: Expression, engine: str) -> Expression:
    """An exact sum, however many there are: no engine may wrap, and none may fail."""
    if engine == "duckdb":  # sums in 128 bits
        return column.sum()
    if engine == "postgres":  # sums 64 bits in numerics, and only shorter ones in 64 bits
        return column.cast("int64").sum()
    if engine == "pyspark":  # sums in 64 bits; in decimals, too, but slowly
        high = (column.cast("int64") >> _HALF).sum().cast("decimal(38, 0)") * 2**_HALF
        return high + (column.cast("int64") & (2**_HALF - 1)).sum().cast("decimal(38, 0)")
    return column.cast("decimal(28, 0)").sum()


def hashed(text: Expression, engine: str) -> Expression:
    """A whole number of 60 bits that follows from the bytes of a text: the head of its MD5, the same on every engine.

    An engine's own hash is faster by far, and another one on each: then so would be the groups of a person that count.
    Nothing rests on this hash but that choices look like chance.
    """
    import ibis

    if engine not in _JOINS:  # one that cannot be opened yet
        return _own_hash(text, engine)

    stored = "binary" if engine == "postgres" else "string"

    @ibis.udf.scalar.builtin(signature=((stored,), "string"))  # type: ignore[untyped-decorator]
    def md5(text: Any) -> Any: ...

    if engine == "postgres":  # whose text need not be stored as UTF-8

        @ibis.udf.scalar.builtin(signature=(("string", "string"), "binary"))  # type: ignore[untyped-decorator]
        def decode(digits: Any, form: Any) -> Any: ...

        @ibis.udf.scalar.builtin(signature=(("binary", "int32"), "int32"))  # type: ignore[untyped-decorator]
        def get_byte(data: Any, place: Any) -> Any: ...

        # No cast reads hexadecimal digits there: seven bytes, and half of the eighth.
        whole, data = ibis.literal(0, "int64"), decode(md5(as_bytes(text, engine)), "hex")
        for place in range(_DIGITS // 2):
            whole = whole * 256 + get_byte(data, place).cast("int64")
        return whole * 16 + (get_byte(data, _DIGITS // 2) >> 4).cast("int64")
    digits = md5(text).substr(0, _DIGITS)
    if engine == "pyspark":

        @ibis.udf.scalar.builtin(signature=(("string", "int32", "int32"), "string"))  # type: ignore[untyped-decorator]
        def conv(digits: Any, of: Any, to: Any) -> Any: ...

        return conv(digits, 16, 10).cast("int64")
    return (ibis.literal("0x") + digits).cast("int64")


def _own_hash(text: Expression, engine: str) -> Expression:
    """A whole number that follows from the text; which one is the engine's affair."""
    import ibis

    if engine != "trino":
        return text.hash()

    @ibis.udf.scalar.builtin(signature=(("string",), "binary"))  # type: ignore[untyped-decorator]
    def to_utf8(text: Any) -> Any: ...

    @ibis.udf.scalar.builtin(signature=(("binary",), "binary"))  # type: ignore[untyped-decorator]
    def xxhash64(data: Any) -> Any: ...

    @ibis.udf.scalar.builtin(signature=(("binary",), "int64"))  # type: ignore[untyped-decorator]
    def from_big_endian_64(data: Any) -> Any: ...

    return from_big_endian_64(xxhash64(to_utf8(text)))


def joins(engine: str) -> bool:
    """Whether public tables are joined to the rows here; elsewhere their keys are compared one by one."""
    return engine in _JOINS


def joins_quickly(engine: str) -> bool:
    """Whether a table joined to a small sum of itself takes less than the same by sorting it, and is read once."""
    return engine == "duckdb"


def shuffles(engine: str) -> bool:
    """Whether rows are sent between machines to be brought together, which costs more than whatever is done there."""
    return engine == "pyspark"


def listed(columns: Mapping[str, Sequence[Any]], kinds: Mapping[str, str], engine: str) -> Expression:
    """A small public table, written into the query itself."""
    import ibis

    one = ibis.literal(0).name("one").as_table()
    lists = {name: _list(values, kinds[name]) for name, values in columns.items()}
    if engine != "pyspark":
        return one.select(**{name: values.unnest() for name, values in lists.items()})
    # Spark unfolds one list at a time: first the places, then what stands in each.
    places = one.select(place=ibis.range(0, len(next(iter(columns.values())))).unnest())
    return places.select(**{name: values[places["place"]] for name, values in lists.items()})


def _list(values: Sequence[Any], kind: str) -> Expression:
    """A list as a literal. A long one of words is one text that the engine takes apart: many are slow to write."""
    import ibis

    if kind == "string" and len(values) > _LONG:
        joined = _APART.join(values)
        if joined.count(_APART) == len(values) - 1:  # no word has it
            return ibis.literal(joined).split(_APART)
    if kind == "int64" and len(values) > _LONG and list(values) == list(range(len(values))):
        return ibis.range(0, len(values))
    return ibis.literal(list(values), f"array<{kind}>")


def among(word: Expression, values: Sequence[str]) -> Expression:
    """Whether a text is one of some values, byte by byte; missing where it is. Many are looked up, as in a table."""
    engine = engine_of(word)
    if len(values) <= _LONG or engine not in ("duckdb", "postgres"):  # Spark has no look-up outside of conditions
        return word.isin(list(values))
    table = listed({"value": list(values)}, {"value": "string"}, engine)
    return as_bytes(word, engine).isin(table.select(value=as_bytes(table["value"], engine))["value"])


def looked_up(word: Expression, images: Mapping[str, Any], kind: str) -> Expression:
    """What a text stands for among many; missing where it is none of them. DuckDB nests a CASE, and not deeply."""
    import ibis

    if len(images) <= _FEW or engine_of(word) != "duckdb":
        pairs = [(text, ibis.literal(image, kind)) for text, image in images.items()]
        return word.cases(*pairs, else_=ibis.null(kind))
    place = _list(list(images), "string").index(word)
    return (place >= 0).ifelse(_list(list(images.values()), kind)[place], ibis.null(kind))


def as_bytes(text: Expression, engine: str) -> Expression:
    """Text as its bytes in UTF-8: engines may compare text itself by a rule of its column."""
    if engine in ("pyspark", "bigquery"):
        return text.cast("binary")
    encoding = {"postgres": ["UTF8"], "snowflake": ["UTF-8"]}.get(engine, [])
    return _encoder(engine)(text, *encoding)


@functools.cache
def _encoder(engine: str) -> Any:
    """The engine's own function from text to bytes."""
    import ibis

    if engine == "postgres":

        @ibis.udf.scalar.builtin(signature=(("string", "string"), "binary"))  # type: ignore[untyped-decorator]
        def convert_to(text: Any, encoding: Any) -> Any: ...

        return convert_to
    if engine == "snowflake":

        @ibis.udf.scalar.builtin(signature=(("string", "string"), "binary"))  # type: ignore[untyped-decorator]
        def to_binary(text: Any, form: Any) -> Any: ...

        return to_binary
    if engine == "trino":

        @ibis.udf.scalar.builtin(signature=(("string",), "binary"))  # type: ignore[untyped-decorator]
        def to_utf8(text: Any) -> Any: ...

        return to_utf8

    @ibis.udf.scalar.builtin(signature=(("string",), "binary"))  # type: ignore[untyped-decorator]
    def encode(text: Any) -> Any: ...

    return encode
