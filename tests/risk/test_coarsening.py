"""Coarsening keeps its promise of k, and says what it does not promise."""

import pytest

from discreet.errors import InputError
from discreet.risk.coarsening import METHODS, anonymize
from discreet.risk.records import Records, classes_of
from patients import QUASI, patients


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [1, 2, 7, 50])
def test_every_row_that_is_shown_looks_like_k(method, k):
    made = anonymize(patients(), quasi=QUASI, k=k, method=method)
    shown = made.records
    assert classes_of([shown[name] for name in QUASI]).smallest >= k
    assert made.redacted <= 40
    assert made.loss == 0 if k == 1 else made.loss > 0
    assert shown.rows == 4000 - made.redacted


def test_what_is_lost_is_lost_by_the_rows_that_are_shown():
    """Those left out are all from the wide group: they lose everything, but nothing twice."""
    groups = {"a": "ab", "b": "ab", "c": "rest", "d": "rest", "e": "rest"}
    made = anonymize({"town": list("aaabbbcde")}, quasi=["town"], k=6, redact=0.4, ladders={"town": groups})
    assert made.redacted == 3
    assert made.loss == pytest.approx((6 * 1 / 4 + 3) / 9)  # one of four others that a town was told from


def test_a_diversity_that_cannot_be_had_is_not_promised():
    with pytest.raises(InputError, match="sensitive column"):
        anonymize(patients(50), quasi=QUASI, k=2, method="mondrian", diverse=2)
    with pytest.raises(InputError, match="at most the 3 values"):
        anonymize(patients(50), quasi=QUASI, k=2, method="mondrian", sensitive="dx", diverse=4)
    with pytest.raises(InputError, match="at least 1"):
        anonymize(patients(50), quasi=QUASI, k=2, method="mondrian", sensitive="dx", diverse=0)
    assert anonymize(patients(50), quasi="age, zip", k=2).quasi == ("age", "zip")


@pytest.mark.parametrize("method", METHODS)
def test_columns_that_still_name_people_are_named(method):
    made = anonymize(patients(200), quasi=QUASI, k=3, method=method)
    assert made.untouched == ("person",)
    assert "fewer than 3 rows share: person." in made.explain()
    dropped = anonymize(patients(200), quasi=QUASI, k=3, method=method, drop=["person"])
    assert dropped.untouched == ()
    assert "rows share" not in dropped.explain()


def test_the_table_written_is_the_table_shown(tmp_path):
    table = Records.read({"a": ["=1+1", "=1+1", "b", "b"], "x": [1, 2, 11, 12]})
    made = anonymize(table, quasi=["x"], k=2, drop=())
    made.write(tmp_path / "safe.csv")
    text = (tmp_path / "safe.csv").read_text()
    assert "'=1+1" in text  # a spreadsheet does not run it
    made.write(tmp_path / "safe.parquet")
    assert Records.read(tmp_path / "safe.parquet")["x"].size == 2
    with pytest.raises(InputError, match="ends in"):
        made.write(tmp_path / "safe.xls")


def test_dropped_columns_are_gone():
    assert "person" not in anonymize(patients(), quasi=QUASI, k=2, drop=["person"]).to_arrow().column_names


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"k": 0}, "k"),
        ({"k": 5000}, "k"),
        ({"k": True}, "k"),
        ({"method": "magic"}, "method"),
        ({"redact": 1}, "redact"),
        ({"quasi": []}, "quasi"),
        ({"diverse": 2}, "diverse"),
        ({"ladders": {"sex": [5]}}, "ladders.sex"),
        ({"ladders": {"age": [0]}}, "ladders.age"),
        ({"ladders": {"age": [5, 7]}}, "ladders.age"),
        ({"ladders": {"sex": {"F": "any"}}}, "ladders.sex"),
    ],
)
def test_bad_input_is_refused(change, field):
    with pytest.raises(InputError, match=field):
        anonymize(patients(100), **{"quasi": QUASI, "k": 2, **change})
