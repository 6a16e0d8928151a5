"""How often intervals hold the true value: 2,000 releases of every kind of output, under both kinds of noise.

    python bench/coverage.py [--quick] [--json]

The engine counts once; each release then has noise and intervals of its own. The truth is computed from the values
themselves, so rounding to a lattice is part of what is tested. Every release has twenty groups, so 40,000 intervals
stand behind a figure.

Then a large table with little noise, where rounding shows: 971,200 incomes heaped on thousands, counted once and
released in twenty groups that are all alike.
"""

from __future__ import annotations

import numpy as np

from discreet.data.column import Integer, Real
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.ledger.budget import Allotment
from discreet.noise.bits import SystemBits, words
from discreet.query.aggregate import count, mean, std, total, variance
from discreet.query.compile import GROUP, compile_query, measure_name
from discreet.query.plan import QueryPlan, plan_query
from discreet.query.price import Price
from discreet.query.question import Query
from harness import Report, arguments

GROUPS = 20
ROWS = 40_000
CONFIDENCE = 0.95
SCHEMA = Schema(
    "visits",
    {
        "grp": Integer(0, GROUPS - 1, nullable=False),
        "cost": Real(0, 100, nullable=False),
        "days": Integer(0, 365, nullable=False),
    },
)
HEAPED = 971_200
INCOMES = Schema("incomes", {"grp": Integer(0, GROUPS - 1, nullable=False), "pay": Real(0, 250_000, nullable=False)})
SPREADS = {"mean": (mean, np.mean), "variance": (variance, np.var), "std": (std, np.std)}
PRICES = {"Laplace": ("pure", "epsilon", 0.05), "Gaussian": ("zcdp", "rho", 0.0005)}


def values() -> dict[str, np.ndarray]:
    """A table that nobody has to protect: groups of different sizes, values that pile up at the low end."""
    generator = np.random.default_rng()
    shares = np.linspace(1, 3, GROUPS) / np.linspace(1, 3, GROUPS).sum()
    return {
        "grp": generator.choice(GROUPS, ROWS, p=shares),
        "cost": np.minimum(generator.gamma(2, 12, ROWS), 100),
        "days": generator.binomial(365, 0.3, ROWS),
    }


def questions() -> dict[str, tuple[Query, object]]:
    """The questions, and how to compute their truth from the values of one group."""
    by_group = Query().group_by("grp")
    return {
        "count": (by_group.agg(o=count()), lambda table: len(table["cost"])),
        "sum, reals": (by_group.agg(o=total("cost")), lambda table: table["cost"].sum()),
        "sum, integers": (by_group.agg(o=total("days")), lambda table: table["days"].sum()),
        "mean": (by_group.agg(o=mean("cost")), lambda table: table["cost"].mean()),
        "variance": (by_group.agg(o=variance("cost")), lambda table: table["cost"].var()),
        "std": (by_group.agg(o=std("cost")), lambda table: table["cost"].std()),
        "histogram": (Query().histogram("cost", width=100 / GROUPS), None),
    }


def incomes() -> dict[str, np.ndarray]:
    """Incomes as people state them, in thousands, all in the first group."""
    pay = np.minimum(np.round(np.random.default_rng().lognormal(10.4, 0.7, HEAPED), -3), 250_000)
    return {"grp": np.zeros(HEAPED, dtype=np.int64), "pay": pay}


def plan_of(query: Query, noise: str, price: float | None = None, schema: Schema = SCHEMA) -> QueryPlan:
    """The question priced so that exactly one kind of noise is used."""
    kind, way, usual = PRICES[noise]
    asked = Price.read(**{way: price or usual}, confidence=CONFIDENCE, noise=noise.lower())
    return plan_query(query, schema, Allotment("bench", kind, **{way: 100}), asked)


def counted(plan: QueryPlan, table: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The exact measures per group, as the engine counts them."""
    import pyarrow

    salt = [int(word) & (2**31 - 1) for word in words(SystemBits(), 8)]
    with source_of(pyarrow.table(table)).open() as data:
        found = data.integers(compile_query(plan.question, plan.schema, plan.measures, data.table, salt))
    exact = [np.zeros(plan.groups, dtype=np.int64) for _ in plan.measures]
    for index, measure in enumerate(exact):
        measure[found[GROUP]] = found[measure_name(index)]
    return exact


def coverage(plan: QueryPlan, exact: list[np.ndarray], truth: np.ndarray, releases: int) -> float:
    """The share of intervals that hold the truth."""
    hits, output = 0, plan.question.outputs[0][0]
    for _ in range(releases):
        noisy = [noise.release(measure) for noise, measure in zip(plan.noises, exact, strict=True)]
        columns = plan.table(noisy)["columns"]
        hits += int(((columns[f"{output}_lower"] <= truth) & (truth <= columns[f"{output}_upper"])).sum())
    return hits / releases / plan.groups


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    report = Report("coverage", as_json=options.json)
    releases = 200 if options.quick else 2000
    table = values()
    for name, (query, truth_of) in questions().items():
        if truth_of is None:
            truth = np.histogram(table["cost"], bins=GROUPS, range=(0, 100))[0]
        else:
            groups = [{key: column[table["grp"] == g] for key, column in table.items()} for g in range(GROUPS)]
            truth = np.array([truth_of(group) for group in groups])
        for noise in PRICES:
            plan = plan_of(query, noise)
            found = coverage(plan, counted(plan, table), truth, releases)
            case = f"{name}, {noise}, {releases:,} releases"
            report.figure(case, "coverage of 95%", found, "")
            report.figure(case, "off by", abs(found - CONFIDENCE), "", at_most=0.01)

    # Whole numbers cannot be cut off at exactly 95%: with little noise an interval covers more, never less.
    query, truth_of = questions()["count"]
    for noise, price in (("Laplace", 1), ("Gaussian", 0.5)):
        plan = plan_of(query, noise, price)
        exact = counted(plan, table)
        found = coverage(plan, exact, exact[0], releases)
        report.figure(f"count, {noise} of scale 1", "coverage of 95%", found, "", at_least=0.94)

    # Little noise on a large table: what rounding to a lattice does must be within the intervals.
    heaped = incomes()
    for name, (aggregate, truth_of) in SPREADS.items():
        query, truth = Query().group_by("grp").agg(o=aggregate("pay")), truth_of(heaped["pay"])
        exact = counted(plan_of(query, "Laplace", 1, INCOMES), heaped)
        alike = [np.full(GROUPS, measure[0]) for measure in exact]
        for price in (0.5, 1, 2, 4):
            found = coverage(plan_of(query, "Laplace", price, INCOMES), alike, np.full(GROUPS, truth), releases)
            report.figure(
                f"{name}, {HEAPED:,} heaped rows, epsilon {price:g}", "coverage of 95%", found, "", at_least=0.94
            )


if __name__ == "__main__":
    main()
