"""Exports: complete, exact, safe in a spreadsheet, and readable as YAML."""

import csv
import io
import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.loss import Pure
from discreet.core.unit import Unit
from discreet.errors import InputError
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.export import export, export_parts, json_in_yaml
from discreet.ledger.ledger import Ledger


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger.open(tmp_path / "discreet.db", create=True)
    parts = [Allotment("questions", "zcdp", epsilon=2, delta=1e-6), Allotment("exact", "pure", epsilon=1)]
    ledger.create("visits", Budget(epsilon=3, delta=1e-6, allotments=parts), unit=Unit("patient"), who="ann")
    ledger.create("other", Budget(rho=0.5), who="ann")
    paid = {"release": "r1", "digest": "d", "allotment": "exact", "mechanism": "discrete Laplace, scale 3"}
    ledger.spend("visits", Pure("1/3"), unit=Unit("patient"), who="@ann", why='=HYPERLINK("http://x")', **paid)
    ledger.answer("r1", '{"n":1}', who="ann")
    return ledger


def test_json_holds_every_record_and_its_hash(ledger):
    records = json.loads(export(ledger))["records"]
    assert [record["sequence"] for record in records] == [1, 2, 3, 4, 5]
    assert records[3]["amount"] == "1/3"
    assert records[-1]["hash"] == ledger.head().hash
    assert len(json.loads(export(ledger, dataset="other"))["records"]) == 1


def test_csv_opens_in_a_spreadsheet_and_runs_nothing(ledger):
    rows = list(csv.DictReader(io.StringIO(export(ledger, "csv"))))
    assert len(rows) == 5
    assert rows[3]["why"] == '\'=HYPERLINK("http://x")'
    assert rows[3]["who"] == "'@ann"
    assert rows[3]["amount"] == "1/3"
    for row in rows:
        assert not any(cell[:1] in ("=", "+", "-", "@", "\t", "\r", "\n") for cell in row.values() if cell)


def test_the_registry_entry_says_what_is_promised_and_what_is_not(ledger):
    visits, other = yaml.safe_load_all(export(ledger, "registry"))
    deployment = visits["deployment"]
    assert deployment["dp_flavor"]["name"] == "Approximate DP"
    assert "Who asked what" in deployment["dp_flavor"]["unprotected_quantities"]
    assert deployment["privacy_loss"]["privacy_unit"] == str(Unit("patient"))
    assert deployment["privacy_loss"]["privacy_parameters"] == {"epsilon": 3.0, "delta": 1e-6}
    assert deployment["model"]["model_name"] == "Central"
    assert "zCDP privacy filter" in deployment["accounting"]["composition"]
    assert deployment["implementation"]["mechanisms"] == ["discrete Laplace, scale 3"]
    assert deployment["product"]["publication_date"] == next(r.time for r in ledger.records() if r.release)[:10]
    assert other["deployment"]["privacy_loss"]["privacy_parameters"] == {"rho": 0.5}


def test_an_unknown_format_is_refused(ledger):
    with pytest.raises(InputError, match="json, csv, registry"):
        export(ledger, "xlsx")


# A lone surrogate is no character; YAML has no way to write one.
texts = st.text(st.characters(exclude_categories=["Cs"]))
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts.filter(bool), inner, max_size=3),
    max_leaves=10,
)


@settings(deadline=None)
@given(plain)
def test_an_entry_is_read_as_it_was_by_readers_of_yaml_and_of_json(value):
    text = json_in_yaml(value)
    assert yaml.safe_load(text) == value
    assert json.loads(text) == value


@pytest.mark.parametrize(
    "value", [1e-06, -1e22, "1e-06", 'say "1e-06" \\', "a\u2028b\x85c\x7f", "\U0001f600", "no", {"on": [-0.0]}]
)
def test_what_yaml_takes_for_something_else_is_read_as_it_was(value):
    assert yaml.safe_load(json_in_yaml({"x": value})) == {"x": value} == json.loads(json_in_yaml({"x": value}))


def test_it_comes_in_parts_as_records_are_read(tmp_path):
    ledger = Ledger.open(tmp_path / "parts.db", create=True)
    whole = {"format": 1, "records": [{**each.to_json(), "hash": each.hash} for each in ledger.records()]}
    assert "".join(export_parts(ledger)) == json.dumps(whole, indent=1) + "\n"
    ledger.create("visits", Budget(epsilon=1), who="ann\nand bob")
    whole = {"format": 1, "records": [{**each.to_json(), "hash": each.hash} for each in ledger.records()]}
    parts = list(export_parts(ledger))
    assert "".join(parts) == json.dumps(whole, indent=1) + "\n"
    assert len(parts) == 3
    assert "".join(export_parts(ledger, dataset="nobody")) == json.dumps({"format": 1, "records": []}, indent=1) + "\n"
    assert len(list(export_parts(ledger, "csv"))) == 3
