"""What a data version says, and what a fingerprint does not."""

from datetime import date

import pytest

from discreet.core.version import DataVersion, version_text
from discreet.errors import InputError

STAMPS = [["", None, [["visits.csv", 1024, 1_700_000_000_000_000_000]]]]


def test_a_fingerprint_is_the_same_for_the_same_files_and_key_and_for_nothing_else():
    tag = DataVersion.of_files(STAMPS, b"k" * 32)
    assert tag == DataVersion.of_files([["", None, [["visits.csv", 1024, 1_700_000_000_000_000_000]]]], b"k" * 32)
    others = [["visit.csv", 1024, 1_700_000_000_000_000_000], ["visits.csv", 1025, 1_700_000_000_000_000_000]]
    others.append(["visits.csv", 1024, 1_700_000_000_000_000_001])
    assert all(tag != DataVersion.of_files([["", None, [other]]], b"k" * 32) for other in others)
    assert tag != DataVersion.of_files(STAMPS, b"j" * 32)  # without the key, trying out sizes finds nothing
    assert "visits" not in str(tag) + str(tag.to_json())


def test_versions_go_to_the_record_and_back_and_old_records_name_none():
    for version in (DataVersion.declare("2024-02"), DataVersion.of_files(STAMPS, b"k" * 32), DataVersion()):
        assert DataVersion.from_json(version.to_json()) == version
    assert DataVersion.from_json(None) is None
    assert DataVersion.from_json({"strange": "x"}) is None
    assert version_text(None) == "not recorded"
    assert str(DataVersion()) == "unversioned"


def test_a_declared_version_is_a_name_a_number_or_a_day():
    assert str(DataVersion.declare(2024)) == "2024"
    assert str(DataVersion.declare(date(2024, 2, 1))) == "2024-02-01"
    for odd in ("", "  ", "a\nb", "x" * 201, True, 1.5, None):
        with pytest.raises(InputError, match="version"):
            DataVersion.declare(odd)


def test_versions_are_the_same_or_not_or_nobody_can_tell():
    files, table = DataVersion.of_files(STAMPS, b"k" * 32), DataVersion.of_table([1], b"k" * 32)
    bare, outlined = DataVersion("unversioned", "a view"), DataVersion.unversioned("a view", ["age"], b"k" * 32)
    assert files.same(files)
    assert table.same(table)
    assert [files.same(table), files.same(bare), table.same(bare), bare.same(files)] == [False] * 4
    assert bare.same(table) is None  # recorded before counters of writes were looked at
    assert [bare.same(bare), bare.same(outlined), outlined.same(outlined)] == [None] * 3
    assert outlined.same(DataVersion.unversioned("a view", ["day"], b"k" * 32)) is False
    assert bare.same(DataVersion("unversioned", "a pandas table")) is False
    assert DataVersion.from_json(outlined.to_json()) == outlined
    assert "age" not in str(outlined.to_json())
