"""Private numbers in a CSV file: their names are public, and they are read behind the door alone."""

from fractions import Fraction

import pytest

import discreet
from discreet.constraints import Equal
from discreet.constraints.hidden.file import ValuesFile
from discreet.constraints.hidden.values import ValuesSchema
from discreet.curator.setup import read_setup
from discreet.errors import InputError
from numbers_files import PRICES, SCHEMA, lay_out_prices


def opened(folder, **changed):
    path = lay_out_prices(folder, **changed)
    schema = read_setup(folder / "discreet.toml").schema
    return ValuesFile.of(path, schema).described(schema)


def test_names_are_public_and_numbers_are_as_written(tmp_path):
    schema, file = opened(tmp_path)
    assert schema.names == ("north", "south", "east", "west")
    with file.open() as numbers:
        assert numbers.tolist() == [Fraction("41.5"), Fraction("12.25"), 30, Fraction("16.25")]
    assert "41.5" not in repr(file)
    assert ValuesSchema.from_dict(schema.to_dict()).to_dict() == schema.to_dict()


def test_numbers_without_names_are_numbered_and_words_that_are_none_are_zero(tmp_path):
    bare = SCHEMA.partition("[values.constraints")[0].replace('label = "region"\n', "")
    schema, file = opened(tmp_path, schema=bare, prices='price,kind\r\n3.5,a\r\n"4",b\r\n,c\r\n')
    assert schema.names == ("1", "2", "3")
    with file.open() as numbers:
        assert numbers.tolist() == [Fraction("3.5"), 0, 0]


def test_one_number_moves_no_other(tmp_path):
    """Quotes and commas in it stay in its own line."""
    _, file = opened(tmp_path, prices=PRICES.replace("12.25", '"12,25'))
    with file.open() as numbers:
        assert numbers.tolist() == [Fraction("41.5"), 0, 30, Fraction("16.25")]


@pytest.mark.parametrize("written", ["0", "", " ", "none", "4\r5"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_number_that_is_missing_stays_where_it_is_in_a_file_of_one_column(tmp_path, written, end):
    """Left out, it would give its name to the next number, and how many there are would tell of it."""
    bare = SCHEMA.partition("[values.constraints")[0].replace('label = "region"\n', "")
    for text in (f"price{end}3{end}{written}{end}7{end}", f"price{end}3{end}{written}{end}7"):
        lay_out_prices(tmp_path, schema=bare)
        (tmp_path / "prices.csv").write_bytes(text.encode())
        schema = read_setup(tmp_path / "discreet.toml").schema
        schema, file = ValuesFile.of(tmp_path / "prices.csv", schema).described(schema)
        assert schema.names == ("1", "2", "3")
        with file.open() as numbers:
            assert numbers.tolist() == [3, 0, 7]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("price,region\n5\n6,b\n", None),  # counted from the end, the number would be the name
        ("kind,price,region\nx,51\ny,6,b\n", None),
        ("price,region\n1,5,n\n6,b\n", ("n", "b")),  # a comma too many is the number's
        ("region,price,kind\nn,5\ns,6,z\n", ("n", "s")),
    ],
)
def test_a_number_is_never_taken_for_a_name(tmp_path, text, names):
    """Names are public, and told before anything is charged."""
    bare = SCHEMA.partition("[values.constraints")[0]
    if names is not None:
        assert opened(tmp_path, schema=bare, prices=text)[0].names == names
        return
    with pytest.raises(InputError, match="another name on every line") as caught:
        opened(tmp_path, schema=bare, prices=text)
    assert "5" not in str(caught.value)


def test_a_number_that_stands_where_a_name_is_missing_is_not_published(tmp_path, monkeypatch):
    """Two files that differ in one private number are described alike; counting from the end alone would tell it."""
    bare = SCHEMA.partition("[values.constraints")[0]

    def described(number):
        try:
            return opened(tmp_path, schema=bare, prices=f"price,region\n{number}\n6,b\n")[0].names
        except InputError as problem:
            return str(problem)

    assert described(5) == described(7)

    def from_the_end(self, header, lines):  # the planted bug
        return tuple(line[header.index(self.label) - len(header)] for line in lines)

    monkeypatch.setattr(ValuesFile, "_names", from_the_end)
    assert described(5) != described(7)


def test_a_file_with_other_names_is_not_read(tmp_path):
    _, file = opened(tmp_path)
    file.path.write_text(PRICES.replace("north", "centre"))
    with pytest.raises(InputError, match="names it had"):
        file.check()
    with pytest.raises(InputError, match="as it was"), file.open():
        pass
    file.path.write_text(PRICES.replace("41.5", "77"))  # what the numbers are has no part in it
    file.check()


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"prices": "region,cost\nnorth,1\n"}, "values.column"),
        ({"prices": "price\n1\n"}, "values.label"),
        ({"prices": "region,price\n"}, "values.label"),
        ({"prices": "region,price\nnorth,1\nnorth,2\n"}, "values.label"),
        ({"schema": SCHEMA.replace('label = "region"', 'names = ["a", "b", "c", "d"]')}, "values.names"),
        ({"schema": SCHEMA.replace("alpha = 2\n", "")}, "values.alpha"),
        ({"schema": SCHEMA.replace('column = "price"\n', "")}, "values.column"),
        ({"schema": SCHEMA.replace('"price"', "3")}, "values.column"),
        ({"schema": SCHEMA.replace("alpha = 2", "alpha = 0")}, "alpha"),
        ({"schema": SCHEMA.replace("[values]", "values = 3\n[other]")}, "other"),
        ({"schema": SCHEMA.replace("measure", "unit")}, "values.unit"),
        ({"schema": SCHEMA.replace('name = "prices"', 'names = ["a"]')}, "dataset.names"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path, changed, field):
    with pytest.raises(InputError) as caught:
        opened(tmp_path, **changed)
    assert caught.value.field == field


def test_a_source_is_a_csv_file(tmp_path):
    schema, file = opened(tmp_path)
    for source in (tmp_path / "none.csv", tmp_path / "discreet.toml", 3):
        with pytest.raises(InputError, match="CSV file"):
            ValuesFile.of(source, schema)
    key = b"k" * 32
    first = file.version(key)
    file.path.write_text(PRICES + "\n")
    assert file.version(key) != first


def test_a_curator_of_such_a_file_hides_its_numbers(tmp_path):
    pytest.importorskip("clarabel", reason="needs discreet[constraints]")
    path = lay_out_prices(tmp_path)
    curator = discreet.open(path, tmp_path / "discreet.toml", create=True)
    made = curator.hide().plan(epsilon=1, highest=100, step="0.25", optimum="measured").release(release="may")
    assert sum(made.values) == pytest.approx(100, abs=1e-4)
    assert made.values[0] + made.values[3] <= 60.001
    assert curator.release("may").values == made.values
    with pytest.raises(InputError, match="declares it"):
        curator.hide(alpha=1)
    with pytest.raises(InputError, match="the schema declares it"):
        curator.hide(constraints=[Equal("total", [[1, 1, 1, 1]], [99])])
    with pytest.raises(InputError, match="alpha"):
        curator.hide([1, 2])
    with pytest.raises(InputError, match="private numbers"):
        curator.table()
    path.write_text(PRICES.replace("north", "centre"))
    with pytest.raises(InputError, match="names it had"):
        curator.hide().plan(epsilon=1, highest=100, optimum=30).release()
    assert curator.ledger.standing("prices")[0].spent.amount == 1


def test_numbers_that_are_in_no_file_are_described_all_the_same(tmp_path):
    here = ValuesSchema.of("prices", 2, ("north", "south"))
    assert ValuesSchema.from_dict(here.to_dict()) == here
    with pytest.raises(InputError, match=r"values\.column.*must be given"):
        ValuesFile.of(lay_out_prices(tmp_path), here)
