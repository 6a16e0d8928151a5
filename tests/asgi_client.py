"""Requests to a web application in this process, without a network."""

import asyncio


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
