"""Verification of receipts: a compact JWS (RFC 7515) with Ed25519 (RFC 8032)."""

from __future__ import annotations

import base64
import hashlib
from typing import Any, Dict, Optional, Tuple

from ._canonical import canonical, loads, sha256
from ._errors import NodError

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_Point = Tuple[int, int, int, int]


def _add(p: _Point, q: _Point) -> _Point:
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % _P, (p[1] + p[0]) * (q[1] + q[0]) % _P
    c, d = 2 * p[3] * q[3] * _D % _P, 2 * p[2] * q[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(n: int, p: _Point) -> _Point:
    out = (0, 1, 1, 0)
    while n:
        if n & 1:
            out = _add(out, p)
        p = _add(p, p)
        n >>= 1
    return out


def _point(raw: bytes) -> Optional[_Point]:
    y = int.from_bytes(raw, "little")
    sign, y = y >> 255, y & ((1 << 255) - 1)
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * pow(2, (_P - 1) // 4, _P) % _P
    if (x * x - square) % _P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = _P - x
    return x, y, 1, x * y % _P


_BASE = _point((4 * pow(5, _P - 2, _P) % _P).to_bytes(32, "little"))


def _signed(key: bytes, message: bytes, signature: bytes) -> bool:
    """Report whether an Ed25519 signature is valid."""
    if len(key) != 32 or len(signature) != 64 or _BASE is None:
        return False
    a, r, s = _point(key), _point(signature[:32]), int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= _L:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % _L
    left, right = _times(s, _BASE), _add(r, _times(h, a))
    return (left[0] * right[2] - right[0] * left[2]) % _P == 0 and (left[1] * right[2] - right[1] * left[2]) % _P == 0


def _bytes(text: str) -> bytes:
    """Decode base64url in its only accepted spelling."""
    try:
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raise _bad("not a compact JWS") from None
    if base64.urlsafe_b64encode(raw).rstrip(b"=").decode() != text:
        raise _bad("not in its original encoding")
    return raw


def _bad(why: str) -> NodError:
    return NodError("forbidden", "receipt: " + why)


def verify(record: Any, keys: Any) -> Dict[str, Any]:
    """Return the claims of the receipt of a record.

    ``keys`` is the set of public keys that you trust, as ``keys`` returns them
    or as ``nod receipt keys`` wrote them to a file. It raises NodError unless
    one of them signed the receipt, and the receipt and the record agree about
    the request, the decision, the person and the answers. ``nod receipt
    verify`` also compares the claims that are not about the decision.
    """
    try:
        return _verified(record, keys)
    except (KeyError, TypeError, AttributeError):
        raise _bad("the record or the keys are not complete") from None


def _verified(record: Any, keys: Any) -> Dict[str, Any]:
    claims = _claims("nod-receipt+jws", record.get("receipt"), keys)
    interaction, response = record["interaction"], record.get("response") or {}
    want = {
        **{name: interaction.get(name) for name in ("id", "kind", "agent", "digest", "session", "route")},
        **{name: response.get(name) for name in ("scope", "reason", "actor", "at", "approved_digest", "stop")},
        "state": record["state"],
        "answers": sha256(response["answers"]) if response.get("answers") else None,
        "input": sha256(response["input"]) if "input" in response else None,
    }
    for name, value in want.items():
        if canonical(claims.get(name) or None) != canonical(value or None):
            raise _bad("%s: the record differs from its receipt" % name)
    return claims


def verify_answer(statement: Any, body: bytes, keys: Any) -> None:
    """Raise NodError unless one of the keys signed an answer in another format."""
    claims = _claims("nod-answer+jws", statement, keys)
    if claims.get("body") != hashlib.sha256(body).hexdigest():
        raise _bad("the answer differs from the signed answer")


def _claims(kind: str, token: Any, keys: Any) -> Dict[str, Any]:
    """Return the payload of a signed text that one of the keys signed."""
    if not isinstance(token, str) or not token:
        raise _bad("the record has none")
    parts = token.split(".")
    if len(parts) != 3 or not token.isascii():
        raise _bad("not a compact JWS")
    header, claims = loads(_bytes(parts[0])), loads(_bytes(parts[1]))
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise _bad("not a compact JWS")
    if header.get("alg") != "EdDSA" or header.get("typ") != kind or "crit" in header:
        raise _bad("not signed by nod for this purpose")
    for key in keys["keys"]:
        if key.get("kid") == header.get("kid") and key.get("kty") == "OKP" and key.get("crv") == "Ed25519":
            if _signed(_bytes(key["x"]), (parts[0] + "." + parts[1]).encode(), _bytes(parts[2])):
                return claims
            raise _bad("the signature is not valid")
    raise _bad("signed with an unknown key")
