"""What both clients share: the settings."""

from __future__ import annotations

import os
import ssl
from typing import Any, Dict, Optional, Union

from ._core import Call, Core, header
from ._errors import NodError
from ._http import Address

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
        token = (token or os.environ.get("NOD_TOKEN") or "").strip()
        if not token:
            raise NodError("unauthenticated", "no token", "set NOD_TOKEN to the token of an agent")
        self.core = Core(header(token), patience, header(trace) if trace else "")
        self.context = context

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
