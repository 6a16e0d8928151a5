"""The examples that --help shows: each is a command line that the program understands, and the cheap ones are run."""

import shlex
import shutil
from importlib.resources import files
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from discreet.apps.cli import app, exit_code, main
from discreet.apps.cli.examples import CODES, EXAMPLES, adorn, epilog
from discreet.errors import BudgetError, InputError, LedgerError

SHIPPED = Path(str(files("discreet.apps.demo")))

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
    "train release": "tests/apps/cli/test_train.py runs it",
    "census plan": "needs households; tests/apps/cli/test_census.py runs it",
    "census release": "needs households; tests/apps/cli/test_census.py runs it",
    "census show": "needs households; tests/apps/cli/test_census.py runs it",
    "mobility": "needs a file of trips; tests/apps/cli/test_mobility.py runs it",
    "commute plan": "needs a file of places",
    "commute release": "needs a file of places",
    "commute show": "needs a file of places",
    "commute lodes": "needs a LODES file; tests/apps/cli/test_commute.py runs it",
    "relations plan": "needs persons with rows; tests/synth/relations/test_ask.py runs it",
    "relations release": "needs persons with rows; tests/synth/relations/test_ask.py runs it",
    "relations show": "needs persons with rows; tests/synth/relations/test_ask.py runs it",
    "loads plan": "needs a grid; tests/power/test_file.py runs it",
    "loads release": "needs a grid; tests/power/test_file.py runs it",
    "loads show": "needs a grid; tests/power/test_file.py runs it",
    "releases publish": "tests/apps/cli/test_publish.py runs it",
    "train show": "needs a model",
    "train card": "needs a model",
    "train predict": "needs a model",
}
COMMAND = get_command(app)
LINES = [(name, line) for name, lines in EXAMPLES.items() for line in lines]

MECHANISM = """
from discreet.core.loss import Pure
from discreet.mechanisms import Laplace

claim, neighbours = Pure(1), [([0], [1])]
mechanism = Laplace.for_epsilon(1).release
"""


def leaves(command, words=()):
    """Every command that does something, by its words."""
    inside = getattr(command, "commands", None)
    if inside is None:
        return {} if command.hidden else {" ".join(words): command}  # other words for the same are not listed
    return {name: leaf for word, one in inside.items() for name, leaf in leaves(one, (*words, word)).items()}


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
    for name in ("people.csv", "discreet.toml"):
        shutil.copy(SHIPPED / name, tmp_path / name)
    (tmp_path / "mine.py").write_text(MECHANISM)
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


def test_the_story_of_the_examples_runs_from_beginning_to_end(folder, capsys):
    for name, lines in EXAMPLES.items():
        if not name or name in NOT_RUN or name.startswith(("train", "search", "survey e")):
            continue
        for line in lines:
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


def test_the_example_of_a_training_plan_runs_on_a_budget_with_a_part_for_it(folder, capsys):
    pytest.importorskip("jax")
    text = (folder / "discreet.toml").read_text()
    whole = "[budget]\nepsilon = 3.0\ndelta = 1e-5\n\n"
    part = f'{whole}[budget.allotments.models]\nkind = "plan"\nepsilon = 3\ndelta = 1e-5\n'
    (folder / "discreet.toml").write_text(text.replace("[budget]\nepsilon = 1.0\n", part))
    run("discreet ledger create", capsys)
    for line in EXAMPLES["train plan"]:
        assert "Plan for a model" in run(line, capsys)


def test_exit_codes_are_the_documented_ones(capsys):
    assert "Exit codes" in run("discreet --help", capsys)
    problems = [InputError("a", 1, "b"), BudgetError("no", asked=1, left=0, allotment="x"), LedgerError("broken")]
    assert [exit_code(one) for one in problems] == [2, 3, 1]
    assert {0, 1, 2, 3, 4} == set(CODES)
