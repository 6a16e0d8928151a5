"""`discreet ask`, `sql` and `plan` as a person uses them: what they print, what they refuse, how they exit."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from shell import (
    folder_fixture,  # noqa: F401
    run,
)

from asks import lay_out
from discreet.ledger.ledger import Ledger


def process(*words, code=0):
    """The command in a process of its own, as a shell starts it."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("DISCREET_")}
    line = [sys.executable, "-m", "discreet", *words]
    done = subprocess.run(line, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=kept, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


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


def test_an_answer_that_is_there_already_is_offered_before_a_fresh_one(folder, monkeypatch):
    asked = ["ask", "people.csv", "count", "--epsilon", "0.1"]
    first = json.loads(run(*asked, "--yes", "--json", cwd=folder).stdout)
    refused = run(*asked, cwd=folder, code=2).stderr
    assert f"You have this answer already (free): release '{first['id']}'" in refused
    assert f"discreet releases show {first['id']}" in refused

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr("io.StringIO", Terminal)
    kept = run(*asked, "--json", cwd=folder, text="n\n")
    assert "You have this answer already (free). Buy a new answer?" in kept.stderr + kept.stdout
    assert json.loads(kept.stdout[kept.stdout.index("{") :])["id"] == first["id"]
    assert first["id"] not in run(*asked, cwd=folder, text="y\n").stdout
    assert "You have this answer already (free)" in run(*asked, "--yes", cwd=folder).stderr  # agreed to beforehand
    assert len(json.loads(run("ledger", "show", "--json", cwd=folder).stdout)["charges"]) == 3


def test_a_question_is_saved_under_a_name_and_asked_again(folder):
    asked = ["people.csv", "mean(pay)", "--by", "sex", "--where", "hours > 0"]
    assert "Saved as 'pay'. Ask" in run("plan", *asked, "--share", "0.2", "--save", "pay", cwd=folder).stderr
    assert "Saved as 'pay', in place of" in run("plan", *asked, "--share", "0.1", "--save", "pay", cwd=folder).stderr
    planned = json.loads(run("plan", "people.csv", "--saved", "pay", "--json", cwd=folder).stdout)
    assert planned == json.loads(run("plan", *asked, "--share", "0.1", "--json", cwd=folder).stdout)
    dearer = json.loads(run("plan", "people.csv", "--saved", "pay", "--epsilon", "0.2", "--json", cwd=folder).stdout)
    assert (planned["exact_cost"], dearer["exact_cost"]) == ("1/10", "1/5")
    text = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex ORDER BY n LIMIT 1"
    run("sql", "people.csv", text, "--epsilon", "0.1", "--plan", "--save", "fewest", cwd=folder)
    answer = json.loads(run("ask", "people.csv", "--saved", "fewest", "--yes", "--json", cwd=folder).stdout)
    assert len(answer["columns"]["n"]) == 1
    assert "Did you mean `pay`" in run("ask", "people.csv", "--saved", "pya", cwd=folder, code=2).stderr
    both = ["ask", "people.csv", "count", "--saved", "pay"]
    assert "without outputs, keys, conditions and --save" in run(*both, cwd=folder, code=2).stderr


def test_files_are_written_on_request(folder):
    run("ask", "people.csv", "people", "--by", "sex", "--epsilon", "0.1", "--yes", "--csv", "out.csv", cwd=folder)
    rows = list(csv.DictReader((folder / "out.csv").read_text().splitlines()))
    assert [row["sex"] for row in rows] == ["female", "male"]


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
    (["ask", "people.csv", "count", "--where", "", "--epsilon", "0.1", "--yes"], "or left out"),
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


def test_errors_are_json_when_json_was_asked_for(folder):
    done = run("ask", "people.csv", "count", "--epsilon", "9", "--yes", "--json", cwd=folder, code=3)
    assert json.loads(done.stderr)["error"] == "BudgetError"


def test_values_nobody_declared_and_the_most_common_ones(folder):
    text = (folder / "discreet.toml").read_text()
    head, _, rest = text.partition("[columns.county]")
    rest = rest.partition("[columns.")[1] + rest.partition("[columns.")[2]
    declared = head.replace("epsilon = 1.0", "epsilon = 5.0\ndelta = 1e-6")
    (folder / "discreet.toml").write_text(f'{declared}[columns.county]\ntype = "text"\n\n{rest}')
    asked = ["people.csv", "count", "--by", "county?", "--rho", "0.1", "--json"]
    assert "delta" in run("plan", *asked, cwd=folder, code=2).stderr
    planned = json.loads(run("plan", *asked, "--delta", "1e-7", cwd=folder).stdout)
    assert planned["groups"] is None
    assert planned["delta"] == 1e-7
    answer = json.loads(run("ask", *asked, "--delta", "1e-7", "--yes", cwd=folder).stdout)
    assert "Oak" in answer["columns"]["county"]
    alone = ["people.csv", "--by", "county?", "--groups-only", "--rho", "0.02", "--delta", "1e-7", "--yes", "--json"]
    answer = json.loads(run("ask", *alone, cwd=folder).stdout)
    assert (answer["outputs"], set(answer["columns"])) == ([], {"county"})
    assert "Oak" in answer["columns"]["county"]
    run("plan", "people.csv", "count", *alone[1:-2], cwd=folder, code=2)
    written = "SELECT county, COUNT(*) AS n FROM people GROUP BY county ORDER BY n DESC LIMIT 1"
    priced = ["--rho", "0.1", "--delta", "1e-7", "--yes", "--json"]
    assert json.loads(run("sql", "people.csv", written, *priced, cwd=folder).stdout)["columns"]["county"] == ["Oak"]
    top = ["people.csv", "--top", "sex", "--k", "1", "--rho", "0.05", "--yes", "--json"]
    answer = json.loads(run("ask", *top, cwd=folder).stdout)
    assert answer["columns"]["sex"][0] in ("female", "male")
    run("ask", *top, "--by", "sex", cwd=folder, code=2)


def test_listed_groups_are_the_only_ones(folder):
    asked = ["people.csv", "count", "--by", "county", "--by", "sex", "--epsilon", "0.1"]
    chosen = ["--group", "Oak,female", "--group", "Ash, male"]
    answer = json.loads(run("ask", *asked, *chosen, "--yes", "--json", cwd=folder).stdout)
    assert (answer["columns"]["county"], answer["columns"]["sex"]) == (["Oak", "Ash"], ["female", "male"])
    for wrong in ("Oak", "Oak,female,1", "Oka,female", ""):
        assert "groups" in run("ask", *asked, "--group", wrong, "--yes", cwd=folder, code=2).stderr


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


def test_limits_are_options_of_every_way_to_ask(tmp_path):
    lay_out(tmp_path)
    Ledger.open(tmp_path / ".discreet" / "ledger.db", create=True).close()
    limits = ["--limit-groups", "4", "--limit-rows", "3", "--rho", "0.1", "--allotment", "questions"]
    asked = {
        "plan": ["plan", "town.csv", "count", "--by", "age", *limits],
        "sql": ["sql", "town.csv", "SELECT age, COUNT(*) AS n FROM town GROUP BY age", "--plan", *limits],
        "top": ["plan", "town.csv", "--top", "age", *limits],
    }
    for words in asked.values():
        assert "in at most 4 groups" in run(*words, cwd=tmp_path).stdout
    wrong = run("plan", "town.csv", "--limit-rows", "0", *limits[4:], cwd=tmp_path, code=2)
    assert "a whole number from 1" in wrong.stderr
