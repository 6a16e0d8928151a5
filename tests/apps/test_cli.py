"""The command line as a person uses it: what it prints, what it refuses, how it exits."""

import contextlib
import csv
import io
import json
import os
import shutil
import socket
import subprocess
import sys
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pytest

from discreet.apps.cli import main
from discreet.ledger.ledger import Ledger

SHIPPED = Path(str(files("discreet.apps.demo")))


@dataclass(frozen=True)
class Said:
    stdout: str
    stderr: str


def process(*words, code=0):
    """The command in a process of its own, as a shell starts it."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("DISCREET_")}
    line = [sys.executable, "-m", "discreet", *words]
    done = subprocess.run(line, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=kept, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def run(*words, cwd=None, code=0, text=None):
    """The command in this process: starting Python takes ten times as long as what most commands do."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        for key in [key for key in os.environ if key.startswith("DISCREET_")]:
            patch.delenv(key)
        patch.setattr(sys, "stdin", io.StringIO(text or ""))
        if cwd is not None:
            patch.chdir(cwd)
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
    assert (ended.value.code or 0) == code, out.getvalue() + err.getvalue()
    return Said(out.getvalue(), err.getvalue())


@pytest.fixture
def folder(tmp_path):
    for name in ("people.csv", "discreet.toml"):
        shutil.copy(SHIPPED / name, tmp_path / name)
    Ledger.open(tmp_path / ".discreet" / "ledger.db", create=True).close()
    return tmp_path


def test_the_command_is_installed_and_helps():
    assert shutil.which("discreet", path=str(Path(sys.executable).parent)) is not None
    out = process("--help").stdout
    for command in ("init", "plan", "ask", "releases", "ledger", "calibrate", "demo"):
        assert command in out
    assert "discreet 0." in process("--version").stdout
    process("nonsense", code=2)


def test_the_whole_story(folder):
    planned = json.loads(
        run("plan", "people.csv", "count", "mean(pay)", "--by", "sex", "--epsilon", "0.4", "--json", cwd=folder).stdout
    )
    assert planned["exact_cost"] == "2/5"
    assert [e["output"] for e in planned["expected"]] == ["count", "mean_pay"]
    before = json.loads(run("ledger", "show", "--json", cwd=folder).stdout)
    assert before["charges"] == []

    asked = ["ask", "people.csv", "count", "--by", "age/20", "--where", "hours > 0", "--epsilon", "0.4", "--id", "ages"]
    answer = json.loads(run(*asked, "--yes", "--json", "--why", "a test", cwd=folder).stdout)
    assert answer["columns"]["age"] == ["0..20", "20..40", "40..60", "60..80", "80..100"]
    assert all(isinstance(value, int) for value in answer["columns"]["count"])
    again = json.loads(run(*asked, "--yes", "--json", cwd=folder).stdout)
    assert again["columns"] == answer["columns"]

    shown = json.loads(run("releases", "show", "ages", "--json", cwd=folder).stdout)
    assert shown["columns"] == answer["columns"]
    assert "ages" in run("releases", "list", cwd=folder).stdout
    table = list(csv.reader(run("releases", "show", "ages", "--format", "csv", cwd=folder).stdout.splitlines()))
    assert table[0] == ["age", "count", "count_lower", "count_upper"]
    assert run("releases", "show", "ages", "--format", "markdown", cwd=folder).stdout.startswith("| age | count |")

    refused = run("ask", "people.csv", "count", "--epsilon", "0.7", "--yes", cwd=folder, code=3)
    assert "Nothing was spent" in refused.stderr
    books = json.loads(run("ledger", "show", "--json", cwd=folder).stdout)
    assert books["budgets"][0]["spent"]["amount"] == "2/5"
    assert [charge["why"] for charge in books["charges"]] == ["a test"]

    assert "every hash, sum and cap holds" in run("ledger", "verify", cwd=folder).stdout
    assert json.loads(run("ledger", "export", cwd=folder).stdout)["records"]
    assert "privacy" in run("ledger", "export", "--format", "registry", cwd=folder).stdout.lower()
    assert "people" in run("ledger", "export", "--format", "csv", cwd=folder).stdout


def test_nothing_is_spent_without_a_yes(folder):
    done = run("ask", "people.csv", "count", "--epsilon", "0.1", cwd=folder, code=2)
    assert "Nothing was spent" in done.stderr
    assert json.loads(run("ledger", "show", "--json", cwd=folder).stdout)["charges"] == []


def test_files_are_written_on_request(folder):
    run("ask", "people.csv", "people", "--by", "sex", "--epsilon", "0.1", "--yes", "--csv", "out.csv", cwd=folder)
    rows = list(csv.DictReader((folder / "out.csv").read_text().splitlines()))
    assert [row["sex"] for row in rows] == ["female", "male"]


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


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"a;b;c\n1;2;3\n", "divided by commas"),
        ("navn,\u00e5r\n".encode("utf-16"), "UTF-16"),
    ],
)
def test_init_doubts_a_header_that_is_hardly_one(tmp_path, data, says):
    (tmp_path / "odd.csv").write_bytes(data)
    assert says in run("init", "odd.csv", "--header", "--unit", "row", cwd=tmp_path).stdout


PERSON = "CANARY-ann,canary@example.org,1987-03-01,CANARYTOWN\nbob,b@example.org,1990-01-02,Rome\n"


@pytest.mark.parametrize("text", [PERSON, "CANARY-ann,CANARYTOWN\nbob,Rome\n", "1,1\n2,3\n", "CANARY,,x\n"])
def test_init_writes_and_says_nothing_of_a_first_line_that_nobody_called_a_header(tmp_path, text):
    (tmp_path / "bare.csv").write_text(text)
    done = run("init", "bare.csv", cwd=tmp_path, code=2)
    assert "--no-header" in done.stderr
    assert "canary" not in (done.stdout + done.stderr).lower()
    assert not (tmp_path / "discreet.toml").exists()


def test_a_file_without_a_header_is_described_and_asked_by_names_given_for_it(tmp_path):
    Ledger.open(tmp_path / ".discreet" / "ledger.db", create=True).close()
    (tmp_path / "bare.csv").write_text(PERSON)
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


def test_odd_names_of_columns_go_through(tmp_path):
    Ledger.open(tmp_path / ".discreet" / "ledger.db", create=True).close()
    (tmp_path / "my file.csv").write_text('"pay, in \u20ac",\u00c5lder\n3,4\n', "utf-8")
    told = run("init", "my file.csv", "--header", "--unit", "row", "--out", "odd.toml", cwd=tmp_path).stdout
    assert "2 columns" in told
    assert "discreet plan 'my file.csv' count --epsilon 0.1 --schema odd.toml" in told
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


BAD = [
    (["ask", "nowhere.csv", "count", "--epsilon", "1", "--yes"], "source"),
    (["ask", "people.csv", "count", "--yes"], "exactly one of epsilon, rho, share, within"),
    (["ask", "people.csv", "count", "--epsilon", "0.1", "--rho", "0.1", "--yes"], "exactly one"),
    (["ask", "people.csv", "count", "--epsilon", "-1", "--yes"], "epsilon"),
    (["ask", "people.csv", "mean(nothing)", "--epsilon", "0.1", "--yes"], "declared column"),
    (["ask", "people.csv", "mean(sex)", "--epsilon", "0.1", "--yes"], "numeric column"),
    (["ask", "people.csv", "magic(pay)", "--epsilon", "0.1", "--yes"], "outputs"),
    (["ask", "people.csv", "count(", "--epsilon", "0.1", "--yes"], "output"),
    (["ask", "people.csv", "count", "--where", "drop table people", "--epsilon", "0.1", "--yes"], "where"),
    (["ask", "people.csv", "count", "--where", "sex = 'other'", "--epsilon", "0.1", "--yes"], "declared value of sex"),
    (["ask", "people.csv", "count", "--by", "pay", "--epsilon", "0.1", "--yes"], "bins"),
    (["ask", "people.csv", "mean(pay)", "--within", "10", "--yes"], "within"),
    (["ask", "people.csv", "count", "--epsilon", "0.1", "--confidence", "1.5", "--yes"], "confidence"),
    (["ask", "people.csv", "count", "--epsilon", "0.1", "--allotment", "other", "--yes"], "allotment"),
    (["ask", "people.csv", "count", "--epsilon", "0.1", "--schema", "missing.toml", "--yes"], "schema"),
    (["releases", "show", "nothing"], "stored release"),
]


@pytest.mark.parametrize(("words", "says"), BAD, ids=[" ".join(words)[:60] for words, _ in BAD])
def test_bad_input_is_refused_and_named_before_anything_is_spent(folder, words, says):
    done = run(*words, cwd=folder, code=2)
    assert says in done.stderr
    if (folder / ".discreet" / "ledger.db").exists():
        assert json.loads(run("ledger", "show", "--json", cwd=folder).stdout)["charges"] == []


@pytest.mark.parametrize("command", [("serve", "people.csv"), ("survey", "serve", "survey.toml")])
def test_a_port_that_is_taken_is_named_and_not_taken_for_a_refusal_of_the_budget(folder, command):
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    run("survey", "new", cwd=folder)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        done = run(*command, "--port", port, cwd=folder, code=2)
    assert "`--port` must be a port of 127.0.0.1 that is free" in done.stderr
    assert done.stdout == ""
    there = run(*command, "--host", "192.0.2.1", *(["--expose"] if "survey" in command else []), cwd=folder, code=2)
    assert "`--host` must be" in there.stderr


def test_errors_are_json_when_json_was_asked_for(folder):
    done = run("ask", "people.csv", "count", "--epsilon", "9", "--yes", "--json", cwd=folder, code=3)
    assert json.loads(done.stderr)["error"] == "BudgetError"


def test_calibrate_answers_in_all_directions():
    noise = json.loads(run("calibrate", "noise", "--epsilon", "0.1", "--json").stdout)
    assert (noise["mechanism"], noise["exact"], noise["error"]) == ("laplace", "10", 30)
    gaussian = json.loads(run("calibrate", "noise", "--epsilon", "1", "--delta", "1e-6", "--json").stdout)
    assert 4.2 < gaussian["sigma"] < 4.3
    budget = json.loads(run("calibrate", "budget", "--within", "30", "--json").stdout)
    assert 0.098 < budget["epsilon"] <= 0.1
    odds = json.loads(run("calibrate", "odds", "--epsilon", "1.0986122886681098", "--prior", "0.02", "--json").stdout)
    assert odds["posteriors"][0]["high"] == pytest.approx(0.0577, abs=1e-3)
    assert odds["best_guess"] == pytest.approx(0.75)
    turned = json.loads(run("calibrate", "convert", "--rho", "0.1", "--delta", "1e-6", "--json").stdout)
    assert 2.1 < turned["epsilon"] < 2.2
    assert (
        "noise multiplier"
        in run("calibrate", "training", "--epsilon", "2", "--delta", "1e-5", "--rate", "0.01", "--steps", "100").stdout
    )
    run("calibrate", "noise", "--epsilon", "nan", code=2)
    run("calibrate", "noise", code=2)


def test_the_demo_tells_its_story_and_can_be_gone_on_with(tmp_path):
    out = run("demo", "--folder", "shop", cwd=tmp_path).stdout
    assert "Refused: The budget of 'people' does not cover this" in out
    assert out.count("answered") == 3
    left = json.loads(run("ledger", "show", "--ledger", "shop/.discreet/ledger.db", "--json", cwd=tmp_path).stdout)
    assert len(left["charges"]) == 3


def test_values_nobody_declared_and_the_most_common_ones(folder):
    text = (folder / "discreet.toml").read_text()
    head, _, rest = text.partition("[columns.county]")
    rest = rest.partition("[columns.")[1] + rest.partition("[columns.")[2]
    declared = head.replace("epsilon = 1.0", "epsilon = 4.0\ndelta = 1e-6")
    (folder / "discreet.toml").write_text(f'{declared}[columns.county]\ntype = "text"\n\n{rest}')
    asked = ["people.csv", "count", "--by", "county?", "--rho", "0.1", "--json"]
    assert "delta" in run("plan", *asked, cwd=folder, code=2).stderr
    planned = json.loads(run("plan", *asked, "--delta", "1e-7", cwd=folder).stdout)
    assert planned["groups"] is None
    assert planned["delta"] == 1e-7
    answer = json.loads(run("ask", *asked, "--delta", "1e-7", "--yes", cwd=folder).stdout)
    assert "Oak" in answer["columns"]["county"]
    written = "SELECT county, COUNT(*) AS n FROM people GROUP BY county ORDER BY n DESC LIMIT 1"
    priced = ["--rho", "0.1", "--delta", "1e-7", "--yes", "--json"]
    assert json.loads(run("sql", "people.csv", written, *priced, cwd=folder).stdout)["columns"]["county"] == ["Oak"]
    top = ["people.csv", "--top", "sex", "--k", "1", "--rho", "0.05", "--yes", "--json"]
    answer = json.loads(run("ask", *top, cwd=folder).stdout)
    assert answer["columns"]["sex"][0] in ("female", "male")
    run("ask", *top, "--by", "sex", cwd=folder, code=2)


def test_quantiles_stand_beside_counts(folder):
    asked = ["people.csv", "count", "median(pay)", "top=quantile(pay, 0.9)", "--by", "sex", "--epsilon", "0.5"]
    planned = json.loads(run("plan", *asked, "--json", cwd=folder).stdout)
    assert [(e["output"], e.get("unit")) for e in planned["expected"]][1:] == [
        ("median_pay", "ranks"),
        ("top", "ranks"),
    ]
    answer = json.loads(run("ask", *asked, "--yes", "--json", cwd=folder).stdout)
    assert answer["outputs"] == ["count", "median_pay", "top"]
    assert all(m <= t for m, t in zip(answer["columns"]["median_pay"], answer["columns"]["top"], strict=True))
    for wrong in ("quantile(pay)", "quantile(pay, 2)", "median(sex)", "quantile(, 0.5)"):
        run("ask", "people.csv", wrong, "--epsilon", "0.1", "--yes", cwd=folder, code=2)
    text = "SELECT sex, MEDIAN(age) AS middle FROM people GROUP BY sex"
    assert "middle" in run("sql", "people.csv", text, "--epsilon", "0.1", "--yes", cwd=folder).stdout
