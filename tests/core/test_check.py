"""Frozen values read what they are given once, and refuse by name what is not allowed."""

import pickle
from fractions import Fraction

import pytest
from attrs import evolve, field, frozen
from attrs.exceptions import FrozenInstanceError

from discreet.core.check import at_least, exact, named, one_of, real, real_or_none, whole, whole_or_none, within
from discreet.errors import InputError


@frozen(field_transformer=named)
class Sample:
    share: Fraction = field(converter=exact, validator=within(above=0, most=1, hint="All of it is 1."))
    rows: int = field(default=5, converter=whole, validator=at_least(2))
    rate: float = field(default=0.5, converter=real, validator=within(least=0, below=1))
    most: int | None = field(default=None, converter=whole_or_none, validator=at_least(1))
    loss: float | None = field(default=None, converter=real_or_none, validator=within(above=0))
    kind: str = field(default="even", validator=one_of("even", "odd"))
    names: tuple[str, ...] = field(default=(), converter=tuple)


def test_what_was_written_is_read_once():
    sample = Sample("0.1", 7.0, "1/4", most=3, loss=2, names=["a"])
    assert sample == Sample(Fraction(1, 10), 7, 0.25, 3, 2.0, names=("a",))
    assert hash(sample) == hash(evolve(sample, rate="0.25"))
    assert pickle.loads(pickle.dumps(sample)) == sample
    assert repr(Sample(1)) == (
        "Sample(share=Fraction(1, 1), rows=5, rate=0.5, most=None, loss=None, kind='even', names=())"
    )
    with pytest.raises(FrozenInstanceError):
        sample.rows = 3


@pytest.mark.parametrize(
    ("name", "value", "got", "allowed"),
    [
        ("share", 0, 0, "more than zero and at most 1"),
        ("share", "3/2", 1.5, "more than zero and at most 1"),
        ("share", "half", "half", "a finite number"),
        ("share", True, True, "a finite number"),
        ("rows", 2.5, 2.5, "a whole number"),
        ("rows", "many", "many", "a whole number"),
        ("rows", 2**60, 2**60, "a whole number"),
        ("rows", 1, 1, "a whole number, 2 or more"),
        ("rate", 1, 1.0, "at least zero and less than 1"),
        ("rate", float("nan"), None, "a finite number"),
        ("most", 0, 0, "a whole number, 1 or more"),
        ("loss", 0, 0.0, "more than zero"),
        ("kind", "strange", "strange", "one of even, odd"),
    ],
)
def test_what_is_not_allowed_is_refused_by_name(name, value, got, allowed):
    for make in (lambda: Sample(**{"share": 1, name: value}), lambda: evolve(Sample(1), **{name: value})):
        with pytest.raises(InputError) as caught:
            make()
        assert caught.value.field == name
        assert caught.value.allowed.startswith(allowed)
        assert got is None or caught.value.got == got


def test_a_hint_says_what_to_do():
    with pytest.raises(InputError, match=r"All of it is 1\.$"):
        Sample(2)
