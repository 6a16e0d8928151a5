"""How often a model is right, by group, stands on its card: of public rows, and with an interval."""

import pytest

pytest.importorskip("jax")

import json

from train_people import FIXED

from discreet import Boolean, Category, Integer, Schema
from discreet.errors import InputError
from discreet.learn.encoding import Encoding
from discreet.learn.group_accuracy import GroupAccuracy, accuracies, columns_of


def test_every_group_is_counted_for_itself():
    found = accuracies(["y", "n", "y", "n"], ["y", "y", "y", "n"], ["a", "a", "b", "a"])
    assert found == (GroupAccuracy("a", 3, 2), GroupAccuracy("b", 1, 1))
    assert found[0].accuracy == pytest.approx(2 / 3)
    assert found[0].lower < 2 / 3 < found[0].upper
    assert GroupAccuracy("c", 50, 0).lower == 0
    assert GroupAccuracy("c", 50, 50).upper == 1
    for wrong in ((["y"], [], ["a"]), ([], [], [])):
        with pytest.raises(InputError):
            accuracies(*wrong)


def test_rows_without_a_true_answer_count_nowhere_and_whole_floats_name_whole_groups():
    assert accuracies(["y", None, "n"], ["y", "y", "n"], [1.0, 1.0, 1]) == (GroupAccuracy("1", 2, 2),)
    assert accuracies(["y"], ["y"], [None])[0].group == "missing"
    with pytest.raises(InputError, match="a true answer"):
        accuracies([None], ["y"], ["a"])


def test_the_true_class_is_read_as_the_schema_declares_it():
    """The class of a boolean is True, whatever a file calls it."""
    encoding = Encoding.of(Schema("t", {"age": Integer(0, 9), "works": Boolean()}), "works")
    assert encoding.truths({"works": ["true", "false", "", None, True, 0]}) == [
        *("True", "False"),
        *(None, None),
        *("True", "False"),
    ]
    whole = Encoding.of(Schema("t", {"age": Integer(0, 9), "kind": Category(["1", "2"])}), "kind")
    assert whole.truths({"kind": [1.0, 2, "1", 3, float("nan")]}) == ["1", "2", "1", None, None]


def test_columns_come_from_any_table():
    pyarrow = pytest.importorskip("pyarrow")
    table = {"x": [1, 2]}
    assert columns_of(table, "x") == columns_of(pyarrow.table(table), "x") == [[1, 2]]
    assert columns_of(pyarrow.table(table).to_pandas(), "x") == [[1, 2]]
    with pytest.raises(InputError, match="'y'"):
        columns_of(table, "y")


def test_the_card_says_it_where_it_was_found(curator):
    model = curator.train(target="rich", examples=400, **FIXED).plan().release(release="grouped")
    features = [column.name for column in model.encoding.features]
    rows = {name: [30, 50, 40, 60] for name in features}
    told = model.predict({**rows})
    other = next(one for one in model.encoding.classes if one != told[2])
    public = {**rows, "rich": [told[0], told[1], other, "never"], "area": ["n", "n", "s", "s"]}  # no class: not counted
    found = model.accuracy_by(public, "area")
    assert found == (GroupAccuracy("n", 2, 2), GroupAccuracy("s", 1, 0))
    plain, card = model.card(), model.card().with_groups(found)
    assert "accuracy_by_group" not in plain.to_dict()
    assert json.loads(card.to_json())["accuracy_by_group"][0]["accuracy"] == 1
    assert "largest gap 100.0%" in card.to_markdown()
    with pytest.raises(InputError, match="groups"):
        plain.with_groups([])
    with pytest.raises(InputError, match="area"):
        model.accuracy_by(rows | {"rich": told}, "area")
