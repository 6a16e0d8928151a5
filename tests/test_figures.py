"""Concept pages are complete, and their figures are what their scripts make."""

import importlib
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

REPOSITORY = Path(__file__).parent.parent
CONCEPTS = REPOSITORY / "docs" / "concepts"
FIGURES = REPOSITORY / "docs" / "figures"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")

if not FIGURES.is_dir():  # the tests may run without the documentation beside them
    pytest.skip("no documentation here", allow_module_level=True)

SCRIPTS = sorted(path.stem for path in FIGURES.glob("*.py") if path.stem != "drawing")
PAGES = sorted(CONCEPTS.glob("*.md"))


@pytest.fixture(autouse=True)
def _scripts(monkeypatch):
    monkeypatch.syspath_prepend(str(FIGURES))
    yield
    for name in ("drawing", *SCRIPTS):
        sys.modules.pop(name, None)


def alike(made: str, kept: str, pixels: float = 0.6) -> bool:
    """The same words, and numbers that differ by less than anyone can see (processors round differently)."""
    if NUMBER.split(made) != NUMBER.split(kept):
        return False
    pairs = zip(NUMBER.findall(made), NUMBER.findall(kept), strict=True)
    return all(abs(float(one) - float(other)) <= pixels for one, other in pairs)


def parts(svg: str, tag: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(svg).iter(f"{{http://www.w3.org/2000/svg}}{tag}"))


@pytest.mark.parametrize("script", SCRIPTS)
def test_figures_are_what_their_script_makes(script):
    figures = importlib.import_module(script).figures()
    assert figures
    for name, svg in figures.items():
        kept = (CONCEPTS / f"{name}.svg").read_text(encoding="utf-8")
        assert alike(svg, kept), f"run python docs/figures/{script}.py"


def test_a_figure_with_other_data_is_noticed():
    kept = (CONCEPTS / "composition.svg").read_text(encoding="utf-8")
    path = next(part for part in parts(kept, "path")).get("d")
    first = NUMBER.findall(path)[3]
    assert alike(kept, kept)
    assert not alike(kept.replace(path, path.replace(first, str(float(first) + 2), 1)), kept)
    assert not alike(kept.replace("sum (pure)", "sum"), kept)


def test_every_figure_is_shown_and_every_shown_one_is_there():
    kept = {path.name for path in CONCEPTS.glob("*.svg")}
    shown = {image for page in PAGES for _, image in images(page.read_text(encoding="utf-8"))}
    assert shown == kept
    assert {page.stem.replace("-", "_") for page in PAGES} == set(SCRIPTS)  # one script a page


@pytest.mark.parametrize("path", sorted(CONCEPTS.glob("*.svg")), ids=lambda path: path.stem)
def test_a_figure_speaks_and_stays_on_its_sheet(path):
    svg = path.read_text(encoding="utf-8")
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img"
    assert all(len(parts(svg, tag)[0].text) > 10 for tag in ("title", "desc"))
    assert "prefers-color-scheme:dark" in svg
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")  # nothing from elsewhere
    width, height = float(root.get("width")), float(root.get("height"))
    for text in parts(svg, "text"):
        size = 7.4 * len(text.text)  # about what 13 pixels of a sans-serif take
        left = float(text.get("x")) - {"end": size, "middle": size / 2}.get(text.get("text-anchor"), 0)
        assert left >= -10, text.text
        assert left + size <= width + 10, text.text
        assert 0 < float(text.get("y")) < height


def luminance(colour: str) -> float:
    shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_words_and_lines_are_readable_on_light_and_on_dark():
    drawing = importlib.import_module("drawing")
    for colours in (drawing.LIGHT, drawing.DARK):
        for name in ("ink", "quiet", "a", "b", "c", "d"):
            assert contrast(colours[name], colours["ground"]) >= 4.5, name
    assert contrast("#777777", "#ffffff") < 4.5  # the test would notice


def images(text: str) -> list[tuple[str, str]]:
    return re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_concept_page_has_an_example_and_a_figure_in_words(page):
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert "\n>>> " in text, "a runnable example"
    found = images(text)
    assert found, "a figure"
    for words, image in found:
        assert len(words) > 30, f"{image}: say what is to be seen"
        assert (CONCEPTS / image).is_file(), image
    assert "../guides/" in text or "../proofs/" in text, "where to go on"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_of_a_concept_page_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"(?<!!)\[[^\]]*\]\(([^)#\s]*(?:#[^)\s]*)?)\)", text):
        place, _, section = target.partition("#")
        if "://" in place:
            continue
        other = page if not place else (page.parent / place).resolve()
        assert other.is_file(), target
        if section:
            assert section in sections(other), target


def sections(path: Path) -> set[str]:
    """The anchors that headings get."""
    heads = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", head).strip().lower()) for head in heads}
