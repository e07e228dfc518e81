"""Canonical JSON (RFC 8785), the digest of a request, and strict parsing."""

from __future__ import annotations

import hashlib
import json
import math
from decimal import Decimal
from typing import Any, Dict, List, Mapping, Tuple

from ._errors import NodError, Unexpected
from ._types import COVERED, COVERED_APPROVAL

_EXACT = 2**53
_DEPTH = 600


def canonical(value: Any) -> str:
    """Return JSON in which the same value always has the same characters."""
    if value is None or isinstance(value, (bool, str)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (int, float)):
        return _number(value)
    if isinstance(value, dict):
        keys = sorted(value, key=lambda k: k.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(canonical(k) + ":" + canonical(value[k]) for k in keys) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(canonical, value)) + "]"
    raise NodError("invalid", "%s cannot be sent as JSON" % type(value).__name__)


def _number(value: Any) -> str:
    """Format a number as ECMAScript does."""
    if isinstance(value, int) and abs(value) <= _EXACT:
        return str(value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or (isinstance(value, int) and _inexact(value)):
        raise NodError("invalid", "a double cannot represent a number exactly", "send it as a string")
    if number == 0:
        return "0"
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    point = len(whole) + int(exponent or 0)
    digits = (whole + fraction).lstrip("0")
    point -= len(whole + fraction) - len(digits)
    digits = digits.rstrip("0")
    return ("-" if number < 0 else "") + _place(digits, point)


def _place(digits: str, point: int) -> str:
    """Put the decimal point behind the first ``point`` digits."""
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    power = ("+" if point > 0 else "-") + str(abs(point - 1))
    return digits[0] + ("." + digits[1:] if count > 1 else "") + "e" + power


def sha256(value: Any) -> str:
    """Return the hex SHA-256 of the canonical form of a value."""
    try:
        return hashlib.sha256(encoded(canonical(value))).hexdigest()
    except RecursionError:
        raise NodError("invalid", "the JSON is nested too deeply") from None


def encoded(text: str) -> bytes:
    """Return UTF-8, which has no unpaired surrogates."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise NodError("invalid", "a text has an unpaired surrogate") from None


def digest(request: Dict[str, Any]) -> str:
    """Return the digest of a request or of an interaction, as the daemon computes it."""
    approval = request.get("approval")
    kind = request.get("kind") or ("ask" if approval is None else "approval")
    payload: Dict[str, Any] = {"kind": kind, **_covered(request, COVERED)}
    if request.get("questions"):
        payload["questions"] = request["questions"]
    if approval is not None:
        payload["approval"] = _covered(approval, COVERED_APPROVAL)
        if "input" in approval:
            payload["approval"]["input"] = approval["input"]
    return sha256(payload)


def _covered(values: Dict[str, Any], names: Tuple[str, ...]) -> Dict[str, Any]:
    """Return those of the named texts that are not empty."""
    return {name: values[name] for name in names if values.get(name)}


def dumps(value: Any) -> bytes:
    """Return the JSON to send."""
    return encoded(json.dumps(plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def plain(value: Any, place: str = "", above: Tuple[int, ...] = ()) -> Any:
    """Return a copy as JSON has it.

    What people approve is this copy: it is sent, hashed and given back. A value
    that JSON cannot carry is refused with its place.
    """

    def refuse(what: str) -> NodError:
        where = place or "the message"
        return NodError("invalid", "%s: %s cannot be sent as JSON" % (where, what), "send it as text")

    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        encoded(value)
        return "".join(value)  # not the name of an enum
    if isinstance(value, int):
        if abs(value) > _EXACT and _inexact(value):
            raise refuse("a number that a double cannot represent")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise refuse(str(value))
        return float(value)
    if id(value) in above:
        raise refuse("a value that contains itself")
    if len(above) >= _DEPTH:
        raise refuse("nesting that is so deep")
    inside = above + (id(value),)
    if isinstance(value, (list, tuple)):
        return [plain(v, "%s[%d]" % (place, n), inside) for n, v in enumerate(value)]
    if not isinstance(value, Mapping):
        raise refuse("a value of the type " + type(value).__name__)
    out: Dict[str, Any] = {}
    for name, v in value.items():
        if not isinstance(name, str):
            raise refuse("the name %r, which is no text," % (name,))
        name = plain(name)
        out[name] = plain(v, place + "." + name if place else name, inside)
    return out


def _inexact(value: int) -> bool:
    """Report whether an integer is another number than its double prints, so that programs read different ones."""
    try:
        return Decimal(repr(float(value))) != value
    except OverflowError:
        return True


def text(raw: bytes) -> str:
    """Return a response that is a text."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise Unexpected("the response is not valid UTF-8") from None


def loads(raw: bytes) -> Any:
    """Parse a response. It refuses what only a lenient parser accepts."""
    try:
        value = json.loads(text(raw), object_pairs_hook=_object, parse_constant=_constant)
    except (ValueError, RecursionError):
        raise Unexpected("the response is not valid JSON") from None
    _depth(value)
    return value


def _object(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("duplicate name")
    return out


def _constant(name: str) -> Any:
    raise ValueError(name)


def _depth(value: Any) -> None:
    """Refuse nesting that recursion cannot follow."""
    level: List[Any] = [value]
    for _ in range(_DEPTH):
        level = [c for v in level for c in (v.values() if isinstance(v, dict) else v if isinstance(v, list) else ())]
        if not level:
            return
    raise Unexpected("the response is nested too deeply")
