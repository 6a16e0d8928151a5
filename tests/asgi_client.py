"""Requests to a web application in this process, without a network."""

import asyncio
import contextlib
from typing import get_args


def _share_types():
    """What reads and writes a type is made once for all applications: each has a thousand, and each test its own."""
    from fastapi._compat import v2

    made, make = {}, v2.TypeAdapter

    def shared(annotation, *, config=None):
        kind, *notes = get_args(annotation)
        try:
            key = (kind, repr(notes))
            found = made.get(key)
        except TypeError:  # a type without a hash
            return make(annotation, config=config)
        if config is not None:
            return make(annotation, config=config)
        if found is None:
            found = made[key] = make(annotation)
        return found

    v2.TypeAdapter = shared


with contextlib.suppress(ImportError, AttributeError):  # an extra, or one that keeps them elsewhere
    _share_types()


class Client:
    """`get` and `post` as httpx has them, one event loop each."""

    def __init__(self, application, headers=None):
        self.application = application
        self.headers = headers or {}

    def request(self, method, path, **how):
        import httpx  # an extra: looked for when it is used

        async def sent():
            transport = httpx.ASGITransport(self.application)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                return await client.request(method, path, headers={**self.headers, **how.pop("headers", {})}, **how)

        return asyncio.run(sent())

    def get(self, path, **how):
        return self.request("GET", path, **how)

    def post(self, path, **how):
        return self.request("POST", path, **how)
