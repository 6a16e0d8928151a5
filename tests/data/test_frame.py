"""Tables in memory whose columns no engine reads: refused by name, before anything is spent."""

from decimal import Decimal
from fractions import Fraction

import pandas
import polars
import pytest

from discreet import Budget, Integer, Schema
from discreet.curator import open_curator
from discreet.data.frame import Frame
from discreet.errors import InputError

ODD = {
    "period[M]": lambda: pandas.period_range("2024-01", periods=2, freq="M").array,
    "interval[int64, right]": lambda: pandas.interval_range(0, 2).array,
    "complex128": lambda: [1j, 2j],
    "Sparse[int64, 0]": lambda: pandas.arrays.SparseArray([0, 1]),
}


@pytest.mark.parametrize("kind", ODD)
def test_a_column_that_cannot_be_read_is_named_with_its_type(tmp_path, kind):
    """In 0.1 the message spoke of an address and of a file that may not be whole."""
    frame = pandas.DataFrame({"c": [1, 2], "z": ODD[kind]()})
    with pytest.raises(InputError) as problem:
        open_curator(frame, Schema("t", {"c": Integer(0, 3)}), ledger=tmp_path / "l.db", budget=Budget(1), create=True)
    assert (problem.value.field, str(problem.value.got)) == ("columns.z", kind)


def test_a_polars_column_that_cannot_be_read_is_named_too(tmp_path):
    frame = polars.DataFrame({"c": [1, 2], "z": polars.Series([1, 2], dtype=polars.Int128)})
    for table in (frame, frame.lazy()):
        with pytest.raises(InputError, match=r"columns.z. must be stored as numbers.*got Int128"):
            open_curator(
                table, Schema("t", {"c": Integer(0, 3)}), ledger=tmp_path / "l.db", budget=Budget(1), create=True
            )


@pytest.mark.parametrize("kind", ["pandas", "pyarrow", "polars"])
def test_columns_that_differ_in_case_alone_are_refused(kind):
    """An engine would read the first for both: another column, or another person."""
    library = pytest.importorskip(kind)
    columns = {"id": [1, 2], "ID": [7, 7]}
    table = library.table(columns) if kind == "pyarrow" else library.DataFrame(columns)
    with pytest.raises(InputError, match="named otherwise than 'id'"):
        Frame.of(table).arrow(rows=False)


class Awkward:
    def __str__(self):
        raise RuntimeError("no text")


CELLS = {
    "long": 10**5000,
    "fraction": Fraction(10**400),
    "decimal": Decimal("1e999999"),
    "awkward": Awkward(),
    "text": "x",
}


@pytest.mark.parametrize("odd", CELLS)
@pytest.mark.parametrize("kind", ["object", "category"])
def test_no_cell_makes_a_table_unreadable_or_changes_its_types(kind, odd):
    plain, other = (pandas.DataFrame({"o": pandas.Series([1, 2, cell], dtype=object)}) for cell in (3, CELLS[odd]))
    if kind == "category" and odd != "long":  # pandas itself fails on that
        plain, other = plain.astype("category"), other.astype("category")
    assert Frame.of(other).arrow(rows=False).schema == Frame.of(plain).arrow(rows=False).schema
    assert Frame.of(other).arrow(rows=True).column("o").to_pylist()[:2] == ["1", "2"]
