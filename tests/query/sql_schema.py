"""The schema that statements of SQL are read against."""

from discreet.data.schema import Schema

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
