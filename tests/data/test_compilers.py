"""Of ibis's compilers DuckDB's alone is loaded for DuckDB; whoever asks for another finds all of them."""

import json
import subprocess
import sys
import textwrap

import pytest

PACKAGE = "ibis.backends.sql.compilers"
LOADED = f"sorted(n for n in sys.modules if n.startswith({PACKAGE!r} + '.') and n.rpartition('.')[2][0] != '_')"


def said(code):
    """What a new process prints, as JSON."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_duckdb_loads_its_own_compiler_alone():
    found = said(f"""
        import json, sys
        from discreet.data.pool import connect
        answer = connect().raw_sql("SELECT 41 + 1").fetchone()[0]
        print(json.dumps([answer, {LOADED}]))
    """)
    assert found == [42, [f"{PACKAGE}.base", f"{PACKAGE}.duckdb"]]


WAYS = {
    "an attribute": f"import {PACKAGE} as made; found = made.PostgresCompiler",
    "all names": f"from {PACKAGE} import *; found = PostgresCompiler",
}


@pytest.mark.parametrize("way", WAYS)
def test_whoever_asks_for_another_finds_them_all(way):
    name, loaded = said(f"""
        import json, sys
        from discreet.data.pool import connect
        connect()
        {WAYS[way]}
        print(json.dumps([found.__module__, {LOADED}]))
    """)
    assert name == f"{PACKAGE}.postgres"
    assert len(loaded) > 20


def test_sql_for_another_engine_is_what_ibis_writes():
    asked = """
        import ibis
        table = ibis.table({"x": "float64", "t": "string"}, name="t")
        expression = table.group_by("t").agg(n=table.count(), m=table.x.median(), s=table.t.split(",").length().sum())
        print(json.dumps([ibis.to_sql(expression, dialect=one) for one in ("postgres", "snowflake", "duckdb")]))
    """
    first = "import json; from discreet.data.pool import connect; connect()"
    assert said(textwrap.dedent(first + "\n") + textwrap.dedent(asked)) == said(
        "import json\n" + textwrap.dedent(asked)
    )


def test_a_name_that_is_nowhere_is_missing_and_what_is_loaded_stays():
    found = said("""
        import json
        from discreet.data.compilers import load_only
        load_only("duckdb")
        import ibis.backends.sql.compilers as made
        said = [hasattr(made, "__nothing__"), "__getattr__" in vars(made)]
        said += [hasattr(made, "Nothing"), hasattr(made, "Nothing")]
        load_only("duckdb")
        import ibis.backends.sql.compilers as after
        print(json.dumps([*said, "__getattr__" in vars(made), after is made]))
    """)
    assert found == [False, True, False, False, False, True]


def test_a_package_that_is_not_there_is_left_alone():
    from discreet.data.compilers import load_only

    load_only("one", "email.nothing")
    assert "email.nothing" not in sys.modules
