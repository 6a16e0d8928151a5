"""Streams: T periods under one price, each published once, totals that add up."""

import math
from fractions import Fraction

import pytest
from stream_table import COLUMNS, MONTHS, opened, planned, rows_of

import discreet
from discreet import Budget, Date, Schema, Unit, bins, count, mean, people, total
from discreet.accounting import pure, zcdp
from discreet.errors import BudgetError, InputError
from discreet.ledger.ledger import Ledger
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.stream import plan_stream
from discreet.query.stream_step import StreamStep


@pytest.mark.parametrize("cut", ["_counted", "measurement", "answered_by"])
def test_a_period_that_was_cut_short_is_published_though_new_rows_arrived(tmp_path, monkeypatch, cut):
    """Its id is fixed: refused for ever, the paid stream could not go on."""
    drawn = cut != "_counted"
    csv, schema = tmp_path / "v.csv", Schema("t", COLUMNS, Unit("p", groups=1, rows=1))
    csv.write_text("p,day,sex,pay\n" + "".join(f"{p},2024-0{1 + p % 2}-05,f,1\n" for p in range(40)))

    def stream():
        desk = discreet.open(
            str(csv), schema, ledger=tmp_path / "l.db", budget=Budget(epsilon=10**5), who="t", create=True
        )
        return desk.table().agg(n=people()).stream(MONTHS).plan(epsilon=10**5).start("year")

    first = stream()
    first.release()
    with monkeypatch.context() as crash:

        def die(*_, **__):
            raise KeyboardInterrupt

        crash.setattr(Ledger if drawn else StreamStep, cut, die)
        with pytest.raises(KeyboardInterrupt):
            first.release()
    with csv.open("a") as file:
        file.write("999,2024-02-07,f,1\n")
    books = first.offer.desk.ledger
    paid = books.find("year/2")
    answer = stream().release()
    assert answer.id == "year/2"
    assert answer["n"] == [20 if drawn else 21]  # what was drawn then, or else the table of now
    assert (books.find("year/2").data == paid.data) is drawn
    assert stream().release()["n"] == [0]
    assert books.verify().ok


def test_a_later_period_is_not_released_before_the_first_is_paid(curator):
    """In 0.1 the door took a step of cost zero from anyone."""
    plan = curator.table().agg(n=count()).stream(MONTHS).plan(epsilon=1).plan
    step = StreamStep(plan, 2, "year", curator.ledger.workspace("private"))
    with pytest.raises(InputError, match="never charged"):
        curator.local.through_the_door(step, plan.columns, release="year/2", why="")
    offer = curator.table().agg(n=count()).stream(MONTHS).plan(epsilon=1)
    offer.start("year").release()
    for name in ("other/2", "year/3"):
        with pytest.raises(InputError, match="cover"):
            curator.local.through_the_door(step, plan.columns, release=name, why="")
    assert offer.start("year").release().id == "year/2"
    assert curator.ledger.verify().ok


def test_the_price_of_a_stream_is_known_and_exact(tmp_path):
    pure_plan = planned(Unit("p", groups=2, rows=3), {"n": count(), "who": people()}, 2)
    assert pure(pure_plan.cost).epsilon == 1
    budget = Budget(rho=1)
    plan = planned(Unit("p", groups=2, rows=3), {"n": count()}, 2, Price.read(rho=Fraction(1, 2)), budget=budget)
    assert Fraction(4999, 10_000) < zcdp(plan.cost).rho <= Fraction(1, 2)
    assert StreamStep(plan, 1, "s", tmp_path).cost == plan.cost
    assert pure(StreamStep(plan, 2, "s", tmp_path).cost).epsilon == 0


@pytest.fixture
def curator(tmp_path):
    return opened(tmp_path)


def test_a_year_is_charged_once_and_published_month_by_month(curator):
    offer = curator.table().agg(n=count(), pay=total("pay")).stream(MONTHS).plan(epsilon=10**4)
    assert "12 periods" in str(offer)
    stream = offer.start("year")
    running = 0
    for month in range(1, 13):
        answer = stream.release()
        running += answer["n"][0]
        assert answer["n_total"][0] == pytest.approx(running, abs=1)
        assert answer["day"] == [f"2024-{month:02d}-01..{'2025-01-01' if month == 12 else f'2024-{month + 1:02d}-01'}"]
        assert answer["n_lower"][0] <= answer["n"][0] <= answer["n_upper"][0]
    assert running == len({row["p"] for row in rows_of(300)})  # each person once, in their first month
    assert curator.ledger.remaining("t").amount == 10**5 - 10**4
    assert stream.released == 12
    assert stream.release(3).columns == offer.start("year").release(3).columns
    assert curator.release("year/3")["n"] == stream.release(3)["n"]
    with pytest.raises(InputError, match="period"):
        stream.release()


def test_periods_come_in_order_and_names_are_not_shared(curator):
    offer = curator.table().agg(n=count()).stream(MONTHS).plan(epsilon=1)
    with pytest.raises(InputError, match="in order"):
        offer.start("a").release(2)
    offer.start("a").release()
    other = curator.table().agg(n=people()).stream(MONTHS).plan(epsilon=1)
    with pytest.raises(InputError, match="another"):
        other.start("a").release()
    with pytest.raises(BudgetError):
        curator.table().agg(n=count()).stream(MONTHS).plan(epsilon=10**6).start("b").release()


def test_totals_of_many_periods_beat_separate_releases():
    """A thousand days: the error of the last total against that of a thousand answers added up, at one price."""
    schema = Schema("t", {"day": Date("2020-01-01", "2022-09-26", nullable=False)}, Unit("p", groups=1, rows=1))
    budget = Budget(rho=1)
    query = Query().agg(n=count())
    plan = plan_stream(query, schema, budget.allotments[0], Price.read(rho=1), bins("day", every="day"))
    assert plan.periods == 1000
    together = plan.trees[0].error(0.95, period=1000, noise=plan.noises[0])
    apart = 1.96 * math.sqrt(1000) * math.sqrt(1 / 2)  # each day once in one of a thousand disjoint counts: rho = 1
    assert together < apart / 3


@pytest.mark.parametrize(
    ("outputs", "period", "limit", "says"),
    [
        ({"m": mean("pay")}, MONTHS, 1, "running totals"),
        ({"n": count()}, discreet.key("sex"), 1, "period"),
        ({"n": count()}, MONTHS, 0, "limit"),
        ({"n": count()}, MONTHS, True, "limit"),
        ({"n": count()}, bins("sex", [0, 1]), 1, "bins"),
    ],
)
def test_bad_streams_are_refused(curator, outputs, period, limit, says):
    with pytest.raises(InputError, match=says):
        curator.table().agg(**outputs).stream(period, limit=limit).plan(epsilon=1)


def test_streams_need_add_remove_neighbours():
    with pytest.raises(InputError, match="add-remove"):
        planned(Unit("p", neighbours="replace", groups=1, rows=1), {"n": count()})
