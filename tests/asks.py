"""One small table and an ask of every kind of job there is, for tests that hold for all of them.

Nothing here names a class of a job: an ask is what a person writes, from the question to its price. It also runs on
the versions that wrote the ledgers under tests/golden, so it uses what all of them have.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import discreet
from discreet import Budget, Ledger, bins, count, discover, mean, median, people, total
from discreet.hierarchy.power.grid import Grid, Quadratic
from discreet.hierarchy.power.loads import Loads
from discreet.hierarchy.power.question import hide_loads

DATASET = "town"
VERSION = "spring"
ROWS = 64
SCHEMA = """\
[dataset]
name = "town"
{version}
[unit]
column = "person"
groups = 2
rows = 2
neighbours = "add-remove"

[budget]
epsilon = 1000.0
delta = 0.02

[budget.allotments.questions]
kind = "zcdp"
epsilon = 900.0
delta = 0.01

[budget.allotments.models]
kind = "plan"
epsilon = 100.0
delta = 0.01

[columns.person]
type = "text"

[columns.age]
type = "integer"
lower = 0
upper = 99

[columns.sex]
type = "category"
values = ["f", "m"]

[columns.pay]
type = "real"
lower = 0
upper = 1000

[columns.works]
type = "boolean"

[columns.day]
type = "date"
lower = 2024-01-01
upper = 2024-12-31

[columns.county]
type = "category"
values = ["A1", "A2", "B1", "B2"]

[columns.home]
type = "category"
values = ["mill", "port", "wood"]

[columns.work]
type = "category"
values = ["mill", "port", "wood"]

[columns.note]
type = "text"
"""
PLACES = {"mill": (0.0, 0.0), "port": (1.0, 0.0), "wood": (0.0, 3.0)}
ZONES = {"mill": "east", "port": "east", "wood": "west"}
LOADS = [12.5, 7.25, 20.0]
SEEN = {"age": [20, 70], "works": [True, False]}  # rows that are nobody's, for models


def table() -> list[dict[str, Any]]:
    """The rows: some persons have two."""
    return [
        {
            "person": f"p{place * 3 // 4:02d}",
            "age": (place * 37) % 100,
            "sex": "fm"[place % 2],
            "pay": float((place * 61) % 1000) + 0.5,
            "works": "true" if place % 3 else "false",
            "day": f"2024-{place % 12 + 1:02d}-{place % 28 + 1:02d}",
            "county": ("A1", "A2", "B1", "B2")[(place // 2) % 4],
            "home": ("mill", "port", "wood")[place % 3],
            "work": ("mill", "port", "wood")[(place // 3) % 3],
            "note": ("calm", "loud", "calm", "cold")[place % 4],
        }
        for place in range(ROWS)
    ]


def lay_out(folder: Path) -> tuple[Path, Path]:
    """The table and its schema as files; the version of the data is declared where versions are known."""
    data, schema = folder / "town.csv", folder / "discreet.toml"
    rows = table()
    lines = [",".join(rows[0]), *(",".join(str(value) for value in row.values()) for row in rows)]
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    known = "version" in inspect.signature(discreet.open).parameters
    schema.write_text(SCHEMA.format(version=f'version = "{VERSION}"\n' if known else ""), encoding="utf-8")
    return data, schema


@dataclass(frozen=True)
class Town:
    """The table behind a curator, and a power grid whose loads are private, on one ledger."""

    curator: Any
    grid: Grid
    loads: Loads

    @property
    def ledger(self) -> Ledger:
        return self.curator.ledger


def open_ledger(place: Path) -> Ledger:
    """A ledger, made if there is none: the first version asked for no word on that."""
    made = {"create": True} if "create" in inspect.signature(Ledger.open).parameters else {}
    return Ledger.open(place, **made)


def town(folder: Path, ledger: Ledger | None = None, who: str = "ann") -> Town:
    """The table in a folder, laid out if it is not there, with a ledger of its own unless one is given."""
    data, schema = lay_out(folder)
    books = open_ledger(folder / "books.db") if ledger is None else ledger
    made = {"create": True} if "create" in inspect.signature(discreet.open).parameters else {}
    lines = [(0, 1, 1000, 70.0), (1, 2, 1100, 70.0), (2, 0, 900, 70.0)]
    units = [(0, 0, 100, Quadratic(0.02, 20)), (1, 0, 100, Quadratic(0.05, 15))]
    grid = Grid.of(3, lines, units, [0, 1, 2])
    return Town(discreet.open(str(data), schema, ledger=books, who=who, **made), grid, Loads(LOADS))


# --- one ask of every kind -------------------------------------------------------------------------------------------

Tables = dict[str, dict[str, list[Any]]]


@dataclass(frozen=True)
class Ask:
    """An ask of a kind: the offer it gives, what comes of releasing that, and what there is to read in it."""

    kind: str
    offer: Callable[[Town], Any]
    values: Callable[[Any], Tables]
    dataset: str = DATASET
    steps: int = 1
    """How many releases it makes: those of a stream are named `id/1`, `id/2`, ..."""

    def release(self, here: Town, identity: str, offer: Any = None) -> Any:
        """Spend and answer; of a stream, all steps."""
        priced = self.offer(here) if offer is None else offer
        if self.steps == 1:
            return priced.release(release=identity, why="golden")
        running = priced.start(identity)
        return [running.release(step, why="golden") for step in range(1, self.steps + 1)]


def _columns(release: Any) -> Tables:
    return {"": dict(release.columns)}


def _parts(releases: dict[str, Any]) -> Tables:
    return {name: dict(release.columns) for name, release in releases.items()}


def _steps(releases: list[Any]) -> Tables:
    return {str(step): dict(release.columns) for step, release in enumerate(releases, 1)}


def levels_of(release: Any) -> Tables:
    return {level: dict(release[level].columns) for level in release.levels}


def rows_of(release: Any) -> Tables:
    return {"rows": {name: [str(value) for value in column] for name, column in release.to_arrow().to_pydict().items()}}


def commuters_of(release: Any) -> Tables:
    return {"rows": {name: sorted(column) for name, column in release.columns().items()}}


def model_of(release: Any) -> Tables:
    flat = [[float(value) for value in weights.ravel()] for weights in release.weights]
    return {
        "weights": {str(place): numbers for place, numbers in enumerate(flat)},
        "predictions": {"sex": release.predict(SEEN)},
    }


def _loads(release: Any) -> Tables:
    return {"": dict(release.table.columns), "noisy": {"mw": list(release.noisy)}}


def question(here: Town) -> Any:
    asked = here.curator.table().where("age >= 18 or works").group_by("sex", bins("age", [0, 50, 99]))
    return asked.agg(n=count(), persons=people(), pay=total("pay"), mean_age=mean("age")).plan(
        rho=2, allotment="questions"
    )


def quantiles(here: Town) -> Any:
    return here.curator.table().group_by("sex").agg(m=median("age"), n=count()).plan(epsilon=4, allotment="questions")


def discovered(here: Town) -> Any:
    asked = here.curator.table().group_by(discover("note")).agg(n=count())
    return asked.plan(rho=20, delta="0.001", allotment="questions")


def top(here: Town) -> Any:
    return here.curator.table().top("county", 2).plan(epsilon=3, allotment="questions")


def batch(here: Town) -> Any:
    desk = here.curator
    parts = {"by_sex": desk.table().group_by("sex").agg(n=count()), "pay": desk.table().agg(pay=mean("pay"))}
    return desk.batch(**parts).plan(rho=2, weights={"by_sex": 2}, allotment="questions")


def stream(here: Town) -> Any:
    quarters = bins("day", ["2024-01-01", "2024-05-01", "2024-09-01", "2024-12-31"])
    asked = here.curator.table().group_by("sex").agg(n=count()).stream(quarters, limit=2)
    return asked.plan(rho=2, allotment="questions")


def tree(here: Town) -> Any:
    return here.curator.tree({"state": 1, "county": 2}, by=["sex"]).plan(rho=2, allotment="questions")


def flows(here: Town) -> Any:
    asked = here.curator.mobility(origin="home", destination="work", window="works", zones=ZONES)
    return asked.plan(rho=2, allotment="questions")


def commute(here: Town, **how: Any) -> Any:
    asked = here.curator.commute(origin="home", destination="work", coordinates=PLACES)
    return asked.plan(**{"rho": 2, "allotment": "questions", **how})


def synth(here: Town) -> Any:
    asked = here.curator.synthesize("mst", columns=["sex", "county", "age"], bins=4, rows=24)
    return asked.plan(rho=2, allotment="questions")


def training(here: Town, **how: Any) -> Any:
    """A model to be trained in two steps: what it costs to price a run grows with them."""
    settings = {"examples": 60, "lot": 60, "steps": 2, "rate": 1.0, "noise": "exact", **how}
    return here.curator.train("logistic", target="sex", features=["age", "works"], **settings)


def train(here: Town) -> Any:
    return training(here, lot=20, multiplier=2).plan(delta="0.001")


def train_at_a_price(here: Town) -> Any:
    return training(here).plan(epsilon=1, delta="0.001")


def search(here: Town) -> Any:
    return training(here).search([{"rate": 0.5}, {"rate": 2.0}], epsilon=1, delta="0.001")


def loads(here: Town) -> Any:
    budget = Budget(epsilon=10)
    return hide_loads(here.grid, here.loads, here.ledger, alpha=1, budget=budget, who="ann").plan(
        epsilon=2, cost="measured", step="0.01"
    )


ASKS: dict[str, Ask] = {
    "question": Ask("question", question, _columns),
    "question of quantiles": Ask("question", quantiles, _columns),
    "question of unknown groups": Ask("question", discovered, _columns),
    "top": Ask("top", top, _columns),
    "batch": Ask("batch", batch, _parts),
    "stream": Ask("stream", stream, _steps, steps=2),
    "tree": Ask("tree", tree, levels_of),
    "flows": Ask("flows", flows, _parts),
    "commute": Ask("commute", commute, commuters_of),
    "commute by urns": Ask("commute", partial(commute, rho=None, epsilon=4, method="classic"), commuters_of),
    "synth": Ask("synth", synth, rows_of),
    "train": Ask("train", train, model_of),
    "train at a price": Ask("train", train_at_a_price, model_of),
    "search": Ask("search", search, model_of),
    "loads": Ask("loads", loads, _loads, dataset="loads"),
}
KINDS = tuple(dict.fromkeys(ask.kind for ask in ASKS.values()))


def identity(name: str) -> str:
    """The id under which an ask is released."""
    return name.replace(" ", "-")
