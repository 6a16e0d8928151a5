"""The examples that --help shows: each is a command line that the program understands, and the cheap ones are run."""

import shlex
from pathlib import Path

import pytest
import typer
from shell import COMMAND, SHIPPED, leaves

from discreet.apps.cli import exit_code, main
from discreet.apps.cli.demo_story import TOUR
from discreet.apps.cli.examples import CODES, EXAMPLES, adorn, epilog
from discreet.apps.demo.folder import lay_out
from discreet.data.schema import Schema
from discreet.errors import BudgetError, InputError, LedgerError

# What an example needs that the story does not make, or more time than a test should take.
NOT_RUN = {
    "check": "ends with 1, for pay above its bound; tests/apps/cli/test_check.py runs it",
    "serve": "never ends",
    "survey serve": "never ends",
    "audit self": "half a minute; make audit runs it",
    "attack membership": "trains a network; tests/apps/attacks runs it",
    "attack extract": "trains three models; tests/apps/attacks runs it",
    "attack inversion": "trains a network; tests/apps/attacks runs it",
    "attack census": "solves for seconds; tests/risk runs it",
    "calibrate training": "searches for seconds; tests/accounting runs it",
    "census plan": "needs households; tests/apps/cli/test_census.py runs it",
    "census release": "needs households; tests/apps/cli/test_census.py runs it",
    "census show": "needs households; tests/apps/cli/test_census.py runs it",
    "mobility": "needs a file of trips; tests/apps/cli/test_mobility.py runs it",
    "commute lodes": "needs a LODES file; tests/apps/cli/test_commute.py runs it",
    "loads plan": "needs a grid; tests/power/test_file.py runs it",
    "loads release": "needs a grid; tests/power/test_file.py runs it",
    "loads show": "needs a grid; tests/power/test_file.py runs it",
    "hide plan": "needs a file of numbers; tests/apps/cli/test_hide.py runs it",
    "hide release": "needs a file of numbers; tests/apps/cli/test_hide.py runs it",
    "hide show": "needs a file of numbers; tests/apps/cli/test_hide.py runs it",
    "jobs cancel": "needs a job; tests/apps/cli/test_queue.py runs it",
    "token cap": "needs a budget that is open; tests/apps/cli/test_queue.py runs it",
    "ledger merge": "needs a second ledger; tests/apps/cli/test_upkeep.py runs it",
    "ledger restore": "needs a backup; tests/apps/cli/test_upkeep.py runs it",
    "ledger divide": "needs a schema with other parts; tests/apps/cli/test_budgets.py runs it",
    "releases publish": "tests/apps/cli/test_publish.py runs it",
    "train images": "needs images; tests/apps/cli/test_train_images.py runs it",
    "train baseline": "needs images; tests/apps/cli/test_train_images.py runs it",
    "shell": "a prompt; tests/apps/cli/test_shell.py runs it",
}
LINES = [(name, line) for name, lines in EXAMPLES.items() for line in lines]

# Where the places of the example of commuting are.
COUNTIES = Schema.load(SHIPPED / "discreet.toml").columns["county"].values
NAMED = [*COUNTIES, *Schema.load(SHIPPED / "discreet.toml").columns["sector"].values]
PLACES = "place,x,y\n" + "".join(f"{name},{number},{len(name)}\n" for number, name in enumerate(NAMED))
MECHANISM = """
from discreet.core.loss import Pure
from discreet.mechanisms import Laplace

claim, neighbours = Pure(1), [([0], [1])]
mechanism = Laplace.for_epsilon(1).release
"""


def parsed(line):
    """The command of a line, and its parameters as read; nothing is run."""
    words = shlex.split(line)
    assert words[0] == "discreet"
    command, words = COMMAND, words[1:]
    while hasattr(command, "commands") and words and words[0] in command.commands:
        command, words = command.commands[words[0]], words[1:]
    return command.make_context("discreet", list(words)).params if not hasattr(command, "commands") else {}


def run(line, capsys):
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(line)[1:])
    told = capsys.readouterr()
    assert ended.value.code == 0, f"{line}\n{told.out}{told.err}"
    return told.out


@pytest.fixture
def folder(tmp_path, monkeypatch):
    lay_out(tmp_path)
    (tmp_path / "mine.py").write_text(MECHANISM)
    (tmp_path / "scores.csv").write_text("included,score\n" + "1,2\n0,1\n" * 50)
    (tmp_path / "places.csv").write_text(PLACES)
    (tmp_path / "counties.csv").write_text("county,people\n" + "".join(f"{name},400\n" for name in COUNTIES))
    monkeypatch.chdir(tmp_path)
    for name in ("DISCREET_LEDGER", "DISCREET_SCHEMA", "DISCREET_TOKENS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_every_command_has_an_example_and_every_example_a_command():
    assert set(EXAMPLES) - {""} == set(leaves(COMMAND))


@pytest.mark.parametrize(("name", "line"), LINES, ids=[line for _, line in LINES])
def test_an_example_is_understood_and_is_of_its_own_command(name, line):
    if name:
        assert line.startswith(f"discreet {name} ") or line == f"discreet {name}"
        assert parsed(line)


def test_an_example_of_an_option_that_is_not_there_would_be_noticed():
    with pytest.raises(typer.BadParameter.__mro__[2]):
        parsed("discreet plan people.csv count --epsilom 1")


def test_help_ends_with_examples_that_can_be_copied(capsys):
    for name, lines in EXAMPLES.items():
        COMMAND([*name.split(), "--help"], standalone_mode=False)
        told = capsys.readouterr().out
        for line in lines:
            assert f"\n    {line}\n" in told


def test_an_undocumented_command_stays_without_examples():
    bare = typer.Typer()
    bare.command("nonsense")(lambda: None)
    adorn(bare)
    assert bare.registered_commands[0].epilog is None
    assert epilog("nonsense") is None


def test_the_tour_of_the_demonstration_runs_in_its_folder(folder, capsys, monkeypatch):
    pytest.importorskip("jax")
    run("discreet demo --folder shop", capsys)
    monkeypatch.chdir(folder / "shop")
    for line in TOUR.values():
        if line.startswith(("discreet serve", "discreet shell")):
            assert parsed(line)
        else:
            run(f"{line} --yes" if line.startswith("discreet ask") else line, capsys)
    assert Path("report.html").exists()


def test_the_story_of_the_examples_runs_from_beginning_to_end(folder, capsys):
    for name, lines in EXAMPLES.items():
        if not name or name in NOT_RUN or name.startswith("survey e"):
            continue
        for line in lines:
            if "--serve" not in line and "held.csv" not in line:  # rows with an account of their own: test_train.py
                run(line, capsys)
    for made in (
        "new.toml",
        "hours.csv",
        "tables",
        "rows.csv",
        "again.parquet",
        "report.html",
        "coarse.csv",
        "m",
        "demo",
        "model.npz",
        "told.csv",
        "clinic",
    ):
        assert (folder / made).exists(), made


def test_examples_on_reports_run_on_reports(folder, capsys):
    from discreet.apps.survey.store import open_reports
    from discreet.local.questionnaire.questionnaire import Questionnaire

    run("discreet survey new survey.toml", capsys)
    survey = Questionnaire.load("survey.toml")
    answers = {"medication": "Yes", "reason": "Pay", "hours": 7}
    kept = open_reports("reports.db", survey.digest)
    try:
        for number in range(50):
            kept.keep(f"{number:032x}", survey.digest, survey.written(survey.privatize(answers)))
    finally:
        kept.close()
    for name in ("survey estimate", "survey export"):
        for line in EXAMPLES[name]:
            run(line, capsys)
    assert (folder / "reports.csv").exists()


def test_exit_codes_are_the_documented_ones(capsys):
    assert "Exit codes" in run("discreet --help", capsys)
    problems = [InputError("a", 1, "b"), BudgetError("no", asked=1, left=0, allotment="x"), LedgerError("broken")]
    assert [exit_code(one) for one in problems] == [2, 3, 1]
    assert {0, 1, 2, 3, 4} == set(CODES)
