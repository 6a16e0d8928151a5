"""Windows over released rows: as DuckDB computes them, and how far they may be off."""

import duckdb
import pyarrow
import pytest

from discreet.data.expression import Name
from discreet.query.formula import Formula
from discreet.query.over import Over

ROWS = [
    {"g": g, "k": k, "n": n, "n_lower": n - 3, "n_upper": n + 4}
    for g, k, n in [("a", 1, 5.0), ("a", 2, 7.0), ("a", 2, 7.0), ("b", 3, 1.0), ("b", 1, 9.0), ("a", 4, 2.0)]
]
CASES = {
    "sum(n) over ()": Over("w", "n"),
    "sum(n) over (partition by g)": Over("w", "n", ("g",)),
    "sum(n) over (order by k)": Over("w", "n", order=(("k", False),)),
    "sum(n) over (partition by g order by n desc)": Over("w", "n", ("g",), order=(("n", True),)),
    "avg(n) over (partition by g)": Over("w", "n", ("g",), "avg"),
    "max(n) over (order by k)": Over("w", "n", (), "max", (("k", False),)),
    "min(n) over ()": Over("w", "n", (), "min"),
    "rank() over (order by k desc)": Over("w", None, (), "rank", (("k", True),)),
    "dense_rank() over (order by k)": Over("w", None, (), "dense_rank", (("k", False),)),
    "row_number() over (partition by g order by n, k)": Over(
        "w", None, ("g",), "row_number", (("n", False), ("k", False))
    ),
    "ntile(4) over (order by n, k)": Over("w", None, (), "ntile", (("n", False), ("k", False)), offset=4),
    "percent_rank() over (order by k)": Over("w", None, (), "percent_rank", (("k", False),)),
    "cume_dist() over (partition by g order by k)": Over("w", None, ("g",), "cume_dist", (("k", False),)),
    "first_value(n) over (partition by g order by n desc, k)": Over(
        "w", "n", ("g",), "first_value", (("n", True), ("k", False))
    ),
    "last_value(n) over (order by k)": Over("w", "n", (), "last_value", (("k", False),)),
    "last_value(n) over (order by n, k rows between unbounded preceding and unbounded following)": Over(
        "w", "n", (), "last_value", (("n", False), ("k", False)), whole=True
    ),
    "nth_value(n, 2) over (order by n desc, k)": Over("w", "n", (), "nth_value", (("n", True), ("k", False)), offset=2),
    "nth_value(n, 4) over (order by k, n rows between unbounded preceding and unbounded following)": Over(
        "w", "n", (), "nth_value", (("k", False), ("n", False)), offset=4, whole=True
    ),
    "nth_value(n, 2) over (order by n, k rows between 1 preceding and current row)": Over(
        "w", "n", (), "nth_value", (("n", False), ("k", False)), 1, 2, ties=False
    ),
    "sum(n) over (order by k rows between unbounded preceding and unbounded following)": Over(
        "w", "n", (), "sum", (("k", False),), whole=True
    ),
    "lag(n) over (order by n, k)": Over("w", "n", (), "lag", (("n", False), ("k", False))),
    "lead(n, 2) over (order by n, k)": Over("w", "n", (), "lead", (("n", False), ("k", False)), offset=2),
    "sum(n) over (order by n, k rows between 2 preceding and current row)": Over(
        "w", "n", order=(("n", False), ("k", False)), frame=2
    ),
}


@pytest.mark.parametrize("text", CASES)
def test_windows_are_those_of_sql(text):
    rows = pyarrow.Table.from_pylist([{**row, "place": place} for place, row in enumerate(ROWS)])
    found = duckdb.from_arrow(rows).query("t", f"SELECT place, {text} AS w FROM t ORDER BY place").fetchall()
    made = Formula("w", Name("w"), (CASES[text],)).columns(ROWS, ["n"])["w"]
    assert [None if value is None else float(value) for value in made] == [
        None if value is None else float(value) for _, value in found
    ]


def test_a_running_sum_moves_with_every_row_in_it():
    made = Formula("w", Name("w"), (CASES["sum(n) over (order by k)"],)).columns(ROWS, ["n"])
    assert made["w_lower"][0] == pytest.approx(14 - 3 * 2**0.5)
    assert made["w_upper"][5] == pytest.approx(31 + 4 * 6**0.5)


def test_what_stood_before_moves_with_its_own_interval():
    made = Formula("w", Name("w"), (CASES["lag(n) over (order by n, k)"],)).columns(ROWS, ["n"])
    assert (made["w"][0], made["w_lower"][0], made["w_upper"][0]) == (2, -1, 6)
    assert (made["w"][3], made["w_lower"][3]) == (None, None)


def test_a_place_in_an_order_has_no_interval():
    made = Formula("w", Name("w"), (CASES["rank() over (order by k desc)"],)).columns(ROWS, ["n"])
    assert set(made["w_lower"]) == {None}
