"""Refusals and what their hints say to do instead: each is provoked as a person would, and its hint followed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas
import pyarrow
from shell import run

import discreet
from choice_hints import PAIRS
from discreet.core.unit import Unit
from discreet.curator.kinds import read_release
from discreet.curator.question import Question, read_question
from discreet.curator.setup import find_ledger
from discreet.data.column import Boolean, Category, Date, Integer, Real, Text, Timestamp, column_from
from discreet.data.expression import col
from discreet.data.join import Join
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.data.view import Lookup
from discreet.flows.commuting.ask import CommuteAsk
from discreet.ledger.budget import Allotment
from discreet.query.aggregate import count, mean, people, share, total
from discreet.query.discovery_plan import plan_discovery
from discreet.query.key import bins, discover, key
from discreet.query.limits import PersonLimits
from discreet.query.modes import mode
from discreet.query.notation import read_outputs
from discreet.query.parse import parse_condition
from discreet.query.predicate import checked
from discreet.query.price import Price
from discreet.query.quantile import median, quantile
from discreet.query.quantile_plan import plan_quantiles
from discreet.query.question import Query
from discreet.query.question_ask import plan_any
from discreet.query.stream import StreamAsk
from discreet.query.top import Top
from small_desk import open_desk

Act = Callable[[Path], Any]

COLUMNS = {
    "age": Integer(0, 120),
    "pay": Real(0, 1000),
    "sex": Category(["f", "m"]),
    "note": Text(),
    "day": Date("2024-01-01", "2024-12-31"),
    "at": Timestamp("2024-01-01", "2024-12-31", "Europe/Vienna"),
    "count": Category(["a", "b"]),
    "wide": Integer(0, 10**9),
}
VISITS = Schema("visits", COLUMNS, Unit("person", groups=2, rows=2))
ROWS = Schema("visits", COLUMNS)
PURE = Allotment("main", "pure", epsilon=1)
ZCDP = Allotment("main", "zcdp", rho=1, delta=1e-6)
FAR = Schema("t", {"x": Real(10**14, 10**14 + 1), "y": Real(0, 1)})


@dataclass(frozen=True)
class Case:
    """What is refused, and what its hint says to do."""

    refused: Act
    followed: Act


def at_once(refused: Callable[[], Any], *followed: Callable[[], Any]) -> list[Case]:
    """Cases without a folder."""
    return [Case(lambda _: refused(), lambda _, one=one: one()) for one in followed]


def plan(query: Any, schema: Schema = VISITS, allotment: Allotment = PURE, delta: Any = None, **price: Any) -> Any:
    return plan_any(query, schema, allotment, Price.read(**(price or {"epsilon": 1})), delta)


def asked(refused: Query, followed: Query, **how: Any) -> list[Case]:
    return at_once(lambda: plan(refused, **how), lambda: plan(followed, **how))


def shell(words: str, *followed: str, before: Callable[[Path], Any] | None = None) -> list[Case]:
    """A command that is refused, and those that its hint leads to, in a folder of its own."""

    def started(folder: Path, line: str, code: int) -> str:
        (folder / "visits.csv").write_text("patient,age\n1,42\n")
        if before is not None:
            before(folder)
        said = run(*line.split(), cwd=folder, code=code)
        if code:
            raise ValueError(said.stderr)
        return said.stdout

    return [
        Case(lambda folder: started(folder, words, 2), lambda folder, one=one: started(folder, one, 0))
        for one in followed
    ]


def grouped(*keys: Any, **outputs: Any) -> Query:
    return Query().group_by(*keys).agg(**(outputs or {"n": count()}))


def opened(folder: Path, **said: Any) -> Any:
    frame = pandas.DataFrame({"row": [1], "age": [30]})
    given = {"ledger": str(folder / "books.db"), "create": True, "columns": {"age": (0, 99)}, "epsilon": 1, **said}
    return discreet.open(frame, **given)


def ask(folder: Path, **how: Any) -> Question:
    return Question(open_desk(folder, **how), Query())


def released(folder: Path, release: str, *read: Any, others: tuple[str, ...] = (), **how: Any) -> Any:
    offer = ask(folder).agg(n=count()).plan(epsilon=1)
    for name in ("counts", *others):
        offer.release(release=name)
    return read_release(offer.desk.ledger, release, *read, **how)


def stream(query: Query, **price: Any) -> Any:
    ready = StreamAsk.of(query.agg(n=count()), bins("day", every="month"), 1).checked(VISITS)
    return ready.priced(PURE, Price.read(**(price or {"epsilon": 1})))


COMMUTE = CommuteAsk(origin="a", destination="b", coordinates={})
NARROW = Schema("t", {"x": Real("1.2", "1.7")})
QUERY = [
    *asked(
        grouped(discover("note"), m=mean("pay", "private")),
        grouped(discover("note"), m=mean("pay", (0, 100))),
        allotment=ZCDP,
        delta=1e-8,
    ),
    *at_once(
        lambda: plan(grouped(n=people()), ROWS),
        lambda: plan(grouped(n=people())),
        lambda: plan(grouped(n=count()), ROWS),
    ),
    *at_once(
        lambda: total("pay", "private", person=(0, 5)),
        lambda: total("pay", (0, 9), person=(0, 5)),
        lambda: total("pay", person=(0, 5)),
    ),
    *at_once(
        lambda: plan(grouped(s=total("pay", person=(0, 5))), ROWS),
        lambda: plan(grouped(s=total("pay", (0, 5))), ROWS),
        lambda: plan(grouped(s=total("pay", person=(0, 5)))),
    ),
    *at_once(
        lambda: plan(grouped(discover("note"))),
        lambda: plan(grouped(discover("note")), allotment=ZCDP, delta=1e-8),
        lambda: plan(grouped("sex")),
    ),
    *at_once(
        lambda: plan(grouped(discover("note")), allotment=ZCDP),
        lambda: plan(grouped(discover("note")), allotment=ZCDP, delta=1e-8),
    ),
    *at_once(
        lambda: plan(grouped(discover("note")), allotment=Allotment("main", "zcdp", rho=1), delta=1e-8),
        lambda: plan(grouped(discover("note")), allotment=ZCDP, delta=1e-8),
    ),
    *at_once(
        lambda: plan(grouped(discover("note")), allotment=ZCDP, delta=1e-8, within=5),
        *(
            lambda way=way: plan(grouped(discover("note")), allotment=ZCDP, delta=1e-8, **{way: 0.1})
            for way in ("epsilon", "rho", "share")
        ),
    ),
    *at_once(
        lambda: bins("at", width="3 fortnights").checked(VISITS),
        lambda: bins("at", width="3 weeks").checked(VISITS),
        lambda: bins("at", every="month").checked(VISITS),
    ),
    *asked(grouped(discover("pay")), grouped(bins("pay", width=100))),
    *asked(grouped(bins("age", every="month")), grouped(bins("age", width=10))),
    *asked(grouped(bins("day", width="0.5")), grouped(bins("day", every="month"))),
    *asked(grouped("pay / 3"), grouped(bins("pay / 3", width=100))),
    *asked(grouped("pay / 3"), grouped("ROUND(pay / 3)")),
    *asked(grouped("wide"), grouped(bins("wide", width=10**8))),
    *asked(grouped("pay"), grouped(bins("pay", width=100))),
    *at_once(
        lambda: plan(grouped("note")),
        lambda: plan(grouped(discover("note")), allotment=ZCDP, delta=1e-8),
    ),
    *at_once(lambda: PersonLimits(), lambda: Query().limits(groups=3, rows=10)),
    *at_once(
        lambda: plan(Query().limits(groups=3, rows=10).agg(n=count()), ROWS),
        lambda: plan(Query().agg(n=count()), ROWS),
        lambda: plan(Query().limits(groups=3, rows=10).agg(n=count())),
    ),
    *at_once(lambda: read_outputs(["mean pay"]), lambda: read_outputs(['mean("pay, in €")'])),
    *at_once(lambda: read_outputs(["averaged(pay)"]), lambda: read_outputs(["count", "mean(pay)"])),
    *at_once(lambda: read_outputs(["min(pay)"]), lambda: read_outputs(["quantile(pay,0.01)"])),
    *at_once(lambda: read_outputs(["avg(pay)"]), lambda: read_outputs(["mean(pay)"])),
    *at_once(
        lambda: plan(Query().per_person(last="max(at)").agg(n=count())),
        lambda: plan(Query().per_person(last="max(CAST(at AS DATE))").agg(n=count())),
    ),
    *at_once(
        lambda: plan(Query().per_person(visits="count(*)").agg(m=mean("visits")), ROWS),
        lambda: plan(Query().per_person(visits="count(*)").agg(m=mean("visits"))),
    ),
    *at_once(
        lambda: plan(Query().group_by("pay").per_person(visits="count(*)").agg(n=count())),
        lambda: plan(Query().group_by("FLOOR(pay)").per_person(visits="count(*)").agg(n=count())),
    ),
    *at_once(
        lambda: checked(parse_condition("note = 5"), VISITS),
        lambda: checked(parse_condition("note = '5'"), VISITS),
        lambda: checked(parse_condition("note <> '5' AND note IN ('a', 'b') AND note LIKE 'a%'"), VISITS),
    ),
    *at_once(
        lambda: plan(grouped(), rho=1),
        lambda: plan(grouped(), epsilon=1),
        lambda: plan(grouped(), share=0.5),
        lambda: plan(grouped(), within=50),
    ),
    *at_once(
        lambda: plan(grouped(m=mean("pay")), within=5),
        lambda: plan(grouped(n=count(), s=total("pay")), within=5000),
        lambda: plan(grouped(m=mean("pay")), share=0.5),
    ),
    *at_once(
        lambda: plan(grouped(m=mean("pay", "private")), within=5), lambda: plan(grouped(m=mean("pay", "private")))
    ),
    *at_once(lambda: quantile("pay", 1), lambda: quantile("pay", 0.99), lambda: quantile("pay", 0.01)),
    *at_once(lambda: quantile("pay", "0.12345678"), lambda: quantile("pay", "0.12346")),
    *at_once(lambda: plan(grouped(m=median("pay")), within=5), lambda: plan(grouped(m=median("pay")))),
    *at_once(
        lambda: plan(grouped(bins("wide", width=10**4), m=median("pay"))),
        lambda: plan(grouped(bins("wide", width=10**4), m=median("pay", grid=16))),
    ),
    *at_once(lambda: Query().agg(count()), lambda: Query().agg(rows=count())),
    *[
        Case(
            lambda folder: list(ask(folder)),
            lambda folder: ask(folder).agg(n=count()).plan(epsilon=0.5).release().rows(),
        )
    ],
    *asked(Query().group_by("sex").list_groups(), grouped("sex")),
    *at_once(
        lambda: plan(Query().per_person(paid="sum(pay)").agg(m=mean("paid", "private"))),
        lambda: plan(Query().per_person(paid="LEAST(SUM(pay), 1000)").agg(m=mean("paid"))),
    ),
    *at_once(
        lambda: plan(grouped("sex", m=mean("pay", "private")).only_groups([["f"]])),
        lambda: plan(grouped("sex", m=mean("pay", (0, 9))).only_groups([["f"]])),
        lambda: plan(grouped(key("sex", ["f"]), m=mean("pay", "private"))),
    ),
    *at_once(
        lambda: plan(grouped("sex"), delta=1e-8),
        lambda: plan(grouped("sex")),
        lambda: plan(grouped(discover("note")), allotment=ZCDP, delta=1e-8),
    ),
    *at_once(
        lambda: plan(grouped(discover("sex"), m=median("pay")), allotment=ZCDP, delta=1e-8),
        lambda: plan(grouped(key("sex", ["f"]), m=median("pay"))),
    ),
    *at_once(
        lambda: Query().per_person(visits="median(pay)"), lambda: Query().per_person(visits="count(*)", paid="sum(pay)")
    ),
    *at_once(
        lambda: plan(Top(discover("note"), 3), allotment=ZCDP),
        lambda: plan(grouped(discover("note")), allotment=ZCDP, delta=1e-8),
    ),
    *at_once(lambda: plan(Top(key("count"), 1)), lambda: plan(Top(key("count"), 1, counts=False))),
    *at_once(lambda: plan(Top(key("sex"), 1), within=3), lambda: plan(Top(key("sex"), 1))),
]
QUERY += [
    *at_once(lambda: plan(grouped(m=mode("sex")), within=3), lambda: plan(grouped(m=mode("sex")), share=0.5)),
    *at_once(lambda: read_outputs(["a=count", "a=mean(pay)"]), lambda: read_outputs(["a=count", "a_2=mean(pay)"])),
    *asked(grouped(s=total("x")), grouped(s=total("x - 100000000000000")), schema=FAR),
    *asked(Query().agg(m=mean("ill")), Query().agg(m=share("ill")), schema=Schema("visits", {"ill": Boolean()})),
    *at_once(
        lambda: plan(grouped(s=total("wide")), epsilon=1e-40),
        lambda: plan(grouped(s=total("wide", (0, 1))), epsilon=1e-4),
    ),
    *at_once(
        lambda: plan_discovery(grouped(discover("note"), m=median("pay")), VISITS, ZCDP, Price.read(epsilon=1), 1e-8),
        lambda: plan(grouped("sex", m=median("pay"))),
        lambda: plan(grouped(discover("note"), m=mean("pay"), s=total("pay")), allotment=ZCDP, delta=1e-8),
    ),
    *at_once(
        lambda: plan_quantiles(grouped(discover("sex"), m=median("pay")), VISITS, PURE, Price.read(epsilon=1)),
        lambda: plan_quantiles(grouped(key("sex", ["f"]), m=median("pay")), VISITS, PURE, Price.read(epsilon=1)),
    ),
    *at_once(lambda: plan(grouped(m=mean("x", "private")), NARROW), lambda: plan(grouped(m=mean("x")), NARROW)),
    *at_once(lambda: stream(Query().limits(rows_total=3)), lambda: stream(Query().limits(groups=1, rows=1))),
    *at_once(lambda: COMMUTE.price(noise="laplace"), lambda: COMMUTE.price(epsilon=1)),
    Case(
        lambda folder: read_outputs(["top(county)"]),
        lambda folder: read_question(open_desk(folder), None, None, None, ("county", 1)),
    ),
    Case(
        lambda folder: (
            ask(folder, schema=Schema("people", {"agee": Integer(0, 9), "pay": Real(0, 9)}))
            .agg(m=mean("agee"))
            .plan(epsilon=1)
            .release()
        ),
        lambda folder: (
            ask(folder, schema=Schema("people", {"age": Integer(0, 9), "pay": Real(0, 9)}))
            .agg(m=mean("age"))
            .plan(epsilon=1)
            .release()
        ),
    ),
    Case(
        lambda folder: (
            ask(folder, schema=Schema("people", {"Age": Integer(0, 9)})).agg(m=mean("Age")).plan(epsilon=1).release()
        ),
        lambda folder: (
            ask(folder, schema=Schema("people", {"age": Integer(0, 9)})).agg(m=mean("age")).plan(epsilon=1).release()
        ),
    ),
]

TOML = {"type": "integer", "lower": 0}
DATA = [
    *at_once(lambda: column_from("age", TOML), lambda: column_from("age", {**TOML, "upper": 120})),
    *at_once(lambda: Integer(0, "0.5"), lambda: Real(0, "0.5")),
    *at_once(
        lambda: Category(["a", None]), lambda: Category(["a"], nullable=True), lambda: Category(["a"], nullable=False)
    ),
    *at_once(
        lambda: Timestamp("2024-01-01", "2024-12-31", "Viena"),
        lambda: Timestamp("2024-01-01", "2024-12-31", "Europe/Vienna"),
    ),
    *at_once(lambda: Timestamp("2024-01-01", "2024-12-31", "x"), lambda: Timestamp("2024-01-01", "2024-12-31", "UTC")),
    *at_once(
        lambda: Schema("t", {"age": Integer(0, 9)}, Unit("p")),
        lambda: Schema("t", {"age": Integer(0, 9)}, Unit("p", groups=1, rows=1)),
    ),
    *at_once(lambda: VISITS.column(3), lambda: VISITS.column("age"), lambda: VISITS.column(col("age") * 2)),
    *at_once(
        lambda: Lookup("a", {"a": ["x", "x"], "b": [1, 2]}, {"b": Integer(0, 9)}),
        lambda: Lookup("a", {"a": ["x", "y"], "b": [1, 2]}, {"b": Integer(0, 9)}),
    ),
    *at_once(
        lambda: source_of(pyarrow.table({"a": [1], "A": [2]})).columns(),
        lambda: source_of(pyarrow.table({"a": [1], "b": [2]})).columns(),
    ),
    Case(lambda folder: Schema.load(folder / "discreet.toml"), lambda folder: _init(folder)),
    Case(
        lambda folder: files(folder, a="x,y\n1,2\n", b="1,2\n"),
        lambda folder: files(folder, ("x", "y"), a="1,2\n", b="1,2\n"),
    ),
    Case(lambda folder: files(folder, a="\n1,2\n"), lambda folder: files(folder, ("x", "y"), a="1,2\n")),
    Case(lambda folder: files(folder, a='"x,y\n' + "1,2\n" * 40_000), lambda folder: files(folder, a='"x",y\n1,2\n')),
    Case(lambda folder: files(folder, a="x,y,\n1,2,\n"), lambda folder: files(folder, a="x,y\n1,2\n")),
    Case(lambda folder: files(folder, a="x,X\n1,2\n"), lambda folder: files(folder, ("x", "y"), a="1,2\n")),
    *at_once(
        lambda: Schema("t", {"age": Integer(0, 9)}, joins={"b": Join({"pay": Real(0, 9)})}),
        lambda: Schema(
            "t", {"age": Integer(0, 9)}, Unit("p", groups=1, rows=1), joins={"b": Join({"pay": Real(0, 9)})}
        ),
    ),
    *at_once(
        lambda: source_of(pandas.DataFrame({"z": [1j]})).columns(),
        lambda: source_of(pandas.DataFrame({"z": ["1"]})).columns(),
    ),
    *at_once(
        lambda: VISITS.column(" * ".join(["wide"] * 20)), lambda: VISITS.column(" * ".join(["LEAST(wide, 2)"] * 20))
    ),
]


def files(folder: Path, names: tuple[str, ...] = (), **texts: str) -> Any:
    """The columns of CSV files in a folder."""
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text)
    return replace(source_of(str(folder / "*.csv")), names=names).columns()


def _init(folder: Path) -> None:
    (folder / "visits.csv").write_text("patient,age\n1,42\n")
    run("init", "visits.csv", "--header", "--unit", "row", cwd=folder)


CURATOR = [
    Case(
        lambda folder: discreet.open(pandas.DataFrame({"a": [1]}), VISITS, unit="row"),
        lambda folder: opened(folder, unit=Unit()),
    ),
    Case(lambda folder: opened(folder, unit=...), lambda folder: opened(folder, unit=Unit())),
    Case(lambda folder: opened(folder, unit="row"), lambda folder: opened(folder, unit=Unit())),
    Case(lambda folder: released(folder, "nothing at all"), lambda folder: open_desk(folder).releases()),
    Case(lambda folder: released(folder, "conuts"), lambda folder: released(folder, "counts")),
    Case(
        lambda folder: released(folder, "coun", others=("county",)),
        lambda folder: released(folder, "counts", others=("county",)),
    ),
    Case(lambda folder: released(folder, "counts", kind="tree"), lambda folder: released(folder, "counts")),
    Case(lambda folder: ask(folder).top("county").agg(n=count()), lambda folder: ask(folder).agg(n=count())),
    Case(
        lambda folder: ask(folder).group_by("county").top("county"),
        lambda folder: ask(folder).where("age > 1").top("county"),
    ),
    Case(
        lambda folder: ask(folder).agg(n=count()).stream("day"),
        lambda folder: ask(folder).agg(n=count()).stream(bins("day", every="month")),
    ),
    Case(
        lambda folder: (
            find_ledger(str(folder / "data"), folder / "data" / "discreet.toml", None) if _folder(folder) else None
        ),
        lambda folder: find_ledger(str(folder / "data"), folder / "discreet.toml", None) if _folder(folder) else None,
    ),
]


def _folder(folder: Path) -> bool:
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data" / "visits.csv").write_text("a\n1\n")
    return True


def _semicolons(folder: Path) -> None:
    (folder / "visits.csv").write_text("patient;age\n1;42\n")


def _rows(folder: Path) -> None:
    (folder / "visits.csv").write_text("row,age\n1,42\n")


def _declared(folder: Path) -> None:
    column = '[columns.age]\ntype = "integer"\nlower = 0\nupper = 99\n'
    (folder / "discreet.toml").write_text(f'[dataset]\nname = "visits"\n[budget]\nepsilon = 1\n{column}')
    run("ledger", "create", "--ledger", ".discreet/ledger.db", cwd=folder)


def _trips(folder: Path) -> None:
    (folder / "trips.csv").write_text("at,a,b\n2024-03-01 08:00,x,y\n")
    (folder / "places.csv").write_text("place\nx\ny\n")


def _trips_paid(folder: Path) -> None:
    _trips(folder)
    run(*TRIPS_DECLARED.split(), "--epsilon", "0.1", "--yes", cwd=folder)


def _paid(folder: Path) -> None:
    _declared(folder)
    run(*f"{ASK} --yes".split(), cwd=folder)


ASK = "ask visits.csv count --epsilon 0.1"
RAISE = "ledger raise visits --why more"
INIT = "init visits.csv --header"
TRIPS = "mobility trips.csv --time at --origin a --destination b"
_DAYS = "--first 2024-03-01 --last 2024-03-02 --timezone Europe/Vienna"
TRIPS_DECLARED = f"{TRIPS} --person row --places places.csv {_DAYS} --budget 1"
CLI = [
    *shell(f"{TRIPS} --epsilon 0.1 --yes", f"{TRIPS_DECLARED} --epsilon 0.1 --yes", before=_trips),
    *shell(
        f"{TRIPS_DECLARED.replace('--budget 1', '--budget 2')} --epsilon 0.1 --yes",
        f"{TRIPS} --epsilon 0.1 --yes",
        f"{TRIPS_DECLARED} --schema other.toml --ledger other.db --epsilon 0.1 --yes",
        before=_trips_paid,
    ),
    *shell(INIT, f"{INIT} --unit row", f"{INIT} --unit patient --groups 1 --rows 1"),
    *shell(
        f"{INIT} --unit row", f"{INIT} --unit row --delimiter ;", f"{INIT} --unit row --delimiter ,", before=_semicolons
    ),
    *shell(
        "init visits.csv --unit row",
        f"{INIT} --unit row",
        "init visits.csv --no-header --unit row",
        "init visits.csv --names a,b --unit row",
    ),
    *shell("init visits.csv --names a --unit row", "init visits.csv --names a,b --unit row"),
    *shell(f"{INIT} --unit row", f"{INIT} --unit age --groups 1 --rows 1", before=_rows),
    *shell(f"{INIT} --unit patient", f"{INIT} --unit patient --groups 1 --rows 1"),
    *shell(ASK, f"{ASK} --yes", before=_declared),
    *shell(f"{RAISE} --epsilon 2", f"{RAISE} --epsilon 2 --yes", before=_paid),
    *shell(f"{RAISE} --schema no.toml --yes", f"{RAISE} --epsilon 2 --yes", before=_paid),
    *shell(f"{RAISE} --yes", f"{RAISE} --epsilon 2 --yes", before=_paid),
    *shell(f"{RAISE} --epsilon 1 --yes", f"{RAISE} --epsilon 2 --yes", before=_paid),
]

CHOICES = [case for refused, followed in PAIRS for case in at_once(refused, followed)]
CASES = {"query": QUERY, "choices": CHOICES, "data": DATA, "curator": CURATOR, "cli": CLI}
