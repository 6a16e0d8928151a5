"""Questions: what may be asked, what it costs, and how an engine answers it.

* A `Query` has keys (`bins`, `discover`), conditions (`col`, `Predicate`) and outputs (`count`, `mean`, `median`
  and others); `parse_sql` reads one from SQL. `Top` asks for the most common values of a column.
* An `Ask` is what is asked for, as fields (`option`); read against a schema it is `Checked`, and at a `Price` a plan.
  What plans have in common is in `TablePlan` and `QuestionPlan`; `plan_query` makes a `QueryPlan` of sums and counts.
* `Tables` are what is read from the ledger (`read_table`).

How to add a function: a class of `Aggregate` (`Additive`, `Derived`) with its `Function`s, made known by `register`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy

if TYPE_CHECKING:
    from discreet.query.aggregate import Additive as Additive
    from discreet.query.aggregate import Aggregate as Aggregate
    from discreet.query.aggregate import Derived as Derived
    from discreet.query.aggregate import correlation as correlation
    from discreet.query.aggregate import count as count
    from discreet.query.aggregate import covariance as covariance
    from discreet.query.aggregate import covariances as covariances
    from discreet.query.aggregate import distinct as distinct
    from discreet.query.aggregate import intercept as intercept
    from discreet.query.aggregate import mean as mean
    from discreet.query.aggregate import people as people
    from discreet.query.aggregate import rows_of as rows_of
    from discreet.query.aggregate import share as share
    from discreet.query.aggregate import slope as slope
    from discreet.query.aggregate import std as std
    from discreet.query.aggregate import total as total
    from discreet.query.aggregate import variance as variance
    from discreet.query.aggregate import vector_sum as vector_sum
    from discreet.query.ask import Ask as Ask
    from discreet.query.ask import Checked as Checked
    from discreet.query.ask import Form as Form
    from discreet.query.ask import Option as Option
    from discreet.query.ask import option as option
    from discreet.query.ask import options as options
    from discreet.query.batch import BatchAsk as BatchAsk
    from discreet.query.batch import BatchPlan as BatchPlan
    from discreet.query.forms import CONDITION as CONDITION
    from discreet.query.forms import KEYS as KEYS
    from discreet.query.forms import NAMES as NAMES
    from discreet.query.forms import TEXT as TEXT
    from discreet.query.forms import WHOLE as WHOLE
    from discreet.query.function import Function as Function
    from discreet.query.function import register as register
    from discreet.query.key import Bin as Bin
    from discreet.query.key import Key as Key
    from discreet.query.key import bins as bins
    from discreet.query.key import discover as discover
    from discreet.query.modes import mode as mode
    from discreet.query.plan import QueryPlan as QueryPlan
    from discreet.query.plan import plan_query as plan_query
    from discreet.query.predicate import Predicate as Predicate
    from discreet.query.predicate import col as col
    from discreet.query.price import Price as Price
    from discreet.query.quantile import median as median
    from discreet.query.quantile import quantiles as quantiles
    from discreet.query.question import Query as Query
    from discreet.query.question_ask import QuestionAsk as QuestionAsk
    from discreet.query.release import Tables as Tables
    from discreet.query.release import read_table as read_table
    from discreet.query.sql import parse_sql as parse_sql
    from discreet.query.stream import StreamAsk as StreamAsk
    from discreet.query.stream import StreamPlan as StreamPlan
    from discreet.query.table_plan import Priced as Priced
    from discreet.query.table_plan import QuestionPlan as QuestionPlan
    from discreet.query.table_plan import TablePlan as TablePlan
    from discreet.query.top import Top as Top

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "aggregate": (
            "Additive",
            "Aggregate",
            "Derived",
            "correlation",
            "count",
            "covariance",
            "covariances",
            "distinct",
            "intercept",
            "share",
            "slope",
            "mean",
            "people",
            "rows_of",
            "std",
            "total",
            "variance",
            "vector_sum",
        ),
        "ask": (
            "Ask",
            "Checked",
            "Form",
            "Option",
            "option",
            "options",
        ),
        "batch": (
            "BatchAsk",
            "BatchPlan",
        ),
        "forms": (
            "CONDITION",
            "KEYS",
            "NAMES",
            "TEXT",
            "WHOLE",
        ),
        "function": (
            "Function",
            "register",
        ),
        "key": (
            "Bin",
            "Key",
            "bins",
            "discover",
        ),
        "modes": ("mode",),
        "plan": (
            "QueryPlan",
            "plan_query",
        ),
        "predicate": (
            "Predicate",
            "col",
        ),
        "price": ("Price",),
        "quantile": (
            "median",
            "quantiles",
        ),
        "question": ("Query",),
        "question_ask": ("QuestionAsk",),
        "release": (
            "Tables",
            "read_table",
        ),
        "sql": ("parse_sql",),
        "stream": (
            "StreamAsk",
            "StreamPlan",
        ),
        "table_plan": (
            "Priced",
            "QuestionPlan",
            "TablePlan",
        ),
        "top": ("Top",),
    },
)
