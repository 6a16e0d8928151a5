"""What an error says: what is allowed, what was given, what was probably meant."""

import ast
import copy
import pickle
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas
import pyarrow
import pytest

from discreet import errors
from discreet.errors import GIVEN, MISSING, InputError, Phrase, kind_of, nearest


def test_a_message_says_what_must_be_what_was_given_and_what_to_do():
    error = InputError("epsilon", -1, "more than zero", "0.1 to 1 is usual.")
    assert str(error) == "`epsilon` must be more than zero; got -1. 0.1 to 1 is usual."
    assert (error.field, error.got, error.allowed, error.hint) == (
        "epsilon",
        -1,
        "more than zero",
        "0.1 to 1 is usual.",
    )


@pytest.mark.parametrize("got", [None, MISSING])
def test_what_is_missing_is_said_to_be_missing(got):
    assert str(InputError("delta", got, "below 1")) == "`delta` is missing: it must be below 1."
    assert str(InputError("delta", got, "given with rho")) == "`delta` must be given with rho."


def test_what_is_one_too_many_is_not_repeated():
    assert str(InputError("--rows", GIVEN, "left out with --unit row")) == "`--rows` must be left out with --unit row."


def test_a_description_stands_without_quotes_and_a_value_with_them():
    assert str(InputError("y", Phrase("3 values"), "one for each row")) == "`y` must be one for each row; got 3 values."
    assert str(InputError("y", "3 values", "numbers")) == "`y` must be numbers; got '3 values'."
    assert str(InputError("share", Fraction(7, 5), "at most 1")) == "`share` must be at most 1; got 7/5."
    assert str(InputError("coin", Decimal("1.5"), "at most 1")) == "`coin` must be at most 1; got 1.5."
    assert str(InputError("ranges", [0, Decimal("6.2"), "a"], "ascending")).endswith("got [0, 6.2, 'a'].")


def test_a_kind_is_named_without_its_content():
    class Outline: ...

    kinds = [kind_of(value) for value in (["secret"], "secret", 3, 2.5, {}, Outline())]
    assert kinds == ["a list", "text", "a whole number", "a number", "a dictionary", "an Outline"]


@pytest.mark.parametrize(
    "given",
    [
        np.array(["a cell"]),
        pyarrow.array(["a cell"]),
        pyarrow.chunked_array([["a cell"]]),
        pyarrow.table({"x": ["a cell"]}),
        pandas.Series(["a cell"]),
        pandas.DataFrame({"x": ["a cell"]}),
        pandas.Index(["a cell"]),
        ["a cell"] * 101,
        dict.fromkeys(range(101), "a cell"),
    ],
)
def test_a_column_in_place_of_its_name_is_not_quoted(given):
    """Notebooks have both at hand: `mean(df.pay)` for `mean("pay")`."""
    message = str(InputError("column", given, "the name of a column"))
    assert message == f"`column` must be the name of a column; got {kind_of(given)}."
    assert str(InputError("epsilon", np.float64(-2), "more than zero")).endswith("got -2.0.")


def test_names_to_choose_from_are_listed_and_the_nearest_is_suggested():
    error = InputError("column", "pey", among=["age", "pay", "sex"], hint="Nothing was spent.")
    assert str(error) == ("`column` must be one of age, pay, sex; got 'pey'. Did you mean `pay`? Nothing was spent.")
    assert error.allowed == "one of age, pay, sex"
    assert str(InputError("by", "PAY", "a declared column", among=["pay"])) == (
        "`by` must be a declared column: pay; got 'PAY'. Did you mean `pay`?"
    )
    assert "Did you mean" not in str(InputError("column", "region", among=["age", "pay"]))


def test_a_long_list_of_names_is_cut_and_still_searched():
    names = [f"column{number}" for number in range(100)]
    text = str(InputError("column", "colum99", among=names))
    assert "column11 and 88 more" in text
    assert "column12" not in text
    assert "Did you mean `column99`?" in text


@pytest.mark.parametrize(
    ("names", "allowed"), [(["a", "b"], "one of a, b"), (["a"], "a"), ([], "left out: there is none")]
)
def test_a_list_of_any_length_reads_as_a_sentence(names, allowed):
    assert InputError("name", "zzz", among=names).allowed == allowed
    assert InputError("name", "zzz", "a level", among=[]).allowed == "a level: there is none"


def test_what_has_no_name_is_not_listed_among_the_names():
    assert InputError("part", "zzz", among=["", "noisy"]).allowed == "noisy"
    assert InputError("part", "zzz", among=["", "noisy", "whole"]).allowed == "one of noisy, whole"


def test_a_field_that_does_not_exist_is_answered_with_those_that_do():
    error = InputError.unknown("dataset.nmae", ["name", "version"], "Nothing was spent.")
    assert str(error) == (
        "`dataset.nmae` is not known here. Did you mean `name`? Known: name, version. Nothing was spent."
    )
    assert (error.field, error.allowed) == ("dataset.nmae", "one of name, version")


def test_a_refusal_states_its_own_sentence():
    error = InputError.refused("release", "pay", "has no rows", "Choose another.")
    assert str(error) == "`release` 'pay' has no rows. Choose another."


@pytest.mark.parametrize(
    "error",
    [
        InputError("rows", 0, "more than zero", "1 is usual."),
        InputError("rows", None, "a number", at=" (line 2)"),
        InputError("rows", "x", among=["y"]),
        InputError.unknown("rows", ["row"]),
        InputError.refused("rows", 3, "are too few"),
    ],
)
def test_an_error_may_be_about_what_a_person_wrote(error):
    again = error.about("--rows")
    assert str(again) == str(error).replace("`rows`", "`--rows`", 1)
    assert (again.field, again.got, again.allowed, again.hint) == ("--rows", error.got, error.allowed, error.hint)


@pytest.mark.parametrize("name", [None, 3, "", "é" * 200])
def test_anything_may_be_compared_with_names(name):
    assert nearest(name, ["pay", "age"]) is None


def test_every_error_is_in_one_tree_and_the_docstring_draws_it():
    kinds = [getattr(errors, name) for name in errors.__all__]
    assert all(issubclass(kind, errors.DiscreetError) for kind in kinds)
    drawn = re.findall(r"[├└]── (\w+)", errors.__doc__)
    assert sorted([*drawn, "DiscreetError"]) == sorted(errors.__all__)


def test_no_other_module_defines_an_error():
    """Signals that no caller ever sees are private, or named here."""
    signals = {
        "learn/clip/mixing_rules.py: Mixed",
        "data/expression/domain.py: UnsuitableError",
        "audit/seam.py: BrokenLawError",
    }
    source = Path(errors.__file__).parent
    found = {
        f"{path.relative_to(source)}: {node.name}"
        for path in source.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
        if any(ast.unparse(base).endswith(("Error", "Exception")) for base in node.bases)
    }
    assert {name for name in found if not name.startswith("errors.py")} <= signals


def test_a_refusal_carries_what_was_asked_and_what_is_left():
    refusal = errors.BudgetError("no", asked=2, left=1, allotment="questions")
    assert (refusal.asked, refusal.left, refusal.allotment) == (2, 1, "questions")
    assert errors.RunError("failed", release="r1").release == "r1"
    assert "pip install 'discreet[power]'" in str(errors.MissingExtraError("power", "clarabel"))


@pytest.mark.parametrize(
    "error",
    [
        InputError("epsilon", -1, "more than zero", "Do this."),
        InputError.unknown("dataset.nmae", ["name"]),
        InputError("a", "b", "c").about("d"),
        errors.MissingError("release", "x", "there"),
        errors.BudgetError("too much", asked=1, left=0, allotment="questions"),
        errors.RunError("failed", release="r"),
        errors.MissingExtraError("spark", "pyspark"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_is_the_same_in_a_copy_and_in_another_process(error):
    for other in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
        assert type(other) is type(error)
        assert (str(other), vars(other)) == (str(error), vars(error))
