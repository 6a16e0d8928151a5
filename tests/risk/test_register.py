"""Names are put to rebuilt people where one entry fits, and judged by what the register did not know."""

from discreet.risk.register import COVERED, Entry, draw_names, draw_register, name_people, named_right
from seam import Tape

REGISTER = [Entry("Ann", 31, "F"), Entry("Bea", 44, "F"), Entry("Cyd", 44, "F"), Entry("Dan", 31, "M")]


def test_a_name_is_put_where_one_entry_is_nearest():
    people = [(30, "F", "white"), (31, "M", "black"), (44, "F", "white"), (70, "M", "other")]
    assert name_people(people, REGISTER) == ["Ann", "Dan", None, None]
    assert name_people(people, REGISTER, years=0) == [None, "Dan", None, None]


def test_an_entry_is_used_once_and_for_the_exact_age_first():
    assert name_people([(30, "F", "x"), (31, "F", "y")], REGISTER[:1]) == [None, "Ann"]


def test_a_name_is_right_if_the_race_is_the_persons_own():
    truth = {"Ann": (31, "F", "white"), "Dan": (31, "M", "black")}
    people = [(30, "F", "white"), (31, "M", "white"), (5, "F", "x")]
    assert named_right(people, ["Ann", "Dan", None], truth) == 1
    assert named_right([(20, "F", "white")], ["Ann"], truth) == 0


def test_a_made_up_register_has_most_of_the_people_under_different_names():
    names = draw_names(196, Tape("names"))
    assert len(set(names)) == 196
    people = [(age % 90, "F", "white") for age in range(196)]
    register = draw_register(names, people, Tape("register"))
    assert abs(len(register) / 196 - COVERED) < 0.15
    assert all(people[names.index(entry.name)][:2] == (entry.age, entry.sex) for entry in register)
