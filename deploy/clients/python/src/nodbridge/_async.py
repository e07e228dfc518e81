"""The client for asyncio, written from _sync.py by `make reference`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence

from ._client import Duration, Json, approval_of
from ._core import Decision
from ._loop import AsyncBase

if TYPE_CHECKING:
    from ._types import Grant, Message, Recorded, Reprompt, Request, RequestRecord, Session, SessionReport, Steering, Stop


class AsyncNod(AsyncBase):
    """A client for asyncio, with the methods of Nod.

    A cancelled task cancels its request, too.
    """

    async def ask(
        self, prompt: str, options: Sequence[str] = (), *, key: Optional[str] = None, deadline: Optional[float] = None,
        **fields: Any,
    ) -> Optional[str]:
        """Ask one question. Return the option or the text, or None if no one answered."""
        return await self._perform(self.core.ask(prompt, options, fields, key), deadline)

    async def approve(
        self, prompt: str, input: Json = None, *, tool: str = "", where: str = "", key: Optional[str] = None,
        deadline: Optional[float] = None, **fields: Any,
    ) -> bool:
        """Return whether the request was approved exactly as sent. A denial and a timeout are False."""
        approval = approval_of(input, tool, where, fields)
        return await self._perform(self.core.approve(prompt, approval, fields, key), deadline)

    async def decide(
        self, prompt: str, input: Json = None, *, tool: str = "", where: str = "", edit: bool = False,
        key: Optional[str] = None, deadline: Optional[float] = None, **fields: Any,
    ) -> Decision:
        """Ask for an approval, and return the decision. With ``edit``, people can change the input."""
        approval = approval_of(input, tool, where, fields)
        return await self._perform(self.core.decide(prompt, approval, edit, fields, key), deadline)

    async def request(
        self, body: Request, *, key: Optional[str] = None, now: bool = False, deadline: Optional[float] = None
    ) -> RequestRecord:
        """Send any request, and return its record once it is closed or deferred.

        With ``now``, it is undeliverable if every platform is down, instead of waiting for one.
        """
        return await self._perform(self.core.request(dict(body), key, now), deadline)

    async def open(self, body: Request, *, key: Optional[str] = None, now: bool = False) -> RequestRecord:
        """Send any request, and return its record at once."""
        return await self._perform(self.core.open(dict(body), key, now))

    async def notify(self, prompt: str, *, key: Optional[str] = None, **fields: Any) -> RequestRecord:
        """Post a notice, which needs no answer."""
        return await self._perform(self.core.open({"kind": "notice", "prompt": prompt, **fields}, key))

    async def wait(self, id: str, *, deadline: Optional[float] = None) -> RequestRecord:
        """Wait until a request is closed or deferred. It stays open if the wait ends early."""
        return await self._perform(self.core.wait(id), deadline)

    async def show(self, id: str) -> RequestRecord:
        """Return a request."""
        return await self._perform(self.core.record("getInteraction", id))

    async def list(
        self, *, state: str = "", session: str = "", text: str = "", cursor: str = "", limit: int = 0
    ) -> Dict[str, Any]:
        """Return a page of requests, newest first: ``items``, and ``next`` for ``cursor``."""
        query = {"state": state, "session": session, "text": text, "cursor": cursor, "limit": limit or ""}
        return await self._perform(self.core.page("listInteractions", query=query))

    async def cancel(self, id: str, reason: str = "") -> RequestRecord:
        """Cancel a pending request. A closed one is returned unchanged."""
        return await self._perform(self.core.record("cancelInteraction", id, {"reason": reason}))

    async def complete(self, id: str, *, result: str = "", error: str = "", ran: str = "") -> RequestRecord:
        """Report what came of a response. The card shows it."""
        body = {k: v for k, v in (("result", result), ("error", error), ("ran", ran)) if v}
        return await self._perform(self.core.record("completeInteraction", id, body))

    async def defer(self, id: str, *, hold: Duration = "", message: str = "") -> RequestRecord:
        """Continue without the answer. A late answer goes to the session."""
        body = {k: v for k, v in (("hold", hold), ("message", message)) if v}
        return await self._perform(self.core.record("queueInteraction", id, body))

    async def reprompt(
        self, id: str, body: Reprompt, *, key: Optional[str] = None, now: bool = False,
        deadline: Optional[float] = None,
    ) -> RequestRecord:
        """Send a follow-up in the same messages, and return its record once it is closed."""
        return await self._perform(self.core.reprompt(id, dict(body), key, now), deadline)

    async def respond(self, id: str, **reply: Any) -> Recorded:
        """Answer a request as the person with the token. ``reply`` has the names of REPLY."""
        return await self._perform(self.core.respond(id, reply))

    async def exchange(
        self, dialect: str, message: Json, *, key: Optional[str] = None, deadline: Optional[float] = None, **query: Any
    ) -> Json:
        """Send a message in the format of another system, and return the answer in the same format."""
        return await self._perform(self.core.exchange(dialect, message, query, key), deadline)

    async def sessions(self, session: str = "") -> List[Session]:
        """Return the sessions of the agent."""
        return await self._perform(self.core.simple("sessions", query={"session": session}, retry=True, want=list))

    async def report_session(self, session: str, report: SessionReport) -> Session:
        """Report what a session does."""
        return await self._perform(self.core.simple("reportSession", session, body=dict(report)))

    async def cancel_session(self, session: str, reason: str = "") -> Dict[str, Any]:
        """Cancel the pending requests of a session, and revoke its grants."""
        return await self._perform(self.core.page("cancelSession", session, body={"reason": reason}))

    async def stop(self, session: str, *, agent: str = "") -> List[Stop]:
        """Stop a session."""
        return await self._perform(self.core.simple("stopSession", session, body={"agent": agent}, retry=True, want=list))

    async def resume(self, session: str, *, agent: str = "") -> List[Stop]:
        """Resume a session as the person with the token."""
        return await self._perform(self.core.simple("resumeSession", session, body={"agent": agent}, want=list))

    async def messages(
        self, session: str, *, wait: float = 0, reader: str = "", lease: Duration = "",
        continued: Optional[bool] = None, peek: Optional[bool] = None,
    ) -> List[Message]:
        """Return the late answers and the messages from people of a session, oldest first.

        With peek, return only the messages from people that no reader has reserved, and reserve none.
        """
        return await self._perform(self.core.messages(session, wait, reader, lease, continued, peek))

    async def acknowledge(self, session: str, through: str) -> None:
        """Forget the messages of a session up to and including one."""
        body = {"through": through}
        await self._perform(self.core.simple("acknowledgeMessages", session, body=body, retry=True, want=None))

    async def steer(self, session: str, text: str, *, agent: str = "") -> Steering:
        """Send a message to a session as the person with the token."""
        return await self._perform(self.core.simple("steerSession", session, body={"text": text, "agent": agent}))

    async def steering(self, session: str, message: str) -> Steering:
        """Return a message that a person sent to a session."""
        return await self._perform(self.core.simple("steering", session, message, retry=True))

    async def availability(self, *, route: str = "", session: str = "") -> Dict[str, Any]:
        """Return whether someone can answer now."""
        return await self._perform(self.core.simple("availability", query={"route": route, "session": session}, retry=True))

    async def grants(self, session: str = "") -> List[Grant]:
        """Return the standing approvals of the agent."""
        return await self._perform(self.core.simple("listGrants", query={"session": session}, retry=True, want=list))

    async def revoke(self, grant: str) -> Grant:
        """Revoke a standing approval."""
        return await self._perform(self.core.simple("revokeGrant", grant, retry=True))

    async def health(self) -> Dict[str, Any]:
        """Return the state of Redis and of each platform."""
        return await self._perform(self.core.health("healthz"))

    async def ready(self) -> Dict[str, Any]:
        """Return the same, and raise NodError unless a platform is connected."""
        return await self._perform(self.core.health("readyz"))
