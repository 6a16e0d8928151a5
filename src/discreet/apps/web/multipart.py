"""A form with a file, read as it comes: fields first, then the file, which is never held in memory."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from email.message import Message

from starlette.requests import Request

from discreet.errors import FormError

__all__ = ["FileForm"]

_HEAD = 8_192
_FIELD = 4_096
_FIELDS = 20
_BOUNDARY = re.compile(r"[0-9A-Za-z'()+_,./:=? -]{1,70}")


class FileForm:
    """What a browser sends as multipart/form-data: `fields` that stand before the file, its `name`, and its `parts`.

    `FormError` for anything else, as soon as that can be told.
    """

    def __init__(self, request: Request) -> None:
        head = Message()
        head["content-type"] = request.headers.get("content-type", "")
        boundary = head.get_param("boundary")
        if head.get_content_type() != "multipart/form-data" or not isinstance(boundary, str):
            raise FormError
        if not _BOUNDARY.fullmatch(boundary):
            raise FormError
        self.fields: dict[str, str] = {}
        self.name = ""
        self._mark = b"\r\n--" + boundary.encode("ascii")
        self._coming = request.stream().__aiter__()
        self._held = b"\r\n"  # so that the first mark is found as the others are
        self._ended = False

    async def begin(self) -> None:
        """Read up to the file: its fields are then there."""
        if await self._upto(self._mark, 0):
            raise FormError
        while len(self.fields) < _FIELDS:
            named, file = self._described(await self._upto(b"\r\n\r\n", _HEAD))
            if file is not None:
                self.name = file
                return
            value = await self._upto(self._mark, _FIELD)
            try:
                self.fields.setdefault(named, value.decode("utf-8"))
            except UnicodeDecodeError:
                raise FormError from None
        raise FormError

    async def parts(self) -> AsyncIterator[bytes]:
        """The file, in pieces."""
        room = len(self._mark) - 1
        while (place := self._held.find(self._mark)) < 0:
            if len(self._held) > room:
                yield self._held[:-room]
                self._held = self._held[-room:]
            await self._more()
        yield self._held[:place]

    def _described(self, head: bytes) -> tuple[str, str | None]:
        """The name of a field, and that of the file if it is one, by what stands before it."""
        try:
            lines = head.decode("utf-8").split("\r\n")
        except UnicodeDecodeError:
            raise FormError from None
        for line in lines:
            name, _, value = line.partition(":")
            if name.strip().lower() == "content-disposition":
                named, file = _quoted(value, "name"), _quoted(value, "filename")
                if named is not None:
                    return named, file
        raise FormError

    async def _upto(self, mark: bytes, most: int) -> bytes:
        """What stands before a mark, which is taken away with it; refused where that is more than `most`."""
        while (place := self._held.find(mark)) < 0:
            if len(self._held) > most + len(mark):
                raise FormError
            await self._more()
        if place > most:
            raise FormError
        found, self._held = self._held[:place], self._held[place + len(mark) :]
        return found

    async def _more(self) -> None:
        if self._ended:
            raise FormError
        try:
            self._held += await self._coming.__anext__()
        except StopAsyncIteration:
            self._ended = True


def _quoted(text: str, name: str) -> str | None:
    found = re.search(rf';\s*{name}="([^"]*)"', text)
    return None if found is None else found[1]
