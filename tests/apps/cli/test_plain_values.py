"""Values that need no reading are what typer would have made of them."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from discreet.apps.cli.examples import adorn


def answer(*words, plainly):
    """What a command gets from its options."""
    app, seen = typer.Typer(), {}

    @app.command("show")
    def show(
        name: str,
        more: Annotated[list[str] | None, typer.Argument()] = None,
        count: Annotated[int, typer.Option(min=1)] = 3,
        share: float = 0.5,
        path: Path | None = None,
        by: list[str] | None = None,
        also: list[float] | None = None,
        yes: bool = False,
        why: str = "",
        note: str | None = None,
    ):
        seen.update(locals())

    if plainly:
        adorn(app)
    result = CliRunner().invoke(app, list(words))
    return {key: value for key, value in seen.items() if key not in ("app", "seen")}, result.exit_code


@pytest.mark.parametrize(
    "words",
    [
        ("a",),
        ("a", "b", "c", "--by", "x", "--by", "y", "--why", "z", "--yes"),
        ("a", "--count", "7", "--share", "0.25", "--path", "here", "--also", "1.5"),
        ("a", "--count", "0"),
        ("a", "--count", "many"),
        ("a", "--share", "half"),
        ("",),
        (),
    ],
)
def test_a_command_gets_the_same_values(words):
    assert answer(*words, plainly=True) == answer(*words, plainly=False)


def test_what_reads_values_is_not_loaded_for_text():
    code = "import sys; from discreet.apps.cli import main\ntry: main(sys.argv[1:])\nexcept SystemExit: pass\n"
    code += "print('pydantic' in sys.modules, file=sys.stderr)"
    words = ("calibrate", "noise", "--epsilon", "1")
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    assert "scale" in done.stdout
    assert done.stderr.splitlines()[-1] == "False"
