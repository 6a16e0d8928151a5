"""SQL is read through an allow-list: what is understood means what it says, everything else is refused."""

import random
from importlib.resources import files
from pathlib import Path

import pytest
from sql_schema import SCHEMA

import discreet
from discreet.data.expression import col, when
from discreet.data.pool import Pool
from discreet.errors import InputError
from discreet.query.aggregate import count, distinct, mean, people, std, total, variance
from discreet.query.key import bins, key
from discreet.query.presentation import Order
from discreet.query.question import Query
from discreet.query.sql import parse_sql

SHIPPED = Path(str(files("discreet.apps.demo")))

MEANT = {
    "SELECT COUNT(*) FROM people": Query().agg(count=count()),
    "select sex, count(*) as n from people group by sex": Query().group_by("sex").agg(n=count()),
    "SELECT AVG(pay), SUM(hours) AS h FROM people WHERE age >= 25": (
        Query().where("age >= 25").agg(mean_pay=mean("pay"), h=total("hours"))
    ),
    "SELECT COUNT(DISTINCT sex) FROM people": Query().agg(distinct_sex=distinct("sex")),
    "SELECT COUNT(DISTINCT person) AS p, COUNT(pay) FROM people": Query().agg(p=people(), count_pay=count("pay")),
    "SELECT VAR_POP(pay) v, STDDEV_POP(pay) s FROM people": Query().agg(v=variance("pay"), s=std("pay")),
    "SELECT VARIANCE(pay) v, STDDEV(pay) s, VAR_SAMP(hours) h FROM people": Query().agg(
        v=variance("pay", sample=True), s=std("pay", sample=True), h=variance("hours", sample=True)
    ),
    "SELECT BIN(age, 10) AS decade, COUNT(*) n FROM people GROUP BY BIN(age, 10)": (
        Query().group_by(bins("age", width=10)).agg(n=count())
    ),
    "SELECT DATE_TRUNC('month', day) m, COUNT(*) n FROM people GROUP BY DATE_TRUNC('month', day)": (
        Query().group_by(col("day").dt.truncate("month")).agg(n=count())
    ),
    "SELECT sex, county, COUNT(*) n FROM people WHERE NOT (age < 18 OR sex IN ('male')) GROUP BY sex, county": (
        Query().where("not (age < 18 or sex in ('male'))").group_by(key("sex"), key("county")).agg(n=count())
    ),
    "SELECT COUNT(*) n FROM people WHERE day BETWEEN DATE '2024-02-01' AND DATE '2024-03-01' AND pay IS NOT NULL": (
        Query().where("day between '2024-02-01' and '2024-03-01' and pay is not null").agg(n=count())
    ),
    # As people write it.
    "select count(1) from PEOPLE; -- all of them": Query().agg(count=count()),
    "SELECT p.Sex AS gender, COUNT(*) AS n FROM main.people AS p WHERE p.AGE >= 25 GROUP BY gender": (
        Query().where("age >= 25").group_by("sex").agg(n=count())
    ),
    "SELECT sex, COUNT(*) n FROM people GROUP BY 1": Query().group_by("sex").agg(n=count()),
    "SELECT sex, COUNT(*) n FROM people GROUP BY ALL": Query().group_by("sex").agg(n=count()),
    "SELECT SUM(pay * hours) s FROM people": Query().agg(s=total(col("pay") * col("hours"))),
    "SELECT SUM(CASE WHEN age >= 65 THEN 1 ELSE 0 END) s FROM people": (
        Query().agg(s=total(when(col("age") >= 65).then(1).otherwise(0)))
    ),
    "SELECT SUM(age >= 65) s FROM people": Query().agg(s=total((col("age") >= 65).cast("integer"))),
    "SELECT COUNT_IF(age >= 65) s FROM people": Query().agg(s=count(when(col("age") >= 65).then(1).otherwise(None))),
    "SELECT COUNT(*) FILTER (WHERE age >= 65) s FROM people": (
        Query().agg(s=count(when(col("age") >= 65).then(1).otherwise(None)))
    ),
    "SELECT AVG(pay) FILTER (WHERE sex = 'male') s FROM people": (
        Query().agg(s=mean(when(col("sex") == "male").then(col("pay")).otherwise(None)))
    ),
    "SELECT FLOOR(age / 10) * 10 AS d, COUNT(*) n FROM people GROUP BY d": (
        Query().group_by(col("age") // 10 * 10).agg(n=count())
    ),
    "SELECT COUNT(*) n FROM people WHERE pay * 2 > hours": Query().where(col("pay") * 2 > col("hours")).agg(n=count()),
    "SELECT COUNT(*) n FROM (SELECT age AS years, pay FROM people WHERE age > 3) t WHERE t.years < 9": (
        Query().where("age > 3").where("age < 9").agg(n=count())
    ),
    "WITH a AS (SELECT *, pay * 2 AS twice FROM people) SELECT SUM(twice) s FROM a": (
        Query().agg(s=total(col("pay") * 2))
    ),
}


@pytest.mark.parametrize("text", MEANT)
def test_a_statement_means_what_it_says(text):
    assert parse_sql(text, SCHEMA).query == MEANT[text].checked(SCHEMA)


def test_what_comes_after_the_release_is_read_too():
    text = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex HAVING COUNT(*) > 10 AND n <= 50 ORDER BY n DESC, sex"
    text += " LIMIT 3"
    after = parse_sql(text, SCHEMA).presentation
    assert str(after.having) == "n > 10 AND n <= 50"
    assert after.order == (Order("n", True), Order("sex"))
    assert after.limit == 3
    assert after.shown == (("sex", "sex"), ("n", "n"))


REFUSED = [
    "SELECT * FROM people",
    "SELECT pay FROM people",
    "SELECT sex, COUNT(*) FROM people",
    "SELECT sex FROM people GROUP BY sex",
    "SELECT COUNT(*)",
    "SELECT COUNT(*) FROM other",
    "SELECT COUNT(*) FROM people, people",
    "SELECT COUNT(*) FROM people JOIN people USING (person)",
    "SELECT COUNT(*) FROM people CROSS JOIN people",
    "SELECT COUNT(*) FROM 'people.csv'",
    "SELECT COUNT(*) FROM read_csv('people.csv')",
    "SELECT COUNT(*) FROM read_text('/etc/passwd')",
    "SELECT COUNT(*) FROM glob('*')",
    "SELECT COUNT(*) FROM people TABLESAMPLE 10%",
    "SELECT COUNT(*) FROM people USING SAMPLE 10",
    "SELECT COUNT(*) FROM people GROUP BY 1",
    "SELECT COUNT(*) OVER () FROM people",
    "SELECT COUNT(DISTINCT person, sex) FROM people",
    "SELECT DISTINCT ON (sex) COUNT(*) FROM people",
    "SELECT SUM(pay / 0) FROM people",
    "SELECT SUM(DISTINCT pay) FROM people",
    "SELECT SUM(pay ORDER BY pay) FROM people",
    "SELECT SUM(CAST(sex AS INTEGER)) FROM people",
    "SELECT MAX(pay) FROM people",
    "SELECT pay / 3, COUNT(*) FROM people GROUP BY pay / 3",
    "SELECT SUM(hours / pay) FROM people",
    "SELECT sex, COUNT(*) FROM people GROUP BY sex, SUM(pay)",
    "SELECT sex, COUNT(*) FROM people GROUP BY 3",
    "SELECT sex, COUNT(*) FROM people GROUP BY sex HAVING sex > 3",
    "SELECT sex, COUNT(*) FROM people GROUP BY sex HAVING COUNT(*)",
    "SELECT COUNT(*) + sex FROM people GROUP BY sex",
    "SELECT COUNT(*) FROM (SELECT age FROM people LIMIT 5)",
    "SELECT COUNT(*) FROM (SELECT age FROM people) t WHERE sex = 'male'",
    "SELECT COUNT(*) FROM people p WHERE q.age > 3",
    "SELECT SUM(age) OVER () FROM people",
    "SELECT COUNT(*) FROM people WHERE person = getenv('HOME')",
    "SELECT SUM(POWER(pay, 100)) FROM people",
    "SELECT SUM(EXP(pay)) FROM people",
    "SELECT COUNT(*) FROM people WHERE regexp_matches(sex, '(a+)+$')",
    "WITH people AS (SELECT 1) SELECT COUNT(*) FROM people",
    "SELECT MEDIAN(day) + 1 FROM people",
    "SELECT STRING_AGG(sex) FROM people",
    "SELECT LIST(person) FROM people",
    "SELECT COUNT(*) FROM people WHERE error('x')",
    "SELECT COUNT(*) FROM people WHERE age > (SELECT 3)",
    "SELECT COUNT(*) FROM people WHERE EXISTS (SELECT 1)",
    "SELECT COUNT(*) FROM people WHERE sex = 'other'",
    "SELECT COUNT(*) FROM people LIMIT 10%",
    "SELECT COUNT(*) FROM people LIMIT -1",
    "SELECT COUNT(*) FROM people ORDER BY random()",
    "SELECT COUNT(*) FROM people FOR UPDATE",
    "SELECT COUNT(*) INTO other FROM people",
    "SELECT COUNT(*) FROM people; DROP TABLE people",
    "DROP TABLE people",
    "INSERT INTO people VALUES (1)",
    "COPY people TO 'x.csv'",
    "ATTACH 'x.db'",
    "PRAGMA database_list",
    "SET memory_limit = '1GB'",
    "CALL pragma_version()",
    "EXPLAIN SELECT COUNT(*) FROM people",
    "CREATE VIEW v AS SELECT * FROM people",
    "WITH RECURSIVE a AS (SELECT 1) SELECT COUNT(*) FROM a",
    "FROM people SELECT COUNT(*)" * 2,
    "SELECT BIN(age, hours), COUNT(*) FROM people GROUP BY BIN(age, hours)",
    "SELECT COUNT(*) AS n, SUM(pay) AS n FROM people",
    "",
    "selec",
    "(" * 2000,
]


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:70] or "nothing")
def test_what_is_not_understood_is_refused(text):
    with pytest.raises(InputError, match="must be"):
        parse_sql(text, SCHEMA)


def test_what_is_no_question_is_refused_without_a_word_from_the_parser(capsys, caplog):
    for text in ("EXPLAIN SELECT COUNT(*) FROM people", "ATTACH 'x.db'", "CALL pragma_version()", "PRAGMA x"):
        with pytest.raises(InputError):
            parse_sql(text, SCHEMA)
    assert not caplog.records
    assert capsys.readouterr().err == ""


def test_a_name_that_no_file_could_hold_is_refused():
    with pytest.raises(InputError, match="UTF-8"):
        parse_sql('SELECT COUNT(*) AS "n\ud800" FROM people', SCHEMA)


_LINES = (
    "SELECT COUNT(*) , COUNT( AVG( SUM( ) pay hours age sex FROM people WHERE GROUP BY HAVING ORDER LIMIT",
    "AND OR NOT IN BETWEEN IS NULL = > < >= <> 1 18 'male' 'x' BIN( DATE_TRUNC( 'month' day AS n DISTINCT",
    "person DESC JOIN USING UNION ALL WITH ( ) ; -- /* */ read_csv('x') OVER FILTER CAST( INTEGER) CASE",
    'WHEN THEN END || + - * / % :: [1] {} $1 ? @x \u00e9 \x00 "people" `people` LATERAL PIVOT',
)

WORDS = [word for line in _LINES for word in line.split(" ")]

GRAMMAR = [
    *["SELECT {items} FROM people{where}{group}{having}{order}{limit}"] * 6,
    "SELECT {items} FROM {junk}{where}{group}",
    "SELECT {items}, {junk} FROM people{where}{group}{limit}",
    "{junk} SELECT {items} FROM people{where}",
    "SELECT {items} FROM people{where} {junk}{group}{order}",
]


def statement(source):
    def pick(*choices):
        return source.choice(choices)

    group = pick("", " GROUP BY sex", " GROUP BY sex, county", " GROUP BY BIN(age, 10)")
    items = [pick("COUNT(*) AS n", "AVG(pay)", "SUM(hours) AS h", "COUNT(DISTINCT person)", "MEDIAN(pay)", "MAX(age)")]
    if group and source.random() < 0.7:
        items.insert(0, group.removeprefix(" GROUP BY "))
    junk = " ".join(source.choice(WORDS) for _ in range(source.randint(1, 4)))
    return source.choice(GRAMMAR).format(
        items=", ".join(items),
        junk=junk,
        where=pick("", " WHERE age >= 18", " WHERE sex = 'male' OR NOT age < 3", f" WHERE {junk}"),
        group=group,
        having=pick("", " HAVING COUNT(*) > 5", f" HAVING {junk}"),
        order=pick("", " ORDER BY n DESC", " ORDER BY sex"),
        limit=pick("", " LIMIT 3"),
    )


@pytest.mark.parametrize("turn", [0, *(pytest.param(turn, marks=pytest.mark.large) for turn in range(1, 4))])
def test_thousands_of_statements_are_understood_or_refused(turn):
    """Nothing but a checked `Query` comes out, made of declared names only; everything else is an InputError."""
    source = random.Random(f"statements {turn}")
    understood = 0
    for number in range(4_000):
        shuffled = number % 4 == 0
        text = " ".join(source.choice(WORDS) for _ in range(source.randint(2, 14))) if shuffled else statement(source)
        try:
            found = parse_sql(text, SCHEMA)
        except InputError:
            continue
        understood += 1
        assert type(found.query) is Query
        assert found.query == found.query.checked(SCHEMA)
        assert Query.from_json(found.query.to_json(), SCHEMA) == found.query
        assert set(SCHEMA.read_by(k.column for k in found.query.keys)) <= set(SCHEMA.columns)
    assert 200 < understood < 2400  # the fuzz reaches both sides


def test_the_text_never_reaches_the_engine(tmp_path, monkeypatch):
    """Everything the engine runs is compiled by us: a marker in the statement is in none of it."""
    import duckdb

    seen = []
    real = duckdb.DuckDBPyConnection.execute

    class Spy:
        def __init__(self, connection):
            self.connection = connection

        def __getattr__(self, name):
            return getattr(self.connection, name)

        def execute(self, text, *rest):
            seen.append(str(text))
            return real(self.connection, text, *rest)

        def cursor(self):
            return Spy(self.connection.cursor())

    import ibis.backends.duckdb as backend

    connect = backend.Backend.do_connect

    def spying(self, *words, **names):
        connect(self, *words, **names)
        self.con = Spy(self.con)

    monkeypatch.setattr(backend.Backend, "do_connect", spying)
    monkeypatch.setattr("discreet.data.source.engines", pool := Pool())  # with no engine that was started before
    curator = discreet.open(
        SHIPPED / "people.csv", SHIPPED / "discreet.toml", ledger=tmp_path / "l.db", who="t", create=True
    )
    answer = (
        curator.sql("SELECT sex AS marker_one, COUNT(*) AS marker_two FROM people GROUP BY sex").plan(share=1).release()
    )
    assert answer.keys == ("marker_one",)
    pool.drain()
    assert [text for text in seen if text.startswith("SELECT") and "sum" in text.lower()]  # the question itself is seen
    assert not [text for text in seen if "marker" in text]


def test_sql_and_the_builder_give_the_same_plan(tmp_path):
    curator = discreet.open(
        SHIPPED / "people.csv", SHIPPED / "discreet.toml", ledger=tmp_path / "l.db", who="t", create=True
    )
    one = curator.sql("SELECT sex, COUNT(*) AS n, AVG(pay) AS pay_ FROM people WHERE age >= 18 GROUP BY sex").plan(
        epsilon=0.5
    )
    two = curator.table().where("age >= 18").group_by("sex").agg(n=count(), pay_=mean("pay")).plan(epsilon=0.5)
    assert one.plan == two.plan
    assert one.plan.digest == two.plan.digest
