"""Linkage puts names back, and fails where it should."""

import pytest

from discreet.errors import InputError
from discreet.risk.coarsening import METHODS, anonymize
from discreet.risk.linkage import link
from patients import QUASI, patients


def test_linkage_finds_everybody_before_and_nobody_after():
    table = patients()
    before = link(table, table, on=QUASI, sensitive="dx", person="person")
    assert before.one_to_one > 3000
    assert before.right == before.one_to_one
    for method in METHODS:
        after = link(
            anonymize(table, quasi=QUASI, k=5, method=method), table, on=QUASI, sensitive="dx", person="person"
        )
        assert after.one_to_one == 0
        assert after.placed >= 3960
        assert after.told > 0, "k-anonymous, and still told: most have the flu"


def test_people_who_are_not_in_the_table_are_linked_wrongly_or_not_at_all():
    table, others = patients(seed=1), patients(seed=2)
    found = link(table, others, on=QUASI, person="person")
    assert found.one_to_one > 0
    assert found.right < found.one_to_one


def test_a_secret_that_the_attacker_knows_is_refused():
    with pytest.raises(InputError, match="`sensitive` must be a column that is not among `on`"):
        link(patients(), patients(), on=QUASI, sensitive=QUASI[0])
