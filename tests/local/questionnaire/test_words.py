"""Words that are typed: those that stand out are found, with intervals that hold for all of them at once."""

from collections import Counter

import pytest

from discreet.errors import InputError
from discreet.local.questionnaire import Questionnaire, estimates, half_width, people_for
from discreet.local.questionnaire.words import read_word
from questionnaires import asked

WORD = {"kind": "word", "epsilon": 4, "length": 4, "letters": "abcdefgh"}
SURE = 1 - 1e-12


def told(question, people):
    return Counter(question.privatize(word) for word in people)


def survey(**entry):
    return Questionnaire.from_dict(
        {"id": "w", "title": "W", "questions": [{"name": "q", "text": "Q?", **WORD, **entry}]}
    )


@pytest.mark.statistical
def test_words_that_stand_out_are_found_and_rare_ones_are_not():
    asks = survey()
    rare = ["".join("abcdefgh"[int(digit)] for digit in f"{number:04o}") for number in range(300)]
    people = ["deaf"] * 1200 + [" Cab "] * 900 + rare
    (found,) = estimates(asks, [told(asks.questions[0], people)], confidence=SURE)
    assert set(found.labels) == {"deaf", "cab"}
    assert found.reports == len(people)
    for word, share in (("deaf", 1200 / 2400), ("cab", 900 / 2400)):
        place = found.labels.index(word)
        assert found.lower[place] <= share <= found.upper[place]
    assert [row[0] for row in found.rows()] == list(found.labels)
    assert "deaf" in found.words()


def test_accuracy_of_the_plan_grows_with_the_people():
    question = asked(WORD)
    wide = half_width(question, 1000)
    assert half_width(question, 4000) == pytest.approx(wide / 2)
    assert half_width(question, people_for(question, wide)) <= wide * (1 + 1e-9)
    assert people_for(question, wide) <= 1001
    assert question.mechanism.least_share(10) == 1.0  # nobody is found among so few
    shorter = asked({**WORD, "length": 2})
    assert half_width(shorter, 1000) < wide


def test_so_few_people_that_nothing_can_be_looked_for_find_nothing():
    asks = survey()
    (found,) = estimates(asks, [Counter({asks.questions[0].privatize("a"): 3})])
    assert (found.reports, found.labels, found.words()) == (3, (), "No word stands out.")
    (nobody,) = estimates(asks, [Counter()])
    assert (nobody.reports, nobody.labels) == (0, ())


def test_a_word_is_read_as_it_is_meant_and_no_answer_is_repeated():
    law = asked(WORD).mechanism
    assert read_word(law, "  Bead ", "q") == "bead"
    big = asked({**WORD, "letters": "aB"}).mechanism
    assert read_word(big, "aB", "q") == "aB"
    umlaut = asked({**WORD, "letters": "aäß"}).mechanism
    assert read_word(umlaut, "A\u0308ß", "q") == "äß"  # typed as a letter and a mark
    for law_of, wrong in ((law, "beads"), (law, "xyz"), (law, ""), (law, None), (law, "a b"), (big, "b")):
        with pytest.raises(InputError, match="a word of 1 to 4 letters") as caught:
            read_word(law_of, wrong, "q")
        assert not wrong or wrong not in str(caught.value).replace("a word", "").split("got")[-1]


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("letters", {"letters": ""}),
        ("letters", {"letters": "aa"}),
        ("letters", {"letters": 5}),
        ("letters", {"letters": " "}),
        ("letters", {"letters": "a\n"}),
        ("letters", {"letters": "a\u0308b"}),
        ("length", {"length": 0}),
        ("length", {"length": 17}),
        ("length", {"length": "8"}),
        ("length", {"length": True}),
        ("options", {"options": ["a", "b"]}),
        ("mechanism", {"mechanism": "olh"}),
    ],
)
def test_a_wrong_entry_is_refused_by_its_field(field, wrong):
    with pytest.raises(InputError, match=rf"questions\[0\]\.{field}"):
        asked({**WORD, **wrong})


def test_words_are_not_asked_in_rounds_nor_put_together_with_other_questions():
    with pytest.raises(InputError, match="asked in rounds"):
        Questionnaire.from_dict(
            {"id": "w", "title": "W", "repeat": {"rounds": 3}, "questions": [{"name": "q", "text": "Q?", **WORD}]}
        )
    questions = [{"name": "q", "text": "Q?", **WORD}, {"name": "p", "text": "P?", "kind": "binary", "epsilon": 1}]
    with pytest.raises(InputError, match="binary or choice"):
        Questionnaire.from_dict({"id": "w", "title": "W", "cross": [["q", "p"]], "questions": questions})
