"""Texts that people read are gathered where a translation finds them, and use the words of the trade."""

import importlib.util
import re
from functools import cache
from pathlib import Path

import pytest

TOOL = Path(__file__).parent.parent / ".ci" / "strings.py"
DIALECT = re.compile(
    r"\b(told(?! apart)|wanted|by itself|by themselves|of some rows|(?:the|these|its|their|these) books|on the books"
    r"|the house\b(?!hold)|of now|(?:come|comes|came) of|nearer end|what of the|is anyone's|that are nobody's"
    r"|has left the|nobody knows|To get right|What no row may be|go on with it|(?:is|are) asked once)\b",
    re.IGNORECASE,
)


@cache
def tool():
    spec = importlib.util.spec_from_file_location("strings_tool", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def gathered():
    return tool().gather()


def dialect(texts):
    """Texts with a phrase of no trade, names of what is computed aside."""
    return [f"{one.path}:{one.line}: {one.text}" for one in texts if DIALECT.search(re.sub(r"\{\w*\}", "", one.text))]


@pytest.mark.parametrize(
    ("sort", "path", "text"),
    [
        ("pages", "apps/web/templates/data.html", "Neighbouring tables {mark}"),
        ("pages", "apps/survey/page.html", "Randomise and send my answers"),
        ("pages", "apps/web/login.py", "This is not a token of this server, or it was revoked."),
        ("scripts", "apps/web/static/ask.js", "Priced; nothing is spent."),
        ("plans", "query/notes.py", "Rows without a value of {column} are left out."),
        ("plans", "query/stream.py", "All periods are paid with the first one. Stopping early refunds nothing."),
        ("errors", "core/loss.py", "a list of losses"),
        ("hints", "accounting/calibrate.py", "Or raise delta."),
        ("help", "apps/cli/commands.py", "Write a schema to fill in."),
        ("help", "apps/cli/options.py", "Confidence of the intervals."),
        ("help", "apps/cli/ledger.py", "Every budget, what is left of it, and every charge."),
        ("api", "apps/server/api.py", "Verify every ledger from its records. For custodians."),
        ("charts", "show/bars.py", "not known"),
        ("terms", "core/glossary.py", "A price as a percentage of the whole allotment."),
    ],
)
def test_texts_of_every_sort_are_gathered(sort, path, text):
    assert (sort, text) in {(one.sort, one.text) for one in gathered() if one.path == path}


def test_a_text_stands_at_its_line():
    for one in gathered():
        if one.path == "apps/web/templates/data.html" and one.text.startswith("Neighbouring tables"):
            line = (tool().SOURCE / one.path).read_text().splitlines()[one.line - 1]
            assert "Neighbouring tables" in line


def test_the_template_is_one_of_gettext():
    text = tool().template(
        [tool().Text("a.py", 3, "errors", 'say "{name}"\nagain'), tool().Text("b.py", 9, "help", "x")]
    )
    assert 'msgid ""\nmsgstr ""\n' in text
    assert '#: src/discreet/a.py:3\n#, python-brace-format\nmsgid "say \\"{name}\\"\\nagain"\nmsgstr ""\n' in text
    once = [tool().Text("a.py", 1, "help", "the same"), tool().Text("b.py", 2, "errors", "the same")]
    assert tool().template(once).count('msgid "the same"') == 1


def test_every_text_uses_the_words_of_the_trade():
    assert dialect(gathered()) == []


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("page.html", '<p title="{{ x }}">Not done yet. It is on the books once.</p>'),
        ("page.html", "<p>{% if a %}{{ 'Nothing of it is told' if b else '' }}{% endif %}</p>"),
        ("plan.py", 'def notes(rows):\n    return [f"Intervals of {rows} rows, each by " "itself."]\n'),
        ("error.py", 'def f(x):\n    raise InputError("x", x, "one", "Nobody knows the data of now.")\n'),
        ("script.js", "say.textContent = `The answer was ${x} told.`; // told\n"),
    ],
)
def test_a_planted_phrase_is_found(tmp_path, name, source):
    (tmp_path / name).write_text(source)
    assert len(dialect(tool().gather(tmp_path))) == 1
