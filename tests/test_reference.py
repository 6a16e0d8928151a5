"""The reference is complete: what is not documented fails here as it fails the build, and every check can fail."""

import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import pytest
import typer
import yaml

pytest.importorskip("fastapi")

REPOSITORY = Path(__file__).resolve().parent.parent
DOCS = REPOSITORY / "docs"
SOURCE = REPOSITORY / "src" / "discreet"
sys.path.append(str(DOCS / "hooks"))

from handbook import checks  # noqa: E402
from handbook.book import NAVIGATION, Book  # noqa: E402
from handbook.commands import command_pages, commands  # noqa: E402
from handbook.failures import Failure  # noqa: E402
from handbook.links import anchors, dead_links, listed, unlisted  # noqa: E402
from handbook.names import Source  # noqa: E402
from handbook.python_pages import documented, python_pages  # noqa: E402
from handbook.settings import DIARY, KEYS, READERS, SCHEMA, SURVEY, VARIABLES, keys_read  # noqa: E402
from handbook.words import markdown  # noqa: E402

from discreet.curator.setup import read_schema_and_budget  # noqa: E402
from discreet.errors import InputError  # noqa: E402
from discreet.local.questionnaire.questionnaire import Questionnaire  # noqa: E402


@pytest.fixture(scope="module")
def book():
    return Book(SOURCE)


@pytest.fixture(scope="module")
def pages(book):
    """Every page of the site, written or made."""
    written = {str(path.relative_to(DOCS)): path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md")}
    return {**written, **book.pages()}


def navigation():
    named = yaml.safe_load((REPOSITORY / "mkdocs.yml").read_text())["nav"]
    return named if "reference/commands.md" in listed(named) else [*named, NAVIGATION]


# commands


def test_every_command_option_and_argument_is_documented(book):
    assert checks.commands_told(book.commands) == []
    assert len(book.commands) > 50


def test_an_undocumented_command_fails():
    app = typer.Typer()

    @app.command()
    def silent(way: str, loud: bool = False) -> None:
        pass

    @app.command(epilog="\b\nExample:\n  discreet told")
    def told() -> None:
        """Says what it does."""

    found = "\n".join(checks.commands_told(commands(app)))
    assert "discreet silent has no help" in found
    assert "discreet silent has no example" in found
    assert "discreet silent: --loud has no help" in found
    assert "discreet silent: way has no help" in found
    assert "discreet told" not in found


def test_the_page_of_commands_shows_help_options_variables_and_examples(book):
    page = command_pages(book.commands, {3: "the budget refuses"})["reference/commands.md"]
    for one in book.commands:
        assert f"# {one.words}\n" in page
        assert all(line in page for line in one.examples)
    assert "`DISCREET_LEDGER`" in page
    assert "| `3` | the budget refuses |" in page
    assert "--install-completion" in page


# settings


def test_every_variable_is_documented(book):
    assert checks.variables_told(SOURCE, book.commands) == []


def test_an_undocumented_variable_fails_and_one_that_nothing_reads_too(tmp_path):
    (tmp_path / "new.py").write_text('import os\nos.environ.get("DISCREET_SECRET")\n')
    found = "\n".join(checks.variables_told(tmp_path, [], {"DISCREET_GONE": "x"}))
    assert "DISCREET_SECRET is read" in found
    assert "DISCREET_GONE is documented and nothing reads it" in found
    app = typer.Typer()

    @app.command()
    def go(way: Annotated[str, typer.Option(envvar="DISCREET_WAY")] = "") -> None:
        pass

    assert "DISCREET_WAY is read" in "\n".join(checks.variables_told(tmp_path, commands(app), {}))


def test_every_key_of_a_file_is_documented():
    read = keys_read(SOURCE)
    assert checks.keys_told(read) == []
    assert {"column", "neighbours", "groups", "rows"} <= read["data/schema.py", "from_dict"]


def test_an_undocumented_key_fails_and_one_that_nothing_reads_too(tmp_path):
    for file in {file for file, _ in READERS}:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        text = (SOURCE / file).read_text()
        (tmp_path / file).write_text(text.replace('{"columns", "rows"}', '{"columns", "rows", "secret"}'))
    assert "'secret', which [joins.*] does not document" in "\n".join(checks.keys_told(keys_read(tmp_path)))
    more = {**KEYS, "[unit]": {**KEYS["[unit]"], "colour": "x"}}
    assert checks.keys_told(keys_read(SOURCE), more) == ["[unit] documents 'colour', which nothing reads"]
    read = keys_read(SOURCE)
    read.pop(("data/schema.py", "_join"))
    assert any("not there any more" in one for one in checks.keys_told(read))


def test_the_schema_with_every_key_is_read_and_has_every_key():
    declared = tomllib.loads(SCHEMA)
    budget, schema = read_schema_and_budget(declared)
    assert [part.name for part in budget.allotments] == ["questions", "models"]
    assert {"age", "county", "months", "area", "income"} <= set(schema.columns)
    wanted = {key for table, keys in KEYS.items() if "survey" not in table and "questions" not in table for key in keys}
    others = {
        "ledger",
        "file",
        "rho",
        "values_file",
        "values_column",
        "row_count",
    }  # of others, or instead of what is there
    assert wanted - keys_of(declared) == others
    assert 'file = "' in SCHEMA


def test_the_survey_with_every_key_is_read_and_has_every_key():
    declared = tomllib.loads(SURVEY)
    assert Questionnaire.from_dict(declared).names == ("pills", "why", "hours", "night", "remedy")
    rounds = tomllib.loads(DIARY)
    assert Questionnaire.from_dict(rounds).rounds == 12
    every = keys_of(declared) | keys_of(rounds)
    assert {*KEYS["survey.toml"], *KEYS["survey.toml [repeat]"], *KEYS["[[questions]]"]} <= every


@pytest.mark.parametrize("table", ["", "unit", "budget", "columns.age", "lookups.counties", "joins.incomes"])
def test_a_key_that_is_not_documented_is_refused_by_the_program(table):
    declared = tomllib.loads(SCHEMA)
    place = declared
    for name in table.split(".") if table else []:
        place = place[name]
    place["nonsense"] = 1
    with pytest.raises(InputError, match=r"nonsense|only|and file or table"):
        read_schema_and_budget(declared)


def keys_of(declared):
    if isinstance(declared, dict):
        return {*declared, *(key for one in declared.values() for key in keys_of(one))}
    return {key for one in declared for key in keys_of(one)} if isinstance(declared, list) else set()


# names


def test_every_public_name_is_documented(book):
    assert checks.names_told(documented(book.source), book.source) == []


CAREFUL = '''"""A module that says what it is for."""

__all__ = ["LIMIT", "Child", "Parent", "told"]

LIMIT = 3
"""How many."""

class Parent:
    """Something to begin with."""

    def go(self, way: int, *, fast: bool = False) -> int:
        """Goes there."""

class Child(Parent):
    """The same, and more."""

    def go(self, way: int, *, fast: bool = False) -> int:
        return 1

def told(a: int, /, b: str = "x", *more: int, c: int = 2, **rest: int) -> None:
    """Says what it is for.

    Guarantee
        Pure epsilon-differential privacy. Proof: docs/proofs/laplace.md.

    >>> told(1)
    """
'''


def test_names_are_read_with_signatures_and_what_they_inherit():
    source = Source(texts={"discreet": '"""The package itself."""', "discreet.room.careful": CAREFUL})
    found = {one.name: one for one in source.names(source.modules["discreet.room.careful"])}
    assert found["told"].signature == "told(a: int, /, b: str = 'x', *more: int, c: int = 2, **rest: int) -> None"
    assert found["Child"].members[0].doc == "Goes there."
    assert found["Child"].members[0].signature == "go(way: int, *, fast: bool = False) -> int"
    assert (found["LIMIT"].signature, found["LIMIT"].doc) == ("3", "How many.")
    assert checks.names_told(source.rooms, source) == []
    page = python_pages(source)["reference/python/room.md"]
    assert '!!! info "Guarantee"' in page
    assert "[proofs/laplace.md](../../proofs/laplace.md)" in page


@pytest.mark.parametrize(
    ("good", "bad", "name"),
    [
        ('"""Something to begin with."""', '"""something"""', "Parent "),
        ('        """Goes there."""', "        return way", "Parent.go"),
        ('"""Says what it is for.\n', '"""says\n', "told"),
        ('"""A module that says what it is for."""', "", "careful does not say"),
    ],
)
def test_an_undocumented_name_fails(good, bad, name):
    assert good in CAREFUL
    source = Source(texts={"discreet.room.careful": CAREFUL.replace(good, bad)})
    assert any(name in one for one in checks.names_told(source.rooms, source))


def test_the_names_of_the_package_are_all_on_their_page(pages):
    import discreet

    page = pages["reference/python/index.md"]
    for name in discreet.__all__:
        assert f"`discreet.{name}`" in page


def test_docstrings_become_markdown_that_shows_them_as_they_are():
    shown = markdown("Up to 2**52 <tags> [x].\n\n    as it is\n\n>>> 1 + 1\n2", "")
    assert r"2\*\*52 &lt;tags> \[x]." in shown
    assert "```text\nas it is\n```" in shown
    assert "```python\n>>> 1 + 1\n2\n```" in shown


# errors


def test_every_error_is_documented(book):
    from discreet import errors

    assert checks.failures_told(book.failures) == []
    assert {one.name for one in book.failures} == set(errors.__all__)
    told = {one.name: (one.status, one.code) for one in book.failures}
    assert told["BudgetError"] == (409, 3)
    assert told["InputError"] == (422, 2)


def test_an_undocumented_error_fails():
    bare = Failure("NewError", "What it means.", "", 400, 1)
    assert checks.failures_told([bare]) == ["NewError has no advice: docs/hooks/handbook/failures.py"]
    assert checks.failures_told([replace(bare, doc="", advice="Do this.")]) == ["NewError does not say what it means"]


# the API


def test_every_path_has_a_summary_words_and_errors(book):
    assert checks.paths_told(book.paths) == []
    assert len(book.paths["paths"]) > 5


def test_an_undocumented_path_fails():
    from fastapi import FastAPI

    app = FastAPI()

    @app.get("/silent")
    def silent() -> dict[str, int]:
        return {}

    found = "\n".join(checks.paths_told(app.openapi()))
    assert "GET /silent does not say what it does" in found
    assert "GET /silent does not document 401, 403, 422, 429, 500" in found


def test_the_page_of_the_api_shows_every_path_and_body(book, pages):
    page = pages["reference/http.md"]
    for path in book.paths["paths"]:
        assert path in page
    for name in book.paths["components"]["schemas"]:
        assert f'<a id="{name}"></a>' in page


# pages and links


def test_every_page_is_in_the_navigation(pages):
    assert unlisted(pages, navigation()) == []


def test_a_page_that_is_not_in_the_navigation_fails_and_an_entry_without_a_page_too():
    found = unlisted(["a.md", "b.md"], [{"A": "a.md"}, {"Part": [{"C": "c.md"}, {"Again": "a.md"}]}])
    assert found == [
        "b.md is not in the navigation of mkdocs.yml",
        "the navigation names c.md, which is not there",
        "the navigation names a.md twice",
    ]


def test_every_link_leads_somewhere(pages):
    files = [str(path.relative_to(DOCS)) for path in DOCS.rglob("*") if path.is_file()]
    assert dead_links(pages, files) == []


def test_a_link_that_leads_nowhere_fails():
    page = (
        "# A `b` c\n[x](other.md) [y](other.md#there) [z](#a-b-c) ![i](gone.png) `[code](no.md)`\n```\n[f](no.md)\n```"
    )
    other = "## Here\n[back](../folder/page.md#nowhere)"
    assert dead_links({"folder/page.md": page, "folder/other.md": other}) == [
        "folder/page.md links to other.md#there: the page has no such place",
        "folder/page.md links to gone.png, which is not there",
        "folder/other.md links to ../folder/page.md#nowhere: the page has no such place",
    ]
    assert anchors("# Twice\n# Twice") == {"twice", "twice_1"}


def test_a_block_after_an_empty_line_ends_where_it_ends():
    page = "# Page\n\n```\n# a comment\n```\n\n## Between\n\n[gone](gone.md)\n\n```\nmore\n```\n"
    assert anchors(page) == {"page", "between"}
    assert dead_links({"page.md": page}) == ["page.md links to gone.md, which is not there"]


# the build


def test_the_hook_writes_the_reference_and_fails_a_build_that_is_not_complete(tmp_path, monkeypatch, caplog):
    pytest.importorskip("mkdocs")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    hook = "docs/hooks/build_reference.py"
    assert hook in yaml.safe_load((REPOSITORY / "mkdocs.yml").read_text())["hooks"]
    monkeypatch.setattr(Book, "pages", lambda self: dict.fromkeys(listed(NAVIGATION), "# Made"))
    monkeypatch.setattr(Book, "problems", lambda self: [])
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "hidden.py").write_text("")
    (tmp_path / "docs" / "index.md").write_text("# Start\n[commands](reference/commands.md)")
    settings = {"site_name": "x", "nav": ["index.md"], "hooks": [str(REPOSITORY / hook)], "theme": "mkdocs"}
    (tmp_path / "mkdocs.yml").write_text(yaml.safe_dump(settings))
    build(load_config(str(tmp_path / "mkdocs.yml"), strict=True))
    assert "Made" in (tmp_path / "site" / "reference" / "commands" / "index.html").read_text()
    assert not (tmp_path / "site" / "hidden.py").exists()

    monkeypatch.setattr(Book, "problems", lambda self: ["discreet nonsense has no help"])
    (tmp_path / "docs" / "index.md").write_text("# Start\n[gone](gone.md)")
    with pytest.raises(BaseException, match="Aborted"):
        build(load_config(str(tmp_path / "mkdocs.yml"), strict=True))
    assert "discreet nonsense has no help\n- index.md links to gone.md, which is not there" in caplog.text


def test_variables_and_advice_are_sentences():
    assert all(checks.sentence(text) for text in VARIABLES.values())
    assert all(checks.sentence(text) for keys in KEYS.values() for text in keys.values())
