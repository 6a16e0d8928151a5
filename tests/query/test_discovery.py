"""Keys nobody listed, counted in the engine: the rules hold on any table, and nobody counts beyond the limits."""

from __future__ import annotations

import hashlib
import itertools
from collections import defaultdict
from datetime import date

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dirty import COLUMNS, SALT, arrow, predicates, schema_for, some_rows, tables, units
from discreet.core.unit import Unit
from discreet.data.column import Boolean, Category, Date, Integer, Text
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.query import discovery
from discreet.query.aggregate import count, people, total, variance
from discreet.query.compile import GROUP, measure_name
from discreet.query.discovery import LONGEST, PEOPLE, compile_discovery, part_name
from discreet.query.key import bins, discover, key
from discreet.query.measure import People
from discreet.query.question import Query
from reference import MASK, code, counted_as, declared, measures_of, order, row_value, text, true_of
from servers import fresh_schema, spark

SLOW = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
FREE = {"short": Text(), "long": Text(nullable=True)}
OUTPUTS = (("rows", count()), ("with_m", count("m")), ("sum", total("big")), ("var", variance("m")))


def schema_of(unit=None):
    """The dirty table, its two text columns undeclared."""
    found = schema_for(unit, Integer(0, 9, nullable=False))
    return Schema("dirty", {**found.columns, **FREE}, found.unit)


def engine(source, query, schema, salt=SALT):
    """What comes back: {(group, k0, k1, ...): [people, m0, ...]}. Only tests open a source themselves."""
    checked = query.checked(schema)
    measures = measures_of(checked, schema)
    with source.open() as connection:
        found = connection.values(compile_discovery(checked, schema, measures, connection.table, salt))
    names = ([GROUP] if checked.listed else []) + [part_name(i) for i in range(len(checked.discovered))]
    keys = list(zip(*(found[name] for name in names), strict=True))
    keys = [tuple(bytes(part) if isinstance(part, (bytearray, memoryview)) else part for part in k) for k in keys]
    assert len(set(keys)) == len(keys)
    values = zip(found[PEOPLE], *(found[measure_name(i)] for i in range(len(measures))), strict=True)
    return {k: list(v) for k, v in zip(keys, values, strict=True)}


def hashes(words):
    """What every engine makes of text: the head of its MD5."""
    return {word: int(hashlib.md5(word.encode()).hexdigest()[:15], 16) for word in words}


def value(row, asked, schema):
    """A discovered key by its rule: None where it is missing."""
    column, raw = schema.columns[asked.column], row[asked.column]
    match column:
        case Text():
            word = text(raw)
            return None if word is None or len(word) > LONGEST else word
        case Boolean():
            found = declared(raw, column)
            return None if found is None else int(found)
        case Date():
            found = declared(raw, column)
            return None if found is None else (found - date(1970, 1, 1)).days * 86400
        case _:
            return declared(raw, column)


def combination(query, row, schema):
    """The keys of a row as the engine names them; None if it is in no group."""
    if query.condition is not None and true_of(query.condition, row, schema) is not True:
        return None
    parts, number = [], 0
    for asked in query.keys:
        if asked.discovered:
            found = value(row, asked, schema)
            if found is None and not schema.columns[asked.column].nullable:
                return None
            parts.append(found)
        else:
            place = code(asked, row, schema)
            if place is None:
                return None
            number = number * len(asked.labels(schema)) + place
    return (number, *parts) if query.listed else tuple(parts)


def folded(keys, known, salt):
    """The number that stands for a combination in the order of choice."""
    first, second = (word & (2**30 - 1) | 2**29 | 1 for word in salt[5:7])
    whole = None
    for part in keys:
        number = known[part] if isinstance(part, str) else part
        number = MASK if number is None else (number ^ (number >> 31)) & MASK
        whole = number if whole is None else ((whole * first + number * second) >> 20) & MASK
    return whole


def reference(query, schema, rows, salt=SALT):
    """The same by the rules, one row at a time."""
    checked = query.checked(schema)
    measures, unit = measures_of(checked, schema), schema.unit
    each = defaultdict(lambda: defaultdict(lambda: [0] * len(measures)))
    for place, row in enumerate(rows):
        person = place if unit.column is None else row[unit.column]
        keys = combination(checked, row, schema)
        if person is None or keys is None:
            continue
        for index, measure in enumerate(measures):
            each[person][keys][index] += row_value(measure, row, schema)
    known = hashes({part for places in each.values() for keys in places for part in keys if isinstance(part, str)})
    found = defaultdict(lambda: [0] * (len(measures) + 1))
    for person, places in each.items():
        picked = list(places)
        if unit.column is not None:
            picked.sort(key=lambda keys: order(person, folded(keys, known, salt), 31, salt))
            picked = picked[: unit.groups]
        for keys in picked:
            sums = places[keys]
            if unit.column is not None:
                sums = [counted_as(m, sums, measures, unit) for m in measures]
            sums = [1 if isinstance(m, People) else s for m, s in zip(measures, sums, strict=True)]
            named = tuple(part.encode() if isinstance(part, str) else part for part in keys)
            found[named] = [a + b for a, b in zip(found[named], [1, *sums], strict=True)]
    return dict(found)


DISCOVERED = [discover(name) for name in ("short", "long", "flag", "n", "m", "big", "d")]
LISTED = [key("flag"), key("n"), bins("x", [-1, 1]), bins("d", every="month"), key("m", [0, 100, None])]


@st.composite
def questions(draw, persons):
    """One or two discovered keys, perhaps a listed one between them, perhaps a condition."""
    keys = draw(st.lists(st.sampled_from(DISCOVERED), min_size=1, max_size=2, unique=True))
    keys += draw(st.lists(st.sampled_from(LISTED), max_size=1))
    keys = draw(st.permutations(keys))
    if len({k.column for k in keys}) < len(keys):
        keys = [k for k in keys if k.discovered]
    plain = {"short", "long"}  # free text has no place in a condition
    condition = draw(st.none() | predicates.filter(lambda p: not any(f"'{name}'" in repr(p) for name in plain)))
    extra = (("who", people()),) if persons else ()
    return Query(condition, tuple(keys), draw(st.sampled_from([OUTPUTS, OUTPUTS[:1]])) + extra)


@SLOW
@given(tables, questions(persons=False))
def test_rows_are_counted_by_the_rules(rows, query):
    assert engine(source_of(arrow(rows)), query, schema_of()) == reference(query, schema_of(), rows)


@SLOW
@given(tables, questions(persons=True), units, st.lists(st.integers(0, 2**31 - 1), min_size=8, max_size=8))
def test_persons_are_bounded_by_the_rules(rows, query, unit, salt):
    schema = schema_of(unit)
    assert engine(source_of(arrow(rows)), query, schema, salt) == reference(query, schema, rows, salt)


@pytest.mark.parametrize("groups", [1, 2, 5, 40])
def test_a_larger_table(groups):
    rows, schema = some_rows(400), schema_of(Unit("p", groups=groups, rows=2))
    query = Query(None, (discover("long"), key("n"), discover("d")), (*OUTPUTS, ("who", people())))
    assert engine(source_of(arrow(rows)), query, schema) == reference(query, schema, rows)


def crowd(persons=40, keys=12):
    """Persons who have every key, in several rows each."""
    rows = [(p, f"key {k}") for p in range(persons) for k in range(keys) for _ in range(3)]
    return pyarrow.table({"p": [p for p, _ in rows], "z": [z for _, z in rows]})


def bounded(table, groups, query=None, schema=None):
    """Whether nobody counts in more than `groups` combinations, and everybody in as many as they may."""
    schema = schema or Schema("t", {"z": Text()}, Unit("p", groups=groups, rows=2))
    found = engine(source_of(table), query or Query().group_by(discover("z")).agg(who=people(), n=count()), schema)
    return sum(values[0] for values in found.values()) == 40 * min(groups, 12) == sum(v[1] for v in found.values())


@pytest.mark.parametrize("groups", [1, 3, 11, 12, 13])
def test_nobody_is_in_more_combinations_than_allowed_and_no_choice_is_wasted(groups):
    assert bounded(crowd(), groups)


@pytest.mark.parametrize("kind", ["string", "double", "uint64"])
def test_whatever_names_persons(kind):
    table = crowd()
    assert bounded(table.set_column(0, "p", table.column("p").cast(pyarrow.type_for_alias(kind))), 3)


@pytest.mark.parametrize("groups", [1, 3])
def test_a_hash_that_tells_nothing_apart_changes_nothing_about_the_limit(groups, monkeypatch):
    monkeypatch.setattr(discovery, "order_of", lambda person, group, width, salt: group * 0)
    assert bounded(crowd(), groups)


def test_without_the_bound_the_test_fails(monkeypatch):
    real = discovery._kept

    def unbounded(rows, keys, schema, salt):
        free = Schema(schema.name, schema.columns, Unit("p", groups=2**20, rows=schema.unit.rows))
        return real(rows, keys, free, salt)

    monkeypatch.setattr(discovery, "_kept", unbounded)
    assert not bounded(crowd(), 3)


def test_the_choice_is_even_and_new_for_every_salt():
    """Each of 12 keys should win about as often, over persons and over salts."""
    table, wins, runs = crowd(persons=300), defaultdict(int), 12
    schema = Schema("t", {"z": Text()}, Unit("p", groups=1, rows=1))
    query = Query().group_by(discover("z")).agg(who=people())
    different = set()
    for shift in range(runs):
        found = engine(source_of(table), query, schema, [(word * (2 * shift + 3)) % 2**31 for word in SALT])
        different.add(str(sorted(found.items())))
        for keys, values in found.items():
            wins[keys] += values[0]
    assert len(different) > runs // 2
    even = 300 * runs / 12
    assert len(wins) == 12
    assert all(0.5 * even < won < 1.6 * even for won in wins.values())


def test_what_may_be_a_key():
    words = [
        "",
        " ",
        "a",
        "A",
        "é",
        "e\u0301",
        "it's",
        '"',
        "=1+1",
        "a\nb",
        "x" * LONGEST,
        "x" * (LONGEST + 1),
        "😀" * LONGEST,
    ]
    table = pyarrow.table({"z": [*words, None, "a"]})
    query = Query().group_by(discover("z")).agg(n=count())
    found = engine(source_of(table), query, Schema("t", {"z": Text()}))
    kept = {(w.encode(),): [1, 1] for w in words if len(w) <= LONGEST}
    assert found == {**kept, (b"a",): [2, 2]}
    missing = engine(source_of(table), query, Schema("t", {"z": Text(nullable=True)}))
    assert missing == {**found, (None,): [2, 2]}  # the one that is too long, and the one that is missing


def test_a_number_is_a_key_however_it_is_stored():
    for kind in ("int64", "double", "uint64", "string"):
        stored = pyarrow.array([7, 7, 12], pyarrow.int64()).cast(pyarrow.type_for_alias(kind))
        query = Query().group_by(discover("z")).agg(n=count())
        source = source_of(pyarrow.table({"z": stored}))
        assert engine(source, query, Schema("t", {"z": Text()})) == {(b"7",): [2, 2], (b"12",): [1, 1]}
        assert engine(source, query, Schema("t", {"z": Integer(0, 9, nullable=False)})) == {(7,): [2, 2], (9,): [1, 1]}
        assert engine(source, query, Schema("t", {"z": Category(["7", "8"], nullable=False)})) == {(b"7",): [2, 2]}


def test_two_spellings_are_two_keys_even_where_the_database_takes_one_for_the_other(tmp_path):
    import duckdb

    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute("CREATE TABLE t (p INTEGER, z VARCHAR COLLATE NOCASE)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(i, "smith") for i in range(9)] + [(9, "SmItH")])
    source = source_of(tmp_path / "t.duckdb", "t")
    for unit in (Unit(), Unit("p", groups=1, rows=1), Unit("p", groups=3, rows=1)):
        query = Query().group_by(discover("z")).agg(n=count())
        found = engine(source, query, Schema("t", {"z": Text(), "p": Integer(0, 9, nullable=False)}, unit))
        assert found == {(b"smith",): [9, 9], (b"SmItH",): [1, 1]}


def test_columns_may_be_called_like_our_own():
    names = ["group", "person", "m0", "k0", "place", "order", "mixed", "people"]
    table = pyarrow.table({name: [1, 2, 3] for name in names})
    schema = Schema("t", {name: Integer(0, 3, nullable=False) for name in names}, Unit("person", groups=1, rows=1))
    query = Query().where("place <= 2").group_by(discover("people"), "group", discover("k0")).agg(m1=total("m0"))
    assert engine(source_of(table), query, schema) == {(1, 1, 1): [1, 1], (2, 2, 2): [1, 2]}


def in_postgres(rows, folder):
    import psycopg

    address = fresh_schema()
    kinds = {"p": "int8", "short": "text", "long": "text", "flag": "bool", "n": "int8", "m": "float8", "big": "int8"}
    kinds |= {"x": "float8", "y": "float8", "d": "date"}
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE visits ({', '.join(f'{name} {kind}' for name, kind in kinds.items())})")
        with connection.cursor().copy(f"COPY visits ({', '.join(kinds)}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row([row[name] for name in kinds])
    return source_of(f"{address}&table=visits")


def in_spark(rows, folder):
    session = spark()
    pyarrow.parquet.write_table(arrow(rows), folder / "t.parquet")
    return source_of(session.read.parquet(str(folder / "t.parquet")))


ON_SPARK = pytest.param(in_spark, marks=pytest.mark.spark)


@pytest.mark.parametrize("kept", [in_postgres, ON_SPARK], ids=lambda kept: kept.__name__)
def test_other_engines_find_the_same(kept, tmp_path):
    rows = some_rows(200)
    source = kept(rows, tmp_path)
    keys = [(discover("long"),), (discover("short"), key("flag")), (discover("n"), discover("d"), discover("flag"))]
    narrow = schema_of(Unit("p", groups=2, rows=2))
    schemas = [schema_of(), schema_of(Unit("p", groups=10_000, rows=2)), narrow]
    pairs = list(itertools.product(keys, schemas))
    for each, schema in pairs[::4] if kept is in_spark else pairs:  # Spark takes long to plan: each once
        query = Query(None, each, OUTPUTS)
        assert engine(source, query, schema) == reference(query, schema, rows)
    query = Query(None, (discover("n"), discover("d"), key("flag")), (*OUTPUTS, ("who", people())))
    assert engine(source, query, narrow) == reference(query, narrow, rows)


def test_the_dirty_table_has_all_that_can_be_discovered():
    assert {k.column for k in DISCOVERED} <= set(COLUMNS)
