"""Help: the same panels in the same order for every command, with the words to choose from."""

import pytest
from shell import COMMAND, leaves, run

from discreet.apps.cli.panels import PANELS, panel_of

LEAVES = leaves(COMMAND)
TITLES = ("Arguments:", "Options:", *(f"{title}:" for title in PANELS))


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_shows_its_options_in_panels(name):
    said = run(*name.split(), "--help").stdout
    titles = [line for line in said.splitlines() if line in TITLES]
    assert titles == sorted(titles, key=TITLES.index)
    assert titles[-1] == "Output:"
    parts = said.split("\nOutput:\n")[0]
    for parameter in LEAVES[name].params:
        if parameter.param_type_name == "option" and not parameter.hidden:
            assert said.count(f"  {', '.join(parameter.opts)}") >= 1 or any(flag in said for flag in parameter.opts)
    if "  --epsilon " in said:
        assert "\nBudget:\n" in parts


def test_an_option_has_one_panel_and_others_are_the_commands_own():
    flags = [flag for flags in PANELS.values() for flag in flags]
    assert len(flags) == len(set(flags))
    assert panel_of(["-y", "--yes"]) == "Budget"
    assert panel_of(["--levels"]) == "Options"


def test_words_to_choose_from_are_shown_and_no_types_of_python_are():
    said = run("ask", "--help").stdout
    assert "--noise [auto|laplace|gaussian]" in said
    assert "--epsilon NUMBER" in said
    assert "--model [logistic|mlp|MODULE:OBJECT]" in run("train", "plan", "--help").stdout
    for name in LEAVES:
        said = run(*name.split(), "--help").stdout
        assert "<str>" not in said
        assert "list[" not in said
