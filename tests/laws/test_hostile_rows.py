"""One hostile row: whatever it holds, nothing breaks, nothing moves further than it may, and nobody hears of it."""

import json
import math
import subprocess
import sys
from fractions import Fraction

import pyarrow as pa
import pytest

import discreet
from discreet import Budget, Category, Integer, Ledger, Real, Schema, count, mean, total
from discreet.apps.cli import main
from discreet.noise.bits import SystemBits
from discreet.query.measure import lattice_for

SCHEMA = Schema(
    "people",
    {
        "age": Integer(0, 120, nullable=False),
        "pay": Real(0, 100_000, nullable=False),
        "county": Category(["Ash", "Elm"], nullable=False),
    },
)
SECRET = "Xyzzy-7431"
HOSTILE = [math.nan, math.inf, -math.inf, -0.0, 1e308, -1e308, 5e-324, 2.0**63, float(2**53 + 1)]


def people(ages=(30, 40), pays=(1000.0, 2000.0), counties=("Ash", "Elm")):
    return pa.table({"age": list(ages), "pay": list(pays), "county": list(counties)})


def exact(table, question, epsilon, tmp_path, name):
    """The answer at a price so high that the noise is all but nothing: what one row can do is seen plainly."""
    curator = discreet.open(table, SCHEMA, ledger=tmp_path / f"{name}.db", budget=Budget(10**7), create=True)
    return question(curator.table("people")).plan(epsilon=epsilon).release()


@pytest.mark.parametrize("value", HOSTILE)
def test_a_hostile_number_moves_a_sum_within_its_bounds(value, tmp_path):
    ask = lambda table: table.agg(pay=total("pay"), n=count(), m=mean("pay"))  # noqa: E731
    without = exact(people(), ask, 10**6, tmp_path, "without")
    with_it = exact(people((30, 40, 50), (1000.0, 2000.0, value), ("Ash", "Elm", "Ash")), ask, 10**6, tmp_path, "with")
    assert abs(with_it["pay"][0] - without["pay"][0]) <= 100_000 + 50  # 167 times the scale of the noise
    assert math.isfinite(with_it["pay"][0])
    assert math.isfinite(with_it["m"][0])
    assert 0 <= with_it["n"][0] - without["n"][0] <= 1


@pytest.mark.parametrize("value", [2**63 - 1, -(2**63), 121, -1])
def test_a_hostile_integer_is_clamped_before_it_is_summed(value, tmp_path):
    ask = lambda table: table.agg(age=total("age"))  # noqa: E731
    found = exact(people((30, 40, value), (1.0, 1.0, 1.0), ("Ash",) * 3), ask, 10**5, tmp_path, "books")
    assert 70 - 1 <= found["age"][0] <= 70 + 120 + 1


def test_sums_of_real_numbers_are_whole_steps_of_the_lattice(tmp_path):
    """No low-order bits to read: what comes out is a multiple of a step that follows from the bounds alone."""
    step = lattice_for(SCHEMA.columns["pay"], Fraction(0), Fraction(100_000)).step
    table = people((30,) * 50, [0.1 + n / 7 for n in range(50)], ("Ash",) * 50)
    for name in range(5):
        found = exact(table, lambda t: t.agg(pay=total("pay")), 1, tmp_path, f"b{name}")["pay"][0]
        assert (Fraction(found) / step).denominator == 1


def test_the_order_of_rows_is_not_to_be_seen(tmp_path):
    ages, pays = list(range(20, 60)), [float(n) for n in range(40)]
    counties = ["Ash" if n % 3 else "Elm" for n in range(40)]
    ask = lambda table: table.group_by("county").agg(n=count(), pay=total("pay"))  # noqa: E731
    there = exact(people(ages, pays, counties), ask, 10**6, tmp_path, "there")
    back = exact(people(ages[::-1], pays[::-1], counties[::-1]), ask, 10**6, tmp_path, "back")
    for name in ("n", "pay"):
        assert all(abs(a - b) < 10 for a, b in zip(there[name], back[name], strict=True))
    assert back["county"] == there["county"] == ["Ash", "Elm"]


def test_a_key_that_one_person_has_does_not_appear(tmp_path):
    table = people((30, 40, 50), (1.0, 1.0, 1.0), ("Ash", "Elm", SECRET))
    found = exact(table, lambda t: t.group_by("county").agg(n=count()), 10**5, tmp_path, "books")
    assert found["county"] == ["Ash", "Elm"]
    assert SECRET not in json.dumps(found.to_dict())


@pytest.mark.parametrize(
    "row",
    ['"not a number",1000,Ash', ",,", '50,1e400,"Oak"', "50,1000", f'"{SECRET}","{SECRET}","{SECRET}"', "NaN,-inf,Ash"],
)
def test_one_bad_line_of_a_file_changes_no_type_and_raises_nothing(row, tmp_path):
    """Types come from the schema: a line that does not fit is a line without those values, not an error."""
    path = tmp_path / "people.csv"
    good = "age,pay,county\n" + "30,1000,Ash\n" * 40
    answers = []
    for name, text in (("good", good), ("bad", good + row + "\n")):
        path.write_text(text)
        curator = discreet.open(path, SCHEMA, ledger=tmp_path / f"{name}.db", budget=Budget(10**7), create=True)
        asked = curator.table("people").group_by("county").agg(n=count(), pay=total("pay"))
        answers.append(asked.plan(epsilon=10**5).release())
    for place in range(2):
        assert abs(answers[0]["n"][place] - answers[1]["n"][place]) <= 1 + 0.5
        assert abs(answers[0]["pay"][place] - answers[1]["pay"][place]) <= 100_000 + 50


def test_the_command_line_says_nothing_of_a_row_either(tmp_path, monkeypatch, capfd):
    (tmp_path / "people.csv").write_text(f"age,county\n{SECRET},Ash\n30,{SECRET}\n")
    (tmp_path / "discreet.toml").write_text(
        '[dataset]\nname = "people"\n[budget]\nepsilon = 10\n[columns]\n'
        'age = { type = "integer", lower = 0, upper = 120 }\n'
        'county = { type = "category", values = ["Ash", "Elm"] }\n'
    )
    monkeypatch.chdir(tmp_path)
    asked = ["ask", "people.csv", "count", "mean(age)", "--by", "county", "--epsilon", "1", "--yes"]
    for words in (["ledger", "create"], asked):
        with pytest.raises(SystemExit) as left:
            main(words)
        shown = capfd.readouterr()
        assert SECRET not in shown.out + shown.err
        assert not left.value.code, shown.err
    assert "county" in shown.out


def test_children_of_a_fork_draw_other_noise():
    code = (
        "import os, sys\n"
        "from discreet import Laplace\n"
        "noise = Laplace(10**6)\n"
        "noise.release([0] * 8)\n"
        "if os.fork() == 0:\n"
        "    print(noise.release([0] * 8).tolist(), flush=True)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
        "print(noise.release([0] * 8).tolist(), flush=True)\n"
    )
    lines = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split("\n")
    assert lines[0] != lines[1]
    assert SystemBits().read(32).tobytes() != SystemBits().read(32).tobytes()


@pytest.mark.filterwarnings("ignore:.*may describe earlier data")  # a table in memory has no version
def test_asking_again_costs_again_unless_it_is_the_same_release(tmp_path):
    curator = discreet.open(
        people(), SCHEMA, ledger=Ledger.open(tmp_path / "b.db", create=True), budget=Budget(3), create=True
    )
    offer = curator.table("people").agg(n=count()).plan(epsilon=1)
    first = offer.release(release="one")
    assert all(offer.release(release="one").columns == first.columns for _ in range(20))
    offer.release()
    offer.release()
    with pytest.raises(discreet.errors.BudgetError):
        offer.release()


def test_what_was_released_is_read_without_the_data(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,pay,county\n30,1000,Ash\n")
    curator = discreet.open(path, SCHEMA, ledger=tmp_path / "b.db", budget=Budget(3), create=True)
    first = curator.table("people").group_by("county").agg(n=count()).plan(epsilon=1).release(release="one")
    path.write_text("age,pay,county\n" + "99,9999,Elm\n" * 500)  # whoever looked again would see it
    again = curator.release("one")
    assert again.columns == first.columns
    assert again.to_pandas().equals(first.to_pandas())


def test_a_cell_that_a_spreadsheet_would_run_is_quoted(tmp_path):
    schema = Schema("people", {"county": Category(["=cmd|' /C calc'!A0", "Elm"], nullable=False)})
    table = pa.table({"county": ["Elm"]})
    curator = discreet.open(table, schema, ledger=tmp_path / "b.db", budget=Budget(3), create=True)
    text = curator.table("people").group_by("county").agg(n=count()).plan(epsilon=1).release().to_csv()
    assert not any(line.lstrip('"').startswith("=") for line in text.splitlines())
