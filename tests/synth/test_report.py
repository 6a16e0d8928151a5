"""Reports on synthetic rows: what is public costs nothing and runs nothing; what is not must be asked for by name."""

from __future__ import annotations

import ast
import json
import re
import shutil
import stat
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pyarrow
import pytest

import discreet
import discreet.synth.report as room
from discreet import Boolean, Budget, Category, Integer, Real, Schema, Unit
from discreet.core.packing import pack
from discreet.errors import InputError
from discreet.noise.replay import Replay
from discreet.synth.report.copies import draws, trials
from servers import missing

EVIL = "</style><script>alert(1)</script><img src=x onerror=alert(2)>"
SCHEMA = Schema(
    "people",
    {
        "age": Integer(0, 99, nullable=False),
        "sex": Category(["f", "m"], nullable=True),
        "works": Boolean(nullable=False),
        "pay": Real(0, 100_000, nullable=True),
        f"job {EVIL}": Category([EVIL, "VP", "a\"'&<b>", *(f"job {place}" for place in range(20))], nullable=False),
    },
    Unit(),
)
JOB = f"job {EVIL}"
ASKS = [
    "age >= 25 and sex = 'f'",
    f"age >= 25 and sex = 'f' and \"{JOB}\" = 'VP'",
    f"mean(pay) where age >= 25 and sex = 'f' and \"{JOB}\" = 'VP'",
    "mean(age) where works",
]


def table(rows: int = 3000, seed: int = 1) -> pyarrow.Table:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, rows)
    works = (age > 18) & (age < 66)
    return pyarrow.table(
        {
            "age": age,
            "sex": [None if one < 0.1 else "f" if one < 0.6 else "m" for one in rng.random(rows)],
            "works": works,
            "pay": np.where(works, rng.gamma(4, 8000, rows), 0).round(2),
            JOB: rng.choice(SCHEMA.columns[JOB].values, rows),
        }
    )


@pytest.fixture(scope="module")
def curator(tmp_path_factory):
    place = tmp_path_factory.mktemp("books") / "books.db"
    return discreet.open(table(), SCHEMA, ledger=place, budget=Budget(30), who="ann", create=True)


@pytest.fixture(scope="module")
def release(curator):
    return curator.synthesize(impossible=["age < 16 and works"]).plan(epsilon=4).release(release="twins")


@pytest.fixture(scope="module")
def public(release):
    return release.report(ASKS, copies=3)


@pytest.fixture(scope="module")
def owners(release):
    return release.compare(table(), ASKS, not_private=True, target="works", copies=2)


def test_the_public_report_costs_nothing_and_is_always_the_same(curator, release, public):
    before = [curator.standing()[0].left, len(list(curator.ledger.records()))]
    again = curator.release("twins").report(ASKS, copies=3)
    assert again.to_html() == public.to_html()
    assert again.to_dict() == public.to_dict()
    assert [curator.standing()[0].left, len(list(curator.ledger.records()))] == before
    json.dumps(public.to_dict(), allow_nan=False)
    assert not public.owner_only
    assert public.figures.real is None
    assert all(one.real is None for one in public.figures.asks)
    assert "real" not in public.to_dict()
    assert "eyes" not in public.to_html()


def test_the_public_report_follows_from_what_was_released(tmp_path, release, public):
    # Another private table under the same answer makes no difference: it is never there to be looked at.
    other = discreet.open(table(10, seed=9), SCHEMA, ledger=tmp_path / "b.db", budget=Budget(9), who="bob", create=True)
    assert other.standing()[0].spent.amount == 0
    moved = replace(release, id="other")
    assert moved.report(ASKS, copies=3).to_dict()["asks"] == public.to_dict()["asks"]


def test_questions_have_answers_spread_and_intervals(release, public):
    rows = release.to_arrow().to_pylist()
    first, second, third, fourth = public.figures.asks
    old = [row for row in rows if row["age"] >= 25 and row["sex"] == "f"]
    assert first.answer == pytest.approx(len(old) / len(rows))
    chiefs = [row for row in old if row[JOB] == "VP"]
    assert second.answer == pytest.approx(len(chiefs) / len(rows))
    assert third.answer == pytest.approx(np.mean([row["pay"] for row in chiefs if row["pay"] is not None]))
    assert fourth.answer == pytest.approx(np.mean([row["age"] for row in rows if row["works"]]))
    assert all(len(one.draws) == 3 for one in public.figures.asks)
    for one in public.figures.asks:
        assert one.about[0] <= one.answer <= one.about[1]
    assert second.known.upper < 1  # from its parts
    assert third.known is None  # four columns that were never measured together
    assert "no interval is known" in public.to_html()
    assert "no interval known" in repr(public)
    total = public.figures.total
    assert total.lower < 3000 * 1.2
    assert total.upper > 3000 * 0.8


def test_copies_stray_more_where_there_is_more_noise(curator):
    spreads = []
    for epsilon in (0.2, 6):
        release = curator.synthesize("independent", columns=["age", "sex", "works"]).plan(epsilon=epsilon).release()
        # Spreads are 30 to 1 on average. Of 10 copies each it is less than 2 to 1 once in 10^9 runs, of 4 in 10^4.
        first = release.report(["age >= 50"], copies=10).figures.asks[0]
        spreads.append(first.about[1] - first.about[0])
        parts = (release.domain, release.declared, release.impossible, release.made)
        one, two = draws(*parts, 2, Replay(b"x"))
        assert not np.array_equal(one.codes, two.codes)
        assert len(one.codes) == len(release)
        tried = next(iter(trials(*parts, release.codes, 1, Replay(b"y"))))
        release.domain.check(tried.codes)
    assert spreads[0] > 2 * spreads[1]


def test_copies_keep_to_what_can_be(release):
    parts = (release.domain, release.declared, release.impossible, release.made)
    for one in [*draws(*parts, 1, Replay(b"x")), *trials(*parts, release.codes, 1, Replay(b"y"))]:
        assert not ((one.codes[:, 0] < 16) & (one.codes[:, 2] == 1)).any()


def test_the_owners_report_must_be_asked_for_by_name(release):
    for said in (False, None, 1, "yes"):
        with pytest.raises(InputError, match="owner") as problem:
            release.compare(table(), not_private=said)
        assert problem.value.field == "not_private"
    with pytest.raises(InputError, match="owner"):
        release.compare(table())


def test_the_owners_report_says_what_it_is(curator, release, owners, tmp_path):
    before = [curator.standing()[0].left, len(list(curator.ledger.records()))]
    text = owners.to_html()
    assert owners.owner_only
    for word in (
        "For the data owner",
        "Not a release",
        "without noise",
        "Owner only",
        "noindex",
        "(not from this page)",
    ):
        assert word in text, word
    assert "may be published" not in text
    assert "NOT private" in repr(owners)
    place = owners.save(tmp_path / "owner.html")
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert [curator.standing()[0].left, len(list(curator.ledger.records()))] == before
    real = table().to_pylist()
    asked = owners.figures.asks[0]
    assert asked.real == pytest.approx(np.mean([row["age"] >= 25 and row["sex"] == "f" for row in real]))
    pays = [row["pay"] for row in real if row["age"] >= 25 and row["sex"] == "f" and row[JOB] == "VP"]
    assert owners.figures.asks[2].real == pytest.approx(np.mean(pays))
    figures = owners.to_dict()["real"]
    assert figures["rows"] == 3000
    assert set(figures["marginals"]) == {"1", "2", "3"}
    assert figures["marginals"]["1"]["mean_tv"] < 0.15
    assert figures["prediction"]["text"] == "works = True"
    assert figures["prediction"]["synthetic"]["auc"] > 0.9
    assert figures["prediction"]["real"]["auc"] > 0.95
    json.dumps(owners.to_dict(), allow_nan=False)


class Reader(HTMLParser):
    """Every element and attribute of a page, and whether elements are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.values: list[str] = []
        self.open: list[str] = []
        self.said: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.names.update(name for name, _ in attrs)
        self.values += [value or "" for _, value in attrs]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.said.append(data)


def test_a_page_is_one_file_and_labels_are_only_text(public, owners, tmp_path):
    for report in (public, owners):
        text = report.to_html()
        reader = Reader()
        reader.feed(text)
        assert reader.open == []
        assert not reader.tags & {"script", "img", "link", "iframe", "object", "base", "form"}
        assert not [name for name in reader.names if name.startswith("on")]
        assert not reader.names & {"href", "src", "style", "xlink:href", "action"}
        assert not any("javascript:" in value or "url(" in value for value in reader.values)
        assert "http://" not in text.replace("http-equiv", "")
        assert "https://" not in text
        assert "@import" not in text
        assert "url(" not in text
        assert "default-src 'none'" in text
        assert any(EVIL in one for one in reader.said)  # as text, and as nothing else
        assert re.search(r"style-src 'sha256-[A-Za-z0-9+/=]+'", text)
    assert public.save(tmp_path / "page.html").read_text(encoding="utf-8") == public.to_html()
    with pytest.raises(InputError, match="html"):
        public.save(tmp_path / "page.pdf")


def test_pages_in_a_browser_say_nothing_and_ask_for_nothing(public, owners, tmp_path):
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        program = None
    if program is None:
        missing("Browser tests need: pip install playwright, and Chromium (apt install chromium)")
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for report, scheme, wide in ((public, "light", 1200), (owners, "dark", 1200), (public, "dark", 390)):
            place = report.save(tmp_path / "page.html")
            context = browser.new_context(viewport={"width": wide, "height": 900}, color_scheme=scheme)
            page, said, asked = context.new_page(), [], []
            page.on("console", lambda message, said=said: said.append(message.text))
            page.on("dialog", lambda dialog, said=said: (said.append(dialog.message), dialog.dismiss()))
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.goto(place.as_uri())
            assert said == []
            assert asked == [place.as_uri()]
            assert page.evaluate("document.documentElement.scrollWidth") <= wide
            assert page.locator("svg").count() > 8
            # The style sheet is let in by its hash: the page is not a bare one.
            assert page.evaluate("getComputedStyle(document.querySelector('.card')).borderTopWidth") == "1px"
            assert page.locator(".banner").count() == (1 if report.owner_only else 0)
            context.close()
        browser.close()


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"copies": -1}, "copies"),
        ({"copies": 1000}, "copies"),
        ({"copies": True}, "copies"),
        ({"confidence": 1.0}, "confidence"),
        ({"confidence": 0}, "confidence"),
        ({"asks": ["age >"]}, "asks"),
        ({"asks": ["nowhere = 3"]}, "asks"),
        ({"asks": 5}, "asks"),
        ({"asks": ["age > 1"] * 101}, "asks"),
    ],
)
def test_wrong_reports_are_refused(release, asked, field):
    with pytest.raises(InputError) as problem:
        release.report(**asked)
    assert problem.value.field == field


def test_wrong_comparisons_are_refused(release):
    for real, more, field in (
        ("people.csv", {}, "real"),
        (table().drop_columns(["age"]), {}, "real"),
        (table(), {"target": "nowhere"}, "target"),
        (table(), {"asks": ["age >"]}, "asks"),
    ):
        with pytest.raises(InputError) as problem:
            release.compare(real, not_private=True, copies=0, **more)
        assert problem.value.field == field


def test_small_releases_have_reports_too(curator):
    one = curator.synthesize(columns=["works"], rows=40).plan(epsilon=1).release()
    assert "Synthetic rows of people" in one.report(copies=2).to_html()
    assert one.report(copies=0).figures.asks[0].about is None
    owner = one.compare(table(200), not_private=True, copies=0)
    assert owner.figures.real.prediction is None
    none = replace(one, made=replace(one.made, codes=one.made.codes[:0]))
    with pytest.raises(InputError, match="has none"):
        none.report()


def test_gaussian_releases_state_their_privacy(tmp_path):
    curator = discreet.open(
        table(500), SCHEMA, ledger=tmp_path / "b.db", budget=Budget(epsilon=1, delta="1e-6"), who="ann", create=True
    )
    made = curator.synthesize("independent", columns=["age", "sex"]).plan(share=1).release()
    report = made.report(copies=2)
    assert "of zero-concentrated privacy, which is epsilon = " in report.privacy
    assert "but for a chance of 1e-6" in report.privacy
    assert pack(made.measured[0].values)  # still what the books hold


def test_reports_cannot_reach_private_data():
    forbidden = ("discreet.data.source", "discreet.data.frame", "discreet.ledger", "discreet.marginals.engine")
    for path in Path(room.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not [name for name in names if name.startswith(forbidden)], path.name
            assert not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "open"), path.name
