"""What can be told of writes to a source without reading a row."""

from __future__ import annotations

from typing import NamedTuple

from discreet.core.wire import Json
from discreet.errors import InputError, MissingExtraError, Phrase

__all__ = ["Stamp", "write_counters"]


class Stamp(NamedTuple):
    """Facts that are the same as long as nothing was written; of an `unversioned` source they may stay the same
    though something was, and None is no fact at all.
    """

    kind: str
    """`files`, `table` or `unversioned`, as in `DataVersion`."""
    facts: Json


_COUNTERS = """
WITH RECURSIVE parts (oid) AS (
    SELECT to_regclass(quote_ident(%s))::oid
    UNION SELECT inhrelid FROM pg_inherits JOIN parts ON inhparent = parts.oid)
SELECT relkind::text, c.oid::bigint, pg_relation_filenode(c.oid)::bigint, pg_stat_get_tuples_inserted(c.oid),
    pg_stat_get_tuples_updated(c.oid), pg_stat_get_tuples_deleted(c.oid), current_setting('track_counts')
FROM parts JOIN pg_class c ON c.oid = parts.oid ORDER BY c.oid
"""
_STORED = {"r", "p", "m"}  # tables, partitioned tables, materialized views


def write_counters(address: str, table: str) -> list[Json] | None:
    """For the table and its partitions, numbers of PostgreSQL's catalogue that change when rows are written.

    Counters move with every row written, also in a transaction that is undone, and not with vacuuming. They reach the
    catalogue when a session is idle or ends: within seconds as a rule, later for one in a long transaction. None
    for views and foreign tables: what they show is written elsewhere.
    """
    try:
        import psycopg
    except ImportError:
        raise MissingExtraError("postgres", "psycopg") from None
    try:
        with psycopg.connect(address, connect_timeout=10) as connection:
            connection.read_only = True
            rows = connection.execute(_COUNTERS, (table,)).fetchall()
    except psycopg.Error:
        rows = None
    if rows is None:  # outside the handler: an engine's words may hold the address
        hint = "Nothing was spent. Check the address, and that the database is up."
        raise InputError("source", Phrase("<private postgres>"), "a database that can be reached", hint)
    if not rows or any(kind not in _STORED or counted != "on" for kind, *_, counted in rows):
        return None
    return [list(numbers) for _, *numbers, _ in rows]
