"""The notebook guide: run from top to bottom, exported, and opened in JupyterLab, light and dark, without a network."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from importlib.util import find_spec

import pytest

from browser import PATIENCE, screenshot
from discreet.show.style import palettes
from notebook_guide import GUIDE, NOTEBOOK, notebook, text
from servers import free_port, missing

NEEDED = "The notebook guide is run with: pip install jupyterlab nbclient nbconvert ipykernel"
# In a process of its own: what Jupyter warns of is not ours to mend.
RUN = """
import sys, nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from nbformat.sign import NotebookNotary
page, folder = sys.argv[1:]
guide = nbformat.read(page, 4)
NotebookClient(guide, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
nbformat.write(guide, folder + "/guide.ipynb")
NotebookNotary(data_dir=folder + "/data").sign(guide)
for template in ("basic", "lab"):
    with open(f"{folder}/{template}.html", "w", encoding="utf-8") as file:
        file.write(HTMLExporter(template_name=template).from_notebook_node(guide)[0])
"""
NOTHING = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}


def test_the_notebook_is_the_page():
    page = GUIDE.read_text(encoding="utf-8")
    assert NOTEBOOK.read_text(encoding="utf-8") == text(page), (
        "run: PYTHONPATH=src:tests python tests/notebook_guide.py"
    )
    cells = notebook(page)["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(code) > 8
    assert all(block in page for block in code)
    assert not any("```" in block for block in code)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Nothing of whoever runs the tests: folders of Jupyter, of IPython and of ledgers of their own."""
    folder = tmp_path_factory.mktemp("jupyter")
    (folder / "data").mkdir()
    (folder / "config" / "labconfig").mkdir(parents=True)
    (folder / "config" / "labconfig" / "page_config.json").write_text(json.dumps(NOTHING))
    (folder / "ipython").mkdir()
    places = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "run", "HOME": ""}
    places |= {"JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTERLAB_WORKSPACES_DIR": "spaces", "IPYTHONDIR": "ipython"}
    return folder, {**os.environ, **{name: str(folder / place) for name, place in places.items()}}


@pytest.fixture(scope="module")
def executed(environment):
    """The notebook with its outputs, and the pages it was exported to, by template."""
    if any(find_spec(name) is None for name in ("jupyterlab", "nbclient", "nbconvert", "ipykernel")):
        return missing(NEEDED)
    folder, variables = environment
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(NOTEBOOK), str(folder)],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads((folder / "guide.ipynb").read_text(encoding="utf-8"))


def shown(guide):
    """The outputs of every cell of code, as what they are shown as by type."""
    cells = [cell for cell in guide["cells"] if cell["cell_type"] == "code"]
    return [[output["data"] for output in cell["outputs"] if "data" in output] for cell in cells]


def html(guide):
    return ["".join(data["text/html"]) for outputs in shown(guide) for data in outputs if "text/html" in data]


def test_every_cell_runs_and_shows_itself(executed):
    every = html(executed)
    kinds = [found[1] for one in every if (found := re.search(r"<small>(\w+)", one))]
    assert kinds == ["Curator", "Question", "Plan", "Release", "Release", "Release", "Ledger"]
    assert sum("<svg" in one for one in every) >= 5
    assert max(one.count('class="bar') for one in every) >= 6  # of the answer: two outputs over three wards
    plain = ["".join(data["text/plain"]) for outputs in shown(executed) for data in outputs]
    assert plain[0].startswith("<Curator of 'visits'; protects everything of one patient")
    assert any(one.startswith("ward") for one in plain)


def test_what_is_shown_runs_nothing_and_fetches_nothing(executed):
    for one in html(executed):
        assert "http" not in one
        assert "<script" not in one
        assert re.search(r"\s(on\w+|src|href)=|url\(|@import", one) is None
        for selector in re.findall(r"([^{}]+)\{", re.search(r"<style>(.*?)</style>", one, re.DOTALL)[1]):
            assert ".discreet.discreet.discreet" in selector


def test_a_page_of_it_names_no_other_host(executed, environment):
    folder, _ = environment
    basic, lab = ((folder / f"{name}.html").read_text(encoding="utf-8") for name in ("basic", "lab"))
    assert re.findall(r"(?:https?:)?//\w[\w.-]+", basic) == []
    assert "<script" not in basic
    assert lab.count('<div class="discreet">') == len(html(executed))  # where the usual template names some, too


def test_a_page_of_it_is_read_without_a_network(executed, environment, browser):
    folder, _ = environment
    asked = []
    context = browser.new_context(offline=True)
    context.on("request", lambda one: asked.append(one.url))
    page = context.new_page()
    page.goto((folder / "basic.html").as_uri())
    assert page.locator(".discreet .bar.s0").first.bounding_box()["width"] > 50
    assert page.evaluate(COLOURS, ".discreet .cell:not(.bare)")[0][0] == rgb(palettes()[0]["paper"])
    context.close()
    assert asked == [(folder / "basic.html").as_uri()]


@pytest.fixture(scope="module")
def lab(executed, environment):
    """The address of a JupyterLab with the notebook in its folder."""
    folder, variables = environment
    port = free_port()
    settings = {"port": port, "port_retries": 0, "token": "", "root_dir": folder, "allow_root": True}
    told = [f"--ServerApp.{name}={value}" for name, value in settings.items()]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--LabApp.expose_app_in_browser=True", *told]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(command, env=variables, stdout=log, stderr=log)
    try:
        while not _answers(f"http://127.0.0.1:{port}/api/status"):
            assert server.poll() is None, (folder / "log").read_text()[-3000:]
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def _answers(address):
    try:
        with urllib.request.urlopen(address):
            return True
    except (urllib.error.URLError, ConnectionError):
        return False


COLOURS = """selector => [...document.querySelectorAll(selector)].map(node => {
    const look = getComputedStyle(node); return [look.backgroundColor, look.color, look.fill, look.display]; })"""
HOST = """() => [...document.querySelectorAll('.jp-MarkdownOutput :is(h1, h2, p, a, code), body')].map(node => {
    const look = getComputedStyle(node); return Object.fromEntries([...look].map(name => [name, look[name]])); })"""


def rgb(colour):
    return "rgb({}, {}, {})".format(*(int(colour[i : i + 2], 16) for i in (1, 3, 5)))


def test_it_is_read_in_jupyterlab_light_and_dark_and_changes_nothing_around_it(lab, browser):
    elsewhere = []
    context = browser.new_context(viewport={"width": 1280, "height": 2600})
    context.set_default_timeout(PATIENCE)
    context.on("request", lambda one: elsewhere.append(one.url))
    page = context.new_page()
    page.goto(f"{lab}/lab/tree/guide.ipynb")
    page.locator(".discreet svg .bar").first.wait_for()
    for theme, colours in zip(("Light", "Dark"), palettes(), strict=True):
        command = "theme => jupyterapp.commands.execute('apputils:change-theme', { theme })"
        page.evaluate(command, f"JupyterLab {theme}")
        page.wait_for_function("theme => document.body.dataset.jpThemeName === theme", arg=f"JupyterLab {theme}")
        for background, ink, _, _ in page.evaluate(COLOURS, ".discreet .cell:not(.bare)"):
            assert (background, ink) == (rgb(colours["paper"]), rgb(colours["ink"]))
        bars = page.evaluate(COLOURS, ".discreet .bar.s0")
        assert bars
        assert {fill for _, _, fill, _ in bars} == {rgb(colours["s0"])}
        assert {display for *_, display in page.evaluate(COLOURS, ".discreet .drawn")} == {"contents"}
        assert page.locator(".discreet script").count() == 0
        screenshot(page, f"notebook-{theme.lower()}")
    before = page.evaluate(HOST)
    page.evaluate("() => document.querySelectorAll('.discreet style').forEach(node => node.disabled = true)")
    sheets = page.evaluate("() => [...document.querySelectorAll('.discreet style')].every(node => node.sheet.disabled)")
    assert sheets
    assert len(before) > 20
    assert [_without_size(look) for look in page.evaluate(HOST)] == [_without_size(look) for look in before]
    context.close()
    assert [url for url in elsewhere if not url.startswith((f"{lab}/", "data:", "blob:"))] == []


def _without_size(look):
    """Without lengths that follow from those of other elements: our cells are of another height without their style."""
    return {name: value for name, value in look.items() if not re.search(r"size|height|origin|inset|perspective", name)}
