"""A new aggregate is one class in one file. The one below stands in this file alone, and is known everywhere."""

from __future__ import annotations

import dataclasses
import importlib
import json
import sys
from typing import Any, ClassVar
from unittest import mock

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import discreet
import discreet.apps.cli.options  # its help names what is registered when it is loaded: before anything is here
import discreet.query.function as register_room
from aggregate_kit import LIMITS, attack_everywhere, made, registered
from discreet.apps.cli.completion import outputs
from discreet.core.lattice import Lattice
from discreet.data.column import Boolean, Category, Date, Integer, Real, Text
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.ledger.ledger import Ledger
from discreet.query.aggregate.base import Derived, rows_of, setting
from discreet.query.function import Function, functions, listed_functions, register
from discreet.query.measure import Rows, Total
from discreet.query.notation import read_outputs
from discreet.query.question import Query, output_from
from discreet.query.sql import parse_sql

SCHEMA = Schema("people", {"age": Integer(0, 100, nullable=True), "sex": Category(["f", "m"], nullable=False)})


def _switch(value: object) -> bool:
    if not isinstance(value, bool):
        raise InputError("percent", value, "true or false")
    return value


@dataclasses.dataclass(frozen=True, slots=True)
class Filled(Derived):
    """The share of rows in which a column has a value."""

    functions: ClassVar[tuple[Function, ...]] = (
        Function(
            name="filled",
            call="filled()",
            words="share of rows that have",
            takes=(Integer, Real, Date, Boolean, Category, Text),
            sql={"FILLED": {}, "FILLED_PERCENT": {"percent": True}},
        ),
    )
    gaps: ClassVar[str] = "as a value"

    column: str
    percent: bool = dataclasses.field(default=False, metadata=setting(_switch))

    def measures(self, schema):
        schema.column(self.column, self.named())
        return rows_of(schema, self.column), Rows()

    def estimate(self, schema, noisy, excess=0.0):
        return np.clip(noisy[0] / np.maximum(noisy[1], 1.0), 0, 1) * self.extent(schema)[1]

    def extent(self, schema):
        return 0.0, 100.0 if self.percent else 1.0


@pytest.fixture(autouse=True)
def empty_again():
    """What is registered here is forgotten afterwards."""
    listed_functions()  # the usual ones first
    with mock.patch.dict(register_room._REGISTERED):
        yield


@pytest.fixture
def added():
    return register(Filled)


def table() -> pyarrow.Table:
    return pyarrow.table({"age": [30, None, 50, 60] * 500, "sex": ["f", "m"] * 1000})


@pytest.fixture
def curator(added, tmp_path):
    return discreet.open(table(), SCHEMA, ledger=tmp_path / "l.db", budget=discreet.Budget(1000), create=True)


def test_python_answers_it(curator):
    release = (
        curator.table().group_by("sex").agg(known=Filled("age"), percent=Filled("age", True)).plan(epsilon=50).release()
    )
    rows = {row["sex"]: row for row in release.rows()}
    assert rows["f"]["known"] == pytest.approx(1, abs=0.01)
    assert rows["m"]["known"] == pytest.approx(0.5, abs=0.01)
    assert rows["m"]["percent"] == pytest.approx(50, abs=1)
    assert rows["m"]["known_lower"] <= rows["m"]["known"] <= rows["m"]["known_upper"] <= 1


def test_its_plan_says_how_far_it_may_be_off(curator):
    (expected,) = curator.table().agg(known=Filled("age")).plan(epsilon=1).plan.expected()
    assert expected.output == "known"
    assert [rows for rows, _ in expected.by_rows] == [100, 1_000, 10_000]


def test_sql_asks_for_it(curator):
    statement = parse_sql("SELECT sex, FILLED(age), FILLED_PERCENT(age) AS p FROM people GROUP BY sex", SCHEMA)
    assert statement.query.outputs == (("filled_age", Filled("age")), ("p", Filled("age", True)))
    release = curator.sql("SELECT FILLED(age) AS known FROM people").plan(epsilon=50).release()
    assert release.rows()[0]["known"] == pytest.approx(0.75, abs=0.01)


@pytest.mark.parametrize("inner", ["age, 2", "*", "", "DISTINCT age"])
def test_sql_takes_a_column_and_nothing_else(added, inner):
    with pytest.raises(InputError):
        parse_sql(f"SELECT FILLED({inner}) FROM people", SCHEMA)


def test_messages_name_it(added):
    with pytest.raises(InputError, match="QUANTILE_CONT, SHARE\\(condition\\), MODE, FILLED"):
        parse_sql("SELECT WIDTH(age) FROM people", SCHEMA)
    with pytest.raises(InputError, match="Did you mean `FILLED`"):
        parse_sql("SELECT FILED(age) FROM people", SCHEMA)
    with pytest.raises(InputError, match="median and 4 more"):
        read_outputs(["depth(age)"])
    with pytest.raises(InputError, match=r"filled\(\)"):
        Query().agg(n=3).checked(SCHEMA)


def test_json_is_read_back(added):
    query = Query().agg(known=Filled("age"), percent=Filled("age", True)).checked(SCHEMA)
    written = json.loads(query.to_json())["outputs"]
    assert written == {
        "known": {"of": "filled", "column": "age"},
        "percent": {"of": "filled", "column": "age", "percent": True},
    }
    assert Query.from_json(query.to_json(), SCHEMA) == query
    for wrong in ({"of": "filled"}, {"of": "filled", "column": "age", "percent": 1}, {"of": "filled", "of_": "age"}):
        with pytest.raises(InputError):
            output_from(wrong)


def test_one_line_asks_for_it(added):
    assert read_outputs(["filled(age)", "x=filled(sex)"]) == {"filled_age": Filled("age"), "x": Filled("sex")}


def test_the_shell_offers_it(added):
    assert outputs(mock.Mock(params={}), "fil") == ["filled("]


def test_the_command_answers_it(added, tmp_path, capsys, monkeypatch):
    from discreet.apps.cli import main

    pyarrow.parquet.write_table(table(), tmp_path / "people.parquet")
    (tmp_path / "discreet.toml").write_text(
        '[dataset]\nname = "people"\n[budget]\nepsilon = 100\n'
        '[columns.age]\ntype = "integer"\nlower = 0\nupper = 100\n'
        '[columns.sex]\ntype = "category"\nvalues = ["f", "m"]\n'
    )
    Ledger.open(tmp_path / ".discreet" / "ledger.db", create=True).close()
    monkeypatch.chdir(tmp_path)
    line = ["ask", "people.parquet", "filled(age)", "--epsilon", "50", "--yes"]
    with pytest.raises(SystemExit) as ended:
        main(line)
    said = capsys.readouterr()
    assert not ended.value.code, said.out + said.err
    assert "filled_age" in said.out


def test_the_form_of_the_pages_has_it(added):
    pytest.importorskip("fastapi", reason="needs discreet[server]")
    from discreet.apps.web.choices import Measure, measures, summable
    from discreet.apps.web.question_input import Output

    filled = Measure("filled", "share of rows that have", column=True, argument="", sized=True)
    assert list(measures().items())[-1] == ("filled", filled)
    assert summable(SCHEMA) == ["age", "sex"]
    assert Output("filled", "age").text() == "filled(age)"


def test_the_laws_attack_it(added):
    assert Filled in registered()
    assert made(Filled) == [Filled("v"), Filled("v", percent=True)]
    for limits in LIMITS.values():
        attack_everywhere(Filled("v"), limits)


@dataclasses.dataclass(frozen=True, slots=True)
class Half(Total):
    """A measure that claims half of what its rows add."""

    @property
    def highest(self) -> int:
        return self.lattice.highest // 2


@dataclasses.dataclass(frozen=True, slots=True)
class Leaky(Filled):
    """Planted: an aggregate whose measure is charged too little."""

    functions: ClassVar[tuple[Function, ...]] = (Function(name="leaky", call="leaky()", words="leak of"),)

    def measures(self, schema: Schema) -> tuple[Any, ...]:
        column: Any = schema.columns[self.column]
        return Half(self.column, Lattice(column.lower, column.upper, 0)), Rows()


def test_a_wrong_sensitivity_of_a_new_aggregate_is_caught():
    register(Leaky)
    for kind in (kind for kind in registered() if kind is Leaky):
        with pytest.raises(AssertionError, match="is charged"):
            attack_everywhere(made(kind)[0], LIMITS["whole"])


def test_a_name_that_is_taken_is_refused(added):
    with pytest.raises(InputError, match="no other class"):
        register(Filled)


def test_a_file_in_the_folder_is_all_it_takes(tmp_path, monkeypatch):
    """As a contributor adds one: nothing imports the new file by name."""
    import discreet.query.aggregate as room

    source = (
        "from discreet.query.aggregate.rows import Count\n"
        "from discreet.query.function import Function, register\n\n"
        "@register\n"
        "class Tally(Count):\n"
        "    __slots__ = ()\n"
        "    functions = (Function(name='tally', call='tally()', words='how many', column='optional'),)\n"
    )
    (tmp_path / "tally.py").write_text(source)
    monkeypatch.setattr(room, "__path__", [*room.__path__, str(tmp_path)])
    try:
        room.load()
        assert "tally" in [function.name for function in functions()]
        assert type(read_outputs(["tally"])["tally"]).__name__ == "Tally"
    finally:
        sys.modules.pop("discreet.query.aggregate.tally", None)
        importlib.invalidate_caches()
