"""No parent, no child row and no child row with its parent meets a condition that is impossible."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import InputError

CONDITIONS = ["age < 20 and sex = 'm'", "ward = 'care' and cost > 150", "age < 60 and ward = 'care'"]


@pytest.mark.parametrize("order", [None, "day"])
def test_what_is_impossible_is_not_there(curator, order):
    draft = curator.relate(["age", "sex"], order=order, limit=4, impossible=CONDITIONS)
    made = draft.plan(epsilon=50).release()
    parents = {row["patient"]: row for row in made.parents.to_pylist()}
    assert not any(row["age"] < 20 and row["sex"] == "m" for row in parents.values())
    rows = made.children.to_pylist()
    assert len(rows) > 1000
    assert not any(row["ward"] == "care" and (row["cost"] or 0) > 150 for row in rows)
    assert not any(row["ward"] == "care" and parents[row["patient"]]["age"] < 60 for row in rows)
    assert any(row["ward"] == "care" for row in rows)
    assert "rows were impossible and were changed" in made.notes[0]
    assert made.fan_out.sum() == len(rows) == made.to_dict()["rows"]["children"]
    last: dict[str, object] = {}
    for row in rows if order else []:
        assert last.get(row["patient"], row["day"]) <= row["day"]
        last[row["patient"]] = row["day"]


def test_a_row_whose_time_cannot_be_is_left_out(curator):
    draft = curator.relate(["age"], ["ward"], order="day", limit=4, impossible=["day > '2024-06-30'"])
    made = draft.plan(epsilon=50).release()
    assert max(row["day"].isoformat() for row in made.children.to_pylist()) <= "2024-06-30"
    assert "child rows were impossible and were left out" in made.notes[0]
    assert made.fan_out.sum() == made.children.num_rows
    assert set(np.unique(made.fan_out)) <= set(range(5))


def test_what_was_asked_is_on_record(curator):
    draft = curator.relate(["age"], ["ward"], limit=3, impossible=CONDITIONS[2])
    made = draft.plan(epsilon=20).release(release="impossible")
    again = curator.release("impossible")
    assert again.children.equals(made.children)
    assert len(again.impossible) == 1


@pytest.mark.parametrize(
    ("impossible", "told"),
    [
        (["age < 200"], "leave some rows possible"),
        (["agee < 3"], "Did you mean `age`"),
        (["cost > 3"], "about columns that are made"),
        (["ward = 'moon'"], "a declared value of ward"),
    ],
)
def test_conditions_that_cannot_be_meant_are_refused(curator, impossible, told):
    with pytest.raises(InputError, match=told):
        curator.relate(["age", "sex"], ["ward"], limit=2, impossible=impossible)
