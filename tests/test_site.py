"""The documentation as a site: formulas are set, searches weighed, no other host asked, pages are as promised."""

import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
DOCS = REPOSITORY / "docs"
if not DOCS.is_dir():  # the tests may run without the documentation beside them
    pytest.skip("no documentation here", allow_module_level=True)
sys.path.append(str(DOCS / "hooks"))

from handbook.figures import follows_the_reader, mark_figures  # noqa: E402
from handbook.formulas import FormulaError, font, formulas, set_formula, set_formulas  # noqa: E402
from handbook.hosts import loaded_elsewhere, styles_elsewhere  # noqa: E402
from handbook.tables import plain_corners  # noqa: E402
from handbook.weights import WEIGHTS, weight  # noqa: E402

WRITTEN = {str(path.relative_to(DOCS)): path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}
LIBRARIES = {path: text for path, text in WRITTEN.items() if path.startswith("coming-from/") and "index" not in path}
needs_converter = pytest.mark.skipif(find_spec("latex2mathml") is None, reason="needs discreet[docs]")
needs_font = pytest.mark.skipif(find_spec("ziamath") is None, reason="needs discreet[docs]")


# formulas


@needs_converter
def test_every_formula_of_every_page_can_be_set():
    written = [(page, latex) for page, text in WRITTEN.items() for latex in formulas(text)]
    assert len(written) > 200
    for page, latex in written:
        made = set_formula(latex)
        assert made.startswith("<math "), page
        assert "\\" not in made.partition(">")[2], page


def test_most_proofs_have_a_formula():
    proofs = [text for page, text in WRITTEN.items() if page.startswith("proofs/")]
    assert sum(bool(formulas(text)) for text in proofs) > len(proofs) / 2


def test_a_block_of_text_that_looks_like_a_formula_is_noticed():
    """Indented formulas, as plain text, were what pages had before."""
    plain = [
        f"{page}: {line.strip()}"
        for page, text in WRITTEN.items()
        if page.startswith("proofs/")
        for line in re.sub(r"```.*?```", "", text, flags=re.S).splitlines()
        if re.match(r"    [^ ]", line) and re.search(r"<=|>=|sum over|\^\(|integral", line)
    ]
    nested = [line for line in plain if re.match(r"[^:]+: (?:[-*] |T / s)", line)]  # items of a list in a list
    assert sorted(set(plain) - set(nested)) == []


@needs_converter
def test_formulas_that_cannot_be_set_are_refused():
    for wrong in (r"\nonsense{x}", r"\frac{1}{", r"x_{"):
        with pytest.raises(FormulaError, match=re.escape(wrong[:4])):
            set_formula(wrong)


@needs_converter
def test_a_formula_keeps_its_source_and_leaves_code_alone():
    page = (
        r'<p><span class="arithmatex">\(a &lt; b\)</span> <code>$x$</code></p><div class="arithmatex">\[\ln x\]</div>'
    )
    made = set_formulas(page)
    assert 'alttext="a &lt; b"' in made
    assert "<code>$x$</code>" in made
    assert '<div class="formula" tabindex="0"><math alttext="\\ln x"' in made
    assert '<mi>ln</mi><mspace width="0.167em"/><mi>x</mi>' in made
    assert formulas("`$a$` $b$ costs $5\n\n$$\nc\n$$\n\n```\n$d$\n```\n") == ["b", "c"]


@needs_font
def test_the_font_of_formulas_comes_with_a_package():
    assert font().read_bytes()[:4] == b"\0\1\0\0"
    sheet = (DOCS / "looks" / "page.css").read_text(encoding="utf-8")
    assert f'url("{font().name}")' in sheet


# searches and hosts


def test_every_page_has_a_weight_and_guides_come_before_proofs_and_measurements():
    assert {weight(page) for page in WRITTEN} <= set(WEIGHTS.values())
    behind = max(WEIGHTS["proofs"], WEIGHTS["benchmarks"])
    assert all(1000 * behind < WEIGHTS[part] for part in ("guides", "tutorials", "concepts"))  # titles count 1000 times
    with pytest.raises(KeyError):
        weight("elsewhere/page.md")


@pytest.mark.parametrize(
    "tag",
    [
        '<script src="https://cdn.example/a.js"></script>',
        '<link rel="stylesheet" href="//cdn.example/a.css">',
        '<img srcset="a.png 1x, https://cdn.example/b.png 2x">',
        '<p style="background: url(https://cdn.example/a.png)">',
        "<style>@import 'https://cdn.example/a.css';</style>",
        '<form action="https://cdn.example/">',
    ],
)
def test_what_would_be_loaded_from_another_host_is_found(tag):
    assert loaded_elsewhere(f"<body>{tag}</body>") != []


def test_links_and_files_of_the_site_are_let_be():
    page = '<a href="https://elsewhere.example">x</a><img src="a.png"><link rel="canonical" href="https://x.example/">'
    assert loaded_elsewhere(page) == []
    assert styles_elsewhere("a { background: url(data:image/png;base64,AA) } b { src: url(font.ttf) }") == []


# figures


def test_every_figure_follows_the_reader_or_brings_a_white_ground_and_is_marked():
    figures = {path: path.read_text(encoding="utf-8") for path in DOCS.rglob("*.svg") if path.parent.name != "looks"}
    plain = {path for path, svg in figures.items() if not follows_the_reader(svg)}
    assert 0 < len(plain) < len(figures) / 4
    for path in plain:
        assert re.search(r'<rect width="\d+" height="\d+" fill="white"/>', figures[path][:400]), path.name
        page = mark_figures(f'<img alt="x" src="../{path.name}">', "some/page/", lambda _, path=path: figures[path])
        assert 'class="light-only"' in page
    assert "light-only" not in mark_figures('<img src="a.svg">', "", lambda _: "@media(prefers-color-scheme:dark){}")
    assert "light-only" not in mark_figures('<img src="https://x.example/a.svg">', "", lambda _: "<svg/>")


def test_a_corner_of_a_table_without_a_word_is_no_header():
    assert plain_corners('<th style="a"></th><th>b</th>') == '<td style="a"></td><th>b</th>'


# pages


def test_the_front_page_has_an_install_line_a_picture_and_few_lines_that_run():
    text = WRITTEN["index.md"]
    assert "pip install 'discreet[server]'" in text
    for name in re.findall(r'(?:src|srcset)="([^"]+)"', text):
        assert (DOCS / name).stat().st_size < 200_000
    first = text.partition("## Five lines")[2].partition("```\n")[0]
    assert len(re.findall(r"^>>> ", first, re.M)) == 5


def test_there_is_a_page_for_each_library_with_both_sides_and_what_is_missing_here():
    assert sorted(LIBRARIES) == [
        f"coming-from/{name}.md" for name in ("diffprivlib", "opacus", "opendp", "sdv", "smartnoise", "tumult")
    ]
    for page, text in LIBRARIES.items():
        assert re.search(r"^# Coming from \w+", text), page
        assert len(re.findall(r"^\| .*`.*\| .*\|$", text, re.M)) >= 8, page
        assert re.search(r"With [\w ]+ \d+\.\d+\.\d+.*\(.*this block was run", text), page
        assert "\n>>> " in text, page
        assert re.search(r"^## What .+ has and discreet does not$", text, re.M), page
        assert len(re.findall(r"^- \*\*", text, re.M)) >= 3, page
        assert f"({page.partition('/')[2]})" in WRITTEN["coming-from/index.md"]
