"""Tables: heads with a scope, numbers to the right, text that is only text."""

from dataclasses import replace

import pytest

from discreet.errors import InputError
from discreet.show import Table


def test_cells_are_text_and_heads_have_a_scope():
    text = Table.of(["what", "n"], [["<b>", 3]], "All of it").__html__()
    assert '<th scope="row">&lt;b&gt;</th>' in text
    assert '<td class="number">3</td>' in text
    assert '<th scope="col">what</th>' in text
    assert "<caption>All of it</caption>" in text


def test_rows_have_a_cell_for_each_head():
    with pytest.raises(InputError, match="rows"):
        Table.of(["a", "b"], [["1"]])


def test_only_the_named_columns_are_numbers():
    text = Table.of(["a", "b", "c"], [["1", "2", "3"]], numbers=[2]).__html__()
    assert '<td>2</td><td class="number">3</td>' in text


def test_a_stacked_table_says_what_its_parts_are():
    text = replace(Table.of(["a", "b"], [["1", "2"]]), stacked=True).__html__()
    assert '<table class="stacked" role="table">' in text
    assert '<th scope="row" role="rowheader">1</th>' in text
    assert 'data-label="b" role="cell"' in text


def test_a_corner_without_a_name_is_no_heading_and_a_table_can_have_a_label():
    text = replace(Table.of(["", "n"], [["a", 3]], "shares"), label="What weighs on you?").__html__()
    assert '<tr><td></td><th scope="col" class="number">n</th></tr>' in text
    assert 'aria-label="What weighs on you?"' in text
