"""Every command and every block of Python in the tutorials and task pages, run as printed."""

import os
import re
from pathlib import Path

import pytest

import servers
from discreet import Ledger
from discreet.apps.demo.folder import lay_out
from discreet.data.registry import SOURCES
from printed import DiffersError, Reader, blocks, commands, compare

DOCS = Path(__file__).parent.parent / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))
TASKS = ["accuracy", "backups", "budget", "command-line", "extend", "ledger-postgres", "own-mechanism", "publish"]
TASKS += ["schema", "share-a-budget", "fine-tuning"]
GUIDES = [DOCS / "guides" / f"{name}.md" for name in TASKS]
ROLES = ["analyst", "custodian", "engineer", "statistician", "survey"]


@pytest.fixture
def reader(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("DISCREET_") or name in ("FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS"):
            monkeypatch.delenv(name)
    kinds = dict(SOURCES)
    reader = Reader(tmp_path, {"DISCREET_WHO": "rosa"})
    yield reader
    reader.close()
    SOURCES.clear()
    SOURCES.update(kinds)


def test_there_is_one_for_every_role():
    assert [page.stem for page in TUTORIALS] == ROLES


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_page(page, reader):
    assert reader.read(page.read_text(encoding="utf-8")) > 0


@pytest.fixture
def demonstration(tmp_path):
    """What `discreet demo --folder demo` leaves for readers of a guide."""
    lay_out(tmp_path / "demo")
    Ledger.open(tmp_path / "demo" / ".discreet" / "ledger.db", create=True).close()


@pytest.fixture
def books():
    """What a reader's environment says of their server, on which there is a database called books."""
    server = servers.postgres()
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE books")
    yield {"PGHOST": re.search(r"host=([^&]+)", server)[1], "PGUSER": "postgres"}
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP DATABASE books WITH (FORCE)")


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
@pytest.mark.usefixtures("demonstration")
def test_guide(page, reader, request):
    if page.stem == "ledger-postgres":
        reader.environment |= request.getfixturevalue("books")
    assert reader.read(page.read_text(encoding="utf-8")) > 0


@pytest.mark.parametrize("page", [*TUTORIALS, *GUIDES], ids=lambda page: page.stem)
def test_nothing_is_printed_that_is_not_run(page):
    unknown = [
        f"line {block.line}: {block.kind}"
        for block in blocks(page.read_text(encoding="utf-8"))
        if block.title is None and block.kind not in ("console", "python", "output", "needs", "window")
    ]
    assert not unknown


# The reader must notice what a page has wrong.

RIGHT = """
```console
$ echo hello
hello
$ false
$ echo $?
1
$ discreet calibrate noise --epsilon 1
epsilon = 1: discrete Laplace noise, scale 1.
...
```

```text title="two.txt"
1
2
```

```python
from pathlib import Path

lines = Path("two.txt").read_text().split()
```

```python
print(len(lines), "[lines]")
```

```output
2 [lines]
```
"""


def test_a_right_page(reader):
    assert reader.read(RIGHT) == 6


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("hello\n$", "goodbye\n$"),
        ("hello\n$", "$"),
        ("$ echo $?\n1\n", ""),
        ("$ echo $?\n1\n", "$ echo $?\n0\n"),
        ("scale 1.", "scale 2."),
        ("2 [lines]", "3 [lines]"),
        ("```output\n2 [lines]\n```\n", ""),
        ("split()", "split(1)"),
        ("calibrate noise", "calibrate nose"),
        ('title="two.txt"', 'title="three.txt"'),
    ],
)
def test_a_wrong_page(reader, right, wrong):
    assert right in RIGHT
    with pytest.raises(DiffersError, match="line"):
        reader.read(RIGHT.replace(right, wrong))


def test_an_extra_that_is_not_there(reader, monkeypatch):
    monkeypatch.setattr("printed.find_spec", lambda name: None)
    with pytest.raises(pytest.skip.Exception, match=r"discreet\[learn\]"):
        reader.read("<!-- needs: learn -->\n\n```console\n$ false\n```\n")


def test_a_command_over_several_lines():
    assert commands("$ a \\\n  b\nout\n$ c\n") == [("a \\\n  b", "out\n"), ("c", "")]


TABLE = "┃ sex ┃ n ┃\n│ male │ 1,503 [1,483, 1,523] │\nRelease 2df86c5d461146fa96639383525fc844\n"


@pytest.mark.parametrize(
    "said",
    [
        TABLE,
        TABLE.replace("1,503 [1,483, 1,523]", "1,540 [1,520, 1,560]").replace("2df8", "11ff"),
        TABLE.replace(" ┃ n ┃", "   ┃ n    ┃"),
    ],
)
def test_noise_is_no_difference(said):
    compare(TABLE, said)


def test_shares_of_a_survey():
    compare("│ Yes │ 20.5% │ 14.4% │ 26.6% │", "│ Yes │ \N{MINUS SIGN}1.5% │ \N{MINUS SIGN}7.5% │ 4.5% │")
    with pytest.raises(DiffersError):
        compare("│ Yes │ 20.5% │ 14.4% │ 26.6% │", "│ Yes │ 80.5% │ 74.4% │ 86.6% │")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("1,503 [1,483, 1,523]", "1,903 [1,883, 1,923]"),
        ("1,503 [1,483, 1,523]", "1,503"),
        ("male", "female"),
        ("2df8", "xyz"),
        ("┃ n ┃", "┃ n ┃ m ┃"),
    ],
)
def test_more_than_noise_is(right, wrong):
    with pytest.raises(DiffersError):
        compare(TABLE, TABLE.replace(right, wrong))
