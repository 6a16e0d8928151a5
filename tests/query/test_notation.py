"""Whatever a column is called, one line can name it."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data.column import Category, Date, Integer
from discreet.data.expression.node import quoted
from discreet.data.schema import Schema
from discreet.errors import DiscreetError, InputError
from discreet.query.aggregate import count, mean, people, share, std, total
from discreet.query.key import bins, discover, key
from discreet.query.notation import read_key, read_outputs, write_condition
from discreet.query.parse import parse_condition
from discreet.query.predicate import And, Compare, IsIn, IsMissing, Not
from discreet.query.quantile import median, quantile

ODD = "sepal length (cm)"


@pytest.mark.parametrize(
    ("text", "name", "output"),
    [
        ("count", "count", count()),
        ("count(pay)", "count_pay", count("pay")),
        ("people", "people", people()),
        ("people(age >= 65)", "people_age_65", people(where="age >= 65")),
        ('old=people("a b" > 3)', "old", people(where='"a b" > 3')),
        (" all=sum( pay ) ", "all", total("pay")),
        (f"mean({ODD})", "mean_sepal_length_cm", mean(ODD)),
        (f'mean("{ODD}")', "mean_sepal_length_cm", mean(ODD)),
        (f'm=mean( "{ODD}" )', "m", mean(ODD)),
        ("mean(pay, in €)", "mean_pay_in", mean("pay, in €")),
        ('mean("pay, in €")', "mean_pay_in", mean("pay, in €")),
        ('mean("a,private")', "mean_a_private", mean("a,private")),
        ('mean("say ""hi""")', "mean_say_hi", mean('say "hi"')),
        ("mean(pay,private)", "mean_pay", mean("pay", bounds="private")),
        (f'mean("{ODD}", private)', "mean_sepal_length_cm", mean(ODD, bounds="private")),
        ("median(pay)", "median_pay", median("pay")),
        ('top=quantile("a,0.5", 0.9)', "top", quantile("a,0.5", "0.9")),
        ('mean("a b" * 2)', "mean_a_b_2", mean('"a b" * 2')),
        ('mean("a b"*"%", private)', "mean_a_b", mean('"a b"*"%"', bounds="private")),
        ('share("a, b" > 5)', "share_a_b_5", share('"a, b" > 5')),
        ('quantile("a, b" / 4, 0.9)', "q90_a_b_4", quantile('"a, b" / 4', "0.9")),
    ],
)
def test_an_output_names_its_column_with_quotes_or_without(text, name, output):
    assert read_outputs([text]) == {name: output}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("mean(pay", "double quotes"),
        ("mean pay", "double quotes"),
        ("", "such as count"),
        ("averaged(pay)", "one of count"),
        ('mean("pay", wide)', "private"),
        ("quantile(pay)", "a column and a share"),
        ('quantile("pay")', "a column and a share"),
    ],
)
def test_what_cannot_be_read_is_told_how_to_be_written(text, says):
    with pytest.raises(InputError, match=says):
        read_outputs([text])


@pytest.mark.parametrize("name", ["select", "order", "Group", "größe", "2020", "a b", "pay"])
def test_a_written_condition_is_read_back_whatever_the_column_is_called(name):
    condition = And((Compare(name, ">", 3), Not(IsMissing(name)), IsIn(name, (1, 2))))
    assert parse_condition(write_condition(condition)) == condition


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.text(min_size=1, max_size=12))
def test_every_name_in_quotes_is_read_back(name):
    (output,) = read_outputs([f"mean({quoted(name)})"]).values()
    assert output == mean(name)
    schema = Schema("t", {name: Integer(0, 10)})
    assert read_key(name, schema) == read_key(quoted(name), schema) == key(name)
    assert read_key(f"{quoted(name)}/5", schema) == bins(name, width="5")


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.text(alphabet='mean("),/?=0x private', max_size=20))
def test_no_line_makes_it_stumble(text):
    for read in (lambda: read_outputs([text]), lambda: read_key(text, Schema("t", {"x": Integer(0, 10)}))):
        with contextlib.suppress(DiscreetError):
            read()


def test_keys_as_they_are_written():
    schema = Schema(
        "t",
        {
            "age": Integer(0, 100),
            "day": Date("2024-01-01", "2024-12-31"),
            "a/b": Category(["x"]),
            "really?": Category(["x"]),
        },
    )
    assert read_key("age/0,18,65", schema) == bins("age", ["0", "18", "65"])
    assert read_key("day/month", schema) == bins("day", every="month")
    assert read_key("a/b", schema) == read_key('"a/b"', schema) == key("a/b")
    assert read_key("really?", schema) == key("really?")
    assert read_key('"really?"?', schema) == discover("really?")
    assert read_key("county?", schema) == discover("county")


@pytest.mark.parametrize(
    "text",
    [
        "hours > 0",
        "hours <> 0 and county in ('Ash', 'it''s')",
        "(a = 1 or b = 'x') and not (\"pay, in €\" is null)",
        "day >= '2024-01-31' or flag = true",
        "x < 0.25",
    ],
)
def test_a_condition_is_written_as_it_is_read(text):
    condition = parse_condition(text)
    assert write_condition(condition) == text
    assert parse_condition(write_condition(condition)) == condition


def test_bounds_on_a_persons_sum_follow_the_column():
    found = read_outputs(["sum(pay,person=0..500)", 'x=sum("a, b",person=-1.5..2.5)'])
    assert found["sum_pay"] == total("pay", person=(0, 500))
    assert found["x"] == total("a, b", person=("-1.5", "2.5"))
    with pytest.raises(InputError):
        read_outputs(["mean(pay,person=0..500)"])


def test_bounds_of_values_stand_after_the_column():
    read = read_outputs(["mean(pay, 0..80)", "sum(pay,-1.5..2.5, person=0..500)", 'std("pay, in €",0..1)'])
    assert read == {
        "mean_pay": mean("pay", (0, 80)),
        "sum_pay": total("pay", ("-1.5", "2.5"), person=(0, 500)),
        "std_pay_in": std("pay, in €", (0, 1)),
    }


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("avg(pay)", "`mean(pay)`"),
        ("AVG(pay)", "`mean(pay)`"),
        ("corr(pay,age)", "`correlation(pay,age)`"),
        ("total(pay)", "`sum(pay)`"),
        ("nunique(sex)", "`distinct(sex)`"),
        ("min(pay)", "quantile(pay,0.01)"),
        ("max(pay)", "quantile(pay,0.99)"),
        ("top(sex)", "--top sex --k 1"),
        ("MODE(sex)", "`mode(sex)`"),
        ("mean", "mean(COLUMN)"),
        ("quantile", "quantile(COLUMN,0.9)"),
    ],
)
def test_a_function_that_is_called_otherwise_here_is_named(text, instead):
    with pytest.raises(InputError) as refused:
        read_outputs([text])
    assert instead in str(refused.value)
    if "(" in instead and "COLUMN" not in instead:
        read_outputs([instead.strip("`")])


SLASHED = Schema(
    "t", {"AGE": Integer(0, 99), "day": Date("2024-01-03", "2024-12-31"), "m": Integer(1, 9), "a/b": Integer(0, 9)}
)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("AGE // 10", key("AGE // 10")),
        ("(AGE // 10)", key("(AGE // 10)")),
        ("FLOOR(AGE / 10)", key("FLOOR(AGE / 10)")),
        ("AGE / m", key("AGE / m")),
        ("AGE/10", bins("AGE", width="10")),
        ("age / 10", bins("age", width="10")),
        ("AGE/0,18,65", bins("AGE", ["0", "18", "65"])),
        ("a/b", key("a/b")),
        ('"a/b"/2', bins("a/b", width="2")),
        ("day/week", bins("day", every="week")),
        ("AGE // 10?", discover("AGE // 10")),
    ],
)
def test_a_slash_means_bins_only_between_a_column_and_a_width(text, read):
    assert read_key(text, SLASHED) == read


def test_the_mean_of_a_vector_has_an_output_for_each_column():
    assert read_outputs(["mean([x,y],norm=2)"]) == mean(["x", "y"], norm=2)
    odd = read_outputs(["count", 'mean( ["a, b", LEAST(x, 3)] , norm = 1.5 )'])
    assert odd == {"count": count(), **mean(["a, b", "LEAST(x, 3)"], norm="1.5")}
    for text, says in (
        ("mean([x],norm=2)", "two or more different columns"),
        ("mean([x,y],norm=-2)", "more than zero"),
        ("mean([x,y],norm=wide)", "norm"),
        ("mean([x,y])", "a list of columns with its length"),
        ("m=mean([x,y],norm=2)", "without a name"),
    ):
        with pytest.raises(InputError, match=says):
            read_outputs([text])
    with pytest.raises(InputError, match="mean_x is another"):
        read_outputs(["mean(x)", "mean([x,y],norm=2)"])


def test_two_outputs_of_one_name_are_refused_unless_they_are_the_same():
    assert list(read_outputs(["count", "count"])) == ["count"]
    with pytest.raises(InputError, match="under a name of its own"):
        read_outputs(['mean("a b")', "mean(a_b)"])
    with pytest.raises(InputError, match=r"Write n_2=sum\(pay\)"):
        read_outputs(["n=count", "n=sum(pay)"])


def test_names_with_signs_make_plain_names_of_outputs_everywhere():
    alone = list(read_outputs(['mean("sepal length (cm)")']))
    both = list(read_outputs(['mean(["sepal length (cm)","sepal width (cm)"],norm=9)']))
    assert [*alone, both[1]] == ["mean_sepal_length_cm", "mean_sepal_width_cm"]
    assert both[0] == alone[0]
