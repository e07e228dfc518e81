"""What both clients share: the settings, and how steps are performed."""

from __future__ import annotations

import os
import ssl
import time
from asyncio import CancelledError
from typing import Any, Coroutine, Dict, Optional, Union

from ._core import LEAVE, Call, Core, Farewell, Steps, header
from ._errors import DeadlineExceeded, NodError
from ._http import Address, Line, Lost, Reply, call

Json = Any
Duration = Union[str, float]


class Base:
    """The address and the settings of a client."""

    def __init__(
        self,
        url: Optional[str] = None,
        token: Optional[str] = None,
        *,
        patience: float = 120.0,
        window: float = 25.0,
        trace: str = "",
        context: Optional[ssl.SSLContext] = None,
    ) -> None:
        """Connect to a daemon.

        ``url`` and ``token`` default to NOD_URL and NOD_TOKEN. ``patience`` is
        the time in seconds for which the daemon may be unreachable. ``window``
        is the longest wait of one call; it must be shorter than the time after
        which a proxy closes a silent connection. ``trace`` is a traceparent (W3C
        Trace Context). ``context`` sets the certificates of TLS.
        """
        self.address = Address(url or os.environ.get("NOD_URL") or "http://127.0.0.1:8787")
        token = (os.environ.get("NOD_TOKEN", "") if token is None else token).strip()
        if not token:
            raise NodError("unauthenticated", "no token", "set NOD_TOKEN to the token of an agent")
        self.core = Core(header(token), patience, window, header(trace) if trace else "")
        self.context = context or (ssl.create_default_context() if self.address.tls else None)

    def _run(self, steps: Steps, deadline: Optional[float] = None) -> Any:
        return finish(perform(steps, deadline, Blocking(self)))


class Blocking:
    """Performs steps in the thread that asks for them."""

    def __init__(self, base: Base) -> None:
        self.base = base

    def blocking(self, step: Call, limit: float, line: Line) -> Reply:
        """Make a call in this thread."""
        message = self.base.address.message(step.method, step.target, step.headers, step.body)
        return call(self.base.address, message, limit, self.base.context, line)

    async def call(self, step: Call, limit: float) -> Reply:
        """Make a call."""
        return self.blocking(step, limit, Line())

    async def sleep(self, seconds: float) -> None:
        """Pause."""
        time.sleep(seconds)

    async def farewell(self, steps: Steps) -> None:
        """Perform the steps of a caller that has given up. If they fail, the request expires at its own timeout."""
        try:
            await perform(steps, LEAVE, Blocking(self.base))
        except (NodError, Lost):
            pass


async def perform(steps: Steps, deadline: Optional[float], doer: Blocking) -> Any:
    """Perform steps. An exception, such as that of a signal handler, is one of the steps' own."""
    end = float("inf") if deadline is None else time.monotonic() + deadline
    value: Any = None
    error: Optional[BaseException] = None
    while True:
        try:
            step = steps.throw(error) if error is not None else steps.send(value)
            value, error = None, None
            left = end - time.monotonic()
            if isinstance(step, Farewell):
                await doer.farewell(step.steps)
            elif left <= 0:
                raise DeadlineExceeded()
            elif isinstance(step, Call):
                value = await doer.call(step, min(doer.base.core.limit, left))
            else:
                await doer.sleep(min(step.seconds, left))
        except StopIteration as stop:
            return stop.value
        except BaseException as raised:
            if steps.gi_frame is None:  # the steps have ended with it
                raise
            error = raised
            if isinstance(raised, Lost) and time.monotonic() >= end:
                error = DeadlineExceeded()
            if isinstance(error, DeadlineExceeded):
                end = float("inf")
            if isinstance(raised, GeneratorExit):  # the loop is gone
                error = CancelledError()


def finish(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Return the result of a coroutine that never waits for a loop."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("the coroutine waits")


def approval_of(input: Json, tool: str, where: str, fields: Dict[str, Any]) -> Dict[str, Any]:
    """Return the approval of the arguments of a call."""
    out = dict(fields.pop("approval", None) or {})
    out.update({k: v for k, v in (("tool", tool), ("where", where)) if v})
    if input is not None:
        out["input"] = input
    return out
