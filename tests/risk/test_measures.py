"""Measures of anonymity against their definitions, by brute force on small tables."""

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.risk.measures import anonymity, diversity
from discreet.risk.records import CodedColumn, classes_of

PEOPLE = {
    "age": [30, 30, 30, 41, 41, 52],
    "zip": ["02139", "02139", "02139", "02140", "02140", "02141"],
    "dx": ["flu", "flu", "flu", "flu", "cold", "flu"],
}


def brute(rows, secret):
    """Every measure straight from its definition."""
    groups = {}
    for row, value in zip(rows, secret, strict=True):
        groups.setdefault(row, []).append(value)
    everybody = {value: secret.count(value) / len(secret) for value in set(secret)}
    values = sorted(everybody)
    closeness, entropy = [], []
    for members in groups.values():
        share = {value: members.count(value) / len(members) for value in values}
        entropy.append(math.exp(-sum(p * math.log(p) for p in share.values() if p)))
        if isinstance(values[0], str):
            closeness.append(sum(abs(share[v] - everybody[v]) for v in values) / 2)
        else:
            gaps = itertools.accumulate(share[v] - everybody[v] for v in values)
            closeness.append(sum(map(abs, gaps)) / max(len(values) - 1, 1))
    told = sum(len(members) for members in groups.values() if len(set(members)) == 1)
    sizes = sorted(len(members) for members in groups.values())
    return sizes, min(len(set(members)) for members in groups.values()), min(entropy), max(closeness), told


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.integers(0, 6)), min_size=1, max_size=30),
    st.booleans(),
)
def test_every_measure_is_what_its_definition_says(rows, named):
    secret = [f"s{value}" if named else value for *_, value in rows]
    columns = [CodedColumn.of([row[0] for row in rows], "x"), CodedColumn.of([row[1] for row in rows], "y")]
    classes = classes_of(columns)
    found = diversity("s", CodedColumn.of(secret, "s"), classes)
    sizes, distinct, entropy, closeness, told = brute([row[:2] for row in rows], secret)
    assert sorted(classes.sizes.tolist()) == sizes
    assert (found.distinct, found.told) == (distinct, told)
    assert found.entropy == pytest.approx(entropy)
    assert found.closeness == pytest.approx(closeness, abs=1e-9)


def test_the_words_name_who_is_alone_and_what_k_does_not_promise():
    found = anonymity(PEOPLE, quasi=["age", "zip"], sensitive=["dx"])
    assert (found.k, found.alone, found.classes, found.sensitive[0].told) == (1, 1, 3, 4)
    assert found.telling[0].alone == 1
    assert "look like nobody else" in found.explain()
    assert "does not promise" in found.explain()


def test_frames_and_arrow_tables_are_read_alike():
    import pandas
    import polars
    import pyarrow

    wanted = anonymity(PEOPLE, quasi="age,zip", sensitive="dx")
    for table in (pandas.DataFrame(PEOPLE), polars.DataFrame(PEOPLE), pyarrow.table(PEOPLE)):
        assert anonymity(table, quasi="age,zip", sensitive="dx") == wanted


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"quasi": []}, "quasi"),
        ({"quasi": ["age", "age"]}, "quasi"),
        ({"quasi": ["shoe"]}, "columns"),
        ({"sensitive": ["age"]}, "sensitive"),
        ({"few": 0}, "few"),
        ({"population_size": 3}, "population"),
    ],
)
def test_bad_questions_are_refused(change, field):
    with pytest.raises(InputError, match=field):
        anonymity(PEOPLE, **{"quasi": ["age", "zip"], "sensitive": ["dx"], **change})
