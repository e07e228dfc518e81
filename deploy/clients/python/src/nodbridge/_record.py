"""Whether a response is the record of a request, and of the one that was sent."""

from __future__ import annotations

import re
from typing import Any, Dict, Optional

from ._canonical import digest
from ._errors import Unexpected

STATES = ("pending", "answered", "approved", "denied", "expired", "cancelled", "superseded", "undeliverable")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_HEX = re.compile(r"[0-9a-f]{64}\Z")
_SCOPE = re.compile(r"(once|session|always)(:[0-9]+)?\Z")  # a number names one of several options


def known(record: Any, id: Optional[str]) -> Any:
    """Return a value if it is a nod daemon's record of the request with an ID."""
    try:
        _check(record)
    except (KeyError, TypeError, AttributeError):
        raise Unexpected("the response is not the record of a request") from None
    if id is not None and record["interaction"]["id"] != id:
        raise Unexpected("the response is for another request")
    return record


def listed(record: Any) -> Any:
    """Return a value of a list if it is a record, or one that the daemon could not verify, whose parts may disagree."""
    if not isinstance(record, dict) or not record.get("unverified"):
        return known(record, None)
    interaction = record.get("interaction")
    id = interaction.get("id") if isinstance(interaction, dict) else None
    if not isinstance(id, str) or not UUID.match(id) or record.get("state") not in STATES:
        raise Unexpected("the response is not the record of a request")
    return record


def recorded(answer: Any, id: str) -> Any:
    """Return a value if it is what became of the request with an ID."""
    if (
        not isinstance(answer, dict)
        or answer.get("id") != id
        or answer.get("state") not in STATES
        or not isinstance(answer.get("revision"), int)
    ):
        raise Unexpected("the response is not about the request")
    return answer


def same(record: Any, sent: Dict[str, Any]) -> None:
    """Check that a record is for the request that was sent."""
    interaction, response = record["interaction"], record.get("response") or {}
    whole = not interaction.get("redacted")
    if sent:
        kind = sent.get("kind") or ("approval" if "approval" in sent else "ask")
        asked = [q["id"] for q in interaction.get("questions", []) if isinstance(q, dict)]
        named = [q.get("id") or "q%d" % (n + 1) for n, q in enumerate(sent.get("questions") or [])]
        other = kind != interaction["kind"] or (whole and sent["prompt"] != interaction["prompt"])
        if other or (named and named != asked):
            raise Unexpected("the response is for another request")
        full = {**sent, "kind": kind, "approval": sent.get("approval") or {}}
        if kind == "approval" and digest(full) != interaction["digest"]:
            raise Unexpected("the digest of the response is for another request")
    if whole and digest(interaction) != interaction["digest"]:
        raise Unexpected("the digest of the response differs from its content")
    base = sent if sent.get("approval") else interaction if whole else None
    if "input" in response and base is not None:
        edited = {**base, "kind": "approval", "approval": {**base["approval"], "input": response["input"]}}
        if digest(edited) != response.get("approved_digest"):
            raise Unexpected("the digest of the edited input differs")
        if sent and "edit" not in ((sent.get("approval") or {}).get("decisions") or ()):
            raise Unexpected("the approval is for another input")


def _check(record: Any) -> None:
    """Raise unless a value has the form of a record, and its parts agree."""
    interaction, state = record["interaction"], record["state"]
    wrong = (
        state not in STATES
        or not UUID.match(interaction["id"])
        or not _HEX.match(interaction["digest"])
        or not isinstance(interaction["prompt"], str)
        or not isinstance(interaction["agent"], str)
        or not isinstance(interaction.get("questions", []), list)
        or interaction["kind"] not in ("ask", "approval", "notice")
        or not isinstance(record["revision"], int)
        or record.get("unverified")
        or (interaction["kind"] == "approval" and not isinstance(interaction["approval"], dict))
        or (state in ("approved", "denied") and interaction["kind"] != "approval")
        or (state == "answered" and interaction["kind"] == "approval")
    )
    response = record.get("response")
    if state == "pending":
        wrong = wrong or response is not None
    else:
        said = response.get("digest") or ("" if state in ("approved", "denied", "answered") else interaction["digest"])
        wrong = wrong or response["state"] != state or said != interaction["digest"]
        wrong = wrong or not isinstance(response.get("answers", {}), dict)
        wrong = wrong or (state == "approved" and not _SCOPE.match(response["scope"]))
        wrong = wrong or (state != "approved" and "input" in response)
    if wrong:
        raise TypeError
