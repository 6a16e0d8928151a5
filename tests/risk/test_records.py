"""Tables as their owners have them, and classes of rows that look alike."""

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.risk.measures import anonymity
from discreet.risk.records import CodedColumn, Records, classes_of


def test_many_columns_do_not_overflow():
    draws = np.random.default_rng(3).integers(0, 50_000, (200, 6))
    draws[100:] = draws[:100]
    columns = [CodedColumn(draws[:, place], tuple(range(50_000)), True) for place in range(6)]
    assert classes_of(columns).sizes.tolist() == [2] * 100


def test_codes_with_a_needless_zero_stay_text_and_digits_become_numbers(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,zip,height\n30,02139,1.5\n4,10000,\n,02140,2\n")
    found = Records.read(path)
    assert found["age"].values == (4, 30, None)
    assert found["age"].codes.tolist() == [1, 0, 2]
    assert found["zip"].values == ("02139", "02140", "10000")
    assert found["height"].values == (1.5, 2, None)
    assert (found["age"].ordered, found["zip"].ordered) == (True, False)


def test_bad_tables_are_refused(tmp_path):
    with pytest.raises(InputError, match="exists"):
        anonymity(tmp_path / "none.csv", quasi="a")
    (tmp_path / "empty.csv").touch()
    with pytest.raises(InputError, match=r"`data` must be a CSV file.*got 'empty.csv'. This file is empty"):
        anonymity(tmp_path / "empty.csv", quasi="a")
    with pytest.raises(InputError, match="at least one row"):
        anonymity({"a": []}, quasi="a")
    with pytest.raises(InputError, match="one length"):
        Records.read({"a": [1], "b": [1, 2]})
    with pytest.raises(InputError, match="one type"):
        Records.read({"a": [1, "x"]})


def test_a_file_is_read_by_its_name_and_no_other(tmp_path):
    """`data[1].csv` is also a pattern that `data1.csv` meets."""
    (tmp_path / "data[1].csv").write_text("zip\na\n")
    (tmp_path / "data1.csv").write_text("zip\nb\nb\n")
    assert Records.read(tmp_path / "data[1].csv").rows == 1
