"""Measures of anonymity against their definitions, by brute force on small tables."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.risk.anonymity import anonymity
from discreet.risk.classes import classes_of
from discreet.risk.diversity import diversity
from discreet.risk.population import population
from discreet.risk.records import Coded, Records

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
    columns = [Coded.of([row[0] for row in rows], "x"), Coded.of([row[1] for row in rows], "y")]
    classes = classes_of(columns)
    found = diversity("s", Coded.of(secret, "s"), classes)
    sizes, distinct, entropy, closeness, told = brute([row[:2] for row in rows], secret)
    assert sorted(classes.sizes.tolist()) == sizes
    assert (found.distinct, found.told) == (distinct, told)
    assert found.entropy == pytest.approx(entropy)
    assert found.closeness == pytest.approx(closeness, abs=1e-9)


def test_many_columns_do_not_overflow():
    draws = np.random.default_rng(3).integers(0, 50_000, (200, 6))
    draws[100:] = draws[:100]
    columns = [Coded(draws[:, place], tuple(range(50_000)), True) for place in range(6)]
    assert classes_of(columns).sizes.tolist() == [2] * 100


def test_the_words_name_who_is_alone_and_what_k_does_not_promise():
    found = anonymity(PEOPLE, quasi=["age", "zip"], sensitive=["dx"])
    assert (found.k, found.alone, found.classes, found.sensitive[0].told) == (1, 1, 3, 4)
    assert found.telling[0].alone == 1
    assert "look like nobody else" in found.explain()
    assert "does not promise" in found.explain()


def test_codes_with_a_needless_zero_stay_text_and_digits_become_numbers(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,zip,height\n30,02139,1.5\n4,10000,\n,02140,2\n")
    found = Records.read(path)
    assert found["age"].values == (4, 30, None)
    assert found["age"].codes.tolist() == [1, 0, 2]
    assert found["zip"].values == ("02139", "02140", "10000")
    assert found["height"].values == (1.5, 2, None)
    assert (found["age"].ordered, found["zip"].ordered) == (True, False)


def test_frames_and_arrow_tables_are_read_alike():
    import pandas
    import polars
    import pyarrow

    wanted = anonymity(PEOPLE, quasi="age,zip", sensitive="dx")
    for table in (pandas.DataFrame(PEOPLE), polars.DataFrame(PEOPLE), pyarrow.table(PEOPLE)):
        assert anonymity(table, quasi="age,zip", sensitive="dx") == wanted


def _cells(law):
    draw = np.random.default_rng(0)
    if law == "lognormal":
        weights = np.exp(2 * draw.normal(size=20_000))
        return draw.choice(20_000, 50_000, p=weights / weights.sum())
    return draw.integers(0, 30_000, 50_000)


def _sampled(cells, share, seed=5):
    pick = np.random.default_rng(seed).permutation(len(cells))[: int(share * len(cells))]
    return population(classes_of([Coded.of(cells[pick], "cell")]), len(cells))


@pytest.mark.parametrize("law", ["lognormal", "even"])
@pytest.mark.parametrize("share", [0.05, 0.1])
def test_the_range_for_a_population_holds_the_truth_of_a_made_up_one(law, share):
    cells = _cells(law)
    alone = int((np.unique(cells, return_counts=True)[1] == 1).sum())
    found = _sampled(cells, share)
    low, high = found.alone_range
    assert low <= alone <= high <= 10 * low
    assert low <= found.alone <= high
    assert 0 < found.chance_range[0] <= found.chance <= found.chance_range[1] <= 1
    assert "models that fit" in found.explain()
    # Must fail: the model that does not fit would be off by more than the range.
    if law == "lognormal" and share == 0.1:
        turned_down = [one["alone"] for one in found.models.values() if not one["fits"]]
        assert any(not low <= one <= high for one in turned_down)


@pytest.mark.parametrize("together", [2, 3])
def test_a_thin_sample_of_households_is_refused_and_not_extrapolated(together):
    """Nearly all classes of it are single rows, and 82,574 of 200,000 were said to be alone where nobody is."""
    found = _sampled(np.arange(200_000) // together, 0.1)
    assert found.alone is None
    assert not any(one["fits"] for one in found.models.values())


def test_where_no_model_fits_or_too_little_is_seen_nothing_is_said():
    parts = [np.arange(4000), np.repeat(np.arange(5000, 5400), 37), np.repeat(np.arange(6000, 6500), 3)]
    heaped = np.concatenate([*parts, np.repeat(7000, 20_000)])
    few = _sampled(heaped[:300], 0.05)
    assert few.alone is None
    assert "at least 20" in few.refused
    found = _sampled(heaped, 0.3)
    assert found.alone is None
    assert "No model fits" in found.explain()
    assert _sampled(heaped, 1.0).alone == 4000  # nothing to estimate


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


def test_bad_tables_are_refused(tmp_path):
    with pytest.raises(InputError, match="exists"):
        anonymity(tmp_path / "none.csv", quasi="a")
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
