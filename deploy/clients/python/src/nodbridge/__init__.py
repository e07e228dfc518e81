"""Ask people in Slack, Discord or Telegram through nod, and act only on a yes.

    from nodbridge import Nod

    nod = Nod()  # NOD_URL and NOD_TOKEN
    if nod.approve("Drop the table?", {"command": "psql -c 'drop table x'"}):
        ...
"""

from ._async import AsyncNod
from ._canonical import digest
from ._core import Decision
from ._errors import DeadlineExceeded, NodError, Refused, Unexpected, Unreachable
from ._sync import Nod
from ._types import (
    Approval,
    Grant,
    Interaction,
    Message,
    Option,
    Question,
    Reprompt,
    Request,
    Recorded,
    RequestRecord,
    Response,
    Session,
    SessionReport,
    State,
    Steering,
    Stop,
)

__all__ = [
    "Approval",
    "AsyncNod",
    "DeadlineExceeded",
    "Decision",
    "Grant",
    "Interaction",
    "Message",
    "Nod",
    "NodError",
    "Option",
    "Question",
    "Refused",
    "Reprompt",
    "Request",
    "Recorded",
    "RequestRecord",
    "Response",
    "Session",
    "SessionReport",
    "State",
    "Steering",
    "Stop",
    "Unexpected",
    "Unreachable",
    "digest",
]
