"""Parquet files of one folder: types that differ, columns that some lack, and folders named after values."""

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from discreet.core.unit import Unit
from discreet.curator import open_curator
from discreet.data.column import Boolean, Category, Date, Integer, Real, Text
from discreet.data.join import Join
from discreet.data.parquet_file import _names, united
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.data.view import Lookup
from discreet.errors import InputError
from discreet.ledger.budget import Budget
from discreet.query.aggregate import count, people, total
from discreet.query.predicate import col

EXACT = 10**6  # at this epsilon nothing here has noise


def write(path, **columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


def curator_of(place, tmp_path, columns, unit=None, **more):
    schema = Schema("visits", columns, **({} if unit is None else {"unit": unit}), **more.pop("schema", {}))
    return open_curator(place, schema, ledger=tmp_path / "books.db", budget=Budget(10**9), create=True, **more)


def counted(question, **outputs):
    release = question.agg(**(outputs or {"n": count()})).plan(epsilon=EXACT).release()
    return {name: release[name] for name in (outputs or ["n"])}


@pytest.fixture
def months(tmp_path):
    """January has ids of 64 bits; in February one row has none, so that pandas writes floats."""
    january = 2**60 + np.arange(1000)
    write(tmp_path / "d" / "2024-01.parquet", id=january, v=pyarrow.array([2] * 1000), w=[0.5] * 1000)
    write(tmp_path / "d" / "2024-02.parquet", id=[5.0, None], v=pyarrow.array([3.0, None]), w=[1, 2])
    return tmp_path / "d"


def test_ids_stored_as_whole_numbers_and_as_floats_are_refused(months, tmp_path):
    """In 0.1 a thousand persons became six: their ids were read as floats."""
    with pytest.raises(
        InputError, match=r"columns.id. must .*; got float64 in some files and int64 in others.*one type"
    ):
        curator_of(months, tmp_path, {"v": Integer(0, 10)}, Unit("id", groups=1, rows=1))
    curator = curator_of(months / "2024-01.parquet", tmp_path, {"v": Integer(0, 10)}, Unit("id", groups=1, rows=1))
    assert counted(curator.table(), n=people()) == {"n": [1000]}


@pytest.mark.parametrize(
    "other",
    [
        pyarrow.array([5.0, None], pyarrow.float32()),
        pyarrow.array([5, None], pyarrow.uint64()),
        pyarrow.array([5, None], pyarrow.decimal128(38, 0)),
        pyarrow.array(["5", None]),
        pyarrow.array([5, None], pyarrow.timestamp("us")),
    ],
    ids=lambda array: str(array.type),
)
def test_ids_of_any_two_types_are_refused(months, tmp_path, other):
    """With two ids of 32 bits beside them, a thousand persons were eighteen."""
    write(months / "2024-02.parquet", id=other, v=pyarrow.array([3, None]))
    with pytest.raises(InputError, match=r"columns.id. must be stored alike"):
        curator_of(months, tmp_path, {"v": Integer(0, 10)}, Unit("id", groups=1, rows=1))


def test_moments_and_numbers_are_refused_before_anything_is_spent(tmp_path):
    """In 0.1 the question was paid for, and then failed."""
    write(tmp_path / "d" / "a.parquet", d=pyarrow.array([0], pyarrow.timestamp("us")))
    write(tmp_path / "d" / "b.parquet", d=[0])
    with pytest.raises(InputError, match=r"columns.d. must be stored alike"):
        curator_of(tmp_path / "d", tmp_path, {"d": Date("1970-01-01", "1970-12-31")})


def test_a_month_that_stores_ids_differently_is_refused_when_it_arrives(months, tmp_path):
    february = (months / "2024-02.parquet").rename(tmp_path / "later.parquet")
    curator = curator_of(months, tmp_path, {"v": Integer(0, 10)}, Unit("id", groups=1, rows=1))
    assert counted(curator.table(), n=people()) == {"n": [1000]}
    spent = curator.standing()[0].spent.amount
    february.rename(months / "2024-02.parquet")
    with pytest.raises(InputError, match="stored alike in all files"):
        counted(curator.table(), n=people())
    assert curator.standing()[0].spent.amount == spent


@pytest.mark.parametrize(
    ("column", "where"),
    [(Integer(0, 10), col("v") >= 3), (Real(0, 10), col("v") >= 3), (Boolean(), None)],
)
def test_numbers_stored_as_whole_and_as_floats_are_read_as_the_numbers_they_are(months, tmp_path, column, where):
    question = curator_of(months, tmp_path, {"v": column}).table()
    assert counted(question, n=count("v")) == {"n": [1001 if where is not None else 0]}
    if where is not None:
        assert counted(question.where(where)) == {"n": [1]}
        assert counted(question, s=total("v")) == {"s": [pytest.approx(2003, abs=0.01)]}


@pytest.mark.parametrize("column", [Category(["2", "3"]), Text()])
def test_numbers_that_are_compared_as_text_must_be_stored_alike(months, tmp_path, column):
    with pytest.raises(InputError, match=r"columns.v. must be stored alike in all files"):
        curator_of(months, tmp_path, {"v": column})


def test_a_column_that_is_not_declared_may_be_anything(months, tmp_path):
    write(months / "2024-03.parquet", id=["x"], v=pyarrow.array([1]), w=[[1, 2]])
    assert counted(curator_of(months, tmp_path, {"v": Integer(0, 10)}).table()) == {"n": [1003]}
    with pytest.raises(InputError, match=r"columns.w"):
        curator_of(months, tmp_path, {"w": Real(0, 1)})


def test_keys_of_lookups_and_ids_of_joined_tables_must_be_stored_alike(months, tmp_path):
    public = Lookup("v", {"v": ["2", "3"], "name": ["two", "three"]}, {"name": Category(["two", "three"])})
    with pytest.raises(InputError, match=r"columns.v"):
        curator_of(months, tmp_path, {"v": Integer(0, 10)}, schema={"lookups": {"names": public}})
    write(tmp_path / "people.parquet", id=2**60 + np.arange(1000), z=[1] * 1000)
    for column in ("id", "v"):  # the rows of a person there are ordered by their values
        join = Join({column if column != "id" else "w": Real(0, 10)})
        with pytest.raises(InputError, match=rf"columns.{'id' if column == 'id' else 'id|columns.v'}"):
            curator_of(
                tmp_path / "people.parquet",
                tmp_path,
                {"z": Integer(0, 1)},
                Unit("id", groups=1, rows=1),
                schema={"joins": {"months": join}},
                joins={"months": months},
            )


def test_ids_of_households_must_be_stored_alike(tmp_path):
    """They tell groups apart by what is stored, whatever the column is declared as."""
    write(tmp_path / "d" / "a.parquet", v=[2**60, 2**60 + 1], r=["2", "3"])
    write(tmp_path / "d" / "b.parquet", v=[1.0], r=["2"])
    curator = curator_of(tmp_path / "d", tmp_path, {"v": Integer(0, 10), "r": Category(["2", "3"])})
    offer = curator.tree({"r": 1}, column="r", sizes="v", largest=3).plan(epsilon=1)
    with pytest.raises(InputError, match=r"columns.v"):
        offer.release()


def test_far_numbers_compare_alike_however_they_are_stored(tmp_path):
    """Beyond 2**53 floats skip whole numbers: one file of floats must not move the rows of the others."""
    write(tmp_path / "d" / "a.parquet", v=[2**53, 2**53 + 1, 2**60, -(2**60), 4])
    whole = curator_of(tmp_path / "d", tmp_path, {"v": Integer(0, 10)})
    asked = [
        question
        for limit in (2**53, 2**53 + 1, 2**60, -(2**53) - 1)
        for question in (col("v") > limit, col("v") == limit, col("v") <= limit, col("v").isin([limit, 4]))
    ]
    before = [counted(whole.table().where(condition)) for condition in asked]
    write(tmp_path / "d" / "b.parquet", v=pyarrow.array([None], pyarrow.float64()))
    assert [counted(whole.table().where(condition)) for condition in asked] == before


def test_days_and_moments_are_days(tmp_path):
    moments = pyarrow.array([1_706_745_600_000_000_000], pyarrow.timestamp("ns"))
    write(tmp_path / "d" / "a.parquet", d=moments.cast(pyarrow.date32()))
    write(tmp_path / "d" / "b.parquet", d=moments)
    write(tmp_path / "d" / "c.parquet", d=moments.cast(pyarrow.timestamp("us", "UTC")))
    far = pyarrow.array([10**17, -(10**17)], pyarrow.timestamp("us"))  # nanoseconds cannot hold the year 5138
    write(tmp_path / "d" / "d.parquet", d=far)
    write(tmp_path / "d" / "e.parquet", d=pyarrow.array([2**30], pyarrow.date32()))
    curator = curator_of(tmp_path / "d", tmp_path, {"d": Date("2024-01-01", "2024-12-31")})
    assert counted(curator.table().where(col("d") == "2024-02-01")) == {"n": [3]}
    assert counted(curator.table().where(col("d") > "2024-12-31")) == {"n": [2]}
    with pytest.raises(InputError, match=r"columns.d"):
        curator_of(tmp_path / "d", tmp_path, {"d": Text()})


def test_whole_numbers_of_any_width_are_one_type_and_others_are_told(tmp_path):
    import ibis

    for kinds, to in ((("int8", "uint32", "int64"), "int64"), (("string",), "string"), (("int16", "int16"), "int16")):
        assert united(map(ibis.dtype, kinds)) == (ibis.dtype(to), None)
    for kinds in (("int64", "uint64"), ("float32", "float64"), ("decimal(9, 2)", "decimal(9, 3)"), ("string", "int8")):
        assert united(map(ibis.dtype, kinds))[1] is not None


def test_names_that_differ_in_case_are_refused(tmp_path):
    write(tmp_path / "d" / "a.parquet", v=[1])
    write(tmp_path / "d" / "b.parquet", V=[1])
    with pytest.raises(InputError, match="differ in more than case"):
        curator_of(tmp_path / "d", tmp_path, {"v": Integer(0, 10)})


# --- folders ---------------------------------------------------------------------------------------------------------


def test_what_folders_are_called_is_text(tmp_path):
    """In 0.1 the type was guessed from all names: 2024-1-5 was a date until somebody had a folder of another name."""
    for name, rows in {"01": 3, "1": 2, "__HIVE_DEFAULT_PARTITION__": 4, "a%20b": 5}.items():
        write(tmp_path / "d" / f"z={name}" / "y=7" / "a.parquet", v=[1] * rows)
    curator = curator_of(tmp_path / "d", tmp_path, {"z": Category(["01", "1", "a b"]), "y": Integer(0, 9)})
    assert source_of(tmp_path / "d").columns() == {"v": "int64", "y": "string", "z": "string"}
    assert counted(curator.table().group_by("z")) == {"n": [3, 2, 5, 4]}
    assert counted(curator.table(), s=total("y")) == {"s": [14 * 7]}


def test_a_column_that_files_and_folders_both_have_is_refused(tmp_path):
    """In 0.1 the name of the folder took the place of what the file holds."""
    write(tmp_path / "d" / "x=1" / "a.parquet", x=[50] * 20, v=[1] * 20)
    with pytest.raises(InputError, match="both a column of files and the name of folders"):
        curator_of(tmp_path / "d", tmp_path, {"x": Integer(0, 100)})
    assert counted(curator_of(tmp_path / "d", tmp_path, {"v": Integer(0, 1)}).table()) == {"n": [20]}
    direct = curator_of(tmp_path / "d" / "x=1" / "a.parquet", tmp_path, {"x": Integer(0, 100)})
    assert counted(direct.table(), s=total("x")) == {"s": [1000]}


@pytest.mark.parametrize(
    "names", [["x=1/a", "b"], ["x=1/a", "y=1/b"], ["x=1/y=2/a", "y=2/b"], ["x=1=2/a"], ["x=1/x=2/a"]]
)
def test_folders_that_are_not_named_alike_are_no_columns(tmp_path, names):
    for name in names:
        write(tmp_path / "d" / f"{name}.parquet", v=[1])
    assert counted(curator_of(tmp_path / "d", tmp_path, {"v": Integer(0, 1)}).table()) == {"n": [len(names)]}
    with pytest.raises(InputError, match="folders that are not all named alike"):
        curator_of(tmp_path / "d", tmp_path, {"x": Integer(0, 100)})


def test_folders_above_the_data_are_not_read(tmp_path):
    write(tmp_path / "v=5" / "d" / "a.parquet", v=[1])
    write(tmp_path / "v=5" / "d" / "b.parquet", v=[1])
    curator = curator_of(tmp_path / "v=5" / "d", tmp_path, {"v": Integer(0, 100)})
    assert counted(curator.table(), s=total("v")) == {"s": [2]}


def test_what_folders_of_csv_files_are_called_is_nothing(tmp_path):
    (tmp_path / "v=5").mkdir()
    (tmp_path / "v=5" / "a.csv").write_text("v\n1\n")
    assert counted(curator_of(tmp_path, tmp_path, {"v": Integer(0, 100)}).table(), s=total("v")) == {"s": [1]}


def test_names_inside_columns_are_no_columns():
    tree = [("root", None, None, 3), ("a", "", "", None), ("s", None, None, 1), ("x", "", "", 0), ("B", "", "", None)]
    assert _names(tree) == {"a", "s", "b"}
