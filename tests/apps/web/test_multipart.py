"""A form with a file: read in any pieces, refused when it is something else."""

import asyncio

import pytest

pytest.importorskip("fastapi")
from starlette.requests import Request

from discreet.apps.web.multipart import FileForm
from discreet.errors import FormError

MARK = "----x"
FIELD = f'--{MARK}\r\nContent-Disposition: form-data; name="csrf"\r\n\r\nabc\r\n'
FILE = f'--{MARK}\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: x\r\n\r\n'
END = f"\r\n--{MARK}--\r\n"
CONTENT = b"a,b\r\n--" + MARK[:-1].encode() + b"\r\n\x00\xff" * 50


def read(body, size=7, kind=f"multipart/form-data; boundary={MARK}"):
    """What arrives of a body that is sent in pieces."""
    pieces = [body[start : start + size] for start in range(0, len(body), size)] or [b""]

    async def receive():
        part = pieces.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(pieces)}

    async def run():
        form = FileForm(Request({"type": "http", "headers": [(b"content-type", kind.encode())]}, receive))
        await form.begin()
        return form.fields, form.name, b"".join([part async for part in form.parts()])

    return asyncio.run(run())


@pytest.mark.parametrize("size", [1, 7, 64, 10**6])
def test_fields_and_file_arrive_as_they_were_sent(size):
    body = (FIELD + FILE).encode() + CONTENT + END.encode()
    assert read(body, size) == ({"csrf": "abc"}, "a.csv", CONTENT)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ((FIELD + FILE).encode() + CONTENT, None),  # broken off
        (FIELD.encode() + END.encode(), None),  # no file
        (b"", None),
        (b"x" + (FIELD + FILE + END).encode(), None),
        (FIELD.encode() * 30, None),
        ((FIELD.replace("abc", "a" * 9000) + FILE + END).encode(), None),
        ((FILE.replace("name=", "nome=") + END).encode(), None),
        ((FIELD + FILE + END).encode(), "application/x-www-form-urlencoded"),
        ((FIELD + FILE + END).encode(), "multipart/form-data"),
        ((FIELD + FILE + END).encode(), 'multipart/form-data; boundary="a\u00e9"'),
    ],
)
def test_anything_else_is_refused(body, kind):
    with pytest.raises(FormError):
        read(body) if kind is None else read(body, kind=kind)
