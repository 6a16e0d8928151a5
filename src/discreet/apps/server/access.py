"""Who may use a path: dependencies that know the caller by the token shown."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, HTTPException, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Caller

__all__ = ["Access"]

_bearer = HTTPBearer(auto_error=False, description="A token made by: discreet token create NAME --role analyst")


class Access:
    """The dependencies of a service: `anyone` who is known, one who `spends`, its `custodian`."""

    def __init__(self, service: Service) -> None:
        def known(shown: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)] = None) -> Caller:
            caller = service.caller(None if shown is None else f"{shown.scheme} {shown.credentials}")
            if caller is None:
                raise HTTPException(401, "a valid token is needed", {"www-authenticate": "Bearer"})
            return caller

        self.anyone: Any = Depends(known)

        def spender(caller: Caller = self.anyone) -> Caller:
            if not caller.spends:
                raise HTTPException(403, "this token may look but not spend")
            return caller

        def custodian(caller: Caller = self.anyone) -> Caller:
            if caller.role != "custodian":
                raise HTTPException(403, "for custodians")
            return caller

        self.spends: Any = Depends(spender)
        self.custodian: Any = Depends(custodian)
