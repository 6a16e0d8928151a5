"""What attacks say of themselves, written once."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.risk.attack_result import AttackResult, check_epsilon, check_size, most_right
from discreet.show import Bar, bars


@dataclass(frozen=True)
class Inside:
    named: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Told(AttackResult):
    drawn: ClassVar[tuple[str, ...]] = ("shades",)
    derived: ClassVar[tuple[str, ...]] = ("twice",)
    people: int
    inside: Inside
    shades: np.ndarray

    @property
    def twice(self):
        return 2 * self.people

    def details(self):
        return [f"{self.people} people", "and more"]

    def conclusion(self):
        return "So it is."

    def picture(self):
        return bars("people", [Bar("found", self.people)])


def test_plain_values_are_fields_and_properties_but_those_that_are_only_drawn():
    found = Told(3, Inside(("Ann",)), np.zeros(4))
    assert found.to_dict() == {"people": 3, "inside": {"named": ("Ann",)}, "twice": 6, "conclusion": "So it is."}


def test_words_end_with_the_conclusion():
    found = Told(3, Inside(()), np.zeros(4))
    assert str(found) == found.explain() == "3 people\nand more\nSo it is."


@pytest.mark.parametrize("missing", ["details", "conclusion", "picture"])
def test_a_result_without_words_or_a_picture_is_none(missing):
    given = {name: lambda self: "" for name in ("details", "conclusion", "picture") if name != missing}
    with pytest.raises(TypeError, match="abstract"):
        type("Silent", (AttackResult,), given)()


def test_settings_that_make_no_sense_are_refused():
    check_epsilon(5)
    check_size("people", 3, 2, 4)
    for wrong in (0, -1, math.inf, math.nan):
        with pytest.raises(InputError, match="`epsilon` must be more than zero"):
            check_epsilon(wrong)
    with pytest.raises(InputError, match="below 100"):
        check_epsilon(100, 100)
    for wrong in (1, 5, True, 2.5, "3"):
        with pytest.raises(InputError, match="`people` must be a whole number from 2 to 4"):
            check_size("people", wrong, 2, 4)


def test_what_no_attack_beats_is_that_of_the_best_test_of_one_bit():
    """Randomized response is right e^eps / (1 + e^eps) of the time, and epsilon-private."""
    assert most_right(math.log(3)) == pytest.approx(0.75)
    assert most_right(0) == 0.5
    assert most_right(2000) == 1
