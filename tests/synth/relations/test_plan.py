"""One charge for both tables, divided as the plan says; measured once, published as often as one likes."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow
import pytest
from clinic_desk import SCHEMA, clinic, visits

import discreet
import discreet.synth.relations.chain
import discreet.synth.relations.explanation
import discreet.synth.synthetic
from discreet import Budget, Category, Date, Integer, Schema, Timestamp, Unit
from discreet.core.sensitivity import Sensitivity
from discreet.data.join import Join
from discreet.data.source import source_of
from discreet.errors import InputError
from discreet.marginals.engine import EngineCounts
from discreet.marginals.meter import Meter
from discreet.noise.bits import words
from discreet.noise.replay import Replay
from discreet.synth.measurement import Measurement, measured, no_counts
from discreet.synth.mosaic import mosaic
from discreet.synth.relations.coarse import child_bins, coarsened
from discreet.synth.relations.codes import encode_levels


def test_the_parts_of_the_price_add_up_to_the_charge(curator):
    for share in ("1/4", "9/10"):
        plan = curator.relate(["age"], ["ward"], order="day", limit=5, parent_share=share).plan(epsilon=3).plan
        above, below = plan.parent_meter(), plan.child_meter()
        assert above.price == Fraction(share) * 3
        assert plan.parts.gaps == (1 - Fraction(share)) * 3 / 10
        assert above.price + below.price + plan.parts.gaps == plan.price == 3
        assert (above.moved.l1, below.moved.l1) == (1, 4)
    assert curator.relate(["age"], ["ward"], limit=5).plan(epsilon=3).plan.child_meter().moved.l1 == 5


def test_what_is_measured_costs_the_price_and_no_more(tmp_path):
    curator = clinic(tmp_path, 200)
    offer = curator.relate(["age"], ["ward"], order="day", limit=3).plan(epsilon=5)
    offer.release(release="one")
    known = curator.ledger.find("one")

    record = json.loads(known.measurement)
    gaps = Meter(no_counts(offer.plan.levels.children), Sensitivity(2, 1), "epsilon", offer.plan.parts.gaps)
    meters = {"parents": offer.plan.parent_meter(), "children": offer.plan.child_meter(), "gaps": gaps}
    for name, meter in meters.items():
        answers = Measurement.from_json(record[name]).answers
        # Laplace noise of scale b on a table moved by l1 costs l1 / b; choices cost the rest.
        paid = sum(Fraction(meter.moved.l1) / Fraction(noisy.noise.scale) for _, noisy in answers)
        assert 0 < paid <= meter.price
    assert curator.standing()[0].left.amount == 1000 - 5


def test_nobody_has_a_second_row_where_the_limit_is_one(tmp_path):
    curator = clinic(tmp_path, 400)
    offer = curator.relate(["age"], ["ward"], order="day", limit=1).plan(epsilon=20)
    assert offer.plan.parent_meter().price == 20
    assert not any("count of child rows" in one.output for one in offer.expected)
    made = offer.release()
    assert set(made.fan_out.tolist()) <= {0, 1}
    assert abs(len(made) - 400) < 20


def test_other_plans_have_other_digests(curator):
    fields = [
        {},
        {"limit": 3},
        {"order": "day"},
        {"key": "P{}"},
        {"rows": 5},
        {"parent_share": "1/2"},
        {"where": "age > 3"},
        {"impossible": ["age < 3 and ward = 'care'"]},
    ]
    digests = {curator.relate(["age"], ["ward"], **one).plan(epsilon=1).plan.digest for one in fields}
    assert len(digests) == len(fields)


def test_two_private_tables_are_joined_on_the_person(tmp_path):
    """Patients in one, visits in the other: patients without a visit are parents without child rows."""
    rng = np.random.default_rng(1)
    age = rng.integers(0, 100, 1500)
    patients = pyarrow.table({"who": np.arange(1500), "age": age})
    many = np.where(age < 50, 0, 2) + (rng.random(1500) < 0.5)
    who = np.repeat(np.arange(1500), many)
    days = np.datetime64("2024-01-01") + rng.integers(0, 300, len(who)).astype("timedelta64[D]")
    visits = pyarrow.table({"who": who, "ward": np.array(["a", "b"])[rng.integers(0, 2, len(who))], "day": days})
    schema = Schema(
        "clinic",
        {"who": Integer(0, 10**6), "age": Integer(0, 99, nullable=False)},
        Unit("who", groups=3, rows=1),
        joins={"visits": Join({"day": Date("2024-01-01", "2024-12-31"), "ward": Category(["a", "b"])}, rows=3)},
    )
    curator = discreet.open(
        patients, schema, joins={"visits": visits}, ledger=tmp_path / "b.db", budget=Budget(100), who="ann", create=True
    )
    made = curator.relate(["age"], ["ward"], order="day", limit=3).plan(epsilon=60).release()
    ages = np.array(made.parents["age"].to_pylist())
    assert abs(len(made) - 1500) < 30
    assert abs(made.fan_out[ages < 45].mean() - 0.5) < 0.15
    assert abs(made.fan_out[ages > 55].mean() - 2.5) < 0.25
    assert (made.fan_out == 0).sum() > 200
    assert any("rows of visits" in note for note in made.notes)


def test_times_of_a_day_are_in_order_and_after_midnight_begins_another(tmp_path):
    rng = np.random.default_rng(2)
    start = np.datetime64("2024-01-01T08:00") + rng.integers(0, 20 * 1440, 600).astype("timedelta64[m]")
    rows = []
    for place in range(600):
        at = start[place]
        for _ in range(int(rng.integers(1, 4))):
            rows.append((f"p{place}", "abc"[int(rng.integers(0, 3))], at))
            at = at + np.timedelta64(int(rng.integers(30, 400)), "m")
    who, zone, at = zip(*rows, strict=True)
    columns = {"zone": Category(["a", "b", "c"], nullable=False)}
    columns["at"] = Timestamp("2024-01-01", "2024-02-01", "Europe/Vienna", naive="Europe/Vienna", nullable=False)
    data = pyarrow.table({"who": who, "group": ["x"] * len(who), "zone": zone, "at": np.array(at, "datetime64[s]")})
    schema = Schema("trips", {"group": Category(["x"], nullable=False), **columns}, Unit("who", groups=3, rows=1))
    curator = discreet.open(data, schema, ledger=tmp_path / "b.db", budget=Budget(100), who="ann", create=True)
    made = curator.relate(["group"], order="at", limit=3).plan(epsilon=60).release()
    last: dict[str, object] = {}
    for row in made.children.to_pylist():
        assert last.get(row["who"], row["at"]) <= row["at"]
        last[row["who"]] = row["at"]
    same = sum(one.as_py() is not None for one in made.children["at"])
    assert same == made.children.num_rows > 600


def test_what_is_no_way_to_publish_is_refused(curator, release):
    with pytest.raises(InputError, match="only rows can be chosen"):
        curator.publish("clinic", method="independent")
    with pytest.raises(InputError, match="rows"):
        curator.publish("clinic", rows=0)
    assert SCHEMA.unit.column in release.parents.column_names


def test_what_was_measured_without_a_search_is_published_as_it_was(tmp_path):
    """All of the price was for marginals then, and gaps had the codes of the schema."""
    curator = clinic(tmp_path, 300)
    plan = curator.relate(["age"], ["ward"], order="day", limit=3).plan(epsilon=20).plan
    before = replace(plan, searched=False)
    assert (before.parent_meter().price + before.child_meter().price, before.parts.gaps) == (20, 0)
    with replace(source_of(visits(300)), view=SCHEMA.view_with(["age", "ward", "day"])).open() as data:
        bits = Replay(b"an earlier version")
        salt = [int(word) & (2**31 - 1) for word in words(bits, 8)]
        parents, children = encode_levels(plan.levels, SCHEMA, data.table, salt)
        counts = EngineCounts.of_codes(plan.levels.parents, data, parents)
        above = measured(mosaic, counts, before.parent_meter(), bits, plan.preserved.marginals)
        bins = child_bins(plan.levels, [one for _, one in above.answers if len(one.columns) == 1])
        below = EngineCounts.of_codes(plan.levels.children, data, children).merged(bins)
        meter = before.child_meter(coarsened(plan.levels.children, bins))
        found = measured(mosaic, below, meter, bits, plan.levels.workload())
    made = plan.publish({"parents": above.to_json(), "children": found.to_json()})
    assert abs(made["relations"]["parents"]["rows"] - 300) < 62  # four deviations of the number that was measured
    assert made["relations"]["children"]["rows"] > 300


def test_noise_does_not_decide_how_large_both_tables_get(tmp_path, monkeypatch):
    """At a price that buys nothing but noise there seem to be millions of parents with many child rows each."""
    monkeypatch.setattr(discreet.synth.synthetic, "MOST_ROWS", 3_000)
    for module in (discreet.synth.relations.chain, discreet.synth.relations.explanation):
        monkeypatch.setattr(module, "MOST_CHILD_ROWS", 4_000)
    curator = clinic(tmp_path, 60)
    asks = itertools.cycle([("day", 5), (None, 20)])
    seen = set[str]()
    for order, limit in itertools.islice(asks, 60):  # each as likely as not to have seen too many parents
        made = curator.relate(["age"], ["ward"], order=order, limit=limit).plan(epsilon="1/20000").release()
        said = " ".join(made.notes)
        assert len(made) <= 3_000
        assert made.fan_out.sum() <= 4_000
        assert (made.total > 3_000) == ("at most 3,000 rows are made" in said)
        if "At most 4,000 child rows" in said:
            assert made.fan_out.sum() > 4_000 - 20
            seen.add("child rows")
        else:
            assert len(made) == min(max(round(made.total), 0), 3_000)
        if made.total > 3_000:
            seen.add("parents")
        if len(seen) == 2:
            break
    assert seen == {"child rows", "parents"}


def test_more_parents_of_a_release_are_bounded_too(tmp_path, monkeypatch):
    monkeypatch.setattr(discreet.synth.relations.chain, "MOST_CHILD_ROWS", 900)
    curator = clinic(tmp_path, 300)
    curator.relate(["age"], ["ward"], limit=6).plan(epsilon=50).release(release="one")
    made = curator.publish("one", rows=2_000)
    assert 880 < made.fan_out.sum() <= 900
    assert len(made) < 500
