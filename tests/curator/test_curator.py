"""Where a person starts: nothing is spent before all is checked, and what came out is what was recorded."""

from __future__ import annotations

from fractions import Fraction

import pyarrow
import pytest

from discreet.core.unit import Unit
from discreet.curator import Curator, open_curator
from discreet.data.column import Category, Date, Integer, Real
from discreet.data.schema import Schema
from discreet.errors import BudgetError, InputError, RunError
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.ledger import Ledger
from discreet.query.aggregate import count, mean, total

SCHEMA = Schema("people", {"age": Integer(0, 120, nullable=False), "county": Category(["Ash", "Elm"], nullable=False)})
TABLE = pyarrow.table({"age": [30, 40, 50], "county": ["Ash", "Elm", "Ash"], "other": [1, 2, 3]})


@pytest.fixture
def books(tmp_path):
    return Ledger.open(tmp_path / "books.db", create=True)


def spent(books, dataset="people"):
    return [standing.spent.amount for standing in books.standing(dataset)]


@pytest.mark.filterwarnings("ignore:.*may describe earlier data")  # a table in memory has no version
def test_a_question_is_priced_released_and_read_again_for_free(books):
    curator = open_curator(TABLE, SCHEMA, ledger=books, budget=Budget(2), who="ann", create=True)
    offer = curator.table("people").group_by("county").agg(n=count(), age=mean("age")).plan(epsilon=0.5)
    assert spent(books) == [0]
    assert "epsilon = 0.5" in str(offer)
    release = offer.release(release="first", why="a test")
    assert spent(books) == [Fraction(1, 2)]
    assert release["county"] == ["Ash", "Elm"]
    assert offer.release(release="first").columns == release.columns
    assert curator.release("first").columns == release.columns
    assert curator.releases() == ["first"]
    assert spent(books) == [Fraction(1, 2)]
    assert "1.5" in repr(curator)
    assert "first" in repr(release)


def test_more_than_is_left_is_refused_and_nothing_is_spent(books):
    curator = open_curator(TABLE, SCHEMA, ledger=books, budget=Budget(1), create=True)
    offer = curator.table().agg(n=count()).plan(epsilon=3)
    assert "refused" in offer.explain()
    with pytest.raises(BudgetError):
        offer.release()
    assert spent(books) == [0]


@pytest.mark.parametrize(
    "ask",
    [
        lambda q: q.agg(n=total("nothing")).plan(epsilon=1),
        lambda q: q.agg(n=count()).plan(),
        lambda q: q.agg(n=count()).plan(epsilon=1, share=0.5),
        lambda q: q.agg(n=count()).plan(share=2),
        lambda q: q.agg(n=count()).plan(epsilon=float("nan")),
        lambda q: q.agg(n=count()).plan(within=0),
        lambda q: q.agg(n=mean("age")).plan(within=1),
        lambda q: q.where("county = 'Oak'").agg(n=count()).plan(epsilon=1),
        lambda q: q.where("age; drop").agg(n=count()).plan(epsilon=1),
        lambda q: q.group_by("age", "age").agg(n=count()).plan(epsilon=1),
        lambda q: q.plan(epsilon=1),
        lambda q: q.agg(n=count()).plan(epsilon=1, allotment="other"),
        lambda q: Curator(q.desk).table("other"),
        lambda q: Curator(q.desk).release("none"),
        lambda q: Curator(q.desk).question("{"),
        lambda q: Curator(q.desk).question({"outputs": {}}),
    ],
)
def test_a_mistake_costs_nothing(books, ask):
    curator = open_curator(TABLE, SCHEMA, ledger=books, budget=Budget(5), create=True)
    head = books.head()
    with pytest.raises(InputError):
        ask(curator.table())
    assert books.head() == head


def test_a_column_the_data_lacks_is_refused_before_anything_is_spent(books):
    for schema, field in [
        (Schema("people", {"height": Integer(0, 3, nullable=False)}), "columns"),
        (Schema("people", {"age": Integer(0, 3, nullable=False)}, Unit("patient", groups=1, rows=1)), "columns"),
        (Schema("people", {"age": Date("2020-01-01", "2021-01-01", nullable=False)}), "columns.age"),
    ]:
        with pytest.raises(InputError) as caught:
            open_curator(TABLE, schema, ledger=books, budget=Budget(1), create=True)
        assert caught.value.field == field
    assert books.datasets() == ()


def test_a_column_that_went_away_is_refused_before_anything_is_spent(books, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age,county\n3,Ash\n")
    curator = open_curator(path, SCHEMA, ledger=books, budget=Budget(5), create=True)
    offer = curator.table().group_by("county").agg(n=count()).plan(epsilon=1)
    path.write_text("age\n3\n")
    with pytest.raises(InputError, match="county"):
        offer.release()
    assert spent(books) == [0]
    path.write_text("age,county\n3,Ash\n")
    assert len(offer.release()) == 2


def test_a_run_that_fails_stays_spent_and_says_only_that(books, tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("age,county\n3,Ash\n")
    curator = open_curator(path, SCHEMA, ledger=books, budget=Budget(5), create=True)
    offer = curator.table().agg(n=count()).plan(epsilon=1)
    from discreet.data.source import Connection

    def fail(self, expression):
        raise ValueError("secret")

    monkeypatch.setattr(Connection, "integers", fail)
    with pytest.raises(RunError) as caught:
        offer.release(release="lost")
    assert "secret" not in str(caught.value)
    assert spent(books) == [1]


def test_a_schema_file_with_its_budget(tmp_path):
    (tmp_path / "discreet.toml").write_text(
        """
        [dataset]
        name = "people"
        [columns.age]
        type = "integer"
        lower = 0
        upper = 120
        [budget]
        epsilon = 3
        delta = 1e-6
        [budget.allotments.quick]
        kind = "pure"
        epsilon = 1
        [budget.allotments.deep]
        kind = "zcdp"
        epsilon = 2
        delta = 1e-6
        """
    )
    (tmp_path / "t.csv").write_text("age\n3\n")
    curator = open_curator(tmp_path / "t.csv", tmp_path / "discreet.toml", create=True)
    assert (tmp_path / ".discreet" / "ledger.db").exists()
    assert [s.allotment.name for s in curator.standing()] == ["quick", "deep"]
    release = curator.table().agg(n=count()).plan(share=0.5, allotment="deep").release()
    assert "rho" in release.cost
    with pytest.raises(InputError, match="quick"):
        curator.table().agg(n=count()).plan(epsilon=1)


@pytest.mark.parametrize(
    ("budget", "field"),
    [
        ('epsilon = "?"', "budget.epsilon"),
        ("epsilon = -1", "budget.epsilon"),
        ("epsilon = 1\nrho = 1", "budget.epsilon"),
        ("", "budget.epsilon"),
        ("eps = 1", "budget.eps"),
        ("epsilon = 1\nallotments = 3", "budget"),
        ('epsilon = 1\n[budget.allotments.a]\nkind = "pure"', "allotment.epsilon"),
        ('epsilon = 1\n[budget.allotments.a]\nkind = "pure"\nsize = 1', "budget.allotments.a"),
        ("epsilon = 1\n[budget.allotments.a]\nepsilon = 1", "budget.allotments.a"),
        ('epsilon = 1\n[budget.allotments.a]\nkind = "pure"\nepsilon = 2', "allotments.epsilon"),
    ],
)
def test_a_budget_that_is_none_is_refused_by_name(tmp_path, budget, field):
    head = '[dataset]\nname = "people"\n[columns.age]\ntype = "integer"\nlower = 0\nupper = 9\n[budget]\n'
    (tmp_path / "discreet.toml").write_text(head + budget)
    (tmp_path / "t.csv").write_text("age\n3\n")
    with pytest.raises(InputError) as caught:
        open_curator(tmp_path / "t.csv", tmp_path / "discreet.toml", ledger=tmp_path / "books.db", create=True)
    assert caught.value.field == field, caught.value


def test_a_dataset_without_a_budget_is_refused(books):
    with pytest.raises(InputError):
        open_curator(TABLE, SCHEMA, ledger=books, create=True)


def test_another_allotment_counts_by_its_own_rule(books):
    budget = Budget(3, delta=1e-6, allotments=[Allotment("q", "zcdp", epsilon=3, delta=1e-6)])
    schema = Schema("people", {"age": Real(0, 120, nullable=False)})
    curator = open_curator(TABLE, schema, ledger=books, budget=budget, create=True)
    offer = curator.table().agg(n=count(), s=total("age")).plan(epsilon=0.5)
    offer.release()
    assert spent(books) == [offer.plan.charge.amount]
    assert offer.plan.charge.amount < Fraction(1, 8)
