"""The page "Architecture" is true: its map lists every module, and a question takes the way that it draws."""

import json
import re
import subprocess
import sys
from collections import Counter
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import pytest

import discreet

SOURCE = Path(discreet.__file__).parent
DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "concepts" / "architecture.md"

if not PAGE.is_file():  # the tests may run without the documentation beside them
    pytest.skip("no documentation here", allow_module_level=True)

PROFILE = """
import json, sys, threading
from discreet.apps.cli import main

entered = set()
loading = threading.local()  # how many modules are being loaded: what runs for that is no part of the walk

def note(frame, event, argument):
    if frame.f_code.co_name == "<module>":
        loading.depth = getattr(loading, "depth", 0) + {"call": 1, "return": -1}.get(event, 0)
    elif event == "call" and not getattr(loading, "depth", 0):
        entered.add(frame.f_code.co_filename)

sys.setprofile(note)
threading.setprofile(note)
try:
    main(sys.argv[2:])
except SystemExit as end:
    assert not end.code, end
sys.setprofile(None)
loaded = [name for name in sys.modules if name.partition(".")[0] == "discreet"]
json.dump({"entered": sorted(entered), "loaded": loaded}, open(sys.argv[1], "w"))
"""


def listed(page: str) -> Counter:
    """How often the map of a page lists each module, as room/module."""
    found: Counter = Counter()
    room = ""
    for line in page.partition("## The rooms")[2].split("```")[1].splitlines():
        if not line.strip("-") or line.startswith("errors"):
            continue
        room = line[:21].strip() or room
        names = re.split(r"\s{2,}", line[21:].strip())[0]
        found.update(f"{room}/{name}" for name in names.split(", "))
    return found


def modules() -> set[str]:
    paths = (path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if not path.stem.startswith("__"))
    return {str(path.with_suffix("")) for path in paths if path.parent != Path()}


def test_the_map_lists_every_module_once():
    found = listed(PAGE.read_text(encoding="utf-8"))
    assert sorted(modules() - set(found)) == [], "add it to the map in docs/concepts/architecture.md"
    assert sorted(set(found) - modules()) == [], "it is gone: take it out of the map"
    assert [name for name, times in found.items() if times > 1] == []


def test_a_map_that_misses_a_module_is_noticed():
    page = PAGE.read_text(encoding="utf-8")
    assert set(listed(page.replace("permute_and_flip, ", "", 1))) != modules()


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    """What `discreet ask` enters and loads, in a process of its own."""
    folder = tmp_path_factory.mktemp("walk")
    shipped = Path(str(files("discreet.apps.demo")))
    for name in ("people.csv", "discreet.toml"):
        (folder / name).write_bytes((shipped / name).read_bytes())
    environment = {"PYTHONPATH": str(SOURCE.parent), "XDG_STATE_HOME": str(folder / "state"), "HOME": str(folder)}

    def run(*words):
        subprocess.run([sys.executable, *words], cwd=folder, env=environment, check=True, capture_output=True)

    run("-m", "discreet", "ledger", "create")
    question = ("ask", "people.csv", "count", "mean(age)", "--by", "sex", "--epsilon", "0.5", "--yes")
    run("-c", PROFILE, "walk.json", *question)
    found = json.loads((folder / "walk.json").read_text())
    own = [Path(name) for name in found["entered"] if Path(name).is_relative_to(SOURCE)]
    return {str(path.relative_to(SOURCE)) for path in own}, found["loaded"]


def test_a_question_goes_through_every_file_that_the_picture_names(walk, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "figures"))
    named = import_module("architecture").files()
    for name in ("architecture", "drawing"):
        monkeypatch.delitem(sys.modules, name)
    assert sorted(set(named) - walk[0]) == []


def test_a_question_goes_through_no_more_files_than_the_page_says(walk):
    page = PAGE.read_text(encoding="utf-8")
    said = re.search(r"functions of (\d+) source files.*?imports (\d+) modules", page, re.DOTALL)
    entered, loaded = walk
    assert len(entered) <= int(said[1]) + 3, sorted(entered)
    assert len(loaded) <= int(said[2]) + 10
