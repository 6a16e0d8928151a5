"""Criteria on classes, against their definitions; what is left out changes what everybody is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.risk.criteria import Criteria, Requirement
from discreet.risk.measures import diversity
from discreet.risk.records import Classes, CodedColumn, classes_of

ROWS = st.lists(st.tuples(st.integers(0, 4), st.sampled_from("uvw")), min_size=1, max_size=40)


@settings(deadline=None, max_examples=150)
@given(ROWS, st.integers(1, 4), st.integers(1, 3), st.sampled_from([1.0, 0.5, 0.3, 0.1]), st.booleans())
def test_rows_that_are_left_meet_what_was_asked(rows, k, l, t, ordered):  # noqa: E741
    group = CodedColumn.of([row[0] for row in rows], "x")
    secret = CodedColumn.of(["uvw".index(row[1]) if ordered else row[1] for row in rows], "s")
    classes = classes_of([group])
    out = Requirement(Criteria(k, l, t), [secret]).failing(classes, len(rows))
    if out.all():
        return
    left = np.flatnonzero(~out)
    kept = classes_of([group.taken(left)])
    found = diversity("s", secret.taken(left), kept)
    assert kept.smallest >= k
    assert found.distinct >= l
    assert found.closeness <= t + 1e-9
    assert Requirement(Criteria(k, l), [secret]).small(classes)[left].sum() == 0


def test_beta_limits_how_much_more_common_a_value_is():
    group, secret = CodedColumn.of(list("aaaabbbb"), "x"), CodedColumn.of(list("uuuvvvvv"), "s")
    classes = classes_of([group])
    assert diversity("s", secret, classes).gain == pytest.approx(1.0)  # u: 3/4 against 3/8
    assert not Requirement(Criteria(beta=1.0), [secret]).failing(classes, 8).any()
    assert Requirement(Criteria(beta=0.9), [secret]).failing(classes, 8)[:4].all()


def test_with_people_k_counts_people_and_not_their_rows():
    group, who = CodedColumn.of([1, 1, 1, 2, 2, 2], "x"), CodedColumn.of(list("aaabcd"), "p")
    classes = classes_of([group])
    assert not Requirement(Criteria(3)).small(classes).any()
    assert Requirement(Criteria(3), person=who).small(classes).tolist() == [True] * 3 + [False] * 3


def test_rows_put_together_count_as_many_as_they_were():
    classes, weights = Classes(np.array([0, 1]), np.array([1, 1])), np.array([5, 2])
    requirement = Requirement(Criteria(3), weights=weights)
    assert requirement.small(classes).tolist() == [False, True]
    assert requirement.rows_of(requirement.small(classes)) == 2


@pytest.mark.parametrize(
    ("wrong", "field"), [({"k": 0}, "k"), ({"l": True}, "l"), ({"t": 0}, "t"), ({"t": 1.5}, "t"), ({"beta": 0}, "beta")]
)
def test_criteria_that_say_nothing_are_refused(wrong, field):
    with pytest.raises(InputError, match=f"`{field}`"):
        Criteria(**wrong)


def test_criteria_are_read_as_they_are_written():
    assert str(Criteria(5, 2, 0.2, 1.5)) == "k = 5, l = 2, t = 0.2, beta = 1.5"
    assert str(Criteria(3)) == "k = 3"
