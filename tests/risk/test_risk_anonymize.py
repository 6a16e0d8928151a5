"""Coarsening keeps its promise of k, loses the least there is, and linkage fails where it should."""

import itertools
import tracemalloc

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.risk import lattice
from discreet.risk.anonymize import METHODS, anonymize
from discreet.risk.classes import classes_of
from discreet.risk.ladder import ANY, ladder_of
from discreet.risk.link import link
from discreet.risk.records import Coded, Records


def people(rows=4000, seed=1):
    draw = np.random.default_rng(seed)
    return Records.read(
        {
            "person": np.arange(rows),
            "age": draw.integers(0, 90, rows),
            "zip": [f"{value:05d}" for value in draw.integers(2000, 2400, rows)],
            "sex": draw.choice(["F", "M"], rows),
            "dx": draw.choice(["flu", "cold", "gout"], rows, p=[0.8, 0.15, 0.05]),
        }
    )


QUASI = ["age", "zip", "sex"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [1, 2, 7, 50])
def test_every_row_that_is_shown_looks_like_k(method, k):
    made = anonymize(people(), quasi=QUASI, k=k, method=method)
    shown = made.records
    assert classes_of([shown[name] for name in QUASI]).smallest >= k
    assert made.redacted <= 40
    assert made.loss == 0 if k == 1 else made.loss > 0
    assert shown.rows == 4000 - made.redacted


def test_the_lattice_finds_the_least_loss():
    """Against every combination of steps, worked out the slow way."""
    table = people(300)
    made = anonymize(table, quasi=QUASI, k=4, redact=0.05)
    ladders = [ladder_of(name, table[name]) for name in QUASI]
    best = np.inf
    for steps in itertools.product(*(range(len(ladder)) for ladder in ladders)):
        pairs = list(zip(QUASI, ladders, steps, strict=True))
        classes = classes_of([ladder.climbed(table[name], step) for name, ladder, step in pairs])
        out = classes.sizes[classes.of] < 4
        if out.sum() <= 15:  # a row left out has lost all, another the share of values it is no longer told from
            alike = [np.bincount(ladder.groups[step])[ladder.groups[step]] for _, ladder, step in pairs]
            each = [(a[table[name].codes] - 1) / (table[name].size - 1) for a, name in zip(alike, QUASI, strict=True)]
            best = min(best, np.where(out, 1, np.mean(each, axis=0)).mean())
    assert made.loss == pytest.approx(best)


def test_what_is_lost_is_lost_by_the_rows_that_are_shown():
    """Those left out are all from the wide group: they lose everything, but nothing twice."""
    groups = {"a": "ab", "b": "ab", "c": "rest", "d": "rest", "e": "rest"}
    made = anonymize({"town": list("aaabbbcde")}, quasi=["town"], k=6, redact=0.4, ladders={"town": groups})
    assert made.redacted == 3
    assert made.loss == pytest.approx((6 * 1 / 4 + 3) / 9)  # one of four others that a town was told from


def test_a_diversity_that_cannot_be_had_is_not_promised():
    with pytest.raises(InputError, match="sensitive column"):
        anonymize(people(50), quasi=QUASI, k=2, method="mondrian", diverse=2)
    with pytest.raises(InputError, match="at most the 3 values"):
        anonymize(people(50), quasi=QUASI, k=2, method="mondrian", sensitive="dx", diverse=4)
    with pytest.raises(InputError, match="at least 1"):
        anonymize(people(50), quasi=QUASI, k=2, method="mondrian", sensitive="dx", diverse=0)
    assert anonymize(people(50), quasi="age, zip", k=2).quasi == ("age", "zip")


@pytest.mark.parametrize("method", METHODS)
def test_columns_that_still_name_people_are_named(method):
    made = anonymize(people(200), quasi=QUASI, k=3, method=method)
    assert made.untouched == ("person",)
    assert "fewer than 3 rows share: person." in made.explain()
    dropped = anonymize(people(200), quasi=QUASI, k=3, method=method, drop=["person"])
    assert dropped.untouched == ()
    assert "rows share" not in dropped.explain()


def test_boxes_can_be_made_diverse():
    made = anonymize(people(), quasi=QUASI, k=5, method="mondrian", sensitive="dx", diverse=2)
    shown = made.records
    classes = classes_of([shown[name] for name in QUASI])
    pairs = np.unique(classes.of * 3 + shown["dx"].codes) // 3
    assert np.bincount(pairs).min() >= 2
    plain = anonymize(people(), quasi=QUASI, k=5, method="mondrian").records
    classes = classes_of([plain[name] for name in QUASI])
    assert np.bincount(np.unique(classes.of * 3 + plain["dx"].codes) // 3).min() == 1


def test_ladders_of_numbers_codes_and_names():
    ages = Coded.of([3, 7, 17, None], "age")
    assert ladder_of("age", ages, [10]).labels == ((3, 7, 17, None), ("0-9", "10-19", None), (ANY,))
    codes = Coded.of(["021", "022", "031", "101"], "zip")
    assert ladder_of("zip", codes).labels[1:] == (("02*", "03*", "10*"), ("0**", "1**"), (ANY,))
    jobs = {"nurse": ["health", "work"], "doctor": ["health", "work"], "cook": ["food", "work"]}
    names = Coded.of(["cook", "doctor", "nurse"], "job")
    assert ladder_of("job", names, jobs).labels[1:] == (("food", "health"), ("work",))
    assert ladder_of("job", names).labels == (("cook", "doctor", "nurse"), (ANY,))


def test_linkage_finds_everybody_before_and_nobody_after():
    table = people()
    before = link(table, table, on=QUASI, sensitive="dx", person="person")
    assert before.one_to_one > 3000
    assert before.right == before.one_to_one
    for method in METHODS:
        after = link(
            anonymize(table, quasi=QUASI, k=5, method=method), table, on=QUASI, sensitive="dx", person="person"
        )
        assert after.one_to_one == 0
        assert after.placed >= 3960
        assert after.told > 0, "k-anonymous, and still told: most have the flu"


def test_people_who_are_not_in_the_table_are_linked_wrongly_or_not_at_all():
    table, others = people(seed=1), people(seed=2)
    found = link(table, others, on=QUASI, person="person")
    assert found.one_to_one > 0
    assert found.right < found.one_to_one


def test_the_table_written_is_the_table_shown(tmp_path):
    table = Records.read({"a": ["=1+1", "=1+1", "b", "b"], "x": [1, 2, 11, 12]})
    made = anonymize(table, quasi=["x"], k=2, drop=())
    made.write(tmp_path / "safe.csv")
    text = (tmp_path / "safe.csv").read_text()
    assert "'=1+1" in text  # a spreadsheet does not run it
    made.write(tmp_path / "safe.parquet")
    assert Records.read(tmp_path / "safe.parquet")["x"].size == 2
    with pytest.raises(InputError, match="ends in"):
        made.write(tmp_path / "safe.xls")


def test_dropped_columns_are_gone():
    assert "person" not in anonymize(people(), quasi=QUASI, k=2, drop=["person"]).to_arrow().column_names


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"k": 0}, "k"),
        ({"k": 5000}, "k"),
        ({"k": True}, "k"),
        ({"method": "magic"}, "method"),
        ({"redact": 1}, "redact"),
        ({"quasi": []}, "quasi"),
        ({"diverse": 2}, "diverse"),
        ({"ladders": {"sex": [5]}}, "ladders.sex"),
        ({"ladders": {"age": [0]}}, "ladders.age"),
        ({"ladders": {"age": [5, 7]}}, "ladders.age"),
        ({"ladders": {"sex": {"F": "any"}}}, "ladders.sex"),
    ],
)
def test_bad_input_is_refused(change, field):
    with pytest.raises(InputError, match=field):
        anonymize(people(100), **{"quasi": QUASI, "k": 2, **change})


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
    assert anonymize(people(300), quasi=QUASI, k=4, redact=0.05).least
    wide = [Coded.of(np.random.default_rng(place).integers(0, 64, 500), f"c{place}") for place in range(4)]
    tracemalloc.start()
    found = classes_of(wide)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1_000_000  # 64^4 cells would take 128 MB
    assert len(found.sizes) == len(set(zip(*(one.codes.tolist() for one in wide), strict=True)))
