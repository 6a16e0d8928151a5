"""What a form sends: names and texts, read within limits."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.requests import Request

from discreet.errors import FormError

__all__ = ["Form", "read"]

_LONGEST = 200_000
_FIELDS = 400


class Form(dict[str, str]):
    """The fields of a form: the first text of each name, and `all` of them where there are several."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        super().__init__(reversed(pairs))  # of a name sent twice the first counts
        self.pairs = pairs

    def all(self, name: str) -> list[str]:
        """Every text sent under a name, in order."""
        return [value for field, value in self.pairs if field == name]

    def text(self, name: str) -> str:
        """The text of a field without spaces around it; "" where there is none."""
        return self.get(name, "").strip()


async def read(request: Request) -> Form:
    """The form that a request carries; `FormError` if it carries something else."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise FormError
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LONGEST:
            raise FormError
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_FIELDS, separator="&"
        )
    except ValueError:
        raise FormError from None
    return Form([(name, value.replace("\r\n", "\n")) for name, value in pairs])
