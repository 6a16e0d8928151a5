"""The course: its table is complete, and every number in it is one that a page computes.

A number of the table in code type must be printed, character for character, by an example of the section that the row
links. Examples of pages are run as tests of their own (`docs/course/*.md`), so a number that changes fails there, and
one that was typed into the table alone fails here. Numbers of long runs stand in the tables of benchmarks.
"""

import doctest
import re
import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
COURSE = DOCS / "course"
if not COURSE.is_dir():  # the tests may run without the documentation beside them
    pytest.skip("no documentation here", allow_module_level=True)
sys.path.append(str(DOCS / "hooks"))

from handbook.links import anchors  # noqa: E402

from discreet.apps.cli.commands import Commands  # noqa: E402
from discreet.apps.demo.survey_lecture import draw_flips, flip_pixels  # noqa: E402
from discreet.noise.replay import Replay  # noqa: E402

PAGES = ["anonymising", "randomized-response", "definition", "laplace", "gaussian", "exponential", "composition"]
PAGES += ["census", "mobility", "learning", "synthetic", "around"]
HEAD = re.compile(r"^#{1,3} (.+)$", re.M)
NUMBER = re.compile(r"-?(?:\d[\d,]*)?\.?\d+(?:e-?\d+)?")
NOT_RUN = "not run"


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    statement: str
    link: str
    there: str
    here: str
    same: str

    @property
    def printed(self) -> list[str]:
        """What must be printed somewhere: what is in code type."""
        return re.findall(r"`([^`]+)`", self.here)


def rows() -> list[Row]:
    text = (COURSE / "coverage.md").read_text(encoding="utf-8")
    cells = [line.strip("|").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    found = []
    for statement, where, there, here, same in ([cell.strip() for cell in line] for line in cells):
        if statement != "statement":
            found.append(Row(statement, re.search(r"\]\(([^)]+)\)", where)[1], there, here, same))
    return found


def part(link: str) -> str:
    """The text that a link leads to: a section up to the next heading, or a whole page."""
    path, _, anchor = link.partition("#")
    text = (COURSE / path).read_text(encoding="utf-8")
    if not anchor:
        return text
    places = [*HEAD.finditer(text)]
    for place, head in enumerate(places):
        if anchor in anchors(head[0]):
            return text[head.start() : places[place + 1].start() if place + 1 < len(places) else None]
    raise AssertionError(f"{link}: no such section")


def outputs(text: str) -> str:
    """What examples print, or raise."""
    examples = doctest.DocTestParser().get_examples(text)
    return "\n".join(example.want + (example.exc_msg or "") for example in examples)


def problems(row: Row) -> list[str]:
    """What is wrong with a row."""
    section = part(row.link)
    shown = section if "benchmarks/" in row.link else outputs(section)
    found = [f"{row.statement}: {token!r} is not printed at {row.link}" for token in row.printed if token not in shown]
    if row.printed and not any(telling(token) for token in row.printed):
        found.append(f"{row.statement}: {row.here} says nothing")
    if not row.printed and row.here not in (NOT_RUN, "a picture"):
        found.append(f"{row.statement}: no number that can be checked")
    if row.here == "a picture" and "![" not in section:
        found.append(f"{row.statement}: no picture at {row.link}")
    if row.same in ("", "no") or (row.here == NOT_RUN and row.same == "yes"):
        found.append(f"{row.statement}: why is it not the same?")
    if row.same == "yes" and row.printed and not agree(row.there, " ".join(row.printed)):
        found.append(f"{row.statement}: {row.there} there, {row.here} here")
    return found


def telling(token: str) -> bool:
    """Whether a token says more than that something held, which any example prints."""
    return bool(re.sub(r"True|False|None|[\W_]", "", token))


def agree(there: str, here: str) -> bool:
    """Whether every number there is one of those here, to the digits it has."""
    values = [float(token.replace(",", "")) for token in NUMBER.findall(here)]
    for token in NUMBER.findall(there):
        digits = len(token.partition("e")[0].partition(".")[2])
        scale = 10.0 ** int(token.partition("e")[2] or 0)
        if not any(abs(value - float(token.replace(",", ""))) <= 0.5001 * 10.0**-digits * scale for value in values):
            return False
    return True


ROWS = rows()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.statement)
def test_a_row_of_the_table(row):
    assert problems(row) == []


def test_every_page_is_in_the_table_and_has_exercises_with_answers():
    assert {path.stem for path in COURSE.glob("*.md")} == {*PAGES, "index", "coverage"}
    linked = {row.link.partition("#")[0] for row in ROWS}
    for page in PAGES:
        text = (COURSE / f"{page}.md").read_text(encoding="utf-8")
        assert f"{page}.md" in linked
        asked, _, answered = text.partition("## Exercises")[2].partition("### Answers")
        many = len(re.findall(r"^\d\. ", asked, re.M))
        assert 2 <= many <= 4, page
        assert len(doctest.DocTestParser().get_examples(answered)) >= 2, page
        assert "../proofs/" in text or page == "around"
        assert "../guides/" in text


def test_every_section_with_a_lecture_in_it_is_in_the_table():
    linked = {row.link for row in ROWS}
    for page in PAGES:
        text = (COURSE / f"{page}.md").read_text(encoding="utf-8")
        for head in re.findall(r"^## .+$", text, re.M):
            (anchor,) = anchors(head)
            measured = re.search(r"\]\((\.\./benchmarks/[^)#]+)", part(f"{page}.md#{anchor}"))
            known = {f"{page}.md#{anchor}", measured[1] if measured else ""}
            assert known & linked or anchor == "exercises" or "*The lecture.*" not in part(f"{page}.md#{anchor}"), head


def measured(page: str) -> list[tuple[str, str]]:
    """Paragraphs of a page that tell what was measured, each with all that its numbers may come from: benchmarks it
    links, what the lecture says in its section, and the lecture's numbers for rows of the table that link the same."""
    text, found = (COURSE / f"{page}.md").read_text(encoding="utf-8"), []
    for section in re.split(r"^(?=#{1,3} )", text, flags=re.M):
        links = set(re.findall(r"\]\((\.\./benchmarks/[^)#]+\.md)", section))
        said = [part(link) for link in links] + [row.there for row in ROWS if row.link in links]
        said += [line for line in section.splitlines() if line.startswith("*The lecture.*")]
        found += [(one, "\n".join(said)) for one in section.split("\n\n") if "](../benchmarks/" in one]
    return found


def made_up(paragraph: str, said: str) -> list[str]:
    """Its numbers with a fraction that nothing said."""
    prose = re.sub(r"`[^`]*`|\]\([^)]*\)", "", paragraph)
    known = {abs(float(token.replace(",", ""))) for token in NUMBER.findall(said)}
    return [token for token in re.findall(r"(?<![\w.])\d*\.\d+", prose) if float(token) not in known]


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_says_was_measured_stands_on_the_page_of_the_benchmark(page):
    assert [number for one, said in measured(page) for number in made_up(one, said)] == []


def test_a_number_that_nobody_measured_is_noticed():
    (one, said), *_ = measured("synthetic")
    assert made_up(one.replace(".0037", ".0033"), said) == []  # another cell of the same table: not seen here
    assert made_up(one.replace(".0037", ".0031"), said) == [".0031"]


WRONG = [
    {"here": "`31.4`"},  # a number that nobody computes
    {"there": "31.4"},  # another number there
    {"here": "30.4"},  # typed, not computed
    {"same": ""},
    {"here": NOT_RUN},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_wrong_row_is_noticed(wrong):
    right = next(row for row in ROWS if "three averages" in row.statement)
    assert problems(right) == []
    assert problems(replace(right, **wrong)) != []


def typed() -> list[str]:
    """Every command that a page shows."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(COURSE.glob("*.md"))]
    return [line for text in texts for line in re.findall(r"(?:`|^    )(discreet [a-z][^`\n]*)", text, re.M)]


def refused(line: str) -> str:
    """What is wrong with a command: it, or one of its options, is not there."""
    words, found = shlex.split(line)[1:], Commands()
    command = found[words.pop(0)]
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    if getattr(command, "commands", None) and words:
        return f"{line}: {words[0]} is no command"
    known = {name for parameter in command.params for name in parameter.opts}
    found = [f"no {word}" for word in words if word.startswith("--") and word not in known]
    options = [one for one in command.params if one.required and one.param_type_name == "option"]
    if any(word.startswith("--") for word in words):  # else it only names the command
        found += [f"{one.opts[0]} is missing" for one in options if not {*one.opts} & {*words}]
    return ", ".join(f"{line}: {problem}" for problem in found)


def test_every_command_that_a_page_shows_is_there_with_its_options():
    assert len(typed()) > 25
    assert [problem for line in typed() if (problem := refused(line))] == []


@pytest.mark.parametrize(
    "line",
    [
        "discreet calibrate nose --epsilon 1",
        "discreet demo --lecturer survey",
        "discreet train baseline pictures --public CIFAR-10",
    ],
)
def test_a_command_that_is_not_there_is_noticed(line):
    assert refused(line)


def test_the_flipped_picture_is_what_its_lecture_draws():
    """If it is meant to change: save what is compared here."""
    drawn = draw_flips(*flip_pixels(Replay(b"course"))).to_svg()
    assert drawn == (COURSE / "flips.svg").read_text(encoding="utf-8")


def test_a_section_that_is_not_there_is_noticed():
    with pytest.raises(AssertionError, match="no such section"):
        part("laplace.md#no-such-thing")


@pytest.mark.parametrize(
    ("there", "here", "same"),
    [
        (".0577", "0.0577", True),
        (".0577", "0.0579", False),
        ("913", "912.7", True),
        ("1.11073e-5", "1.11073e-05", True),
        ("1.11073e-5", "1.2e-05", False),
        ("2, 0, 2", "2, 1, 2", False),
        ("in words", "7", True),
    ],
)
def test_numbers_agree_to_the_digits_that_are_given(there, here, same):
    assert agree(there, here) is same


@pytest.mark.parametrize(("token", "said"), [("True", False), ("(True, True)", False), ("()", False), ("0.5", True)])
def test_what_any_example_prints_says_nothing(token, said):
    assert telling(token) is said
    row = next(row for row in ROWS if row.statement == "sums of trips agree")
    wrong = problems(replace(row, here=f"`{token}`"))
    assert any("says nothing" in one for one in wrong) is not said
