"""Text that would take a server's memory to read is refused before it is read."""

import tomllib

import pytest

from discreet.apps.web.custodian.toml_text import check_nesting
from discreet.errors import InputError


@pytest.mark.parametrize(
    "text",
    [
        "a" + ".a" * 2000 + " = 1",
        "[a" + " . 'a'" * 2000 + "]",
        "x = { a" + ".a" * 2000 + " = 1 }",
        "x = " + "[" * 2000 + "]" * 2000,
        "x = [\n" + "[\n" * 2000,
        "x = " + "{a=" * 2000,
    ],
)
def test_deep_nesting_is_refused(text):
    with pytest.raises(InputError, match="inside each other"):
        check_nesting(text, "schema")


def test_what_people_write_passes():
    text = (
        "[columns.age]\nvalues = [" + ", ".join(f"{n}.5" for n in range(500)) + "]\n" + 'about = "One. Two. Three."\n'
    )
    text += "".join(f"[columns.c{n}]\nupper = 1.5\n" for n in range(500))
    check_nesting(text, "schema")
    assert len(tomllib.loads(text)["columns"]) == 501
