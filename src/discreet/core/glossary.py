"""The glossary: every term of art in a sentence or two. Pages, documentation and command line all read it here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from discreet.errors import InputError

__all__ = ["TERMS", "Term", "find_term", "glossary_page"]


@dataclass(frozen=True, slots=True)
class Term:
    """A term of art: what it is, what else there is to know, and the page of the documentation that explains it."""

    name: str
    short: str
    more: str = ""
    page: str = ""
    also: tuple[str, ...] = ()
    """Other words for it, and its plural."""

    @property
    def anchor(self) -> str:
        """Where it stands on the page of the glossary.

        >>> Term("privacy budget", "").anchor
        'privacy-budget'
        """
        return re.sub(r"[^\w]+", "-", self.name.lower()).strip("-")


_LISTED = (
    Term(
        "accuracy",
        "How far a published number may be from the true one: within so much, with the stated confidence.",
        "It is known before anything is spent, because it depends on the noise and not on the data. The error of a "
        "mean also depends on how many rows a group has, so it is stated for groups of several sizes.",
        "guides/accuracy.md",
        ("half-width", "within", "error"),
    ),
    Term(
        "allotment",
        "A part of the privacy budget with a name, such as the part of one team.",
        "Each has its own limit and its own way of counting: pure epsilon, rho (zCDP), or a fixed list of jobs. One "
        "allotment cannot spend what another has left.",
        "guides/share-a-budget.md",
        ("allotments",),
    ),
    Term(
        "bins",
        "Ranges that numbers, days or times are grouped into: 10 for tens, 0,18,65 for edges, month for months.",
        "Groups must be known before the data is read, so numbers and days are grouped in bins that you choose.",
        "guides/questions.md",
        ("bin",),
    ),
    Term(
        "clipping bound",
        "The lowest and the highest value that a number of one row counts as; values beyond are clipped to the nearer "
        "bound.",
        "Bounds limit how much one person can change a sum, and so how much noise is needed. They are declared in the "
        "schema, from public knowledge. Bounds that are too narrow move the answer, and a note says so.",
        "concepts/sensitivity.md",
        ("bounds", "clipping", "clipping bounds"),
    ),
    Term(
        "composition",
        "The rule by which the costs of several releases add up.",
        "Pure epsilons are added; rho is added too and grows more slowly in epsilon. The ledger adds up every charge.",
        "concepts/composition.md",
    ),
    Term(
        "confidence",
        "How often an interval made in this way contains the true number: 95% means 19 times out of 20.",
        "A higher confidence has wider intervals and costs nothing more.",
        "guides/accuracy.md",
    ),
    Term(
        "confidence interval",
        "A range around a published number that contains the true one with the stated confidence.",
        "It covers the noise that was added. Intervals are not simultaneous: of twenty at 95%, about one may miss.",
        "guides/accuracy.md",
        ("interval", "intervals", "confidence intervals"),
    ),
    Term(
        "contribution limit",
        "How much of one person counts: in how many groups, and with how many rows in each.",
        "What is beyond a limit is left out at random. Lower limits need less noise and leave out more.",
        "guides/questions.md",
        ("limits", "limit", "contribution limits"),
    ),
    Term(
        "curator",
        "The program that holds the private table and lets out only answers that the budget allows.",
        "Nobody who asks sees a row. Every answer is priced first, charged, and given with noise.",
        "concepts/local-or-central.md",
    ),
    Term(
        "data version",
        "Which state of the data an answer was made from, such as 2024-Q1.",
        "A custodian names it in the schema; without a name, a fingerprint of files or tables says whether two answers "
        "were made from the same data.",
        "guides/new-data.md",
    ),
    Term(
        "delta",
        "A small chance, such as one in ten million, with which the bound that epsilon states may fail.",
        "It is needed to discover values that nobody declared, and for budgets that count rho. Much less than one over "
        "the number of people is usual.",
        "concepts/epsilon.md",
    ),
    Term(
        "differential privacy",
        "A guarantee that a published number is almost as likely with the data of any one person as without it.",
        "So nobody can learn much about one person from it, whatever else they know. Epsilon says how much at most.",
        "concepts/epsilon.md",
        ("dp",),
    ),
    Term(
        "digest",
        "A fingerprint of a plan: the same question at the same price with the same schema has the same one.",
        "It stands on the charge, so that a release id cannot be used for another question.",
        "proofs/ledger.md",
    ),
    Term(
        "discovered values",
        "Groups whose values nobody declared: only those that enough people share are published.",
        "Which values exist can give people away, so finding them takes a delta, and rare values stay hidden.",
        "proofs/query-unknown-keys.md",
        ("discovered keys", "discover"),
    ),
    Term(
        "epsilon",
        "How much one answer, or all answers together, can tell about any one person. Smaller is more private.",
        "Someone who is at 50:50 about a fact moves to at most e^epsilon : 1 odds: 52.5% at 0.1, 73.2% at 1. Half the "
        "epsilon has twice the error.",
        "concepts/epsilon.md",
        ("privacy loss",),
    ),
    Term(
        "group",
        "The rows that share a value of the keys, such as all rows of one county.",
        "Every group is published, also those without rows, so that an absent group tells nothing.",
        "guides/questions.md",
        ("groups", "group by"),
    ),
    Term(
        "hierarchy",
        "Counts of regions within regions, such as nation, state and county, whose sums agree.",
        "Noise is added once, and the published numbers are made to add up without reading the data again.",
        "guides/hierarchies.md",
        ("tree",),
    ),
    Term(
        "key",
        "A column, or something computed of columns, that rows are grouped by.",
        "Its values must be public: declared in the schema, in bins, or discovered for a delta.",
        "guides/questions.md",
        ("keys",),
    ),
    Term(
        "ledger",
        "The record of every budget, charge and answer. A charge is on it before any data is read.",
        "Its records are chained, so that a changed or missing one is noticed when it is verified. No budget on it can "
        "be overspent.",
        "guides/backups.md",
    ),
    Term(
        "measure",
        "What is computed of each group: how many rows, a sum, a mean, a median and others.",
        "Each has its part of the price, so fewer measures are more accurate for the same price.",
        "guides/questions.md",
        ("measures", "output", "outputs"),
    ),
    Term(
        "neighbouring tables",
        "Two tables that differ in the data of one protected unit, and must give almost the same answers.",
        "They differ by one unit added or removed, or by one replaced; the schema says which.",
        "concepts/epsilon.md",
        ("neighbours",),
    ),
    Term(
        "noise",
        "A random number that is added to the true one so that it hides what any single person contributes.",
        "It is drawn exactly from a stated distribution (Laplace or Gaussian) with the randomness of the system, so "
        "the error that it causes is known beforehand.",
        "concepts/mechanisms.md",
        ("laplace", "gaussian"),
    ),
    Term(
        "odds",
        "What a release can change in the mind of someone who is at 50:50 about one person.",
        "It is compared with the same release made without that person's data. What the data of others tells is not "
        "hidden: a study can show that smoking harms without telling who smokes.",
        "concepts/epsilon.md",
    ),
    Term(
        "plan",
        "A question with its price and its errors, made without looking at the data. Planning is free.",
        "Nothing is spent until the plan is released.",
        "concepts/architecture.md",
        ("offer", "plans"),
    ),
    Term(
        "post-processing",
        "Whatever is computed from a published answer: sorting, rounding, shares, charts. It is free.",
        "It cannot weaken the guarantee, because it reads nothing private.",
        "concepts/post-processing.md",
    ),
    Term(
        "privacy budget",
        "The most that all answers together may ever cost. When it is spent, there are no more answers.",
        "A custodian sets it once for a dataset, and can raise it on record, which weakens the promise for everything "
        "released before.",
        "guides/budget.md",
        ("budget", "what is left"),
    ),
    Term(
        "quantile",
        "The value below which a given share of the rows lies: 0.5 is the median, 0.9 the top tenth's lower end.",
        "The smallest and the largest value are one person's, so they cannot be published.",
        "guides/questions.md",
        ("median", "percentile"),
    ),
    Term(
        "release",
        "An answer that was paid for and published. Reading it again is free, for everyone who may.",
        "The same question asked anew is charged anew, and gets fresh noise.",
        "guides/publish.md",
        ("releases", "stored release"),
    ),
    Term(
        "rho",
        "Another way to count cost (zero-concentrated differential privacy, zCDP), under which many answers cost less.",
        "Budgets with a delta may count it. Twice the accuracy costs four times the rho. The pages show shares of the "
        "budget and epsilon first.",
        "concepts/composition.md",
        ("zcdp",),
    ),
    Term(
        "schema",
        "What the custodian declares about a table: columns, bounds, values, who is protected, and the budget.",
        "It is written from public knowledge. Nothing in it is read off the data.",
        "guides/schema.md",
    ),
    Term(
        "sensitivity",
        "How much one protected unit can change a number before noise is added.",
        "The noise grows with it. Bounds and contribution limits keep it small.",
        "concepts/sensitivity.md",
    ),
    Term(
        "share of the budget",
        "A price as a percentage of the whole allotment.",
        "At 10% each, ten such questions use all of it.",
        "guides/budget.md",
        ("share", "percent"),
    ),
    Term(
        "suppressed",
        "Not published, because too few rows are behind it.",
        "The number is a count of few people with noise of about the same size, so it would say nothing.",
        "guides/publish.md",
        ("too few rows",),
    ),
    Term(
        "synthetic rows",
        "Rows made from noisy counts that look like the private ones and are nobody's.",
        "They can be used for anything at no further cost; a quality report says for what they are good.",
        "guides/synthetic.md",
        ("synthetic table", "synthetic data"),
    ),
    Term(
        "unit of protection",
        "Whose data is protected as a whole: one row, or everything of one person.",
        "Cost and noise are stated for it, and the ledger refuses a plan that is stated for another.",
        "guides/schema.md",
        ("unit", "protected"),
    ),
)

TERMS: Mapping[str, Term] = {term.name: term for term in _LISTED}
"""The terms by name, in the order of the alphabet."""


def find_term(text: str) -> Term:
    """The term of a name, or of another word for it.

    >>> find_term("Budget").name
    'privacy budget'
    """
    words = {term.name.lower(): term for term in _LISTED}
    words |= {word.lower(): term for term in reversed(_LISTED) for word in term.also if word.lower() not in words}
    found = words.get(" ".join(text.lower().split()))
    if found is None:
        raise InputError("term", text, "a term of the glossary", among=list(words))
    return found


def glossary_page() -> str:
    """The glossary as a page of the documentation, in Markdown."""
    lines = [
        "# Glossary",
        "",
        "Every term of art on the pages, in plans and in messages. `discreet help TERM` prints one of them.",
    ]
    for term in _LISTED:
        lines += ["", f"## {term.name[0].upper()}{term.name[1:]}", "", f"{term.short} {term.more}".rstrip()]
        if term.page:
            lines += ["", f"More: [{term.page.rpartition('/')[2].removesuffix('.md')}]({term.page})"]
    return "\n".join(lines) + "\n"
