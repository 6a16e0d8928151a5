"""The course, read as a student reads it: examples and commands in their order, in one folder with the demonstration.

Examples of pages are tests of their own; here they are run again for the files that commands read.
"""

import doctest
from pathlib import Path

import pytest

from discreet.apps.cli import main
from printed import DiffersError, Reader
from typed_commands import Typed, typed_commands

COURSE = Path(__file__).resolve().parent.parent / "docs" / "course"
if not COURSE.is_dir():  # the tests may run without the documentation beside them
    pytest.skip("no documentation here", allow_module_level=True)

PAGES = sorted(path.stem for path in COURSE.glob("*.md"))
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
# Commands that are not run here, and why.
LEFT = {
    "discreet attack census --blocks 40": "takes minutes",
    "discreet attack extract": "takes minutes",
    "discreet attack inversion": "takes minutes",
    "discreet attack membership": "takes a quarter of a minute and more",
    "discreet demo": "has tests of its own",
    "discreet risk measure taxis.csv": "a file of another package",
    "discreet train baseline": "pictures of one's own, and hours",
    "discreet train images": "pictures of one's own",
}


def to_run(text: str) -> list[Typed]:
    """Commands of a page that are run: not those that are only named, or left out."""
    return [one for one in typed_commands(text) if one.rest and not one.text.startswith((*LEFT,))]


def read(text: str, reader: Reader) -> list[str]:
    """Do what a page says from top to bottom; the commands that were run. `DiffersError` says what went wrong."""
    run, names = [], {}
    steps = [(one.line, one) for one in to_run(text)]
    steps += [(example.lineno, example) for example in doctest.DocTestParser().get_examples(text)]
    for line, step in sorted(steps, key=lambda step: step[0]):
        if isinstance(step, doctest.Example):
            said = []
            test = doctest.DocTest([step], names, "page", "page", 0, text)
            doctest.DocTestRunner(optionflags=FLAGS).run(test, clear_globs=False, out=said.append)
            if said:
                raise DiffersError(f"line {line + 1}: {''.join(said)}")
            names = test.globs
        else:
            agreed = " --yes" if "--yes" in step.options else ""  # as who is asked before it spends
            said, code = reader.do(step.text + agreed)
            if code:
                raise DiffersError(f"line {line + 1}: $ {step.text}\nended with {code}:\n{said}")
            run.append(step.text)
    return run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where `discreet demo --folder demo` was run."""
    place = tmp_path_factory.mktemp("course")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        with pytest.raises(SystemExit) as end:
            main(["demo", "--folder", "demo"])
        assert not end.value.code
    return place


@pytest.fixture
def reader(folder, monkeypatch):
    monkeypatch.chdir(folder)
    reader = Reader(folder, {"DISCREET_WHO": "student"})
    yield reader
    reader.close()


@pytest.mark.parametrize("page", PAGES)
def test_a_page_runs_as_printed(page, reader):
    text = (COURSE / f"{page}.md").read_text(encoding="utf-8")
    assert read(text, reader) == [one.text for one in to_run(text)]


def test_what_is_left_out_is_on_a_page():
    shown = [one.text for page in PAGES for one in typed_commands((COURSE / f"{page}.md").read_text(encoding="utf-8"))]
    assert [start for start in LEFT if not any(text.startswith(start) for text in shown)] == []


RIGHT = """
>>> print(1 + 1)
2
>>> from pathlib import Path
>>> written = Path("few.csv").write_text("age\\n30\\n31\\n")

`discreet risk report few.csv`, which is `discreet calibrate odds --epsilon 1` of nobody; `discreet attack` has more.
"""


def test_a_right_page(reader):
    assert read(RIGHT, reader) == ["discreet risk report few.csv", "discreet calibrate odds --epsilon 1"]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("2\n>>> from", "3\n>>> from"), ("report few.csv", "report many.csv"), ("--epsilon 1", "--epsilon one")],
)
def test_a_wrong_page(reader, right, wrong):
    with pytest.raises(DiffersError, match="line"):
        read(RIGHT.replace(right, wrong), reader)
