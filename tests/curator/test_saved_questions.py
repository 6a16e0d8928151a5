"""Questions with a name: what is kept of them, and that they are asked about the data and the schema of now."""

import pytest

from discreet.curator import Curator
from discreet.curator.saved_questions import SavedQuestions, described
from discreet.data.column import Date
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.aggregate import count
from discreet.query.key import bins
from small_desk import COLUMNS, PERSONS, open_desk


@pytest.fixture
def desk(tmp_path):
    return open_desk(tmp_path)


@pytest.fixture
def saved(desk):
    return SavedQuestions.beside(desk.ledger, "people")


def test_a_saved_question_is_planned_as_it_was(desk, saved):
    question = Curator(desk).table().where("age > 20").group_by("county").agg(n=count())
    saved.save("by county", described(question.query), {"epsilon": "0.5", "confidence": 0.9, "rho": None}, who="ann")
    (one,) = saved.listed()
    assert (one.name, one.who, dict(one.price)) == ("by county", "ann", {"epsilon": "0.5", "confidence": 0.9})
    assert one.day.count("-") == 2
    offer = Curator(desk).saved.find("by county").offer(Curator(desk))
    assert offer.plan.digest == question.plan(epsilon="0.5", confidence=0.9).plan.digest
    assert saved.find("by county").offer(Curator(desk), share="0.1").quote.cost == "epsilon = 1"


def test_a_statement_keeps_its_text_and_the_limits_beside_it(tmp_path):
    desk = open_desk(tmp_path, PERSONS)
    saved = SavedQuestions.beside(desk.ledger, "people")
    text = "SELECT county, COUNT(*) AS n FROM people GROUP BY county ORDER BY n DESC"
    question = Curator(desk).sql(text).limits(rows=3)
    saved.save("sorted", described(question.query, text), {"epsilon": 1})
    asked = saved.find("sorted").asked
    assert asked == {"sql": text, "dialect": "duckdb", "limits": {"rows": 3}}
    assert saved.find("sorted").offer(Curator(desk)).plan.digest == question.plan(epsilon=1).plan.digest


def test_next_quarter_has_its_months_too(desk, saved, tmp_path):
    question = Curator(desk).table().group_by(bins("day", every="month")).agg(n=count())
    saved.save("months", described(question.query), {"epsilon": 1})
    assert len(saved.find("months").offer(Curator(desk)).plan.question.keys[0].edges) == 13
    later = Schema("people", {**COLUMNS, "day": Date("2024-01-01", "2025-03-31", nullable=False)})
    grown = Curator(open_desk(tmp_path, later))
    assert len(saved.find("months").offer(grown).plan.question.keys[0].edges) == 16


def test_a_name_is_replaced_removed_and_missed_by_name(desk, saved):
    asked = described(Curator(desk).table().agg(n=count()).query)
    with pytest.raises(InputError, match="there is none yet"):
        saved.find("mine")
    for epsilon in (1, 2):
        saved.save(" mine ", asked, {"epsilon": epsilon})
    saved.save("Mine", asked, {"epsilon": 3})  # another name, also where files do not tell capitals apart
    assert [(one.name, one.price["epsilon"]) for one in saved.listed()] == [("Mine", 3), ("mine", 2)]
    with pytest.raises(InputError, match="Did you mean `mine`"):
        saved.find("mines")
    saved.remove("mine")
    assert [one.name for one in saved.listed()] == ["Mine"]
    for wrong in ("", " ", "x" * 81, 7, "a\nb"):
        with pytest.raises(InputError):
            saved.save(wrong, asked, {"epsilon": 1})


def test_names_lead_to_no_other_folder(desk, saved):
    asked = described(Curator(desk).table().agg(n=count()).query)
    saved.save("../../../outside", asked, {"epsilon": 1})
    (path,) = saved.folder.glob("*")
    assert path.parent == saved.folder
    assert saved.find("../../../outside").price == {"epsilon": 1}


def test_a_file_that_is_none_is_passed_over(desk, saved):
    saved.save("mine", described(Curator(desk).table().agg(n=count()).query), {"epsilon": 1})
    (saved.folder / "notes.json").write_text("{")
    (saved.folder / "other.json").write_text("[1]")
    assert [one.name for one in saved.listed()] == ["mine"]


def test_they_are_not_without_end_and_one_that_is_there_can_still_be_replaced(desk, saved, monkeypatch):
    monkeypatch.setattr("discreet.curator.saved_questions._MOST", 1)
    asked = described(Curator(desk).table().agg(n=count()).query)
    saved.save("first", asked, {"epsilon": 1}, who="ann")
    with pytest.raises(InputError, match="at most 1 saved questions"):
        saved.save("second", asked, {"epsilon": 1}, who="ann")
    saved.save("first", asked, {"epsilon": 2}, who="ben")
    assert (saved.owner("first"), saved.owner("second"), len(list(saved.folder.iterdir()))) == ("ben", None, 1)
