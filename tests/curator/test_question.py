"""A question being put together: nothing is read, each step makes another, and mistakes name the step."""

from __future__ import annotations

import pytest

from discreet import bins, col, count, key, mean
from discreet.curator.question import Question, batch_of, read_question
from discreet.errors import InputError
from discreet.query.question import Query
from discreet.query.top import Top
from small_desk import open_desk


@pytest.fixture
def question(tmp_path):
    return Question(open_desk(tmp_path), Query())


def test_each_step_makes_another_question(question):
    built = question.where("age > 35").where(col("pay").missing()).group_by("county").agg(n=count(), m=mean("age"))
    assert question.query == Query()
    assert built.query == (
        Query().where("age > 35").where(col("pay").missing()).group_by("county").agg(n=count(), m=mean("age"))
    )
    assert built.histogram("age", width=20).query.keys[-1].column == "age"
    both = Query().histogram("age", width=20, by=bins("cost", width=50))
    assert [each.column for each in both.keys] == ["age", "cost"]
    assert built.histogram("age", by="sex").query.keys[-1].column == "sex"
    assert [name for name, _ in question.range("pay").query.ordered] == ["min", "max", "range"]
    assert [name for name, _ in question.suggest_bounds("pay").query.ordered] == ["low", "high"]
    assert [name for name, _ in question.quantiles("pay", [0.25, 0.5]).query.ordered] == ["q25", "q50"]


def test_it_is_no_table(question):
    for read in (list, lambda q: q["age"]):
        with pytest.raises(InputError, match="no rows yet"):
            read(question)


def test_the_most_common_values_are_a_question_of_their_own(question):
    top = question.where("age > 35").top("county", 1, counts=False)
    assert isinstance(top.query, Top)
    assert top.query.condition == question.where("age > 35").query.condition
    for wrong in (
        lambda: question.agg(n=count()).top("county"),
        lambda: top.agg(n=count()),
        lambda: top.group_by("age"),
    ):
        with pytest.raises(InputError) as caught:
            wrong()
        assert caught.value.field == "top"


def test_periods_are_bins(question):
    stream = question.agg(n=count()).stream(bins("day", every="month"), limit=2)
    assert stream.plan(epsilon=1).plan.charge.amount == 1
    with pytest.raises(InputError, match="every="):
        question.agg(n=count()).stream("day")


def test_a_batch_is_of_questions_of_one_desk(question, tmp_path):
    counted = question.agg(n=count())
    batch = batch_of(question.desk, {"all": counted, "old": counted.where("age > 35")})
    assert batch.plan(epsilon=2).plan.charge.amount == 2
    (tmp_path / "other").mkdir()
    stranger = Question(open_desk(tmp_path / "other"), counted.query)
    for wrong in (stranger, "count", counted.query):
        with pytest.raises(InputError, match=r"batch\.x"):
            batch_of(question.desk, {"x": wrong})
    with pytest.raises(InputError):
        batch_of(question.desk, {"x": question.top("county")})


def test_a_question_as_people_type_it(question):
    desk = question.desk
    assert read_question(desk, None, None, None).query == Query().agg(count=count())
    typed = read_question(desk, ["n=count", "mean(pay)"], ["county", "age/20"], "age > 35")
    assert typed.query.checked(desk.schema) == (
        Query().where("age > 35").group_by(key("county"), bins("age", width=20)).agg(n=count(), mean_pay=mean("pay"))
    ).checked(desk.schema)
    assert (
        read_question(desk, None, None, "age > 35", ("county", 1)).query
        == question.where("age > 35").top("county", 1).query
    )
    with pytest.raises(InputError, match="without outputs"):
        read_question(desk, ["count"], None, None, ("county", 1))


def test_a_question_that_is_not_planned_is_written_in_one_line(question):
    asked = question.where("age > 3").group_by("county").agg(n=count())
    assert repr(asked) == (
        "<Question about 'people': Number of rows by county, where age > 3; plan(...) it to see its price>"
    )
    assert len(repr(question.agg(**{f"a{place}": count() for place in range(99)}))) < 200
    assert "'people'" in repr(question.top("county"))
