"""The schema that statements of SQL are read against."""

from discreet.data.expression.node import Name
from discreet.data.schema import Schema
from discreet.query.sql import Scope
from discreet.query.sql_relation import Relation, Relations

SCHEMA = Schema.from_dict(
    {
        "dataset": {"name": "people"},
        "unit": {"column": "person", "groups": 1, "rows": 1},
        "columns": {
            "age": {"type": "integer", "lower": 0, "upper": 100},
            "sex": {"type": "category", "values": ["female", "male"]},
            "hours": {"type": "integer", "lower": 0, "upper": 80},
            "pay": {"type": "real", "lower": 0, "upper": 1000},
            "day": {"type": "date", "lower": "2024-01-01", "upper": "2024-12-31"},
            "county": {"type": "category", "values": ["Ash", "Oak"]},
        },
    }
)


def scope_of(schema):
    """What an aggregate in a statement about a table is read in."""
    visible = {schema.name: Relation({name: Name(name) for name in schema.columns})}
    return Scope(schema, Relations(schema, "duckdb", visible=visible).reader())
