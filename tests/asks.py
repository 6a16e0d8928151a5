"""One small table and an ask of every kind of job there is, for tests that hold for all of them.

Nothing here names a class of a job: an ask is what a person writes, from the question to its price. It also runs on
the versions that wrote the ledgers under tests/golden, so it uses what all of them have.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import discreet
from discreet import Budget, Ledger, bins, count, discover, mean, median, people, total
from discreet.constraints import Convex, Equal
from discreet.curator import hide_loads, hide_values
from discreet.power.grid import Grid, Quadratic
from discreet.power.loads import Loads
from discreet.query.ask import options

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
            "at": f"2024-{place % 12 + 1:02d}-01 {place % 24:02d}:{place % 60:02d}:00",
        }
        for place in range(ROWS)
    ]


def lay_out(folder: Path, schema_text: str = SCHEMA) -> tuple[Path, Path]:
    """The table and its schema as files; the version of the data is declared where versions are known."""
    data, schema = folder / "town.csv", folder / "discreet.toml"
    rows = table()
    lines = [",".join(rows[0]), *(",".join(str(value) for value in row.values()) for row in rows)]
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    known = "version" in inspect.signature(discreet.open).parameters
    schema.write_text(schema_text.format(version=f'version = "{VERSION}"\n' if known else ""), encoding="utf-8")
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


def town(folder: Path, ledger: Ledger | None = None, who: str = "ann", schema_text: str = SCHEMA) -> Town:
    """The table laid out in a folder, with a ledger of its own unless one is given."""
    data, schema = lay_out(folder, schema_text)
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
    """An ask of a kind: what it describes, its price, and what there is to read in what comes of it."""

    kind: str
    begin: Callable[..., Any]
    """The question, from a town and the fields."""
    fields: Mapping[str, Any]
    price: Mapping[str, Any]
    """What `plan` is given: the price and how it is spent."""
    values: Callable[[Any], Tables]
    dataset: str = DATASET
    steps: int = 1
    """How many releases it makes: those of a stream are named `id/1`, `id/2`, ..."""
    verb: str = "plan"

    def offer(self, here: Town, **changes: Any) -> Any:
        """The priced plan; `changes` to fields or price go instead of what stands here."""
        known = {name: value for name, value in changes.items() if name not in self.plan_names(here)}
        paid = {name: value for name, value in changes.items() if name not in known}
        question = self.begin(here, **{**self.fields, **known})
        return getattr(question, self.verb)(**{**self.price, **paid})

    def plan_names(self, here: Town) -> set[str]:
        """What `plan` can be given."""
        question = self.begin(here, **self.fields)
        names = set(inspect.signature(getattr(question, self.verb)).parameters) - {"terms"}
        ask = getattr(question, "ask", None)
        if ask is None:
            return names
        kind = type(ask) if self.verb == "plan" else type(ask.search([{}]))
        late = {name for name, one in options(kind).items() if one.late}
        return (names - {"confidence", "noise", "rho", "within", "share", "epsilon"}) | late | set(kind.prices)

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


def sorted_columns(tables: Tables) -> Tables:
    """Rows in no order."""
    return {part: {name: sorted(column) for name, column in columns.items()} for part, columns in tables.items()}


def commuters_of(release: Any) -> Tables:
    return sorted_columns({"rows": release.columns()})


def model_of(release: Any) -> Tables:
    flat = [[float(value) for value in weights.ravel()] for weights in release.weights]
    return {
        "weights": {str(place): numbers for place, numbers in enumerate(flat)},
        "predictions": {"sex": release.predict(SEEN)},
    }


def loads_of(release: Any) -> Tables:
    return {"": dict(release.table.columns), "noisy": {"mw": list(release.noisy)}}


def values_of(release: Any) -> Tables:
    return {"": dict(release.table.columns), "noisy": {"value": list(release.noisy)}}


def _question(here: Town, outputs: Any, keys: Any = (), where: Any = None) -> Any:
    asked = here.curator.table()
    asked = asked if where is None else asked.where(where)
    return asked.group_by(*keys).agg(**outputs)


def _top(here: Town, where: Any = None, **how: Any) -> Any:
    asked = here.curator.table()
    return (asked if where is None else asked.where(where)).top(**how)


def _batch(here: Town, **parts: Any) -> Any:
    return here.curator.batch(**{name: _question(here, **fields) for name, fields in parts.items()})


def _stream(here: Town, period: Any, limit: int = 1, **fields: Any) -> Any:
    return _question(here, **fields).stream(period, limit=limit)


def _of_curator(name: str) -> Callable[..., Any]:
    return lambda here, **fields: getattr(here.curator, name)(**fields)


def _loads(here: Town, budget: Any = None, **fields: Any) -> Any:
    return hide_loads(here.grid, here.loads, here.ledger, budget=budget or Budget(epsilon=10), who="ann", **fields)


def _hidden(here: Town, budget: Any = None, **fields: Any) -> Any:
    return hide_values([21.7, 60.0], here.ledger, budget=budget or Budget(epsilon=10), who="ann", **fields)


_LOSSES = Convex("losses", lambda x: float((x * x).sum() / 100))
COUNTED = {"n": count()}
ENDS = {"origin": "home", "destination": "work"}
ALONE = {"allotment": "questions"}
RHO = {"rho": 2, **ALONE}
GROUPED = {
    "levels": {"state": 1, "county": 2},
    "groups": {"workers": "works", "young": "age < 50"},
    "details": {"sex": ["sex"], "sex by age": ["sex", bins("age", [0, 50, 99])]},
}
# A run of two steps: what it costs to price one grows with them.
RUN = {"target": "sex", "features": ["age", "works"], "examples": 60, "lot": 60, "steps": 2, "rate": 1.0}
RUN |= {"model": "logistic", "noise": "exact"}

ASKS: dict[str, Ask] = {
    "question": Ask(
        "question",
        _question,
        {
            "where": "age >= 18 or works",
            "keys": ("sex", bins("age", [0, 50, 99])),
            "outputs": {**COUNTED, "persons": people(), "pay": total("pay"), "mean_age": mean("age")},
        },
        RHO,
        _columns,
    ),
    "question of quantiles": Ask(
        "question",
        _question,
        {"keys": ("sex",), "outputs": {"m": median("age"), **COUNTED}},
        {"epsilon": 4, **ALONE},
        _columns,
    ),
    "question of unknown groups": Ask(
        "question",
        _question,
        {"keys": (discover("note"),), "outputs": COUNTED},
        {"rho": 20, "delta": "0.001", **ALONE},
        _columns,
    ),
    "top": Ask("top", _top, {"column": "county", "k": 2}, {"epsilon": 3, **ALONE}, _columns),
    "choose": Ask(
        "choose",
        _of_curator("choose"),
        {"score": "CASE WHEN pay >= option THEN option ELSE 0 END", "options": [100, 500, "900.5"]},
        {"epsilon": 3, **ALONE},
        _columns,
    ),
    "batch": Ask(
        "batch",
        _batch,
        {"by_sex": {"keys": ("sex",), "outputs": COUNTED}, "pay": {"outputs": {"pay": mean("pay")}}},
        {**RHO, "weights": {"by_sex": 2}},
        _parts,
    ),
    "stream": Ask(
        "stream",
        _stream,
        {
            "keys": ("sex",),
            "outputs": COUNTED,
            "period": bins("day", ["2024-01-01", "2024-05-01", "2024-09-01", "2024-12-31"]),
            "limit": 2,
        },
        RHO,
        _steps,
        steps=2,
    ),
    "tree": Ask("tree", _of_curator("tree"), {"levels": {"state": 1, "county": 2}, "by": ["sex"]}, RHO, levels_of),
    "detail": Ask("detail", _of_curator("detail"), GROUPED, RHO, _columns),
    "census": Ask(
        "census",
        _of_curator("census"),
        {
            "levels": {"state": 1, "county": 2},
            "tables": {
                "people": {"counts": "persons", "by": ["sex"]},
                "homes": {"counts": "households", "by": ["works"]},
                "members": {"counts": "persons", "household": ["works"], "share": 2},
                "sizes": {"counts": "sizes", "largest": 3},
            },
            "household": "home",
            "head": "age >= 50",
            "most": 2,
        },
        RHO,
        lambda release: {name: dict(table.columns) for name, table in release.tables().items()},
    ),
    "flows": Ask("flows", _of_curator("mobility"), {**ENDS, "window": "works", "zones": ZONES}, RHO, _parts),
    "commute": Ask("commute", _of_curator("commute"), {**ENDS, "coordinates": PLACES}, RHO, commuters_of),
    "commute by urns": Ask(
        "commute",
        _of_curator("commute"),
        {**ENDS, "coordinates": PLACES},
        {"epsilon": 4, "method": "classic", **ALONE},
        commuters_of,
    ),
    "synth": Ask(
        "synth",
        _of_curator("synthesize"),
        {"method": "mst", "columns": ["sex", "county", "age"], "bins": 4, "rows": 24},
        RHO,
        rows_of,
    ),
    "relations": Ask(
        "relations",
        _of_curator("relate"),
        {"parent": ["sex"], "child": ["county"], "order": "day", "limit": 2, "rows": 24},
        RHO,
        lambda release: {
            name: {column: [str(value) for value in values] for column, values in table.columns.items()}
            for name, table in release.tables().items()
        },
    ),
    "train": Ask(
        "train",
        _of_curator("train"),
        {**RUN, "lot": 20, "multiplier": 2},
        {"delta": "0.001", "allotment": "models"},
        model_of,
    ),
    "train at a price": Ask(
        "train", _of_curator("train"), RUN, {"epsilon": 1, "delta": "0.001", "allotment": "models"}, model_of
    ),
    "search": Ask(
        "search",
        _of_curator("train"),
        RUN,
        {"settings": [{"rate": 0.5}, {"rate": 2.0}], "epsilon": 1, "delta": "0.001", "allotment": "models"},
        model_of,
        verb="search",
    ),
    "hidden": Ask(
        "hidden", _hidden, {"alpha": 1}, {"epsilon": 2, "highest": 100, "step": "0.1"}, values_of, dataset="values"
    ),
    "loads": Ask(
        "loads", _loads, {"alpha": 1}, {"epsilon": 2, "cost": "measured", "step": "0.01"}, loads_of, dataset="loads"
    ),
}
# Asks with functions of Python in them: they have no JSON, and are on golden ledgers alone.
WITH_CODE: dict[str, Ask] = {
    "hidden with an objective": Ask(
        "hidden",
        _hidden,
        {"alpha": 1, "objective": _LOSSES, "constraints": [Equal("total", [[1, 1]], [81.7])]},
        {"epsilon": 2, "highest": 100, "step": "0.1", "optimum": "measured", "lipschitz": 2, "beta": 0.5},
        values_of,
        dataset="values",
    ),
}
KINDS = tuple(dict.fromkeys(ask.kind for ask in ASKS.values()))


def identity(name: str) -> str:
    """The id under which an ask is released."""
    return name.replace(" ", "-")
