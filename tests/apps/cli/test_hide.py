"""`discreet hide`: numbers of a CSV file, with what its schema declares of them."""

import csv
import json
import shlex
from pathlib import Path

import pytest

from discreet.apps.cli import main
from discreet.apps.cli.examples import EXAMPLES
from numbers_files import SCHEMA, lay_out_prices
from surfaces import command

pytest.importorskip("clarabel", reason="needs discreet[constraints]")
TERMS = ("--highest", "100", "--step", "0.25", "--epsilon", "1")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    lay_out_prices(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert command("ledger", "create")[1] == 0
    return tmp_path


def spent():
    return json.loads(command("ledger", "show", "--json")[0])["charges"]


def test_the_examples_run_as_one_story(folder):
    for name in ("hide plan", "hide release", "hide show"):
        for line in EXAMPLES[name]:
            said, code = command(*shlex.split(line)[1:])
            assert code == 0, f"{line}\n{said}"
    rows = list(csv.DictReader((folder / "hidden" / "table.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["name"] for row in rows] == ["north", "south", "east", "west"]
    assert sum(float(row["value"]) for row in rows) == pytest.approx(100, abs=1e-4)


def test_a_plan_says_what_is_declared_and_reads_no_number(folder):
    said, code = command("hide", "plan", "prices.csv", *TERMS, "--optimum", "measured")
    assert code == 0
    assert "one value, moved by at most 2 EUR" in said
    assert "total, coast, with losses within 1% of it" in said
    assert "as its weights and the bounds have it" in said
    assert spent() == []
    (folder / "prices.csv").write_text("region,price\nnorth,1\nsouth,2\neast,3\nwest,4\n")
    assert command("hide", "plan", "prices.csv", *TERMS, "--optimum", "measured")[0] == said


def test_a_release_asks_first_and_is_read_and_published_again(folder):
    words = ("hide", "release", "prices.csv", *TERMS, "--optimum", "30.3", "--id", "may")
    assert command(*words)[1] != 0  # nobody says yes
    assert spent() == []
    told = json.loads(command(*words, "--yes", "--json")[0])
    assert sum(told["columns"]["value"]) == pytest.approx(100, abs=1e-4)
    assert json.loads(command("hide", "show", "may", "--json")[0])["columns"] == told["columns"]
    assert json.loads(command("releases", "show", "may", "--json")[0])["columns"] == told["columns"]
    assert command("releases", "show", "may", "--to", "may.csv", "--to", "may.html")[1] == 0  # what was released
    rows = list(csv.DictReader((folder / "may.csv").read_text(encoding="utf-8").splitlines()))
    assert [float(row["value"]) for row in rows] == told["columns"]["value"]
    assert command("releases", "show", "may", "--part", "noisy", "--to", "noisy.csv")[1] == 0
    assert "value_lower" not in (folder / "noisy.csv").read_text(encoding="utf-8")
    (folder / "prices.csv").unlink()
    again = json.loads(command("releases", "publish", "may", "--beta", "0.5", "--json")[0])
    assert (again["report"]["beta"], again["noisy"]) == (0.5, told["noisy"])
    assert len(spent()) == 1


@pytest.mark.parametrize(
    ("words", "flag"),
    [
        ((*TERMS,), "--optimum"),
        ((*TERMS, "--optimum", "measured", "--lipschitz", "1.9"), "--lipschitz"),
        ((*TERMS, "--optimum", "30", "--beta", "2"), "--beta"),
        (("--highest", "1", "--optimum", "30", "--epsilon", "1"), "alpha"),
        ((*TERMS, "--optimum", "measurd"), "--optimum"),
    ],
)
def test_what_is_wrong_is_said_in_flags_before_anything_is_spent(capsys, words, flag):
    with pytest.raises(SystemExit) as ended:
        main(["hide", "release", "prices.csv", *words, "--yes"])
    assert ended.value.code == 2
    assert f"`{flag}` must be" in capsys.readouterr().err
    assert spent() == []


def test_other_rules_are_another_question(folder):
    words = ("hide", "release", "prices.csv", *TERMS, "--optimum", "30.3", "--id", "may", "--yes")
    assert command(*words)[1] == 0
    (folder / "discreet.toml").write_text(SCHEMA.replace("most = 60", "most = 59"))
    assert command(*words)[1] == 2
    assert len(spent()) == 1


def test_numbers_are_no_table():
    for words in (("ask", "prices.csv", "count", "--epsilon", "1", "--yes"), ("check", "prices.csv")):
        assert command(*words)[1] == 2


def test_the_guide_shows_a_file_that_is_read_and_what_is_printed(folder):
    guide = (Path(__file__).parents[3] / "docs" / "guides" / "hide.md").read_text(encoding="utf-8")
    declared = guide.partition("```toml\n")[2].partition("```")[0]
    (folder / "discreet.toml").write_text(declared, encoding="utf-8")
    shown = guide.partition("$ cat prices.csv\n")[2].partition("```")[0]
    numbers, *typed = shown.split("$ discreet ")
    (folder / "prices.csv").write_text(numbers, encoding="utf-8")
    commands = [line.partition("\n")[::2] for line in typed]
    assert [words.split()[:2] for words, _ in commands][:2] == [["ledger", "create"], ["hide", "plan"]]
    for words, printed in commands[1:]:
        said, code = command(*shlex.split(words), *(["--yes"] if words.startswith("hide release") else []))
        assert code == 0
        assert printed.strip() in said
