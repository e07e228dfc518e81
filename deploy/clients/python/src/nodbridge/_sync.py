"""The client for threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence

from ._client import Duration, Json, approval_of, Base
from ._core import Decision

if TYPE_CHECKING:
    from ._types import Grant, Message, Recorded, Reprompt, Request, RequestRecord, Session, SessionReport, Steering, Stop


class Nod(Base):
    """A client for threads. It is safe for concurrent use.

    ``fields`` are the other fields of a request, such as ``session``, ``route``
    and ``timeout``. ``deadline`` limits a wait in seconds; then, and after any
    exception during the wait, the client cancels the request. ``key`` is an idempotency
    key; a repeat with the same key in another process gets the same request.
    """

    def ask(
        self, prompt: str, options: Sequence[str] = (), *, key: Optional[str] = None, deadline: Optional[float] = None,
        **fields: Any,
    ) -> Optional[str]:
        """Ask one question. Return the option or the text, or None if no one answered."""
        return self._run(self.core.ask(prompt, options, fields, key), deadline)

    def approve(
        self, prompt: str, input: Json = None, *, tool: str = "", where: str = "", key: Optional[str] = None,
        deadline: Optional[float] = None, **fields: Any,
    ) -> bool:
        """Return whether the request was approved exactly as sent. A denial and a timeout are False."""
        approval = approval_of(input, tool, where, fields)
        return self._run(self.core.approve(prompt, approval, fields, key), deadline)

    def decide(
        self, prompt: str, input: Json = None, *, tool: str = "", where: str = "", edit: bool = False,
        key: Optional[str] = None, deadline: Optional[float] = None, **fields: Any,
    ) -> Decision:
        """Ask for an approval, and return the decision. With ``edit``, people can change the input."""
        approval = approval_of(input, tool, where, fields)
        return self._run(self.core.decide(prompt, approval, edit, fields, key), deadline)

    def request(
        self, body: Request, *, key: Optional[str] = None, now: bool = False, deadline: Optional[float] = None
    ) -> RequestRecord:
        """Send any request, and return its record once it is closed or deferred.

        With ``now``, it is undeliverable if every platform is down, instead of waiting for one.
        """
        return self._run(self.core.request(dict(body), key, now), deadline)

    def open(self, body: Request, *, key: Optional[str] = None, now: bool = False) -> RequestRecord:
        """Send any request, and return its record at once."""
        return self._run(self.core.open(dict(body), key, now))

    def notify(self, prompt: str, *, key: Optional[str] = None, **fields: Any) -> RequestRecord:
        """Post a notice, which needs no answer."""
        return self._run(self.core.open({"kind": "notice", "prompt": prompt, **fields}, key))

    def wait(self, id: str, *, deadline: Optional[float] = None) -> RequestRecord:
        """Wait until a request is closed or deferred. It stays open if the wait ends early."""
        return self._run(self.core.wait(id), deadline)

    def show(self, id: str) -> RequestRecord:
        """Return a request."""
        return self._run(self.core.record("getInteraction", id))

    def list(
        self, *, state: str = "", session: str = "", text: str = "", cursor: str = "", limit: int = 0
    ) -> Dict[str, Any]:
        """Return a page of requests, newest first: ``items``, and ``next`` for ``cursor``."""
        query = {"state": state, "session": session, "text": text, "cursor": cursor, "limit": limit or ""}
        return self._run(self.core.page("listInteractions", query=query))

    def cancel(self, id: str, reason: str = "") -> RequestRecord:
        """Cancel a pending request. A closed one is returned unchanged."""
        return self._run(self.core.record("cancelInteraction", id, {"reason": reason}))

    def complete(self, id: str, *, result: str = "", error: str = "", ran: str = "") -> RequestRecord:
        """Report what came of a response. The card shows it."""
        body = {k: v for k, v in (("result", result), ("error", error), ("ran", ran)) if v}
        return self._run(self.core.record("completeInteraction", id, body))

    def defer(self, id: str, *, hold: Duration = "", message: str = "") -> RequestRecord:
        """Continue without the answer. A late answer goes to the session."""
        body = {k: v for k, v in (("hold", hold), ("message", message)) if v}
        return self._run(self.core.record("queueInteraction", id, body))

    def reprompt(
        self, id: str, body: Reprompt, *, key: Optional[str] = None, now: bool = False,
        deadline: Optional[float] = None,
    ) -> RequestRecord:
        """Send a follow-up in the same messages, and return its record once it is closed."""
        return self._run(self.core.reprompt(id, dict(body), key, now), deadline)

    def respond(self, id: str, **reply: Any) -> Recorded:
        """Answer a request as the person with the token. ``reply`` has the names of REPLY."""
        return self._run(self.core.respond(id, reply))

    def exchange(
        self, dialect: str, message: Json, *, key: Optional[str] = None, deadline: Optional[float] = None, **query: Any
    ) -> Json:
        """Send a message in the format of another system, and return the answer in the same format."""
        return self._run(self.core.exchange(dialect, message, query, key), deadline)

    def sessions(self, session: str = "") -> List[Session]:
        """Return the sessions of the agent."""
        return self._run(self.core.simple("sessions", query={"session": session}, retry=True, want=list))

    def report_session(self, session: str, report: SessionReport) -> Session:
        """Report what a session does."""
        return self._run(self.core.simple("reportSession", session, body=dict(report)))

    def cancel_session(self, session: str, reason: str = "") -> Dict[str, Any]:
        """Cancel the pending requests of a session, and revoke its grants."""
        return self._run(self.core.page("cancelSession", session, body={"reason": reason}))

    def stop(self, session: str, *, agent: str = "") -> List[Stop]:
        """Stop a session."""
        return self._run(self.core.simple("stopSession", session, body={"agent": agent}, retry=True, want=list))

    def resume(self, session: str, *, agent: str = "") -> List[Stop]:
        """Resume a session as the person with the token."""
        return self._run(self.core.simple("resumeSession", session, body={"agent": agent}, want=list))

    def messages(
        self, session: str, *, wait: float = 0, reader: str = "", lease: Duration = "",
        continued: Optional[bool] = None, peek: Optional[bool] = None,
    ) -> List[Message]:
        """Return the late answers and the messages from people of a session, oldest first.

        With peek, return only the messages from people that no reader has reserved, and reserve none.
        """
        return self._run(self.core.messages(session, wait, reader, lease, continued, peek))

    def acknowledge(self, session: str, through: str) -> None:
        """Forget the messages of a session up to and including one."""
        body = {"through": through}
        self._run(self.core.simple("acknowledgeMessages", session, body=body, retry=True, want=None))

    def steer(self, session: str, text: str, *, agent: str = "") -> Steering:
        """Send a message to a session as the person with the token."""
        return self._run(self.core.simple("steerSession", session, body={"text": text, "agent": agent}))

    def steering(self, session: str, message: str) -> Steering:
        """Return a message that a person sent to a session."""
        return self._run(self.core.simple("steering", session, message, retry=True))

    def availability(self, *, route: str = "", session: str = "") -> Dict[str, Any]:
        """Return whether someone can answer now."""
        return self._run(self.core.simple("availability", query={"route": route, "session": session}, retry=True))

    def grants(self, session: str = "") -> List[Grant]:
        """Return the standing approvals of the agent."""
        return self._run(self.core.simple("listGrants", query={"session": session}, retry=True, want=list))

    def revoke(self, grant: str) -> Grant:
        """Revoke a standing approval."""
        return self._run(self.core.simple("revokeGrant", grant, retry=True))

    def health(self) -> Dict[str, Any]:
        """Return the state of Redis and of each platform."""
        return self._run(self.core.health("healthz"))

    def ready(self) -> Dict[str, Any]:
        """Return the same, and raise NodError unless a platform is connected."""
        return self._run(self.core.health("readyz"))
