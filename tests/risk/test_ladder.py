"""Ladders of numbers, codes and names."""

from discreet.risk.ladder import ANY, ladder_of
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
