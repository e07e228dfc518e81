"""What the client does, apart from sockets and clocks.

Each operation is a generator. It yields a ``Call`` or a ``Sleep``, and gets the
response back. Nod runs it with sockets, and AsyncNod with asyncio.
"""

from __future__ import annotations

import random
import re
import time
import uuid
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Callable, Dict, Generator, Optional, Sequence, Union
from urllib.parse import quote, urlencode

from ._canonical import dumps, loads, plain, text
from ._errors import NodError, Refused, Unexpected, Unreachable
from ._http import Lost, Reply
from ._record import UUID, known, listed, recorded, same
from ._types import OPERATIONS

GRACE = 10.0  # seconds in which the daemon must answer after a wait
AT_ONCE = 0.001  # a wait for what is known already
RETRY_FIRST, RETRY_MOST, MAX_PAUSE = 0.1, 3.0, 300.0
SHORT_POLL = 0.5
LEAVE = 3.0  # seconds for the calls of a caller that has given up
OURS = "nod-daemon"  # a header of each response of a daemon

CODES = (
    "invalid", "unsupported", "unauthenticated", "forbidden", "not_found", "conflict", "rate_limited", "unavailable",
    "internal",
)


# The fields of an answer of a person.
REPLY = ("decision", "reason", "input", "confirm", "terms", "answers", "others", "decline")


@dataclass(frozen=True)
class Call:
    """One HTTP call."""

    method: str
    target: str
    headers: Dict[str, str]
    body: Optional[bytes]


@dataclass(frozen=True)
class Sleep:
    """A pause in seconds."""

    seconds: float


@dataclass(frozen=True)
class Farewell:
    """Calls for a caller that has given up. They need its thread or its task no longer."""

    steps: Any


Steps = Generator[Union[Call, Sleep, Farewell], Any, Any]


@dataclass(frozen=True)
class Decision:
    """The outcome of an approval. It is true only if someone, or a rule, approved."""

    approved: bool
    state: str
    input: Any  # what to run: the input that was sent or, if a person edited it, theirs
    edited: bool
    scope: str
    reason: str
    record: Any

    def __bool__(self) -> bool:
        return self.approved


class Core:
    """The operations of one daemon."""

    def __init__(self, token: str, patience: float, window: float, trace: str) -> None:
        self.patience, self.window = patience, window
        self.limit = window + min(window, GRACE)  # of one call
        self.reached = False  # a daemon has answered
        self.headers = {"Authorization": "Bearer " + token, "User-Agent": "nodbridge-python"}
        if trace:
            self.headers["Traceparent"] = trace

    # Requests of agents.

    def request(self, body: Dict[str, Any], key: Optional[str], now: bool = False) -> Steps:
        """Open a request and wait until it is closed or deferred."""
        caller, sent = str(uuid.uuid4()), plain(body)
        return (yield from self._follow(lambda: self.open(sent, key, now, caller), sent, caller, key))

    def open(self, body: Dict[str, Any], key: Optional[str], now: bool = False, caller: str = "") -> Steps:
        """Open a request. The caller ID exists before the first call, so that repeats are safe."""
        more = {"key": key, "caller": caller or str(uuid.uuid4()), "query": {"now": now or None}}
        sent = plain(body)
        return (yield from self._record("createInteraction", body=sent, sent=sent, **more))

    def wait(self, id: str, sent: Optional[Dict[str, Any]] = None, caller: str = "") -> Steps:
        """Wait until a request is closed or deferred."""
        while True:
            began = time.monotonic()
            record = yield from self._record("getInteraction", id=id, sent=sent, caller=caller, wait=self.window)
            if record["state"] != "pending" or record.get("queued"):
                return record
            if time.monotonic() - began < SHORT_POLL:  # the daemon did not wait
                yield Sleep(SHORT_POLL)

    def _follow(self, opening: Callable[[], Steps], sent: Dict[str, Any], caller: str, key: Optional[str]) -> Steps:
        """Open a request, and wait for it. A caller that gives up takes it along, at any moment."""
        found = []

        def again() -> Steps:
            return found or [(yield from opening())]

        try:
            found = yield from again()
            record = found[0]
            if record["state"] != "pending" or record.get("queued"):
                return record
            return (yield from self.wait(record["interaction"]["id"], sent, caller))
        except BaseException as error:
            if _gives_up(error, key):
                yield Farewell(self._leave(again, caller))
            raise

    def _leave(self, again: Callable[[], Steps], caller: str) -> Steps:
        """Cancel requests for their caller. If their IDs never arrived, the same caller asks for them again."""
        for record in (yield from again()):
            if record["state"] == "pending":
                id, body = record["interaction"]["id"], {"reason": "the caller stopped waiting"}
                yield from self._record("cancelInteraction", id=id, body=body, caller=caller)

    def ask(self, prompt: str, options: Sequence[str], fields: Dict[str, Any], key: Optional[str]) -> Steps:
        """Ask one question. Return None if no one answered."""
        if isinstance(options, str):
            raise NodError("invalid", "options: a text cannot be a list", "send a list of texts")
        options = list(options)
        question: Dict[str, Any] = {"id": "q", "widget": "text"}
        if options:
            many = len(options) > 5
            question.update(widget="select" if many else "buttons", options=[{"value": o} for o in options])
        record = yield from self.request({"prompt": prompt, "questions": [question], **fields}, key)
        if record["state"] != "answered":
            return None
        answer = record["response"].get("answers", {}).get("q")
        if not isinstance(answer, str) or (options and answer not in options):
            raise Unexpected("the answer is not one of the options")
        return answer

    def decide(
        self, prompt: str, approval: Dict[str, Any], edit: bool, fields: Dict[str, Any], key: Optional[str]
    ) -> Steps:
        """Ask for an approval."""
        if edit:
            approval = {**approval, "decisions": ["deny", "deny_reason", "once", "edit"]}
        # What is returned comes from a copy: the caller's own object may change during the wait.
        body = plain({"prompt": prompt, "approval": approval, **fields})
        approval = body["approval"]
        record = yield from self.request(body, key)
        response = record.get("response") or {}
        edited = "input" in response
        input = response["input"] if edited else approval.get("input")
        scope, reason = response.get("scope", ""), response.get("reason", "")
        return Decision(record["state"] == "approved", record["state"], input, edited, scope, reason, record)

    def approve(self, prompt: str, approval: Dict[str, Any], fields: Dict[str, Any], key: Optional[str]) -> Steps:
        """Ask for an approval. Return True only if it was approved exactly as sent."""
        decision = yield from self.decide(prompt, approval, False, fields, key)
        return decision.approved and not decision.edited

    def exchange(self, dialect: str, message: Any, query: Dict[str, Any], key: Optional[str]) -> Steps:
        """Send a message in the format of another system, and return the answer."""
        caller = str(uuid.uuid4())

        def send(wait: float) -> Steps:
            more = {"key": key, "caller": caller, "wait": wait, "retry": True}
            reply = yield from self._call("dialect", dialect, query=query, body=message, **more)
            return reply, self._page(reply)["items"] if reply.status == 202 else []

        def again() -> Steps:
            return found or (yield from send(AT_ONCE))[1]

        message, found = plain(message), []
        try:
            while True:
                began = time.monotonic()
                reply, found = yield from send(self.window)
                if reply.status != 202:
                    return text(reply.body) if self._kind(reply) == "text/plain" else self._json(reply)
                if time.monotonic() - began < SHORT_POLL:
                    yield Sleep(SHORT_POLL)
        except BaseException as error:
            if _gives_up(error, key):
                yield Farewell(self._leave(again, caller))
            raise

    # Calls and their responses.

    def simple(
        self, operation: str, *path: str, body: Any = None, query: Any = None, retry: bool = False,
        wait: float = 0, want: Any = dict,
    ) -> Steps:
        """Make a call whose response is not a record."""
        reply = yield from self._call(operation, *path, body=body, query=query, retry=retry, wait=wait)
        if want is None:
            return None
        value = self._json(reply)
        if not isinstance(value, dict):
            raise Unexpected("the response is not an object")
        if want is dict:
            return value
        items = value.get("items")
        if not isinstance(items, list) or not all(isinstance(i, dict) for i in items):
            raise Unexpected("the response is not a list")
        return items

    def page(self, operation: str, *path: str, body: Any = None, query: Any = None, retry: bool = True) -> Steps:
        """Make a call whose response is a page of records."""
        reply = yield from self._call(operation, *path, body=body, query=query, retry=retry)
        return self._page(reply)

    def _page(self, reply: Reply) -> Any:
        page = self._json(reply)
        if not isinstance(page, dict) or not isinstance(page.get("items"), list):
            raise Unexpected("the response is not a page of requests")
        for item in page["items"]:
            listed(item)
        return page

    def record(self, operation: str, id: str, body: Any = None) -> Steps:
        """Make a call whose response is the record of a request."""
        return (yield from self._record(operation, id=id, body=body))

    def respond(self, id: str, reply: Dict[str, Any]) -> Steps:
        """Answer a request. A repeat could meet another state, so there is none."""
        for name in reply:
            if name not in REPLY:
                raise NodError("invalid", "unknown field %r" % name, "use one of " + ", ".join(REPLY))
        return recorded(self._json((yield from self._call("respond", self._id(id), body=reply))), id)

    def reprompt(self, id: str, body: Dict[str, Any], key: Optional[str], now: bool = False) -> Steps:
        """Send a follow-up, and wait until it is closed."""
        caller, sent = str(uuid.uuid4()), plain(body)

        def opening() -> Steps:
            more = {"body": sent, "key": key, "caller": caller, "retry": True, "query": {"now": now or None}}
            reply = yield from self._call("repromptInteraction", self._id(id), **more)
            record = known(opened(self._json(reply)), None)
            if record["interaction"]["id"] == id or record["interaction"].get("previous") != id:
                raise Unexpected("the response is not the follow-up")
            return record

        return (yield from self._follow(opening, {}, caller, key))

    def messages(
        self, session: str, wait: float, reader: str, lease: Any, continued: Optional[bool], peek: Optional[bool]
    ) -> Steps:
        """Read the messages of a session, and wait for the first one."""
        end = time.monotonic() + wait
        while True:
            left = max(0.0, min(self.window, end - time.monotonic()))
            query = {"reader": reader, "lease": lease, "continued": continued, "peek": peek}
            more = {"retry": not reader, "wait": left, "want": list}
            items = yield from self.simple("sessionMessages", session, query=query, **more)
            if any(not isinstance(m.get("id"), str) or m.get("session") != session for m in items):
                raise Unexpected("the response is not for this session")
            if items or time.monotonic() >= end:
                return items
            yield Sleep(min(0.1, max(0.0, end - time.monotonic())))

    def health(self, operation: str) -> Steps:
        """Read the health of the daemon, which is also in a response with status 503."""
        path, method = self._path(operation)
        try:
            reply = yield Call(method, path, {}, None)
        except Lost as lost:
            raise _unreachable(lost) from None
        value = self._json(reply) if reply.status in (200, 503) else None
        if not isinstance(value, dict) or value.get("status") not in ("ok", "degraded", "down"):
            raise Unexpected("the response is not the health of a nod daemon")
        if operation == "readyz" and reply.status != 200:
            raise Unreachable("unavailable", "the nod daemon is not ready")
        return value

    def _record(
        self, operation: str, id: Optional[str] = None, sent: Optional[Dict[str, Any]] = None, body: Any = None,
        query: Any = None, key: Optional[str] = None, caller: str = "", wait: float = 0,
    ) -> Steps:
        path = [] if id is None else [self._id(id)]
        more = {"key": key, "caller": caller, "wait": wait, "retry": True}
        reply = yield from self._call(operation, *path, body=body, query=query, **more)
        record = known(opened(self._json(reply)), id)
        same(record, sent or {})
        return record

    def _call(
        self, operation: str, *path: str, body: Any = None, query: Any = None, key: Optional[str] = None,
        caller: str = "", wait: float = 0, retry: bool = False,
    ) -> Steps:
        """Make a call, and repeat it while the daemon is unreachable if that is safe.

        An outage begins at the first failure, or when the answer was due. After a failure, a call does not wait: its
        answer shows at once that the daemon is back.
        """
        path, method = self._path(operation, *path)
        headers = {**self.headers, **({"Idempotency-Key": header(key)} if key else {})}
        if caller:
            headers["Nod-Caller"] = caller
        content = None if body is None else dumps(body)
        began, pause = None, RETRY_FIRST
        while True:
            started, after = time.monotonic(), 0.0
            try:
                reply: Reply = yield Call(method, path + _query(query or {}, wait), headers, content)
                foreign = OURS not in reply.headers
                self.reached = self.reached or not foreign
                if foreign and self.reached:
                    raise Lost("the server in front of it reports status %d" % reply.status)
                if reply.status in (200, 201, 204) or (reply.status == 202 and operation == "dialect"):
                    return reply
                error = self._failure(reply)
                after = _seconds(reply.headers)
            except Lost as lost:
                error = _unreachable(lost)
            if not retry or error.code not in ("unavailable", "rate_limited"):
                raise error
            now, wait = time.monotonic(), min(wait, AT_ONCE)
            began = min(now, started + self.window) if began is None else began
            if now + after - began > self.patience:
                raise error
            yield Sleep(max(after, pause * random.uniform(0.8, 1.0)))
            pause = min(2 * pause, RETRY_MOST)

    def _failure(self, reply: Reply) -> NodError:
        """Return the error in a response. Only one of nod itself is final: a proxy in between only disturbs."""
        if reply.status < 400:
            return Unexpected("the response with status %d does not come from a nod daemon" % reply.status)
        try:
            error = self._json(reply)["error"]
            if OURS in reply.headers and error["code"] in CODES and isinstance(error["message"], str):
                kind = Unreachable if error["code"] == "unavailable" else Refused
                return kind(error["code"], error["message"], str(error.get("hint", "")), error.get("fields"))
        except (NodError, KeyError, TypeError):
            pass
        return _unreachable(Lost("the server in front of it reports status %d" % reply.status))

    def _path(self, operation: str, *values: str) -> Any:
        method, path = OPERATIONS[operation]
        for value in values:
            if not isinstance(value, str) or value in ("", ".", ".."):
                raise NodError("invalid", "an ID is required, not %r" % (value,))
            path = re.sub(r"\{[a-z]+\}", lambda _: quote(value, safe=""), path, count=1)
        return path, method

    def _id(self, id: str) -> str:
        if not isinstance(id, str) or not UUID.match(id):
            raise NodError("invalid", "%r is not the ID of a request" % (id,))
        return id

    def _kind(self, reply: Reply) -> str:
        return reply.headers.get("content-type", "").partition(";")[0].strip().lower()

    def _json(self, reply: Reply) -> Any:
        if self._kind(reply) != "application/json":
            raise Unexpected("the response is not JSON")
        return loads(reply.body)


def opened(value: Any) -> Any:
    """Return the record of a call that opens a request. Raise if an earlier call has its answer."""
    if isinstance(value, dict) and value.get("repeated") is True and "state" not in value:
        raise Refused("conflict", "an earlier call with this key has the answer", "use another key to ask again")
    return value


def _gives_up(error: BaseException, key: Optional[str]) -> bool:
    """Report whether an error leaves no one to wait. After a failure, a key finds the request again."""
    if isinstance(error, (GeneratorExit, Refused)):
        return False
    return not key or not isinstance(error, NodError) or error.code == "deadline"


def header(value: str) -> str:
    """Return a value that fits in an HTTP header."""
    if not isinstance(value, str) or not value or not value.isascii() or not value.isprintable() or value != value.strip():
        raise NodError("invalid", "a token or an idempotency key has invalid characters")
    return value


def _unreachable(lost: Lost) -> NodError:
    return Unreachable("unavailable", "the nod daemon is unreachable: %s" % lost, "start nod serve, or set NOD_URL")


def _query(values: Dict[str, Any], wait: float) -> str:
    """Return the query of a call that waits for some seconds."""
    given = {**values, "wait": "%dms" % max(1, wait * 1000) if wait else None}
    pairs = [(k, str(v).lower() if isinstance(v, bool) else v) for k, v in given.items() if v is not None and v != ""]
    return "?" + urlencode(pairs) if pairs else ""


def _seconds(headers: Dict[str, str]) -> float:
    """Return the pause that a response asks for. A time counts by the clock of its sender."""
    text = headers.get("retry-after", "")
    try:
        if text.isdigit():
            return min(float(text), MAX_PAUSE)
        pause = parsedate_to_datetime(text) - parsedate_to_datetime(headers["date"])
        return min(max(pause.total_seconds(), 0.0), MAX_PAUSE)
    except (KeyError, TypeError, ValueError, OverflowError):
        return 0.0
