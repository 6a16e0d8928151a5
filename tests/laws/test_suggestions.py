"""Whatever is chosen by its name is looked for by it: a misspelt name is answered with the one that was meant."""

import pytest

from discreet.core.loss import Pure
from discreet.core.release import Release
from discreet.core.unit import Unit
from discreet.curator.kinds import read_release
from discreet.curator.setup import budget_from
from discreet.data.column import Category, Date, Integer
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.ledger.account import account_of
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.ledger import Ledger
from discreet.local.questionnaire.questionnaire import Questionnaire
from discreet.marginals.domain import Domain
from discreet.query.aggregate import aggregate_from
from discreet.query.key import bins, key
from discreet.query.notation import read_outputs
from discreet.query.parse import parse_condition
from discreet.query.predicate import checked
from discreet.query.price import Price
from discreet.query.sql import parse_sql
from discreet.synth.methods import method_named as synthesis_named
from discreet.trees.geography import hierarchy_from
from discreet.trees.methods import method_named
from discreet.trees.split import split
from discreet.trees.tree import Hierarchy

COLUMNS = {
    "pay": Integer(0, 1000, nullable=False),
    "county": Category(["Ash", "Elm", "Oak"], nullable=False),
    "born": Date("1950-01-01", "2020-01-01", nullable=False),
}
SCHEMA = Schema("people", COLUMNS)
TREE = Hierarchy.from_prefixes(["1a", "1b", "2a"], {"state": 1, "county": 2})
BUDGET = Budget(2, allotments=[Allotment("research", "pure", epsilon=1), Allotment("press", "pure", epsilon=1)])
DECLARED = {"columns": {"pay": {"type": "integer", "lower": 0, "upper": 9, "nullable": False}}}
SURVEY = {"id": "s", "title": "t", "questions": []}

MISSPELT = {
    "a column that is grouped by": (lambda: key("conty").checked(SCHEMA), "county"),
    "a column that is cut into bins": (lambda: bins("pey", width=10).checked(SCHEMA), "pay"),
    "a column in a condition": (lambda: checked(parse_condition("bron > '2000-01-01'"), SCHEMA), "born"),
    "a value in a condition": (lambda: checked(parse_condition("county = 'ash'"), SCHEMA), "Ash"),
    "a value that is listed": (lambda: key("county", ["Elmm"]).checked(SCHEMA), "Elm"),
    "a period": (lambda: bins("born", every="moth").checked(SCHEMA), "month"),
    "a function": (lambda: read_outputs(["maen(pay)"]), "mean"),
    "a function in JSON": (lambda: aggregate_from({"of": "variance_", "column": "pay"}), "variance"),
    "a function in SQL": (lambda: parse_sql("SELECT AVGG(pay) FROM people", SCHEMA), "AVG"),
    "a column in SQL": (lambda: parse_sql("SELECT SUM(pai) FROM people", SCHEMA), "pay"),
    "a table in SQL": (lambda: parse_sql("SELECT COUNT(*) FROM poeple", SCHEMA), "people"),
    "a kind of noise": (lambda: Price.read(epsilon=1, noise="gausian"), "gaussian"),
    "an allotment": (lambda: BUDGET.allotment("reserch"), "research"),
    "a kind of allotment": (lambda: Allotment("a", "zcpd", rho=1), "zcdp"),
    "a field of a budget": (lambda: budget_from({"epsilom": 1}), "epsilon"),
    "a table of a schema": (lambda: Schema.from_dict({**DECLARED, "datset": {}}), "dataset"),
    "a field of a dataset": (lambda: Schema.from_dict({**DECLARED, "dataset": {"nmae": "x"}}), "name"),
    "a field of a unit": (lambda: Schema.from_dict({**DECLARED, "unit": {"colum": "x"}}), "column"),
    "a type of column": (lambda: Schema.from_dict({"columns": {"pay": {"type": "integr"}}}), "integer"),
    "a column that is synthesised": (lambda: Domain.of(SCHEMA, ["pay", "conty"]), "county"),
    "a method of synthesis": (lambda: synthesis_named("mts"), "mst"),
    "a method for trees": (lambda: method_named("topdwon"), "topdown"),
    "a level": (lambda: TREE.level("stat"), "state"),
    "the last level": (lambda: hierarchy_from(["conty"], None, None, SCHEMA), "county"),
    "a way to share a price": (lambda: split(TREE, how="equall"), "equal"),
    "a field of a survey": (lambda: Questionnaire.from_dict({**SURVEY, "titel": "x"}), "title"),
}


@pytest.mark.parametrize(("act", "meant"), MISSPELT.values(), ids=MISSPELT)
def test_a_misspelt_name_is_answered_with_the_one_that_was_meant(act, meant):
    with pytest.raises(InputError, match=f"Did you mean `{meant}`"):
        act()


def test_a_misspelt_dataset_is_answered_with_the_one_on_the_ledger(tmp_path):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    ledger.create("people", Budget(1), who="ann")
    with pytest.raises(InputError, match="Did you mean `people`"), ledger._store.read() as reader:
        account_of(reader, "peple")


def test_a_misspelt_release_is_answered_with_the_one_on_record(tmp_path):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    ledger.create("people", Budget(1), who="ann")
    ledger.spend("people", Pure("0.1"), query={}, digest="d", unit=Unit(), release="pay-2026", who="ann", mechanism="m")
    ledger.answer("pay-2026", "{}", who="ann")
    with pytest.raises(InputError, match="Did you mean `pay-2026`"):
        read_release(ledger, "pay-2062")
    with pytest.raises(InputError, match="discreet releases list"):
        read_release(ledger, "pay-2062", dataset="others")


def test_a_misspelt_output_is_answered_with_the_one_released():
    release = Release(
        "x", "people", {"rows": [1], "rows_lower": [0], "rows_upper": [2]}, (), ("rows",), 0.95, "", "", ""
    )
    with pytest.raises(InputError, match="Did you mean `rows`"):
        release["rowss"]
