"""Who people are that have no token: known by an issuer (OpenID Connect) or by a proxy in front, and what they may do.

Neither says what a person may do here. That stands in the rules of the configuration: the first one that fits a
person's name or one of their groups gives role, allotment and datasets. Whom no rule fits is refused.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from discreet.apps.server.tokens import Caller, Role

__all__ = ["NOBODY", "Identity", "Person", "Provider", "Proxy", "Rule"]

NOBODY = "none"
"""The role of a rule that keeps people out."""

_LONGEST = 100  # characters of a name, as those of tokens
_SAFE = ("GET", "HEAD")


@dataclass(frozen=True, slots=True)
class Person:
    """Someone whose name and groups are vouched for. What they may do is for the rules to say."""

    name: str
    groups: tuple[str, ...] = ()

    @property
    def refusal(self) -> str:
        """That they are known, and may do nothing here."""
        groups = f"in the groups {', '.join(self.groups)}" if self.groups else "in no group"
        return (
            f"You are known as {self.name}, {groups}. No rule of this server gives you access to it. "
            "Ask its custodian, and give these names. Nothing was spent."
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """What people of a group, or one person, may do."""

    role: str
    group: str | None = None
    user: str | None = None
    allotment: str | None = None
    datasets: tuple[str, ...] | None = None

    def fits(self, person: Person) -> bool:
        """Whether it is about this person: all that it names must be so."""
        return (self.user is None or self.user == person.name) and (self.group is None or self.group in person.groups)


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy in front that says who is there, in headers which are taken from these peers alone."""

    peers: tuple[str, ...]
    user_header: str = "x-forwarded-user"
    groups_header: str = "x-forwarded-groups"

    def person(self, scope: Mapping[str, Any]) -> Person | None:
        """Who a request is from; None where its peer is not listed, or does not say one name and one list of groups.

        A second header is one that the proxy added to what somebody sent, where it should have replaced it. Bytes that
        are no text are nobody's name either: two people would have the same one.
        """
        if not self._listed(scope.get("client")) or not _from_own_pages(scope):
            return None
        try:
            users, listed = (_values(scope, name, "strict") for name in (self.user_header, self.groups_header))
        except UnicodeDecodeError:
            return None
        if len(users) != 1 or len(listed) > 1 or not _sound(users[0]):
            return None
        groups = [one.strip() for text in listed for one in text.split(",")]
        return Person(users[0], tuple(dict.fromkeys(one for one in groups if one)))

    def _listed(self, client: Any) -> bool:
        try:
            peer = ipaddress.ip_address(client[0])
        except (TypeError, ValueError, IndexError):  # a socket of this machine has no address
            return False
        peer = getattr(peer, "ipv4_mapped", None) or peer
        return any(peer in ipaddress.ip_network(one) for one in self.peers)


@dataclass(frozen=True, slots=True)
class Provider:
    """An issuer of identities, and how this server is known there."""

    issuer: str
    client: str
    secret: str | None = None
    """A file with the secret of the client; None for one that has none."""
    audience: str | None = None
    """Whom access tokens must be for that the API takes; None: it takes none."""
    name: str = "email"
    """The claim that names a person on the ledger: one that people cannot change themselves."""
    groups: str = "groups"
    scopes: tuple[str, ...] = ("openid", "email", "profile")
    certificate: str | None = None
    """A file of certificates to trust for the issuer; None: those that the machine trusts."""
    home: str = ""
    """The address of this server as people see it, to which they come back."""

    @property
    def label(self) -> str:
        """What people call the issuer: its host."""
        return urlsplit(self.issuer).netloc

    def person(self, claims: Mapping[str, Any]) -> Person | None:
        """Whom verified claims name; None where the claim is missing, or an address that nobody verified."""
        name = claims.get(self.name)
        if not isinstance(name, str) or not _sound(name):
            return None
        if self.name == "email" and claims.get("email_verified") is not True:
            return None
        groups = claims.get(self.groups, [])
        listed = [groups] if isinstance(groups, str) else groups if isinstance(groups, list) else []
        return Person(name, tuple(dict.fromkeys(one for one in listed if isinstance(one, str) and one)))


@dataclass(frozen=True, slots=True)
class Identity:
    """Rules, and who vouches for people: plain values, as the configuration has them."""

    rules: tuple[Rule, ...] = ()
    proxy: Proxy | None = None
    provider: Provider | None = None

    def caller(self, person: Person) -> Caller | None:
        """What a person may do, by the first rule that fits; None where none does, or it keeps them out."""
        rule = next((one for one in self.rules if one.fits(person)), None)
        if rule is None or rule.role == NOBODY:
            return None
        role: Role = rule.role  # type: ignore[assignment]
        datasets = None if rule.datasets is None else frozenset(rule.datasets)
        return Caller(person.name, role, rule.allotment, datasets)

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Identity:
        """Read back what `dataclasses.asdict` and JSON made of one."""
        rules = tuple(Rule(**_tuples(one, "datasets")) for one in values["rules"])
        proxy, provider = values["proxy"], values["provider"]
        return cls(
            rules,
            None if proxy is None else Proxy(**_tuples(proxy, "peers")),
            None if provider is None else Provider(**_tuples(provider, "scopes")),
        )


def _tuples(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = values[name]
    return {**values, name: None if found is None else tuple(found)}


def _sound(name: str) -> bool:
    return 1 <= len(name) <= _LONGEST and name.isprintable() and name == name.strip()


def _values(scope: Mapping[str, Any], name: str, odd: str = "replace") -> list[str]:
    """Every value of a header that was sent."""
    wanted = name.lower().encode("latin-1")
    headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
    return [value.decode("utf-8", odd) for key, value in headers if key.lower() == wanted]


def _from_own_pages(scope: Mapping[str, Any]) -> bool:
    """Whether a request that changes something was not sent by a page of another site.

    A proxy vouches for a browser whatever page is open in it, as a cookie does.
    """
    if scope["method"] in _SAFE:
        return True
    site = _values(scope, "sec-fetch-site")
    origin, host = _values(scope, "origin"), _values(scope, "host")
    if any(one not in ("same-origin", "none") for one in site):
        return False
    return bool(site) or all(one.partition("://")[2] in host for one in origin)
