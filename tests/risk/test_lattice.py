"""The least loss there is, within a stated amount of work."""

import itertools
import tracemalloc

import numpy as np
import pytest

from discreet.risk import lattice
from discreet.risk.coarsening import anonymize
from discreet.risk.ladder import ladder_of
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
