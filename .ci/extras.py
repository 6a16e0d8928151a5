"""Real calls for each extra, run in an environment that holds the wheel and nothing of this checkout.

`extras.py NAME` makes every call of an extra. `extras.py --missing`, where no extra is installed, wants each call to
end with the exact command that installs what it needs.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow

import discreet
from discreet import Allotment, Budget, Category, Integer, Schema
from discreet.errors import MissingExtraError

SCHEMA = Schema(
    "people",
    {"age": Integer(0, 120, nullable=False), "county": Category(["Ash", "Elm"], nullable=False)},
)
ROWS = {"age": [20, 30, 40, 50] * 25, "county": ["Ash", "Elm"] * 50}
SQL = "SELECT county, COUNT(*) AS people FROM people GROUP BY county"


def curator(data: Any = None, ledger: Any = None, **more: Any) -> Any:
    place = Path(tempfile.mkdtemp()) / "ledger.db"
    data = pyarrow.table(ROWS) if data is None else data
    return discreet.open(
        data, SCHEMA, ledger=place if ledger is None else ledger, **{"budget": Budget(9), "create": True} | more
    )


def answer() -> Any:
    return curator().sql(SQL).plan(epsilon=4).release()


def wanted(held: bool, what: object) -> None:
    if not held:
        raise SystemExit(f"not what was wanted: {what!r}")


def plot_png() -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = answer().plot().save(Path(folder) / "plot.png").read_bytes()
    wanted(made.startswith(b"\x89PNG"), "a chart as PNG")


def polars_frame() -> None:
    wanted(answer().to_polars().shape[0] == 2, "a row for each county")


def synthetic_polars() -> None:
    made = curator().synthesize(method="independent").plan(epsilon=2).release()
    wanted(set(made.to_polars().columns) == {"age", "county"}, "synthetic rows")


def postgres_ledger() -> None:
    address = os.environ.get("WHEEL_POSTGRES", "postgresql://127.0.0.1:1/nowhere")
    spent = curator(ledger=address).sql(SQL).plan(epsilon=1).release()
    wanted(spent.columns["county"] == ["Ash", "Elm"], spent)


def postgres_source() -> None:
    address = os.environ.get("WHEEL_POSTGRES", "postgresql://127.0.0.1:1/nowhere")
    try:
        import psycopg
    except ImportError:
        pass
    else:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS people AS SELECT 30 AS age, 'Ash'::text AS county")
    place = Path(tempfile.mkdtemp()) / "l.db"
    found = discreet.open(address, SCHEMA, table="people", ledger=place, budget=Budget(9), create=True)
    wanted(found.sql(SQL).plan(epsilon=4).release().columns["county"] == ["Ash", "Elm"], "counts from PostgreSQL")


def spark_source() -> None:
    from importlib.util import find_spec

    data: Any = "spark://127.0.0.1:1/?table=people"
    if find_spec("pyspark"):
        from pyspark.sql import SparkSession

        session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        data = session.createDataFrame(list(zip(ROWS["age"], ROWS["county"], strict=True)), "age int, county string")
    found = curator(data).sql(SQL).plan(epsilon=4).release()
    wanted(found.columns["county"] == ["Ash", "Elm"], found)


def spark_connect() -> None:
    """What is needed to reach a cluster by sc://; nobody is called: pyspark would try again for ten minutes."""
    from importlib.util import find_spec

    from discreet.data.source import source_of

    if find_spec("pyspark"):
        from pyspark.sql.connect.session import SparkSession

        wanted(callable(SparkSession), "Spark Connect")
    else:
        source_of("sc://127.0.0.1:1", "people").columns()


def constrained(solver: str) -> Callable[[], None]:
    def project_it() -> None:
        from discreet.constraints import Equal, Measurement, project

        known = [Equal("total", np.ones((1, 3), dtype=int), [6])]
        found = project([Measurement("cells", None, np.array([1.0, 2.0, 6.0]))], known, solver=solver)
        wanted(abs(found.values.sum() - 6) < 1e-3, found)

    return project_it


def flow_of_grid() -> None:
    from discreet.power import Grid, optimal_flow
    from discreet.power.grid import Quadratic

    grid = Grid.of(2, [(0, 1, 1000, 50.0)], [(0, 0, 100, Quadratic(slope=30))], [1])
    wanted(abs(optimal_flow(grid, [20.0]).cost - 600) < 1, "20 MW at 30 each")


def flow_of_net() -> None:
    from importlib.util import find_spec

    from discreet.power import Grid
    from discreet.power.pandapower import ac_cost

    net: Any = None
    if find_spec("pandapower"):
        from pandapower.networks import case14

        net = case14()
        wanted("11 loads" in repr(Grid.from_pandapower(net)), "the grid of a net")
    wanted((ac_cost(net) or 0) > 0, "the cost of a flow")


def rap() -> None:
    made = curator().synthesize(method="rap").plan(epsilon=2).release()
    wanted(made.to_arrow().num_rows > 0, "synthetic rows")


def trained() -> None:
    budget = Budget(3, delta=1e-6, allotments=[Allotment("models", "plan", epsilon=3, delta=1e-6)])
    question = curator(budget=budget).train(
        "logistic", target="county", features=["age"], examples=100, lot=20, steps=3, rate=1.0
    )
    model = question.plan(epsilon=2, delta=5e-7, allotment="models").release()
    wanted(model.predict({"age": [31]})[0] in ("Ash", "Elm"), model)


def estimated() -> None:
    from discreet.learn.estimators import DPLinearRegression

    numbers = np.linspace(-1, 1, 200)[:, None]
    found = DPLinearRegression(epsilon=4, bounds=(-1, 1), target_bounds=(-1, 1)).fit(numbers, numbers[:, 0])
    wanted(found.predict(numbers).shape == (200,), found)


def served() -> None:
    """`discreet serve` on this machine, asked by `discreet.connect`."""
    import socket
    import threading
    import time

    from typer.testing import CliRunner

    from discreet.apps.cli import app

    folder = Path(tempfile.mkdtemp())
    demo = Path(discreet.__file__).parent / "apps" / "demo"
    for name in ("people.csv", "discreet.toml"):
        (folder / name).write_bytes((demo / name).read_bytes())
    os.chdir(folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ended: list[Any] = []
    made = CliRunner().invoke(app, ["ledger", "create"])
    wanted(made.exit_code == 0, made.output)
    token = json.loads(CliRunner().invoke(app, ["token", "create", "ann", "--role", "analyst", "--json"]).output)[
        "token"
    ]
    line = ["serve", "people.csv", "--schema", "discreet.toml", "--port", str(port)]

    def serve() -> None:
        ended.append(CliRunner().invoke(app, line).exception)

    threading.Thread(target=serve, daemon=True).start()
    for _ in range(600):
        if ended:
            raise ended[0]
        try:
            remote = discreet.connect(f"http://127.0.0.1:{port}", token, dataset="people")
            break
        except Exception:  # it starts
            time.sleep(0.1)
    plan = remote.sql("SELECT county, COUNT(*) AS people FROM people GROUP BY county").plan(epsilon=0.5)
    wanted(len(plan.release().columns["county"]) == 12, "an answer over HTTP")


CALLS: dict[str, list[Callable[[], None]]] = {
    "charts": [plot_png],
    "polars": [polars_frame, synthetic_polars],
    "postgres": [postgres_ledger, postgres_source],
    "spark": [spark_source, spark_connect],
    "constraints": [constrained("osqp"), constrained("clarabel")],
    "power": [flow_of_grid, flow_of_net],
    "synth": [rap],
    "learn": [trained, estimated],
    "server": [served],
}


def called(extra: str) -> None:
    for call in CALLS[extra]:
        call()


def missed(extra: str) -> None:
    for call in CALLS[extra]:
        try:
            call()
        except MissingExtraError as problem:
            wanted(str(problem).endswith(f"Run: pip install 'discreet[{extra}]'"), problem)
        else:
            wanted(False, f"{call.__name__} does without '{extra}'")


if __name__ == "__main__":
    where = Path(discreet.__file__).resolve()
    wanted(Path(sys.prefix).resolve() in where.parents, f"{where}: the wheel of this environment")
    warnings.simplefilter("ignore")  # what other libraries say to each other
    asked = sys.argv[1]
    for extra in CALLS if asked in ("all", "--missing") else [asked]:
        (missed if asked == "--missing" else called)(extra)
    sys.stdout.flush()
    os._exit(0)  # the server of `served` runs until stopped
