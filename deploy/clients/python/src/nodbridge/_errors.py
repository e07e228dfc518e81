"""Errors of the client. None of them is ever a yes."""

from __future__ import annotations

from typing import Any, List, Optional


class NodError(Exception):
    """A call that failed.

    ``code`` is an error code of the API, such as ``forbidden``, or one of the
    client: ``unexpected`` for a response that no nod daemon sends, and
    ``deadline`` for a wait that the caller limited.
    """

    def __init__(self, code: str, message: str, hint: str = "", fields: Optional[List[Any]] = None) -> None:
        super().__init__(message + (" (hint: " + hint + ")" if hint else ""))
        self.code = code
        self.message = message
        self.hint = hint
        self.fields = fields or []

    def __reduce__(self) -> Any:
        """Make the error picklable, so that another process can raise it."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: Any, args: Any, state: Any) -> Exception:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


class Refused(NodError):
    """The daemon refused the call, for the reason in ``code``."""


class Unreachable(NodError):
    """The daemon did not answer for longer than the patience of the client."""


class Unexpected(NodError):
    """The response cannot come from a nod daemon, or belongs to another request."""

    def __init__(self, what: str) -> None:
        super().__init__("unexpected", what, "check NOD_URL and any proxies in between")


class DeadlineExceeded(NodError):
    """The deadline of the caller ended before the request was closed."""

    def __init__(self) -> None:
        super().__init__("deadline", "no answer before the deadline of the caller")
