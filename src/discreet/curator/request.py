"""What was asked for, and at which price, as it stands on a charge: enough to make the same plan of it again."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs
from attrs import NOTHING

from discreet.core.exact import Number
from discreet.core.plan import as_paid
from discreet.core.wire import Json
from discreet.curator.kinds import Kind, kind_of
from discreet.errors import InputError
from discreet.ledger.outcome import Outcome
from discreet.query.ask import Ask, Described, options
from discreet.query.price import Price

if TYPE_CHECKING:
    from discreet.curator.desk import LedgerDesk
    from discreet.curator.offer import Offer

__all__ = ["offer_again", "offer_at", "read_how", "request_of", "request_to", "stated_price"]

_PACKED = "zlib:"
_USUAL = 0.95
_PLAIN = 4096  # characters of JSON that stand on a record as they are; what is longer is compressed
_LARGEST = 4 << 20  # characters of what is compressed: beyond that a record holds nothing of it


def request_to(ask: Ask, price: Price | None) -> str | None:
    """An ask and its price as JSON text, in which names keep their order; None where they have none or it is too long.

    Options that only exist here (files of this machine, say) are left out and named: a plan that they decide has
    another digest without them, and is not taken for the same.
    """
    try:
        text = _text(ask, price)
    except Exception:  # a record without it is a good record: whatever has no JSON must not keep a plan from being made
        return None
    if text is None or len(text) <= _PLAIN:
        return text
    small = _PACKED + base64.b85encode(zlib.compress(text.encode())).decode()
    return small if len(small) <= _LARGEST else None


def _text(ask: Ask, price: Price | None) -> str | None:
    here = {name: one for name, one in options(type(ask)).items() if one.here_only}
    if any(one.default is NOTHING for one in here.values()):
        return None
    passing = {name: one for name, one in options(type(ask)).items() if one.passing}
    said = attrs.evolve(ask, **{name: one.default for name, one in (here | passing).items()}).to_dict()
    paid: Json = None if price is None else [price.way, str(price.amount), price.confidence, price.noise]
    entry: dict[str, Any] = {"ask": said, "price": paid}
    if left_out := [name for name, one in here.items() if getattr(ask, name) is not one.default]:
        entry["left_out"] = left_out
    return json.dumps(entry, allow_nan=False, default=_plain)


def _plain(value: Any) -> Json:
    """A number that JSON has no form for, exactly: fractions as text, numbers and arrays of numpy as plain numbers."""
    if isinstance(value, Fraction):
        return str(value)
    plain: Json = value.tolist()  # what has no such method has no JSON
    return plain


def stated_price(known: Outcome) -> dict[str, Any]:
    """The price that a release was asked at, in the way it was stated: {"within": 30}, with its confidence if that is
    not the usual one, and a delta; nothing where no record says so."""
    asked, paid = request_of(known)
    if not paid:
        return {}
    amount = Fraction(str(paid[1]))
    found: dict[str, Any] = {str(paid[0]): int(amount) if amount.denominator == 1 else float(amount)}
    found |= {"confidence": paid[2]} if paid[2] != _USUAL else {}
    return found | ({"delta": float(Fraction(str(asked["delta"])))} if asked.get("delta") is not None else {})


def _unpacked(text: str) -> dict[str, Any]:
    if text.startswith(_PACKED):
        text = zlib.decompress(base64.b85decode(text.removeprefix(_PACKED))).decode()
    entry: dict[str, Any] = json.loads(text)
    return entry


def request_of(known: Outcome) -> tuple[dict[str, Any], list[Any] | None]:
    """What was asked for, as plain values, and the way, amount, confidence and noise of its price; nothing where the
    record does not say."""
    if not known.request:
        return {}, None
    entry = _unpacked(known.request)
    return dict(entry["ask"]), entry["price"]


def _request_from(text: str, kind: type[Ask], schema: Described) -> tuple[Ask, Price | None, list[str]]:
    """The ask, its price, and the names of what was left out of it."""
    entry = _unpacked(text)
    paid = entry["price"]
    price = None if paid is None else Price(paid[0], Fraction(paid[1]), *paid[2:])
    return kind.from_dict(entry["ask"], schema), price, entry.get("left_out", [])


_AGAIN = "Plan the same again and publish it by that: offer.publish(id). Nothing was spent."


def _asked(desk: LedgerDesk, known: Outcome) -> tuple[Kind, Ask, Price | None, list[str]]:
    """What a release was asked for with; `InputError` where its record does not say."""
    made = kind_of(known.charged.query, known.kind)
    if made is None or not known.request:
        allowed = "one whose record holds its request: this one is older, or its request has no JSON form"
        raise InputError("release", known.charged.release, allowed, _AGAIN)
    return made, *_request_from(known.request, made.ask(), desk.declared)


def offer_at(desk: LedgerDesk, known: Outcome, way: str, amount: Number) -> Offer[Any]:
    """What a release was asked for with, at another price: `way` is that of a plan, such as epsilon. Free."""
    _, ask, price, left_out = _asked(desk, known)
    if left_out or way not in ask.prices:
        raise InputError(way, amount, "left out: the record of this release does not hold its whole request")
    told: dict[str, Any] = {} if price is None else {"confidence": price.confidence, "noise": price.noise}
    told[way] = amount
    return desk.offer(ask, None, Price.read(**told), known.charged.allotment)


def offer_again(desk: LedgerDesk, known: Outcome) -> Offer[Any]:
    """The offer that a release was made of, planned again from its record. `InputError` where that cannot be."""
    paid, again = known.charged, _AGAIN
    made, ask, price, left_out = _asked(desk, known)
    offer: Offer[Any] = desk.offer(ask, None, price, paid.allotment)
    offer = replace(offer, plan=as_paid(offer.plan, paid.digest))
    if made.name == "stream" or offer.plan.digest == paid.digest:  # a stream looks for its former price itself
        return offer
    ready = desk.check(ask)
    for part in desk.ledger.former_allotments(desk.name, paid.allotment):  # a share of what is another sum by now
        plan = as_paid(ready.priced(part, price), paid.digest)
        if plan.digest == paid.digest:
            return replace(offer, plan=plan)
    if left_out:
        allowed = f"one whose record holds its whole request: {', '.join(left_out)} is not recorded"
        raise InputError("release", paid.release, allowed, again)
    allowed = "one whose plan is still the same: with the current schema the request gives another plan"
    hint = "Publish it with the schema that it was paid with. Nothing was spent."
    raise InputError("release", paid.release, allowed, hint)


def read_how(known: Outcome | None, how: dict[str, Any], schema: Described) -> dict[str, Any]:
    """How to publish a release, from JSON: what is a field of its ask is read as it is there."""
    made = None if known is None else kind_of(known.charged.query, known.kind)
    fields = {} if made is None else options(made.ask())
    read: dict[str, Any] = {}
    for name, value in how.items():
        field = fields.get(name)
        read[name] = value if field is None or value is None else field.form.read(value, schema)  # type: ignore[arg-type]
    return read
