"""Views widen rows by public data and by their own values, and do nothing else."""

import pyarrow
import pytest

import discreet
from discreet import Budget, Category, Date, Integer, Real, Schema, Unit, count, mean
from discreet.data.view import Derived, Lookup
from discreet.errors import InputError
from discreet.query.predicate import IsIn
from discreet.query.sql import parse_sql

BASE = {
    "county": Category(["Ash", "Oak", "Elm"], nullable=True),
    "pay": Real(0, 100, nullable=False),
    "hours": Integer(0, 80, nullable=False),
    "day": Date("2020-01-01", "2024-12-31", nullable=False),
}
REGIONS = Lookup(
    "county",
    {"county": ["Ash", "Oak", "Yew"], "region": ["north", "south", "north"], "height": ["12", "x", None]},
    {"region": Category(["north", "south"], nullable=True), "height": Real(0, 100, nullable=True)},
)
ROWS = {
    "p": [1, 2, 3, 4, 5, 6],
    "county": ["Ash", "Oak", "Elm", None, "Nowhere", "Ash"],
    "pay": [10.0, float("nan"), 1e300, 5.0, 6.0, -3.0],
    "hours": [1, 2, 3, None, 5, 10**9],
    "day": ["2021-05-01", "x", None, "2024-02-03", "1900-01-01", "2023-12-31"],
}


def opened(tmp_path, **parts):
    schema = Schema("t", BASE, Unit("p", groups=1, rows=1), **parts)
    budget = Budget(epsilon=10**6)
    return discreet.open(pyarrow.table(ROWS), schema, ledger=tmp_path / "l.db", budget=budget, who="t", create=True)


def exact(question):
    """The released values at a price at which noise is gone."""
    return question.plan(epsilon=10**4).release()


def test_a_lookup_adds_columns_and_no_rows(tmp_path):
    curator = opened(tmp_path, lookups={"regions": REGIONS})
    answer = exact(curator.table().group_by("region").agg(n=count(), h=count("height")))
    assert answer["region"] == ["north", "south", None]
    assert answer["n"] == [2, 1, 3]
    assert answer["h"] == [2, 0, 0]
    assert exact(curator.table().agg(n=count()))["n"] == [6]


def test_derived_columns_are_computed_from_values_as_declared(tmp_path):
    curator = opened(
        tmp_path,
        derived={
            "twice": Derived("pay * 2 - 1", Real(-10, 1000, nullable=True)),
            "year": Derived("year(day)", Integer(2020, 2024, nullable=True)),
            "less": Derived("-(hours / 2) + 0.5", Real(-50, 1, nullable=True)),
        },
    )
    # pay as declared: 10, missing, 100 (clamped), 5, 6, 0 (clamped)
    assert exact(curator.table().agg(n=count("twice"), m=mean("twice")))["m"][0] == pytest.approx(
        sum(2 * v - 1 for v in (10, 100, 5, 6, 0)) / 5, abs=0.2
    )
    years = exact(curator.table().group_by("year").agg(n=count()))
    assert years["year"] == [2020, 2021, 2022, 2023, 2024, None]
    assert years["n"] == [1, 1, 0, 1, 1, 2]
    assert exact(curator.table().agg(m=mean("less")))["m"][0] == pytest.approx((0 - 0.5 - 1 - 2 - 39.5) / 5, abs=0.2)


def test_a_derived_column_may_use_a_looked_up_one(tmp_path):
    curator = opened(
        tmp_path, lookups={"regions": REGIONS}, derived={"up": Derived("height + pay", Real(0, 200, nullable=True))}
    )
    answer = exact(curator.table().agg(n=count("up"), m=mean("up")))
    assert answer["n"] == [2]
    assert answer["m"][0] == pytest.approx((22 + 12) / 2, abs=0.2)


def test_schemas_with_views_round_trip_and_change_the_digest():
    plain = Schema("t", BASE)
    wide = Schema(
        "t", BASE, lookups={"regions": REGIONS}, derived={"x": Derived("pay * 2", Real(0, 200, nullable=False))}
    )
    assert Schema.from_dict(wide.to_dict()) == wide
    assert wide.digest != plain.digest
    assert Schema.from_dict(plain.to_dict()).view is None


def test_a_lookup_from_a_file_beside_the_schema(tmp_path):
    (tmp_path / "regions.csv").write_text("county,region\nAsh,north\nOak,south\n")
    (tmp_path / "discreet.toml").write_text(
        '[dataset]\nname = "t"\n[columns.county]\ntype = "category"\nvalues = ["Ash", "Oak"]\n'
        '[lookups.regions]\nfile = "regions.csv"\nkey = "county"\n'
        '[lookups.regions.columns.region]\ntype = "category"\nvalues = ["north", "south"]\n'
        '[derived.x]\nexpression = "1 + 1"\ntype = "integer"\nlower = 0\nupper = 5\n'
    )
    schema = Schema.load(tmp_path / "discreet.toml")
    assert schema.columns["region"] == Category(["north", "south"], nullable=False)
    assert schema.lookups["regions"].table["region"] == ("north", "south")


def test_sql_joins_public_tables_and_names_rows():
    schema = Schema("t", BASE, lookups={"regions": REGIONS})
    inner = parse_sql("SELECT region, COUNT(*) n FROM t JOIN regions USING (county) GROUP BY region", schema)
    assert inner.query.condition == IsIn("county", ("Ash", "Oak"))
    left = parse_sql("SELECT region, COUNT(*) n FROM t LEFT JOIN regions USING (county) GROUP BY region", schema)
    assert left.query.condition is None
    views = "WITH rich AS (SELECT * FROM t WHERE pay > 50), busy AS (SELECT * FROM rich WHERE hours > 9)"
    named = parse_sql(f"{views} SELECT COUNT(*) n FROM busy", schema)
    assert named.query == parse_sql("SELECT COUNT(*) n FROM t WHERE pay > 50 AND hours > 9", schema).query


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM t JOIN regions USING (pay)",
        "SELECT COUNT(*) FROM t JOIN other USING (county)",
        "SELECT COUNT(*) FROM t RIGHT JOIN regions USING (county)",
        "SELECT COUNT(*) FROM t FULL JOIN regions USING (county)",
        "SELECT COUNT(*) FROM t ANTI JOIN regions USING (county)",
        "SELECT COUNT(*) FROM t, regions",
        "SELECT COUNT(*) FROM regions",
        "WITH a AS (SELECT * FROM t LIMIT 3) SELECT COUNT(*) FROM a",
        "WITH t AS (SELECT * FROM t) SELECT COUNT(*) FROM t",
        "WITH RECURSIVE a AS (SELECT * FROM t) SELECT COUNT(*) FROM a",
        "WITH a AS (SELECT * EXCLUDE (pay) FROM t) SELECT COUNT(*) FROM a",
        "WITH a AS (SELECT * FROM t INTERSECT SELECT * FROM t) SELECT COUNT(*) FROM a",
    ],
)
def test_other_joins_and_views_are_refused(text):
    with pytest.raises(InputError):
        parse_sql(text, Schema("t", BASE, lookups={"regions": REGIONS}))


@pytest.mark.parametrize(
    "expression",
    [
        "pay / 0",
        "pay / hours",
        "pay + county",
        "nothing",
        "f(pay)",
        "pay; 1",
        "pay, hours",
        "*",
        "",
        "(SELECT 1)",
        "'x'",
        "CASE WHEN pay > 1 THEN 1 END",
        "pay % 2",
        "pay::int",
        "year(pay)",
        "sqrt(pay)",
        "pay > 3",
        "1 FROM t",
    ],
)
def test_unsafe_expressions_are_refused(expression):
    with pytest.raises(InputError, match="derived"):
        Schema("t", BASE, derived={"x": Derived(expression, Real(0, 1, nullable=False))})


@pytest.mark.parametrize(
    ("key", "table", "columns", "says"),
    [
        (
            "county",
            {"county": ["a", "a"], "r": ["x", "y"]},
            {"r": Category(["x"], nullable=False)},
            "missing or repeated",
        ),
        (
            "county",
            {"county": ["a", None], "r": ["x", "y"]},
            {"r": Category(["x"], nullable=False)},
            "missing or repeated",
        ),
        ("other", {"county": ["a"], "r": ["x"]}, {"r": Category(["x"], nullable=False)}, "lookup.key"),
        ("county", {"county": ["a"], "r": ["x", "y"]}, {"r": Category(["x"], nullable=False)}, "the same length"),
        ("county", {"county": ["a"], "r": ["x"]}, {"q": Category(["x"], nullable=False)}, "lookup.columns"),
    ],
)
def test_bad_public_tables_are_refused(key, table, columns, says):
    with pytest.raises(InputError, match=says):
        Lookup(key, table, columns)


def test_names_may_not_clash(tmp_path):
    with pytest.raises(InputError, match="not declared yet"):
        Schema("t", BASE, derived={"pay": Derived("hours", Real(0, 1, nullable=False))})
    with pytest.raises(InputError, match="declared column"):
        Schema("t", {"pay": Real(0, 1, nullable=False)}, lookups={"regions": REGIONS})
    schema = Schema(
        "t",
        {"pay": Real(0, 1, nullable=False)},
        Unit("p", groups=1, rows=1),
        derived={"hours": Derived("pay", Real(0, 1, nullable=False))},
    )
    with pytest.raises(InputError, match="does not have itself"):
        discreet.open(
            pyarrow.table(ROWS), schema, ledger=tmp_path / "x.db", budget=Budget(epsilon=1), who="t", create=True
        )
