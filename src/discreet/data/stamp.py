"""What can be told of writes to a source without reading a row."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

from discreet.core.wire import Json
from discreet.errors import MissingExtraError, Phrase, SourceError

__all__ = ["Stamp", "rights_to_write", "write_counters"]


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
    rows = _asked(address, _COUNTERS, table)
    if not rows or any(kind not in _STORED or counted != "on" for kind, *_, counted in rows):
        return None
    return [list(numbers) for _, *numbers, _ in rows]


_RIGHTS = """
SELECT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
    {rights}
FROM (SELECT to_regclass(quote_ident(%s)) AS found) AS one
"""
_WRITES = ("INSERT", "UPDATE", "DELETE", "TRUNCATE")


def rights_to_write(address: str, table: str) -> list[str]:
    """What the role of an address may do with a table beyond reading it, in PostgreSQL's words."""
    rights = ", ".join(f"coalesce(has_table_privilege(found, '{right}'), false)" for right in _WRITES)
    ((everything, *may),) = _asked(address, _RIGHTS.format(rights=rights), table)
    if everything:
        return ["do everything (it is a superuser)"]
    return [right for right, has in zip(_WRITES, may, strict=True) if has]


def _asked(address: str, question: str, table: str) -> list[Any]:
    """What the catalogue of a database says about a table; no row of it."""
    try:
        import psycopg
    except ImportError:
        raise MissingExtraError("postgres", "psycopg") from None
    rows: list[Any] | None = None
    with suppress(psycopg.Error), psycopg.connect(address, connect_timeout=10) as connection:
        connection.read_only = True
        rows = connection.execute(question.encode(), (table,)).fetchall()
    if rows is None:  # outside the handler: an engine's words may hold the address
        hint = "Nothing was spent. Check the address, and that the database is up."
        raise SourceError("source", Phrase("<private postgres>"), "a database that can be reached", hint)
    return rows
