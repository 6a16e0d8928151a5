"""`discreet init` and the unit: options, answers typed at a terminal, and what is refused without either."""

import contextlib
import io
import json
import sys
import tomllib

import pytest
from shell import run

from discreet.apps.cli import main
from discreet.data.schema import Schema
from discreet.data.toml import toml_table
from discreet.errors import InputError
from discreet.ledger.ledger import Ledger

PERSON = ("--unit", "patient", "--groups", "3", "--rows", "10")


class Terminal(io.StringIO):
    """Someone who is there and types."""

    def isatty(self):
        return True


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "visits.csv").write_text("patient,age\nCANARY,42\n")
    return tmp_path


def described(*words, code=0, typed=None):
    """What `discreet init visits.csv --header` says; `typed` by someone at a terminal, or nobody is there."""
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        patch.setattr(sys, "stdin", io.StringIO() if typed is None else Terminal(typed))
        with pytest.raises(SystemExit) as ended:
            main(["init", "visits.csv", "--header", *words])
    assert (ended.value.code or 0) == code, out.getvalue()
    return out.getvalue()


def unit_in(folder):
    return tomllib.loads((folder / "discreet.toml").read_text())["unit"]


def test_the_unit_and_its_limits_are_written_as_the_options_say(folder):
    described(*PERSON)
    assert unit_in(folder) == {"column": "patient", "groups": 3, "rows": 10, "neighbours": "add-remove"}
    columns = tomllib.loads((folder / "discreet.toml").read_text())["columns"]
    assert columns["patient"] == {"type": "text"}
    assert columns["age"]["type"] == "?"


def test_a_row_is_the_unit_where_that_was_said(folder):
    described("--unit", "row")
    assert unit_in(folder) == {"neighbours": "add-remove"}


@pytest.mark.parametrize(
    ("words", "typed"),
    [((), "patient\n3\n10\n"), (PERSON[:2], "3\n10\n"), (PERSON[:4], "many\n10\n"), (PERSON[2:], "patient\n")],
)
def test_what_no_option_says_is_asked_on_a_terminal(folder, words, typed):
    described(*words, typed=typed)
    assert unit_in(folder) == {"column": "patient", "groups": 3, "rows": 10, "neighbours": "add-remove"}


def test_a_row_can_be_typed_and_is_asked_for_no_limits(folder):
    described(typed="row\n")
    assert unit_in(folder) == {"neighbours": "add-remove"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "`--unit` must be given: it says who is protected"),
        (PERSON[:2], "`--groups` must be given where the unit is a person"),
        (PERSON[:4], "`--rows` must be given where the unit is a person"),
        (("--unit", "pateint"), "Did you mean `patient`?"),
        (("--unit", "row", "--groups", "3"), "`--groups` must be left out unless the unit is a person"),
        ((*PERSON[:4], "--rows", "0"), "`unit.rows` must be a whole number from 1"),
    ],
)
def test_nothing_is_assumed_or_written_where_nobody_is_there_to_say(folder, words, says):
    said = described(*words, code=2)
    assert says in said
    assert "CANARY" not in said
    assert not (folder / "discreet.toml").exists()


def test_a_column_called_row_is_not_mistaken_for_a_row(folder):
    (folder / "visits.csv").write_text("row,age\n1,42\n")
    assert "it is also the name of a column" in described("--unit", "row", code=2)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "begins with the names"),
        ("a,b,\n1,2,3\n", "number 3 of 3 has none"),
        ("a,b,A\n1,2,3\n", "1 and 3 have the same"),
    ],
)
def test_init_says_what_is_wrong_with_a_header(tmp_path, text, says):
    (tmp_path / "odd.csv").write_text(text)
    assert says in run("init", "odd.csv", "--header", cwd=tmp_path, code=2).stderr
    assert not (tmp_path / "discreet.toml").exists()


def test_init_doubts_a_header_that_is_hardly_one(tmp_path):
    (tmp_path / "odd.csv").write_bytes("navn,\u00e5r\n".encode("utf-16"))
    assert "UTF-16" in run("init", "odd.csv", "--header", "--unit", "row", cwd=tmp_path).stdout


ROWS = "CANARY-ann,canary@example.org,1987-03-01,CANARYTOWN\nbob,b@example.org,1990-01-02,Rome\n"


@pytest.mark.parametrize("text", [ROWS, "CANARY-ann,CANARYTOWN\nbob,Rome\n", "1,1\n2,3\n", "CANARY,,x\n"])
def test_init_writes_and_says_nothing_of_a_first_line_that_nobody_called_a_header(tmp_path, text):
    (tmp_path / "bare.csv").write_text(text)
    done = run("init", "bare.csv", cwd=tmp_path, code=2)
    assert "--no-header" in done.stderr
    assert "canary" not in (done.stdout + done.stderr).lower()
    assert not (tmp_path / "discreet.toml").exists()


def test_a_file_without_a_header_is_described_and_asked_by_names_given_for_it(tmp_path):
    Ledger.open(tmp_path / ".discreet" / "ledger.db", create=True).close()
    (tmp_path / "bare.csv").write_text(ROWS)
    done = run("init", "bare.csv", "--no-header", "--unit", "row", cwd=tmp_path)
    written = (tmp_path / "discreet.toml").read_text()
    assert "canary" not in (done.stdout + written).lower()
    assert "[columns.column_4]" in written
    named = ("--names", "name,mail,born,town", "--unit", "row")
    run("init", "bare.csv", *named, "--out", "named.toml", cwd=tmp_path)
    written = (tmp_path / "named.toml").read_text()
    assert 'names = ["name", "mail", "born", "town"]' in written
    schema = """
        [dataset]
        name = "bare"
        names = ["name", "mail", "born", "town"]
        [unit]
        [budget]
        epsilon = 1000
        [columns.town]
        type = "category"
        values = ["CANARYTOWN", "Rome"]
    """
    (tmp_path / "full.toml").write_text(schema)
    asked = ("ask", "bare.csv", "count", "--by", "town", "--epsilon", "500", "--yes", "--schema", "full.toml", "--json")
    assert json.loads(run(*asked, cwd=tmp_path).stdout)["columns"]["count"] == [1, 1]
    (tmp_path / "other.toml").write_text(schema.replace('names = ["name", "mail", "born", "town"]', ""))
    wrong = run(*asked[:-2], "other.toml", cwd=tmp_path, code=2)
    assert "canary" not in (wrong.stdout + wrong.stderr).replace("'town'", "").lower()
    assert "names = [" in wrong.stderr


def test_what_it_says_to_do_next_works_in_that_order(tmp_path):
    (tmp_path / "p.csv").write_text("age\n3\n4\n")
    told = run("init", "p.csv", "--header", "--unit", "row", cwd=tmp_path).stdout.splitlines()
    schema = (tmp_path / "discreet.toml").read_text().replace('epsilon = "?"', "epsilon = 1")
    types = 'type = "integer"\nlower = 0\nupper = 9'
    (tmp_path / "discreet.toml").write_text(schema.replace('type = "?"', types))
    said = [line.removeprefix("discreet ").split() for line in told if line.startswith("discreet ")]
    assert [words[0] for words in said] == ["check", "ledger", "plan"]
    assert "Cost: epsilon = 0.1" in [run(*words, cwd=tmp_path).stdout for words in said][-1]


def test_odd_names_of_columns_go_through(tmp_path):
    Ledger.open(tmp_path / ".discreet" / "ledger.db", create=True).close()
    (tmp_path / "my file.csv").write_text('"pay, in \u20ac",\u00c5lder\n3,4\n', "utf-8")
    told = run("init", "my file.csv", "--header", "--unit", "row", "--out", "odd.toml", cwd=tmp_path).stdout
    assert "2 columns" in told
    assert "discreet check 'my file.csv' odd.toml" in told
    assert "discreet plan 'my file.csv' count --epsilon 0.1 --schema odd.toml" in told
    assert "ledger create" not in told  # there is one
    written = (tmp_path / "odd.toml").read_text("utf-8")
    assert '[columns."pay, in \u20ac"]' in written
    filled = written.replace('type = "?"', 'type = "real"\nlower = 0\nupper = 9').replace(
        'epsilon = "?"', "epsilon = 1"
    )
    (tmp_path / "odd.toml").write_text(filled, "utf-8")
    asked = (
        "plan",
        "my file.csv",
        "mean(pay, in \u20ac)",
        "median(\u00c5lder)",
        "--epsilon",
        "0.1",
        "--schema",
        "odd.toml",
    )
    plan = run(*asked, cwd=tmp_path).stdout
    assert "mean_pay_in: " in plan
    assert "median_\u00c5lder: " in plan
    (tmp_path / "odd.toml").write_text(filled.replace("\u00c5lder", "Alder"), "utf-8")
    said = run(*asked, cwd=tmp_path, code=2).stderr
    assert "`columns` must be a column the data has" in said
    assert "pay" not in said  # what the file has instead may be a person's values


def test_init_writes_a_schema_from_names_alone(tmp_path):
    (tmp_path / "secret.csv").write_text("name,age\nCANARY,42\n")
    run("init", "secret.csv", "--header", "--unit", "row", cwd=tmp_path)
    text = (tmp_path / "discreet.toml").read_text()
    assert "[columns.name]" in text
    assert "CANARY" not in text
    assert "42" not in text
    run("init", "secret.csv", "--header", "--unit", "row", cwd=tmp_path, code=2)
    unfinished = run("plan", "secret.csv", "count", "--epsilon", "1", cwd=tmp_path, code=2)
    assert "columns.name.type" in unfinished.stderr


def test_another_delimiter_is_written_into_the_schema(folder):
    (folder / "visits.csv").write_text("patient;age\nCANARY;42\n")
    described("--unit", "row", "--delimiter", ";")
    declared = tomllib.loads((folder / "discreet.toml").read_text())
    assert declared["dataset"] == {"name": "visits", "delimiter": ";"}
    assert list(declared["columns"]) == ["patient", "age"]


def test_a_delimiter_that_divides_nothing_is_refused(folder):
    message = described("--unit", "row", "--delimiter", "x", code=2)
    assert "`--delimiter` must be one of ',', ';'" in message


TYPED = """who;zip;age;pay;euro;day;german;at;sex;note;smokes;none
a;01234;34;1.5;1.234,5;2024-01-05;31.12.2024;2024-01-05T10:00;f;some words;yes;
b;02139;61;2e3;12,5;2024-01-06;1.2.2024;2024-01-05 11:30:00Z;m;other words;No;
"""


def test_types_are_guessed_on_request_and_nothing_else_is_taken(folder):
    (folder / "visits.csv").write_text(TYPED + "\n".join(TYPED.splitlines()[1:] * 20).replace("words", "\u00e9") + "\n")
    said = described("--unit", "who", "--groups", "1", "--rows", "1", "--delimiter", ";", "--types")
    assert "Its values were read here to guess the types of 10 columns" in said
    text = (folder / "discreet.toml").read_text()
    columns = tomllib.loads(text)["columns"]
    assert {name: entry["type"] for name, entry in columns.items()} == {
        "who": "text",
        "zip": "category",
        "age": "integer",
        "pay": "real",
        "euro": "real",
        "day": "date",
        "german": "date",
        "at": "timestamp",
        "sex": "category",
        "note": "category",
        "smokes": "boolean",
        "none": "?",
    }
    assert {value for entry in columns.values() for key, value in entry.items() if key not in ("type", "nullable")} == {
        "?"
    }
    assert "01234" not in text
    assert "31" not in text


def test_values_that_do_not_repeat_are_text(folder):
    (folder / "visits.csv").write_text("name\n" + "\n".join(f"person {n}" for n in range(30)) + "\n")
    described("--unit", "row", "--types")
    assert tomllib.loads((folder / "discreet.toml").read_text())["columns"]["name"]["type"] == "text"


def test_without_the_option_no_value_is_read(folder):
    described("--unit", "row")
    assert tomllib.loads((folder / "discreet.toml").read_text())["columns"]["age"]["type"] == "?"


def test_a_file_with_another_delimiter_is_refused_with_the_option_that_reads_it(folder):
    (folder / "visits.csv").write_text("patient;visit day\nCANARY;42\n")
    message = described("--unit", "row", code=2)
    assert "Add --delimiter ';'" in message
    assert "CANARY" not in message
    described("--unit", "row", "--delimiter", ";")


@pytest.mark.parametrize(
    ("values", "written"),
    [
        (["31/12/2023;1.250,50", "01/02/2023;12,5"], {"decimal": ",", "thousands": ".", "dates": "dd/mm/yyyy"}),
        (["12/31/2023;1,250.50", "01/02/2023;12.5"], {"thousands": ",", "dates": "mm/dd/yyyy"}),
        (["01/02/2023;12,5", "2023-01-02;7"], {"decimal": ",", "dates": "?"}),
        (["2023-01-02;1,250", "2023-01-02;3,400"], {"decimal": "?", "thousands": "?"}),
        (["2023-01-02;1250.5", "2023-01-02;3,5"], {"decimal": "?", "thousands": "?"}),
    ],
)
def test_how_guessed_types_are_written_stands_in_the_schema(folder, values, written):
    (folder / "visits.csv").write_text("day;cost\n" + "\n".join(values * 5) + "\n")
    described("--unit", "row", "--delimiter", ";", "--types")
    declared = tomllib.loads((folder / "discreet.toml").read_text())
    assert {name: entry["type"] for name, entry in declared["columns"].items()} == {"day": "date", "cost": "real"}
    assert declared["dataset"] == {"name": "visits", "delimiter": ";", **written}


def test_a_table_of_a_name_with_blanks_is_valid_toml():
    assert list(tomllib.loads(f"{toml_table('columns', 'visit day')}\nlower = 0")["columns"]) == ["visit day"]
    with pytest.raises(InputError, match=r'under \[columns\."visit day"\]'):
        Schema.from_dict({"columns": {"visit day": {"type": "integer", "lower": 0}}})
