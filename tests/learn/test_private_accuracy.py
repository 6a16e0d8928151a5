"""How often a model is right about private rows: charged before a row is read, one count moved by one row."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("jax")

from train_people import FIXED

import discreet.learn.private_accuracy as room
from discreet.core.unit import Unit
from discreet.data.column import Boolean, Category
from discreet.errors import BudgetError, InputError
from discreet.learn.encoding import Part
from discreet.learn.group_accuracy import group_label
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger

AREAS = ("n", "s")


@pytest.fixture(name="model")
def model_fixture(curator):
    return curator.train(target="rich", examples=400, **FIXED).plan().release(release="judged")


@pytest.fixture(name="rows")
def rows_fixture(model):
    features = {column.name: [20 + 3 * n for n in range(12)] for column in model.encoding.features}
    told = model.predict_each(features)
    classes = model.encoding.classes
    truth = [one if n % 3 else next(other for other in classes if other != one) for n, one in enumerate(told)]
    return {**features, "rich": truth, "area": ["n", "s", "elsewhere"] * 4}


@pytest.fixture(name="ledger")
def ledger_fixture(tmp_path):
    ledger = Ledger.open(tmp_path / "rows.db", create=True)
    ledger.create("judged", Budget(epsilon=2), who="ann")
    return ledger


def without(rows, place):
    return {name: [value for at, value in enumerate(column) if at != place] for name, column in rows.items()}


def only(rows, places):
    return {name: [column[at] for at in places] for name, column in rows.items()}


def moved(model, rows, count):
    """How far each row moves the counts, in sum: at most."""
    whole = count(model, rows, "area", AREAS)
    return max(np.abs(whole - count(model, without(rows, at), "area", AREAS)).sum() for at in range(12))


def test_one_row_moves_one_count_by_one(model, rows):
    """Every row taken away, and every two tables of two rows: what is charged is what moves."""
    assert moved(model, rows, room.right_and_wrong) == 1
    alone = [room.right_and_wrong(model, only(rows, [at]), "area", AREAS) for at in range(12)]
    assert np.array_equal(sum(alone), room.right_and_wrong(model, rows, "area", AREAS))
    for pair in itertools.combinations(range(6), 2):
        both = room.right_and_wrong(model, only(rows, pair), "area", AREAS)
        assert np.array_equal(both, alone[pair[0]] + alone[pair[1]])
    assert sum(alone).sum() == 8  # rows of groups that are not declared count nowhere


@pytest.mark.parametrize("held", ["whole", "floats"])
def test_a_row_without_a_value_does_not_rename_the_groups_of_others(model, rows, held):
    """Where one whole number is missing, some tables hold all of a column as floats: 1 and 1.0 are one group."""
    areas = [n % 2 for n in range(12)]
    there = {**rows, "area": areas if held == "whole" else [float(one) for one in areas]}
    more = {name: [*column, column[0]] for name, column in there.items()}
    more["area"] = [*map(float, areas), float("nan")]
    whole = room.right_and_wrong(model, there, "area", ("0", "1"))
    assert whole.sum() == 12
    assert np.array_equal(room.right_and_wrong(model, more, "area", ("0", "1")), whole)
    kept = room.right_and_wrong(model, {**rows, "rich": [None, *rows["rich"][1:]]}, "area", AREAS)
    assert kept.sum() == 7  # a row without a true answer counts nowhere


def test_a_row_without_a_value_does_not_rename_yes_and_no(model, rows, monkeypatch):
    """An array of booleans is one of floats as soon as one is missing: in groups, in features and in true answers."""
    words = Category(["False", "True"])
    features = tuple(replace(part, column=words) for part in model.encoding.features)
    asked = replace(model, encoding=replace(model.encoding, target=Part("rich", words)))
    first = model.encoding.features[0].name
    for name in ("area", "rich", first):
        there = {**rows, "rich": np.array([one == "yes" for one in rows["rich"]])}
        there[name] = np.array([n % 3 == 0 for n in range(12)])
        more = {key: [*column, column[0]] for key, column in there.items()}
        more[name] = np.array([*there[name], np.nan])
        assert more[name].dtype == float
        for groups in (("True", "False"), ("1", "0")) if name == "area" else (AREAS,):
            whole = room.right_and_wrong(asked, there, "area", groups)
            assert whole.sum() > 0
            assert np.abs(room.right_and_wrong(asked, more, "area", groups) - whole).sum() <= 1
    for part in features:
        assert part.codes([True, 1, 1.0, np.True_, "True", False]).tolist() == [1, 1, 1, 1, 1, 0]
    monkeypatch.setattr(room, "group_place", by_its_word)  # the planted bug
    there = {**rows, "area": np.array([True] * 12)}
    more = {key: [*column, column[0]] for key, column in there.items()} | {"area": np.array([*there["area"], np.nan])}
    found = [room.right_and_wrong(model, each, "area", ("True", "False")) for each in (there, more)]
    assert np.abs(found[0] - found[1]).sum() == 12


def by_its_word(value, groups):
    """How a group was told: by the text of the value, as its array holds it."""
    label = group_label(value)
    return groups.index(label) if label in groups else None


def test_a_row_without_a_true_answer_does_not_hide_those_of_others(model, rows):
    """Where yes and no are 1 and 0, some tables hold them as floats as soon as one is missing."""
    yes_or_no = replace(model, encoding=replace(model.encoding, target=Part("rich", Boolean())))
    there = {**rows, "rich": np.array([one == "yes" for one in rows["rich"]], dtype=int)}
    more = {name: [*column, column[0]] for name, column in there.items()} | {"rich": np.array([*there["rich"], np.nan])}
    whole = room.right_and_wrong(yes_or_no, there, "area", AREAS)
    assert whole.sum() == 8
    assert np.array_equal(room.right_and_wrong(yes_or_no, more, "area", AREAS), whole)


def test_counts_of_all_beside_counts_of_right_ones_would_be_found(model, rows):
    """The planted bug: right answers and rows, of which one row moves two."""

    def with_totals(*asked):
        found = room.right_and_wrong(*asked).reshape(-1, 2)
        return np.stack([found[:, 0], found.sum(axis=1)], axis=1).ravel()

    assert moved(model, rows, with_totals) == 2


def test_the_price_is_said_charged_once_and_stands_on_the_card(model, rows, ledger):
    asked = {"ledger": ledger, "dataset": "judged", "release": "areas"}
    offer = model.private_accuracy(rows, "area", AREAS, epsilon="0.5", **asked)
    assert "epsilon = 0.5" in str(offer)
    assert "1,000 rows" in str(offer)
    assert ledger.find("areas") is None  # nothing is spent by looking
    found = offer.release()
    assert offer.release() == found
    (one,) = ledger.standing("judged")
    assert (float(one.spent.amount), [group.group for group in found]) == (0.5, list(AREAS))
    assert all(0 <= group.lower <= group.accuracy <= group.upper <= 1 for group in found)
    card = model.card().with_groups(found)
    assert "private rows, paid: epsilon = 0.5" in card.to_markdown()
    assert card.to_dict()["accuracy_by_group"][0]["paid"] == "epsilon = 0.5"


def test_a_model_of_expressions_is_judged_under_an_id_of_ones_own(curator, ledger):
    """The id answers for these rows alone: for the columns that the expressions are computed of."""
    model = curator.train(target="rich", features=["age * 2"], examples=400, **FIXED).plan().release(release="doubled")
    asked = {"epsilon": 1, "ledger": ledger, "dataset": "judged", "release": "doubled areas"}
    rows = {"age": [30] * 12, "rich": ["yes", "no"] * 6, "area": ["n", "s", "elsewhere"] * 4}
    offer = model.private_accuracy(rows, "area", AREAS, **asked)
    assert offer.release() == offer.release()
    with pytest.raises(InputError, match="other rows"):
        model.private_accuracy({**rows, "age": [31] * 12}, "area", AREAS, **asked).release()


def test_with_nearly_no_noise_it_is_what_is_true(model, rows, tmp_path):
    ledger = Ledger.open(tmp_path / "rich.db", create=True)
    ledger.create("judged", Budget(epsilon=10**6), who="ann")
    found = model.private_accuracy(rows, "area", AREAS, epsilon=10**5, ledger=ledger, dataset="judged").release()
    exact = room.right_and_wrong(model, rows, "area", AREAS).reshape(-1, 2)
    assert [(one.right, one.rows) for one in found] == [(int(right), int(right + wrong)) for right, wrong in exact]


def test_nothing_is_said_to_be_known_of_a_group_without_rows(model, rows, tmp_path):
    ledger = Ledger.open(tmp_path / "rich.db", create=True)
    ledger.create("judged", Budget(epsilon=10**6), who="ann")
    asked = {"epsilon": 10**5, "ledger": ledger, "dataset": "judged"}
    (found,) = model.private_accuracy(rows, "area", ["nowhere"], **asked).release()
    assert (found.lower, found.upper) == (0, 1)


def test_what_cannot_be_afforded_is_refused_before_a_row_is_read(model, ledger):
    class Unread:
        def __getitem__(self, name):
            raise AssertionError("a row was read")

    with pytest.raises(BudgetError, match="Nothing was spent"):
        model.private_accuracy(Unread(), "area", AREAS, epsilon=3, ledger=ledger, dataset="judged").release()


@pytest.mark.parametrize(
    "wrong",
    [
        {"by": ""},
        {"groups": "ns"},
        {"groups": []},
        {"groups": ["n", "n"]},
        {"epsilon": 0},
        {"rho": 1},
        {"ledger": None, "dataset": None},
        {"dataset": None},
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_spent(model, rows, ledger, wrong):
    asked = {"by": "area", "groups": AREAS, "epsilon": 1, "ledger": ledger, "dataset": "judged", **wrong}
    with pytest.raises(InputError):
        model.private_accuracy(rows, **asked)
    assert ledger.releases("judged") == ()


def test_an_account_of_persons_is_refused(model, rows, tmp_path):
    ledger = Ledger.open(tmp_path / "persons.db", create=True)
    ledger.create("judged", Budget(epsilon=2), unit=Unit("p", groups=1, rows=1), who="ann")
    with pytest.raises(InputError, match="one row"):
        model.private_accuracy(rows, "area", AREAS, epsilon=1, ledger=ledger, dataset="judged").release()
