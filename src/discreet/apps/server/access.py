"""Who may use a path: dependencies that know the caller by what a request shows."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from discreet.apps.server.identity import Person
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Caller

__all__ = ["Access"]

_bearer = HTTPBearer(
    auto_error=False,
    description="A token made by: discreet token create NAME --role analyst. Or an access token of the issuer.",
)


class Access:
    """The dependencies of a service: `anyone` who reads, one who `spends`, its `custodian`, `monitor`, `auditor`."""

    def __init__(self, service: Service) -> None:
        def known(
            request: Request, shown: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)] = None
        ) -> Caller:
            caller = service.identify(request.scope)
            if isinstance(caller, Person):
                raise HTTPException(403, caller.refusal)
            if caller is None:
                ended = None if shown is None or service.tokens is None else service.tokens.ended(shown.credentials)
                text = "a valid token is needed" if ended is None else f"this token ended at {ended} UTC"
                raise HTTPException(401, text, {"www-authenticate": "Bearer"})
            dataset = request.path_params.get("name")
            if dataset is not None and not caller.knows(dataset):  # here once, whatever a path does with it
                service.curator(dataset, caller)
            return caller

        shown_by: Any = Depends(known)

        # These read nothing, so they need no thread of their own.
        async def reader(caller: Caller = shown_by) -> Caller:
            if not caller.reads:
                nothing = (
                    "the records of ledgers, /metrics and nothing else"
                    if caller.audits
                    else "/metrics and nothing else"
                )
                raise HTTPException(403, f"this token reads {nothing}")
            return caller

        async def watcher(caller: Caller = shown_by) -> Caller:
            if caller.role not in ("monitor", "auditor", "custodian"):
                raise HTTPException(403, "for monitors and custodians")
            return caller

        async def auditor(caller: Caller = shown_by) -> Caller:
            if not caller.audits:
                raise HTTPException(403, "for auditors and custodians")
            return caller

        self.anyone: Any = Depends(reader)
        self.monitor: Any = Depends(watcher)
        self.auditor: Any = Depends(auditor)

        async def spender(caller: Caller = self.anyone) -> Caller:
            if not caller.spends:
                raise HTTPException(403, "this token may look but not spend")
            return caller

        async def custodian(caller: Caller = self.anyone) -> Caller:
            if caller.role != "custodian":
                raise HTTPException(403, "for custodians")
            return caller

        self.spends: Any = Depends(spender)
        self.custodian: Any = Depends(custodian)
