"""The least loss there is, within a stated amount of work."""

import itertools
import tracemalloc

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.risk import lattice
from discreet.risk.coarsening import anonymize
from discreet.risk.criteria import Criteria, Requirement
from discreet.risk.ladder import ladder_of
from discreet.risk.measures import anonymity
from discreet.risk.records import CodedColumn, classes_of
from patients import QUASI, patients


def test_the_lattice_finds_the_least_loss():
    """Against every combination of steps, worked out the slow way."""
    table = patients(300)
    made = anonymize(table, quasi=QUASI, k=4, redact=0.05)
    ladders = [ladder_of(name, table[name]) for name in QUASI]
    best = np.inf
    for steps in itertools.product(*(range(len(ladder)) for ladder in ladders)):
        pairs = list(zip(QUASI, ladders, steps, strict=True))
        classes = classes_of([ladder.climb(table[name], step) for name, ladder, step in pairs])
        out = classes.sizes[classes.of] < 4
        if out.sum() <= 15:  # a row left out has lost all, another the share of values it is no longer told from
            alike = [np.bincount(ladder.groups[step])[ladder.groups[step]] for _, ladder, step in pairs]
            each = [(a[table[name].codes] - 1) / (table[name].size - 1) for a, name in zip(alike, QUASI, strict=True)]
            best = min(best, np.where(out, 1, np.mean(each, axis=0)).mean())
    assert made.loss == pytest.approx(best)


def test_eight_columns_of_three_thousand_rows_are_coarsened_within_a_stated_amount_of_work(monkeypatch):
    draw, grouped = np.random.default_rng(0), []
    widths = (90, 40, 30, 16, 12, 8, 60, 25)
    table = {f"q{place}": draw.integers(0, width, 3000) for place, width in enumerate(widths)}
    monkeypatch.setattr(lattice, "_WORK", 300_000)
    monkeypatch.setattr(lattice, "classes_of", lambda columns: grouped.append(1) or classes_of(columns))
    made = anonymize(table, quasi=list(table), k=5)
    assert len(grouped) < 300_000 / 3000 + 500  # the limit, and what climbing takes
    assert not made.least
    assert "not known to be the least" in made.explain()
    assert classes_of([made.records[name] for name in table]).smallest >= 5


def test_what_is_known_to_be_the_least_says_so_and_more_columns_need_no_more_room():
    assert anonymize(patients(300), quasi=QUASI, k=4, redact=0.05).least
    wide = [CodedColumn.of(np.random.default_rng(place).integers(0, 64, 500), f"c{place}") for place in range(4)]
    tracemalloc.start()
    found = classes_of(wide)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1_000_000  # 64^4 cells would take 128 MB
    assert len(found.sizes) == len(set(zip(*(one.codes.tolist() for one in wide), strict=True)))


def test_under_k_l_and_t_together_the_least_loss_is_found():
    """Against every combination of steps; what is left out is what fails, over and over, until none does."""
    table = patients(300)
    criteria = Criteria(4, 2, 0.3)
    ladders = [ladder_of(name, table[name]) for name in QUASI]
    columns, secret = [table[name] for name in QUASI], table["dx"]
    node = lattice.least_coarse(columns, ladders, criteria, 30, secrets=[secret])
    best = np.inf
    for steps in itertools.product(*(range(len(ladder)) for ladder in ladders)):
        pairs = list(zip(columns, ladders, steps, strict=True))
        classes = classes_of([ladder.climb(column, step) for column, ladder, step in pairs])
        out = Requirement(criteria, [secret]).failing(classes, 300)
        if out.sum() <= 30:
            each = np.mean([ladder.lost(column, step) for column, ladder, step in pairs], axis=0)
            best = min(best, np.where(out, 1, each).mean())
    assert node.least
    assert node.loss == pytest.approx(best)


def test_the_table_that_is_shown_measures_what_was_asked():
    made = anonymize(patients(3000), quasi=QUASI, k=5, sensitive="dx", diverse=2, close=0.15, redact=0.1)
    found = anonymity(made.records, quasi=QUASI, sensitive=["dx"], few=1)
    assert found.k >= 5
    assert found.sensitive[0].distinct >= 2
    assert found.sensitive[0].closeness <= 0.15 + 1e-9
    weak = anonymize(patients(3000), quasi=QUASI, k=5, redact=0.1)  # Must fail: k alone does not keep t
    assert anonymity(weak.records, quasi=QUASI, sensitive=["dx"], few=1).sensitive[0].closeness > 0.15
    assert made.loss > weak.loss


def test_an_interrupted_search_gives_the_best_so_far():
    wide = {f"q{place}": np.random.default_rng(place).integers(0, 40, 2000) for place in range(9)}
    columns = [CodedColumn.of(values, name) for name, values in wide.items()]
    ladders = [ladder_of(name, column) for name, column in zip(wide, columns, strict=True)]
    heard = []

    def listen(node):
        heard.append(node)
        if len(heard) == 4:
            raise KeyboardInterrupt

    node = lattice.least_coarse(columns, ladders, Criteria(5), 100, seconds=60, on_better=listen)
    assert node.loss == heard[-1].loss
    assert not node.least
    assert [one.loss for one in heard] == sorted((one.loss for one in heard), reverse=True)


def test_people_with_many_rows_are_one():
    who = np.repeat(np.arange(100), 10)
    table = {"who": who, "age": who % 50, "x": np.tile([1, 2], 500)}
    made = anonymize(table, quasi=["age"], k=5, person="who", redact=0)
    shown = made.records
    assert classes_of([shown["age"]]).count_distinct(shown["who"]).min() >= 5
    rows = anonymize(table, quasi=["age"], k=5, redact=0)  # Must fail: ten rows of one person are no five people
    assert classes_of([rows.records["age"]]).count_distinct(rows.records["who"]).min() < 5


def test_criteria_that_not_even_one_group_meets_are_refused():
    with pytest.raises(InputError, match="at most the 3 values"):
        anonymize(patients(100), quasi=QUASI, k=2, sensitive="dx", diverse=4)
    with pytest.raises(InputError, match="people there are"):
        anonymize({"p": [1, 1, 2], "age": [1, 2, 3]}, quasi=["age"], k=3, person="p")
    with pytest.raises(InputError, match="lattice"):
        anonymize(patients(100), quasi=QUASI, k=2, sensitive="dx", close=0.2, method="mondrian")
    with pytest.raises(InputError, match="seconds"):
        anonymize(patients(100), quasi=QUASI, k=2, seconds=0)


def test_a_search_ends_where_only_the_coarsest_groups_will_do(monkeypatch):
    """Every way down from the top has been seen after one: time is spent all the same."""
    columns = [CodedColumn.of(np.arange(64) * (place + 1), f"q{place}") for place in range(8)]
    ladders = [ladder_of(f"q{place}", column) for place, column in enumerate(columns)]
    monkeypatch.setattr(lattice, "_NODES", 1)
    monkeypatch.setattr(lattice, "_WORK", 20_000)
    node = lattice.least_coarse(columns, ladders, Criteria(64), 0)
    assert node.loss == pytest.approx(1)
    assert not node.least
