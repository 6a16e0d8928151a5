"""Titles say everything that was asked, in words people use, from the record alone."""

from itertools import permutations

import pytest

from discreet import bins, count, discover, mean, median, people, quantile, share, total
from discreet.core.unit import Unit
from discreet.data.column import Category, Date, Integer, Real, Text
from discreet.data.schema import Schema
from discreet.query.aggregate import correlation, distinct
from discreet.query.limit_choice import limit_query
from discreet.query.quantile import quantiles
from discreet.query.question import Query
from discreet.query.title import condition_text, output_titles, question_title
from discreet.query.top import Top

SCHEMA = Schema(
    "people",
    {
        "sector": Category(["farming", "office"], nullable=False),
        "sex": Category(["f", "m"], nullable=False),
        "age": Integer(0, 100, nullable=False),
        "hours": Integer(0, 80, nullable=False),
        "pay": Real(0, 1000, nullable=False),
        "visit_date": Date("2024-01-01", "2024-12-31", nullable=False),
        "city": Text(),
    },
    unit=Unit("person", groups=1, rows=1),
)
ASKED = {
    "Number of rows": Query().agg(n=count()),
    "Number of people by sex": Query().group_by("sex").agg(n=people()),
    "Mean pay by sector, where hours > 0": Query().where("hours > 0").group_by("sector").agg(m=mean("pay")),
    "Median pay and total pay by sector and sex": (
        Query().group_by("sector", "sex").agg(t=total("pay"), m=median("pay"))
    ),
    "Number of rows by age (steps of 20)": Query().histogram("age", width=20),
    "Number of rows by age (3 bins)": Query().histogram("age", [0, 18, 65, 100]),
    "Number of rows by visit date (monthly)": Query().group_by(bins("visit_date", every="month")).agg(n=count()),
    "Number of rows by city": Query().group_by(discover("city")).agg(n=count()),
    "25th, 50th and 90th percentiles of pay": Query()._computing(quantiles("pay", [0.9, 0.25, 0.5])),
    "90th percentile of pay": Query().agg(q=quantile("pay", 0.9)),
    "Correlation of pay and hours": Query().agg(r=correlation("pay", "hours")),
    "Number of different values of sector": Query().agg(d=distinct("sector")),
    "Limits on rows per person": limit_query(Query(), None, 20),
}


@pytest.mark.parametrize("title", ASKED)
def test_a_title_says_what_was_asked(title):
    query = ASKED[title]
    assert question_title(query.checked(SCHEMA).to_dict()) == title


def test_a_choice_names_its_options():
    scores = [{"option": name, "score": "1", "bounds": ["0", "1"]} for name in ("oak", "elm", "ash", "fir")]
    assert question_title({"choose": scores[:3], "where": None}) == "The best of oak, elm and ash"
    assert (
        question_title({"choose": scores, "where": "age >= 18"}) == "The best of oak, elm and 2 more, where age >= 18"
    )


def test_the_most_common_values_and_several_questions_have_titles():
    top = Top(ASKED["Number of people by sex"].keys[0], k=2).where("age >= 18").checked(SCHEMA).to_dict()
    assert question_title(top) == "2 most common values of sex, where age >= 18"
    parts = [{"query": ASKED[name].checked(SCHEMA).to_dict()} for name in ("Number of rows", "90th percentile of pay")]
    assert question_title({"union": [*parts, parts[0]]}) == "Number of rows; 90th percentile of pay"


def test_many_outputs_are_counted_instead_of_named():
    query = Query().agg(a=count(), b=mean("pay"), c=mean("age"), d=mean("hours")).checked(SCHEMA)
    assert question_title(query.to_dict()) == "Number of rows, mean pay and 2 more"


def test_a_title_is_the_same_whatever_the_order_of_outputs_in_a_record():
    outputs = Query().agg(z=count(), b=mean("pay"), a=total("hours")).checked(SCHEMA).to_dict()["outputs"]
    titles = {question_title({"outputs": dict(order)}) for order in permutations(outputs.items())}
    assert titles == {"Number of rows, total hours and mean pay"}


def test_each_output_and_the_condition_have_words():
    query = Query().where("pay > 5 or sex = 'f'").agg(n=count(), m=mean("pay")).checked(SCHEMA).to_dict()
    assert output_titles(query) == {"n": "number of rows", "m": "mean pay"}
    assert condition_text(query) == "pay > 5 or sex = 'f'"
    assert condition_text({"where": {"strange": 1}}) == ""


def test_a_share_has_its_condition_and_not_what_it_is_recorded_as():
    query = Query().agg(s=share("pay > 5 and hours < 9")).checked(SCHEMA).to_dict()
    assert query["outputs"]["s"]["column"].startswith("CASE WHEN")
    assert output_titles(query) == {"s": "share of rows with pay > 5 AND hours < 9"}
    nested = "CASE WHEN CASE WHEN a THEN b ELSE c END THEN 1 ELSE 0 END"  # left as it is
    assert output_titles({"outputs": {"s": {"of": "share", "column": nested}}}) == {"s": f"share of rows with {nested}"}


@pytest.mark.parametrize("strange", [None, [], {"tree": {}}, {"union": 3}, "text"])
def test_what_is_no_question_has_no_title_here(strange):
    assert question_title(strange) == ""
    assert output_titles(strange) == {}
