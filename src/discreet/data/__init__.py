"""Tables as they are stored and as they are declared, and the only place that opens them.

* A custodian declares a `Schema` of columns (`Integer`, `Real`, `Category`, `Boolean`, `Date`, `Timestamp`, `Text`),
  each with what is public about it, and beside them a `Lookup` in a public table, a `Derived` column, a `Join` of a
  private table, and the `Layout` of a CSV file that is not written in the usual way.
* An `Expression` of columns (`col`, `when`) is computed of each row, and has a declaration of its own.
* `source_of` makes a `Source` of whatever holds the rows: files, tables in memory, DuckDB, PostgreSQL, Spark. Only an
  open `Connection` runs expressions on them.

How a stored value is read follows from its declaration alone (`read`), alike on every engine (`dialect`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy

if TYPE_CHECKING:
    from discreet.data.column import Boolean as Boolean
    from discreet.data.column import Category as Category
    from discreet.data.column import Column as Column
    from discreet.data.column import Date as Date
    from discreet.data.column import Integer as Integer
    from discreet.data.column import Real as Real
    from discreet.data.column import Text as Text
    from discreet.data.column import Timestamp as Timestamp
    from discreet.data.expression.node import Expression as Expression
    from discreet.data.expression.node import col as col
    from discreet.data.expression.node import when as when
    from discreet.data.join import Join as Join
    from discreet.data.layout import Layout as Layout
    from discreet.data.registry import SourceKind as SourceKind
    from discreet.data.registry import register_source as register_source
    from discreet.data.schema import Schema as Schema
    from discreet.data.source import Connection as Connection
    from discreet.data.source import Source as Source
    from discreet.data.source import source_of as source_of
    from discreet.data.view import Derived as Derived
    from discreet.data.view import Lookup as Lookup

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "column": (
            "Boolean",
            "Category",
            "Column",
            "Date",
            "Integer",
            "Real",
            "Text",
            "Timestamp",
        ),
        "expression.node": ("Expression", "col", "when"),
        "join": ("Join",),
        "layout": ("Layout",),
        "registry": (
            "SourceKind",
            "register_source",
        ),
        "schema": ("Schema",),
        "source": (
            "Connection",
            "Source",
            "source_of",
        ),
        "view": (
            "Derived",
            "Lookup",
        ),
    },
)
