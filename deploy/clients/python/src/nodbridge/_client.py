"""What both clients share: the settings."""

from __future__ import annotations

import os
import ssl
import time
from typing import Any, Dict, Optional, Union

from ._core import LEAVE, Call, Core, Farewell, Steps, header
from ._errors import DeadlineExceeded, NodError
from ._http import Address, Lost, call

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
        trace: str = "",
        context: Optional[ssl.SSLContext] = None,
    ) -> None:
        """Connect to a daemon.

        ``url`` and ``token`` default to NOD_URL and NOD_TOKEN. ``patience`` is
        the time in seconds for which the daemon may be unreachable. ``trace`` is
        a traceparent (W3C Trace Context). ``context`` sets the certificates of
        TLS.
        """
        self.address = Address(url or os.environ.get("NOD_URL") or "http://127.0.0.1:8787")
        token = (os.environ.get("NOD_TOKEN", "") if token is None else token).strip()
        if not token:
            raise NodError("unauthenticated", "no token", "set NOD_TOKEN to the token of an agent")
        self.core = Core(header(token), patience, header(trace) if trace else "")
        self.context = context or (ssl.create_default_context() if self.address.tls else None)

    def _run(self, steps: Steps, deadline: Optional[float] = None) -> Any:
        """Perform steps in this thread. An exception, such as that of a signal handler, is one of the steps' own."""
        end = None if deadline is None else time.monotonic() + deadline
        value: Any = None
        error: Optional[BaseException] = None
        while True:
            try:
                step = steps.throw(error) if error is not None else steps.send(value)
                value, error = None, None
                value = self._step(step, end)
            except StopIteration as stop:
                return stop.value
            except BaseException as raised:
                if steps.gi_frame is None:  # the steps have ended with it
                    raise
                error, end = raised, None if isinstance(raised, DeadlineExceeded) else end

    def _step(self, step: Any, end: Optional[float]) -> Any:
        if isinstance(step, Farewell):
            return self._farewell(step.steps)
        left = float("inf") if end is None else end - time.monotonic()
        if left <= 0:
            raise DeadlineExceeded()
        if not isinstance(step, Call):
            time.sleep(min(step.seconds, left))
            return None
        try:
            return call(self.address, self.message(step), min(step.limit, left), self.context)
        except Lost:
            if end is not None and time.monotonic() >= end:
                raise DeadlineExceeded() from None
            raise

    def _farewell(self, steps: Steps) -> None:
        """Perform the steps of a caller that has given up. If they fail, the request expires at its own timeout."""
        try:
            self._run(steps, LEAVE)
        except (NodError, Lost):
            pass

    def message(self, step: Call) -> bytes:
        """Return the bytes of a call."""
        return self.address.message(step.method, step.target, step.headers, step.body)


def approval_of(input: Json, tool: str, where: str, fields: Dict[str, Any]) -> Dict[str, Any]:
    """Return the approval of the arguments of a call."""
    out = dict(fields.pop("approval", None) or {})
    out.update({k: v for k, v in (("tool", tool), ("where", where)) if v})
    if input is not None:
        out["input"] = input
    return out
