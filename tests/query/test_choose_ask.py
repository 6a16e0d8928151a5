"""What a choice is asked with, on every surface."""

import pytest

from discreet.errors import InputError
from discreet.query.choose_ask import OPTIONS, ChooseAsk


def test_options_that_are_sent_stay_what_they_were():
    adapter = pytest.importorskip("pydantic").TypeAdapter(OPTIONS.wire)
    sent = adapter.validate_json('[12, 2.5, "a", "3", true]')
    assert [(type(one), one) for one in sent] == [(int, 12), (float, 2.5), (str, "a"), (str, "3"), (bool, True)]


def test_options_are_a_list():
    with pytest.raises(InputError, match="a list of options"):
        ChooseAsk("sector", options="AB")
