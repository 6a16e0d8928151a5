"""Ladders of numbers, codes and names."""

import pyarrow

from discreet.risk import anonymize
from discreet.risk.ladder import ANY, label_all, ladder_of
from discreet.risk.records import CodedColumn


def test_ladders_of_numbers_codes_and_names():
    ages = CodedColumn.of([3, 7, 17, None], "age")
    assert ladder_of("age", ages, [10]).labels == ((3, 7, 17, None), ("0-9", "10-19", None), (ANY,))
    codes = CodedColumn.of(["021", "022", "031", "101"], "zip")
    assert ladder_of("zip", codes).labels[1:] == (("02*", "03*", "10*"), ("0**", "1**"), (ANY,))
    jobs = {"nurse": ["health", "work"], "doctor": ["health", "work"], "cook": ["food", "work"]}
    names = CodedColumn.of(["cook", "doctor", "nurse"], "job")
    assert ladder_of("job", names, jobs).labels[1:] == (("food", "health"), ("work",))
    assert ladder_of("job", names).labels == (("cook", "doctor", "nurse"), (ANY,))


def test_one_group_of_codes_that_begin_alike_keeps_their_beginning():
    """A table of zip codes 19104 to 19146 is shown as 191**, also where they are read as numbers."""
    for codes in ([19104, 19121, 19146], ["19104", "19121", "19146"]):
        assert ladder_of("zip", CodedColumn.of(codes, "zip")).labels[-1] == ("191**",)
    assert label_all([19104, 20001]) == ANY
    assert label_all([19104, None]) == ANY  # a missing one begins with nothing
    assert label_all([True, False]) == ANY
    assert label_all([1.5, 1.7]) == ANY
    assert label_all([99, 104]) == ANY


def test_a_box_of_all_codes_keeps_their_beginning():
    table = {"zip": [19104, 19121, 19133, 19146], "dx": ["a", "b", "c", "d"]}
    for method in ("lattice", "mondrian"):
        made = anonymize(pyarrow.table(table), quasi=["zip"], k=4, method=method)
        assert made.records["zip"].values == ("191**",)
