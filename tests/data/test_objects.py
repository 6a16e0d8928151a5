"""Files in an object store: listed, copied in the state that was listed, and never read before they are paid for."""

from __future__ import annotations

import io
import time

import pyarrow
import pyarrow.parquet
import pytest

import discreet
import discreet.data.objects as objects_module
from discreet import Budget, Category, Integer, Schema, Unit
from discreet.data.join import Join
from discreet.data.objects import objects_at
from discreet.data.source import source_of
from discreet.errors import InputError, RunError, SourceError
from object_store import object_store

SCHEMA = Schema("visits", {"ward": Category(["a", "b"], nullable=False), "n": Integer(0, 9, nullable=False)})
COUNTS = {"a": 400, "b": 800}


def parquet(many: int = 400) -> bytes:
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"ward": ["a", "b", "b"] * many, "n": [1, 2, 3] * many}), out)
    return out.getvalue()


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(objects_module, "_FRESH", 0.0)  # every look is a look at the store
    with object_store() as found:
        found.objects |= {
            "clinic/visits/year=2024/a.parquet": parquet(),
            "clinic/visits/year=2025/b.parquet": parquet(),
            "clinic/visits/notes.txt": b"no table",
            "clinic/lists/one.csv": b'ward,"n\nof"\n' + b"a,1\nb,2\nb,3\n" * 400,
        }
        yield found


def curator_of(source, tmp_path, schema=SCHEMA):
    tmp_path.mkdir(exist_ok=True)
    return discreet.open(source, schema, ledger=tmp_path / "books.db", budget=Budget(1000), create=True)


def released(curator, **how):
    """Counts of wards, with noise that is far below one."""
    table = curator.table().group_by("ward").agg(n=discreet.count()).plan(epsilon=40).release(**how)
    return dict(zip(table.columns["ward"], table.columns["n"], strict=True))


def test_a_folder_a_pattern_and_one_object(store, tmp_path):
    cases = {"clinic/visits": 2, "clinic/visits/": 2, "clinic/visits/*/a.parquet": 1, "clinic/**/*.parquet": 2}
    cases |= {"clinic/visits/year=202[45]/?.parquet": 2, "clinic/visits/year=2025/b.parquet": 1}
    for path, many in cases.items():
        curator = curator_of(store.address(path), tmp_path / path.replace("/", "_").replace("*", "x"))
        assert released(curator) == {ward: many * count for ward, count in COUNTS.items()}, path
    assert "year" in source_of(store.address("clinic/visits")).columns()
    assert "year" not in source_of(store.address("clinic/visits/year=2024")).columns()


def test_names_and_types_are_known_and_no_row_has_left_the_store(store):
    big = {name: content for name, content in store.objects.items() if name.endswith(".parquet")}
    source = source_of(store.address("clinic/visits"))
    assert source.columns() == {"ward": "string", "n": "int64", "year": "string"}
    for name, content in big.items():
        footer = int.from_bytes(content[-8:-4], "little") + 8
        assert store.sent[name] <= footer + 8 + 4
        assert store.sent[name] < len(content)
    outline = next(iter((objects_module.Mirror().root).glob("*/data/year=2024/a.parquet")))
    whole = big["clinic/visits/year=2024/a.parquet"]
    footer = int.from_bytes(whole[-8:-4], "little") + 8
    assert outline.read_bytes() == whole[:4] + bytes(len(whole) - 4 - footer) + whole[-footer:]


def test_the_first_line_of_a_csv_file_is_all_that_is_kept_of_it_for_names(store):
    source = source_of(store.address("clinic/lists"))
    assert list(source.columns()) == ["ward", "n\nof"]
    (outline,) = (objects_module.Mirror().root).glob("*/data/one.csv")
    assert outline.read_bytes() == b'ward,"n\nof"\n'


def test_a_question_copies_once_until_an_object_changes(store, tmp_path):
    curator = curator_of(store.address("clinic/visits"), tmp_path)
    assert released(curator) == {"a": 800, "b": 1600}
    sent = store.sent.copy()
    assert released(curator) == {"a": 800, "b": 1600}
    assert store.sent == sent
    before = source_of(store.address("clinic/visits")).version(b"key")
    store.objects["clinic/visits/year=2025/b.parquet"] = parquet(100)
    assert source_of(store.address("clinic/visits")).version(b"key") != before
    assert released(curator) == {"a": 500, "b": 1000}
    kept = "clinic/visits/year=2024/a.parquet"
    assert store.sent[kept] < sent[kept] + len(store.objects[kept])  # what did not change is not fetched again
    assert len(list((objects_module.Mirror().root).glob("*/data/*/a.parquet"))) == 2  # its outline, and one copy


def test_a_state_that_was_listed_is_the_one_that_is_read(store, tmp_path):
    """An object that is replaced while it is copied is no copy, and costs nothing."""
    name = "clinic/lists/one.csv"
    store.objects[name] = b"ward,n\n" + b"a,1\n" * 400
    curator = curator_of(store.address(name), tmp_path)
    offer = curator.table().group_by("ward").agg(n=discreet.count()).plan(epsilon=40)
    store.after[name] = b"ward,n\n" + b"b,1\n" * 400
    with pytest.raises(SourceError, match="changed"):
        offer.release(release="r1")
    assert curator.standing()[0].spent.amount == 0
    table = offer.release(release="r1")
    assert dict(zip(table.columns["ward"], table.columns["n"], strict=True)) == {"a": 0, "b": 400}


def test_a_store_that_does_not_answer_costs_nothing_and_is_told_without_a_word_of_its_own(store, tmp_path):
    curator = curator_of(store.address("clinic/visits"), tmp_path)
    store.down = True
    with pytest.raises(SourceError) as caught:
        released(curator, release="r1")
    assert "ACCESS_DENIED" in str(caught.value)
    assert "told by the store" not in str(caught.value)
    assert "clinic" not in str(caught.value)  # whoever asks need not know where the data lies
    assert caught.value.__cause__ is None
    assert curator.standing()[0].spent.amount == 0
    store.down = False
    assert released(curator, release="r1") == {"a": 800, "b": 1600}


def test_copies_have_a_limit_and_the_oldest_go_first(store, tmp_path, monkeypatch):
    rows = b"ward,n\n" + b"a,1\nb,2\n" * 4000  # 32 KB
    store.objects |= {f"clinic/{name}/x.csv": rows for name in ("one", "two")}
    first, second = (curator_of(store.address(f"clinic/{name}"), tmp_path / name) for name in ("one", "two"))
    assert released(first) == {"a": 4000, "b": 4000}
    monkeypatch.setenv("DISCREET_OBJECTS", "1KB")
    with pytest.raises(InputError, match="DISCREET_OBJECTS"):
        released(second)
    assert second.standing()[0].spent.amount == 0
    monkeypatch.setenv("DISCREET_OBJECTS", "a lot")
    with pytest.raises(InputError, match="an amount of disk"):
        released(second)
    monkeypatch.setenv("DISCREET_OBJECTS", "60KB")  # for one copy and some outlines, not for two copies
    assert released(second) == {"a": 4000, "b": 4000}
    root = objects_module.Mirror().root
    assert [copy.stat().st_size for copy in root.rglob("x.csv") if copy.stat().st_size > 100] == [len(rows)]
    assert root.stat().st_mode & 0o077 == 0
    assert released(first) == {"a": 4000, "b": 4000}


def test_copies_that_are_in_use_are_left_alone(store):
    objects = objects_at(store.address("clinic/visits"), "files")
    with objects.copied() as held:
        store.objects["clinic/visits/year=2025/b.parquet"] = parquet(7)
        with objects.copied() as newer:
            assert newer.place != held.place
            assert len(held.paths()) == len(newer.paths()) == 2
    with objects.copied():
        pass
    assert newer.paths()


def test_a_copy_that_was_cut_short_is_made_again(store, tmp_path):
    curator = curator_of(store.address("clinic/visits"), tmp_path)
    assert released(curator) == {"a": 800, "b": 1600}
    for done in (objects_module.Mirror().root).glob("*/states.json"):
        done.unlink()  # as a process that is killed leaves it
    for copy in (objects_module.Mirror().root).rglob("*.parquet"):
        copy.write_bytes(b"half")
    assert released(curator) == {"a": 800, "b": 1600}


def test_objects_are_joined_with_files(store, tmp_path):
    (tmp_path / "people.csv").write_text("person,sex\n" + "".join(f"{n},{'fm'[n % 2]}\n" for n in range(30)))
    store.objects["clinic/people/p.csv"] = b"person,ward\n" + b"".join(b"%d,a\n" % n for n in range(30))
    schema = Schema(
        "visits",
        {"ward": Category(["a", "b"], nullable=False)},
        Unit("person", groups=1, rows=1),
        joins={"people": Join({"sex": Category(["f", "m"], nullable=True)})},
    )
    how = {"ledger": tmp_path / "books.db", "budget": Budget(1000), "create": True}
    joins = {"people": tmp_path / "people.csv"}
    curator = discreet.open(store.address("clinic/people"), schema, joins=joins, **how)
    table = curator.table().where("sex = 'f'").group_by("ward").agg(n=discreet.count()).plan(epsilon=40).release()
    assert list(table.columns["n"]) == [15, 0]


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("s3://", "s3://bucket/folder"),
        ("s3:///visits", "s3://bucket/folder"),
        ("s3://*/visits", "the name of a bucket"),
        ("s3://key:secret@bucket/visits", "without one"),
        ("s3://bucket/visits?secret_key=abc", "without one"),
        ("s3://bucket/visits?regio=x", "Did you mean `region`"),
        ("gs://bucket/visits?region=x", "endpoint, anonymous"),
        ("s3://bucket/visits?endpoint=localhost:9000", "https://host:port"),
        ("s3://bucket/visits?anonymous=perhaps", "true or false"),
        ("az://bucket/visits", "AZURE_STORAGE_ACCOUNT"),
        ("r2://bucket/visits", "s3://..., gs://..., az://..."),
    ],
)
def test_what_is_no_address(address, words, monkeypatch):
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT", raising=False)
    with pytest.raises(InputError) as caught:
        source_of(address)
    assert words in str(caught.value)
    assert "secret@" not in str(caught.value)
    assert "abc" not in str(caught.value)


def test_what_is_nothing_to_read(store):
    for path in ("clinic/none", "nowhere/visits", "clinic/visits/notes.txt", "clinic/visits/*.csv"):
        with pytest.raises(InputError):
            source_of(store.address(path))
    with pytest.raises(InputError, match="no tables"):
        source_of(store.address("clinic/visits"), "visits")
    store.objects["clinic/visits/x.csv"] = b"ward\na\n"
    with pytest.raises(InputError):  # two kinds
        source_of(store.address("clinic/visits"))
    source = source_of(store.address("clinic/visits/year=2024"))
    store.objects["clinic/visits/year=2024/x.csv"] = b"ward\na\n"
    with pytest.raises(InputError, match="Keep one kind"):
        source.version(b"key")


def test_a_listing_serves_a_question_and_no_later_one(store, monkeypatch):
    monkeypatch.setattr(objects_module, "_FRESH", 60.0)
    objects = objects_at(store.address("clinic/visits"), "files")
    first = objects.listing()
    store.objects["clinic/visits/year=2026/c.parquet"] = parquet(1)
    assert objects.listing() == first
    monkeypatch.setattr(time, "monotonic", lambda now=time.monotonic: now() + 61)
    assert len(objects.listing()) == 3


def test_an_object_that_is_no_table_fails_as_a_file_does(store, tmp_path):
    store.objects["clinic/broken/x.parquet"] = b"PAR1 but nothing else, and so no table"
    with pytest.raises((InputError, RunError)):
        curator_of(store.address("clinic/broken"), tmp_path)
