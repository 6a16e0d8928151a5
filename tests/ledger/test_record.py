"""Records: everything is hashed, nothing is lost on the way to text and back."""

import dataclasses
from fractions import Fraction

import pytest

from discreet.errors import LedgerError
from discreet.ledger.budget import Charge
from discreet.ledger.record import GENESIS, Record


def record(**values):
    basics = {"kind": "charge", "dataset": "visits", "who": "ann", "release": "r", "query": {"count": "*"}}
    return Record.after(GENESIS, charge=Charge(Fraction(1, 3)), **(basics | values))


def test_a_record_comes_back_from_its_body():
    one = record(result='{"n":1}', loss={"loss": "pure", "epsilon": "1/3"})
    assert Record.from_body(one.body()) == one
    assert one.charge == Charge(Fraction(1, 3), Fraction(0))


def test_records_are_chained():
    one = record()
    two = Record.after(one.head, kind="note", dataset="visits", who="ann")
    assert (two.sequence, two.previous) == (2, one.hash)


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(Record)])
def test_a_change_in_any_field_changes_the_hash(field):
    one = record()
    old = getattr(one, field)
    new = {int: 7, Fraction: Fraction(1, 7), str: "other", dict: {"x": 1}, type(None): "other"}[type(old)]
    assert dataclasses.replace(one, **{field: new}).hash != one.hash


@pytest.mark.parametrize("body", ["", "[]", "{}", "null", '{"kind":"x"}'])
def test_what_is_not_a_record_is_refused(body):
    with pytest.raises(LedgerError, match="cannot be read"):
        Record.from_body(body)


def test_times_are_utc():
    assert record().time.endswith("+00:00")
