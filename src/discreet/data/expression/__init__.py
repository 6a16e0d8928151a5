"""What is computed of one row: columns, constants and functions of them, each with the domain of what it can be.

An expression is read from text or written with operators on columns, `col("cost") * col("hours")`. Its domain follows
from the schema alone: its type, its bounds or values, and whether it may be missing. No row makes one fail, and a row
gives the same value on every engine. Wherever a question names a column, it may name an expression.
"""

from discreet.data.expression.domain import Domain, domain_of
from discreet.data.expression.node import Call, Constant, Expression, Name, col, when
from discreet.data.expression.read import read_expression
from discreet.data.expression.resolve import resolve

__all__ = ["Call", "Constant", "Domain", "Expression", "Name", "col", "domain_of", "read_expression", "resolve", "when"]
