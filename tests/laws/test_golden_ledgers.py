"""What an older version stored is read again, for free, wherever releases can be read, and gives the same values.

Every pair of files `kinds_X_Y` under tests/golden is a ledger with a release of every kind, or of those that came
meanwhile, written by that version, and what there was to read in it. `READ` (tests/surfaces.py) says where each kind
can be read today: a kind that becomes readable, or ceases to be, fails the test until the table says so.
"""

from __future__ import annotations

import contextlib
import functools
import json
from fractions import Fraction
from urllib.parse import quote

import pytest

pytest.importorskip("jax")
pytest.importorskip("clarabel")
pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
pytest.importorskip("httpx")
pytest.importorskip("jinja2")

from asks import ASKS, DATASET, KINDS, WITH_CODE, identity, town
from discreet.curator.kinds import read_release
from discreet.errors import InputError
from old import GOLDEN, golden_ledger
from surfaces import PARTLY, READ, SURFACES, command, comparable, surfaces

KNOWN = {**ASKS, **WITH_CODE}
VERSIONS = sorted(path.stem for path in GOLDEN.glob("kinds_*.sql"))

# Kinds that came later than all of these versions, and pairs that hold asks of some kinds alone.
LATER = {"census", "detail", "relations"}
ALONE = {"kinds_0_2_hidden": {"choose", "hidden", "hidden with an objective"}}
OLD = {name for name, ask in KNOWN.items() if ask.kind not in LATER and not any(name in one for one in ALONE.values())}
ASKED = [(version, name) for version in VERSIONS for name in KNOWN if name in ALONE.get(version, OLD)]

# Asks whose digest is no longer what that version made of them: their releases are read by their id, and no longer by
# asking the same again.
OTHER_DIGEST = {
    "kinds_0_1": {"question", "question of quantiles", "top", "batch", "train", "train at a price", "search", "tree"},
    # The price of a hierarchy is split in another way by default: other noise, so another question.
    "kinds_0_2": {"tree"},
    "kinds_0_2_measured": {"tree"},
}

# Intervals that are worked out when a release is read, and by a better rule than that version had.
OTHER_INTERVALS = {"kinds_0_1": {"tree"}}


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """Golden ledgers by name, each behind every surface and opened once, with what was read when it was written."""
    with contextlib.ExitStack() as stack:

        @functools.cache
        def open_one(version):
            folder = tmp_path_factory.mktemp(version)
            ledger = folder / "books.db"
            here = town(folder, golden_ledger(ledger, version))
            facts = json.loads((GOLDEN / f"{version}.json").read_text(encoding="utf-8"))
            return version, stack.enter_context(surfaces(here, ledger)), facts

        yield open_one


@pytest.fixture
def golden(opened, version):
    """One of them."""
    return opened(version)


def stored_values(version, name, facts):
    """What was read when it was written, without intervals that are worked out anew."""
    values = comparable(facts["values"][name])
    if name not in OTHER_INTERVALS.get(version, ()):
        return values
    plain = lambda column: not column.endswith(("_lower", "_upper"))  # noqa: E731
    return {part: {one: columns[one] for one in columns if plain(one)} for part, columns in values.items()}


@pytest.mark.parametrize("version", VERSIONS)
def test_every_kind_is_in_every_golden_ledger_and_in_the_table(golden):
    version, _, facts = golden
    names = ALONE.get(version, OLD)
    assert set(READ) == set(KINDS)
    assert {KNOWN[one["ask"]].kind for one in facts["releases"].values()} == {KNOWN[name].kind for name in names}
    assert set(facts["values"]) == names


@pytest.mark.parametrize("version", VERSIONS)
def test_the_ledger_verifies_and_every_charge_is_what_it_was(golden):
    _, read, facts = golden
    checked = read.here.ledger.verify()
    assert (checked.ok, checked.records) == (True, facts["records"])
    for release, told in facts["releases"].items():
        paid = read.here.ledger.find(release).charged
        assert (paid.dataset, paid.allotment, paid.digest) == (told["dataset"], told["allotment"], told["digest"])
        assert (paid.charge.amount, paid.charge.delta) == (Fraction(told["amount"]), Fraction(told["delta"]))
        assert paid.mechanism == told["mechanism"]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_release_is_listed_on_every_surface(golden):
    _, read, facts = golden
    known = [release for release, told in facts["releases"].items() if told["dataset"] == DATASET]
    assert read.here.curator.releases() == known
    assert read.web.get(f"/api/datasets/{DATASET}/releases").json() == known
    assert read.there().releases() == known
    listed, code = command("releases", "list", "--ledger", str(read.ledger), "--json")
    assert (code, {one["release"] for one in json.loads(listed)}) == (0, set(facts["releases"]))
    page = read.page("/releases").text
    assert [release for release in known if f"/releases/{quote(release, safe='')}" not in page] == []


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize(("version", "name"), ASKED)
def test_a_release_is_read_where_the_table_says_with_the_values_it_had(golden, name, surface):
    version, read, facts = golden
    expected = stored_values(version, name, facts)
    # Periods of streams were stored without their running totals.
    ways = {**READ, "stream": (PARTLY,) * len(SURFACES)}
    assert read.way(surface, name, expected) == ways[KNOWN[name].kind][SURFACES.index(surface)]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_release_shows_itself_in_a_notebook(golden):
    _, read, facts = golden
    for release in facts["releases"]:
        shown = read_release(read.here.ledger, release)._repr_html_()
        assert "Release from" in shown
        assert "<script" not in shown


@pytest.mark.filterwarnings("ignore:.*may describe earlier data")  # 0.1 knew no versions, and loads have none
@pytest.mark.parametrize(("version", "name"), ASKED)
def test_the_same_ask_again_is_free_and_gives_the_same_values(golden, name):
    version, read, facts = golden
    before = read.here.ledger.head()
    if name in OTHER_DIGEST.get(version, ()):
        with pytest.raises(InputError, match=r"answers another question|belongs to another stream"):
            KNOWN[name].release(read.here, identity(name))
    else:
        again = KNOWN[name].release(read.here, identity(name))
        values, expected = comparable(KNOWN[name].values(again)), stored_values(version, name, facts)
        assert set(values) == set(expected)
        for part, columns in expected.items():
            assert {column: values[part][column] for column in columns} == columns
    assert read.here.ledger.head() == before


@pytest.mark.parametrize("name", [name for name, ask in KNOWN.items() if ask.kind in LATER])
def test_a_later_kind_is_read_where_the_table_says(name, tmp_path):
    here = town(tmp_path)
    made = KNOWN[name].release(here, identity(name))
    with surfaces(here, tmp_path / "books.db") as read:
        ways = [read.way(surface, name, comparable(KNOWN[name].values(made))) for surface in SURFACES]
    assert tuple(ways) == READ[KNOWN[name].kind]
