"""A record of synthetic rows is read as what was written, also one of before measurements had a record of their own."""

import json

import numpy as np
from typed_rows import DOMAIN, SCHEMA

from discreet.core.packing import pack
from discreet.core.wire import canonical
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.domain import Domain
from discreet.mechanisms.record import noise_to
from discreet.noise.replay import Replay
from discreet.synth.independent import independent
from discreet.synth.measurement import Measurement, RecordedMeter, measured
from discreet.synth.record import domain_from, domain_to, synthetic_from, synthetic_to
from planted import meter_of, planted


def stored(entry):
    return json.loads(canonical(entry))


def test_a_truth_that_is_never_missing_has_two_codes():
    domain = Domain.of(SCHEMA, [f"{DOMAIN.names[0]} IS NULL"])
    columns = {name: SCHEMA.column(name) for name in domain.names}
    assert domain_from(stored(domain_to(domain, columns)))[0].sizes == domain.sizes == (2,)


def test_a_domain_comes_back_with_its_labels_and_declared_types():
    domain, columns = domain_from(stored(domain_to(DOMAIN, SCHEMA.columns)))
    assert domain.names == DOMAIN.names
    assert domain.sizes == DOMAIN.sizes
    for one, two in zip(domain.attributes, DOMAIN.attributes, strict=True):
        assert (one.labels, one.ordered, one.missing) == (two.labels, two.ordered, two.missing)
    assert {name: type(column) for name, column in columns.items()} == {
        name: type(SCHEMA.columns[name]) for name in DOMAIN.names
    }


def made():
    domain, codes = planted()
    blank = meter_of(domain, codes)
    found = measured(independent, ArrayCounts(domain, codes), blank, Replay(b"record"), [(0, 1)])
    record = Measurement.from_json(stored(found.to_json()))
    return independent(RecordedMeter(meter_of(domain, codes), record), [(0, 1)], 200), record


def same(one, two):
    np.testing.assert_array_equal(one.codes, two.codes)
    assert (one.total, one.notes, one.fine) == (two.total, two.notes, two.fine)
    for left, right in zip(one.measured, two.measured, strict=True):
        assert (left.columns, left.noise) == (right.columns, right.noise)
        np.testing.assert_array_equal(left.values, right.values)


def test_rows_name_what_was_measured_by_its_position_on_the_record():
    rows, record = made()
    entry = stored(synthetic_to(rows, record))
    assert entry["measured"] == list(range(len(rows.measured)))
    same(synthetic_from(entry, stored(record.to_json())), rows)


def test_a_record_of_0_1_holds_both():
    rows, record = made()
    old = stored(
        {
            **synthetic_to(rows, record),
            "measured": [
                {"columns": list(one.columns), "values": pack(one.values), "noise": noise_to(one.noise)}
                for one in rows.measured
            ],
        }
    )
    same(synthetic_from(old, None), rows)
