"""The course: its table is complete, and every number in it is one that a page computes.

A number of the table in code type must be printed, character for character, by an example of the section that the row
links. Examples of pages are run as tests of their own (`docs/course/*.md`), so a number that changes fails there, and
one that was typed into the table alone fails here. Numbers of long runs stand in the tables of benchmarks.
"""

import doctest
import re
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

from discreet.apps.demo.survey_lecture import draw_flips, flip_pixels  # noqa: E402
from discreet.noise.replay import Replay  # noqa: E402
from typed_commands import Typed, read_command, typed_commands  # noqa: E402

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


def sections(page: str) -> list[str]:
    return re.split(r"^(?=#{1,3} )", (COURSE / f"{page}.md").read_text(encoding="utf-8"), flags=re.M)


def told(page: str) -> list[tuple[str, str]]:
    """Paragraphs that tell what a lecture says or what was measured, each with all that its numbers may come from.

    Both may stand in the table, on benchmarks that the section links and in what its lecture says; a lecture's numbers
    in its examples, too.
    """
    found = []
    for section in sections(page):
        links = set(re.findall(r"\]\((\.\./benchmarks/[^)#]+\.md)", section))
        here = {f"{page}.md#{anchor}" for anchor in anchors(section)}
        there = "\n".join(f"{row.statement} {row.there}" for row in ROWS if row.link in links | here)
        examples = doctest.DocTestParser().get_examples(section)
        paragraphs = re.sub(r"^```.*?^```", "", section, flags=re.M | re.S).split("\n\n")
        lecture = [one for one in paragraphs if one.strip().startswith("*The lecture.*")]
        measured = [one for one in paragraphs if "](../benchmarks/" in one]
        said = "\n".join([there, *(part(link) for link in sorted(links))])
        shown = "\n".join([said, *(example.source + example.want for example in examples)])
        found += [(one, shown) for one in lecture] + [(one, "\n".join([said, *lecture])) for one in measured]
    return found


def values(text: str) -> set[float]:
    """The numbers of a text, and what they are as percentages."""
    found = [abs(float(token.replace(",", ""))) for token in NUMBER.findall(text)]
    return {round(value * scale, 9) for value in found for scale in (0.01, 1, 100)}


def made_up(paragraph: str, said: str) -> list[str]:
    """Its numbers that nothing said, but for single digits, years and what stands in formulas."""
    prose = re.sub(r"`[^`]*`|\]\([^)]*\)|\$[^$]*\$", "", paragraph)
    tokens = re.findall(r"(?<![\w.,])(?:\d[\d,]*\d|\d)?(?:\.\d+)?(?:e-?\d+)?", prose)
    tokens = [token for token in tokens if not re.fullmatch(r"\d?|(?:19|20)\d\d", token)]
    return [token for token in tokens if round(float(token.replace(",", "")), 9) not in values(said)]


@pytest.mark.parametrize("page", PAGES)
def test_a_number_of_a_lecture_or_a_benchmark_stands_where_it_comes_from(page):
    assert [number for one, said in told(page) for number in made_up(one, said)] == []


def test_a_number_that_nobody_measured_is_noticed():
    one, said = next((one, said) for one, said in told("synthetic") if "benchmarks" in one)
    assert made_up(one.replace(".0037", ".0033"), said) == []  # another cell of the same table: not seen here
    assert made_up(one.replace(".0037", ".0031"), said) == [".0031"]


@pytest.mark.parametrize(
    ("page", "right", "wrong"),
    [
        ("anonymising", "308,745,548", "308,745,458"),
        ("composition", "1.11073e-5", "2.11073e-5"),
        ("laplace", "529.8", "592.8"),
        ("mobility", "30,000 pairs", "13,000 pairs"),
        ("randomized-response", "5.8%", "8.5%"),
    ],
)
def test_a_number_that_no_lecture_said_is_noticed(page, right, wrong):
    one, said = next((one, said) for one, said in told(page) if right in one)
    assert made_up(one, said) == []
    assert made_up(one.replace(right, wrong), said) != []


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


def refused(one: Typed) -> str:
    """What is wrong with a command: it, or one of its options, is not there."""
    if getattr(one.command, "commands", None) and one.rest:
        return f"{one.text}: {one.rest[0]} is no command"
    found = [f"no {word}" for word in one.rest if word.startswith("--") and word not in one.options]
    needed = [name for name in one.command.params if name.required and name.param_type_name == "option"]
    if any(word.startswith("--") for word in one.rest):  # else it only names the command
        found += [f"{name.opts[0]} is missing" for name in needed if not {*name.opts} & {*one.rest}]
    return ", ".join(f"{one.text}: {problem}" for problem in found)


def test_every_command_that_a_page_shows_is_there_with_its_options():
    shown = [one for path in COURSE.glob("*.md") for one in typed_commands(path.read_text(encoding="utf-8"))]
    assert len(shown) > 25
    assert [problem for one in shown if (problem := refused(one))] == []


@pytest.mark.parametrize(
    "line",
    [
        "discreet calibrate nose --epsilon 1",
        "discreet demo --lecturer survey",
        "discreet train baseline pictures --public CIFAR-10",
    ],
)
def test_a_command_that_is_not_there_is_noticed(line):
    assert refused(read_command(line))


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
