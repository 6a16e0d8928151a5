"""A CSV file of private numbers and its schema, for tests of what is released of such files."""

PRICES = "region,price\nnorth,41.5\nsouth,12.25\neast,30\nwest,16.25\n"
SCHEMA = """\
[dataset]
name = "prices"

[values]
alpha = 2
measure = "EUR"
column = "price"
label = "region"

[values.constraints.total]
equal = 100

[values.constraints.coast]
weights = { north = 1, west = 1 }
most = 60

[values.objective]
name = "losses"
squares = 0.01

[budget]
epsilon = 4
"""


def lay_out_prices(folder, prices=PRICES, schema=SCHEMA):
    """Both as files of a folder."""
    (folder / "prices.csv").write_text(prices, encoding="utf-8")
    (folder / "discreet.toml").write_text(schema, encoding="utf-8")
    return folder / "prices.csv"
