"""Types of the API, written from its OpenAPI description by `make reference`."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Tuple, TypedDict, Union


class _Actor(TypedDict):
    # Platform of the account; `api` for the API and the console.
    platform: str
    # ID of the account on the platform.
    user: str


class Actor(_Actor, total=False):
    # Display name of the person in the config.
    known: str
    # Display name of the account. The account's owner can choose any.
    name: str
    # Name of the person in the config.
    person: str


class Approval(TypedDict, total=False):
    # The agent stores session and always approvals itself. nod passes the choice back and stores no
    # grant.
    agent_remembers: bool
    # Text that an approver must type, such as the name of the database. At most 100 bytes.
    confirm: str
    # Decisions that the card offers, if the agent can take more or fewer than deny, deny with a reason,
    # and the scopes.
    decisions: List[DecisionName]
    # The card highlights no approving control.
    default_no: bool
    # Input of the tool; any JSON.
    input: Any
    # The tool's own name for the approval; does not affect grants. At most 500 bytes.
    key: str
    # Coverage of each scope. With `agent_remembers`, this is text of the agent. Otherwise nod replaces
    # it.
    scope_notes: Dict[str, str]
    # Scopes that the card offers.
    scopes: List[ScopeName]
    # Name of the tool that needs approval. At most 200 bytes.
    tool: str
    # Directory or environment; a grant applies only there. At most 3000 bytes.
    where: str

DecisionName = Union[Literal["deny", "deny_reason", "deny_always", "deny_stop", "respond", "once", "session", "always", "edit"], str]


class _Grant(TypedDict):
    # Person who gave the grant.
    actor: Dict[str, Any]
    # Name of the agent.
    agent: str
    # Time at which the grant expires.
    expires: str
    # ID of the grant.
    id: str
    # Internal key of the coverage.
    key: str
    # ID of the request in which the grant was given.
    origin: str
    # The grant as a sentence.
    words: str


class Grant(_Grant, total=False):
    # Coverage as the card stated it: the exact request, or everything that a rule matches.
    covers: str
    # The people who approved.
    givers: List[Dict[str, Any]]
    # Rule that the grant covers. If empty, it covers the exact request.
    rule: str
    # Session that the grant covers. If empty, it covers every session.
    session: str
    # Name of the tool.
    tool: str


class _Health(TypedDict):
    # State of the connection.
    state: Literal["starting", "up", "degraded", "standby", "down"]


class Health(_Health, total=False):
    # Reason for the state.
    reason: str
    # Time since which the state holds.
    since: str


class _Interaction(TypedDict):
    # Name of the agent.
    agent: str
    # Time at which the request was opened.
    created: str
    # Time at which the timeout applies.
    deadline: str
    # Platforms and channels that show the request.
    destinations: List[Dict[str, Any]]
    # Hex SHA-256 over the canonical form (RFC 8785) of kind, prompt, error, tool_name and questions, and
    # of the tool, where, key and input of an approval.
    digest: str
    # ID of the request.
    id: str
    # Kind of the request.
    kind: Literal["ask", "approval", "notice"]
    # Outcome of a timeout.
    on_timeout: str
    # Text that people see, in Markdown. At most 65536 bytes.
    prompt: str
    # People who can respond.
    responders: List[Dict[str, Any]]


class Interaction(_Interaction, total=False):
    approval: Approval
    # Hex SHA-256 over everything that people see of the request. A decision is bound to it.
    content: str
    # The agent's user can decide at the agent's own terminal as well, so an answer that was sent may have
    # come too late.
    contested: bool
    # Text above the questions, such as the reason why they are asked again. At most 3000 bytes.
    error: str
    # Groups of responders.
    groups: List[str]
    # Values of the agent, such as the URL at which its workflow continues. People do not see them. The
    # agent and webhooks get them back.
    metadata: Dict[str, str]
    # People, and groups with one member each, who must approve.
    must: List[str]
    # Route that the request named if the policy sent it elsewhere.
    own_route: str
    # ID of the request that this follow-up replaced.
    previous: str
    # Questions of the request.
    questions: List[Question]
    # Number of people who must approve.
    quorum: int
    # Number of redacted credentials.
    redacted: int
    # A redacted credential is part of the text that would be executed, so approving needs a typed
    # confirmation.
    redacted_command: bool
    # Person for whom the agent asks, who can deny but not approve. At most 100 bytes.
    requester: str
    # Requirements of each route if the policy names several: route, responders, groups, quorum and must.
    requirements: List[Dict[str, Any]]
    # ID of the response, returned in events. At most 200 bytes.
    response_id: str
    # Risk level.
    risk: str
    # Number of the round, starting at 1.
    round: int
    # Route of the request (default "default"). At most 100 bytes.
    route: str
    # Policy rule that decided.
    rule: str
    # Reason that the config gives for the rule.
    rule_reason: str
    # Session of the request. At most 200 bytes.
    session: str
    # Proof that every approval requires in addition to a click. If absent, a click is enough.
    step_up: Literal["passkey"]
    # Number of times that the requirements became stricter while the request was pending.
    terms: int
    # ID of the tool call, returned in events. At most 200 bytes.
    tool_call: str
    # Name of the tool that asks. At most 200 bytes.
    tool_name: str
    # `traceparent` of the request (W3C Trace Context).
    trace: str
    # ID of the turn, returned in events. At most 200 bytes.
    turn: str


class _Message(TypedDict):
    # Time of the answer, or of the message.
    at: str
    # ID of the message.
    id: str
    # Session of the message.
    session: str
    # The answer or the message as text.
    text: str


class Message(_Message, total=False):
    record: RequestRecord
    steering: Steering


class _Option(TypedDict):
    # Value that the agent gets. At most 1000 bytes.
    value: str


class Option(_Option, total=False):
    # Explanation below the label. At most 3000 bytes.
    description: str
    # Label that people see; without it, people see the value. At most 300 characters.
    label: str
    # Preview of the result of the option, for single choices only. At most 65536 bytes.
    preview: str


class _Passkey(TypedDict):
    created: str
    # ID of the passkey in base64url.
    id: str
    person: str
    # Whether the passkey is copied between devices.
    synchronized: bool


class Passkey(_Passkey, total=False):
    # Name that the person chose.
    label: str
    revoked: str
    # Time of the last signature.
    used: str


class _Question(TypedDict):
    # Input type: see docs/widgets.md.
    widget: Literal["buttons", "confirm", "select", "radio", "action_selection", "checkbox", "text", "textarea",
        "number", "date", "time", "datetime", "email", "url", "plan_review", "feedback", "form"]


class Question(_Question, total=False):
    # People can type another answer.
    allow_other: bool
    default: Any
    # Explanation below the question. At most 3000 bytes.
    description: str
    # Short label on the card, at most 12 characters.
    header: str
    # ID of the question, which is the key of its answer.
    id: str
    # Only whole numbers are allowed.
    integer: bool
    # Items of a feedback.
    items: List[Dict[str, Any]]
    # Largest number.
    max: float
    # Largest number of choices.
    max_choices: int
    # Largest number of characters.
    max_length: int
    # Smallest number.
    min: float
    # Smallest number of choices.
    min_choices: int
    # Smallest number of characters.
    min_length: int
    # Choices.
    options: List[Option]
    # RE2 expression that must match the complete text. At most 1000 bytes.
    pattern: str
    # Text for people if the pattern does not match. At most 3000 bytes.
    pattern_hint: str
    # Hint inside an empty text input. At most 3000 bytes.
    placeholder: str
    # Plan of a plan_review in Markdown. At most 65536 bytes.
    plan: str
    # An answer is required, unless this is false.
    required: bool
    # JSON Schema of a form: see docs/widgets.md.
    schema: Dict[str, Any]
    # Text of the question, below the prompt. At most 3000 bytes.
    text: str


class _RequestRecord(TypedDict):
    interaction: Interaction
    # Number of the change; it grows with every change.
    revision: int
    state: State


class RequestRecord(_RequestRecord, total=False):
    # Audit entry that was written with the response.
    audit: Dict[str, Any]
    # Result that the agent reported.
    completion: Dict[str, Any]
    # Time at which an agent received the response.
    delivered: str
    # Reasons why destinations did not show the card.
    failures: Dict[str, Any]
    # Expected time of a delayed card, by index of the destination.
    late: Dict[str, Any]
    # Messages that show the card, by index of the destination.
    messages: Dict[str, Any]
    # ID of the follow-up.
    next: str
    # Time at which the agent deferred the request. The state stays pending.
    queued: str
    # Signed receipt of the decision: a compact JWS with Ed25519, see GET /v1/keys. A request that closed
    # without a decision has none.
    receipt: str
    response: Response
    # No caller was waiting when the response arrived.
    unawaited: bool
    # Reason why the stored record does not verify. Only people see such a record; an agent gets the error
    # forbidden.
    unverified: str
    # Decisions so far of an approval that requires several.
    votes: List[Dict[str, Any]]


class _Recorded(TypedDict):
    # ID of the request.
    id: str
    # Number of the change; it grows with every change.
    revision: int
    state: State


class Recorded(_Recorded, total=False):
    # An earlier call with the same key or ID opened the request. Only calls that open a request return
    # it.
    repeated: bool


class _Repeated(TypedDict):
    interaction: Interaction
    # Always true.
    repeated: bool


class Repeated(_Repeated, total=False):
    response: Response
    # Number of the change.
    revision: int
    state: State


class Reprompt(TypedDict, total=False):
    approval: Approval
    # Cancels the request when the waiting connection ends, or that of the last front end if no chat
    # accepts answers.
    cancel_on_disconnect: bool
    # Content of the closed card.
    completed_view: Dict[str, Any]
    # People can close a question without an answer.
    declinable: bool
    # Text above the questions, such as the reason why they are asked again. At most 3000 bytes.
    error: str
    # Delay before cards are posted, such as 10s. In that time, someone can answer at the keyboard.
    grace: str
    # How long a deferred request stays open, 7 days by default.
    hold: Any
    # Initial values, by question ID.
    initial: Dict[str, Any]
    # Shares the answer of an identical pending request of the session.
    join: bool
    # Kind of the request.
    kind: Literal["ask", "approval", "notice"]
    # Largest number of rounds; 5 if it is absent.
    max_rounds: int
    # Values of the agent, such as the URL at which its workflow continues. People do not see them. The
    # agent and webhooks get them back.
    metadata: Dict[str, str]
    # Outcome of a timeout.
    on_timeout: Literal["expire", "deny", "default", "escalate", "pending"]
    # Refuses the request while another one of the session is pending.
    one_at_a_time: bool
    # `tool` shows the card in the thread of the session, `questionnaire` as a card of its own.
    presentation: Literal["tool", "questionnaire"]
    # Text that people see, in Markdown. At most 65536 bytes.
    prompt: str
    # Questions of the request.
    questions: List[Question]
    # Person for whom the agent asks, who can deny but not approve. At most 100 bytes.
    requester: str
    # ID of the response, returned in events. At most 200 bytes.
    response_id: str
    # Route of the request (default "default"). At most 100 bytes.
    route: str
    # Session of the request. At most 200 bytes.
    session: str
    # Time to respond, 1s to 720h; 5m by default.
    timeout: Any
    # ID of the tool call, returned in events. At most 200 bytes.
    tool_call: str
    # Name of the tool that asks. At most 200 bytes.
    tool_name: str
    # ID of the turn, returned in events. At most 200 bytes.
    turn: str


class _Request(TypedDict):
    # Text that people see, in Markdown. At most 65536 bytes.
    prompt: str


class Request(_Request, total=False):
    approval: Approval
    # Cancels the request when the waiting connection ends, or that of the last front end if no chat
    # accepts answers.
    cancel_on_disconnect: bool
    # Content of the closed card.
    completed_view: Dict[str, Any]
    # People can close a question without an answer.
    declinable: bool
    # Text above the questions, such as the reason why they are asked again. At most 3000 bytes.
    error: str
    # Delay before cards are posted, such as 10s. In that time, someone can answer at the keyboard.
    grace: str
    # How long a deferred request stays open, 7 days by default.
    hold: Any
    # Initial values, by question ID.
    initial: Dict[str, Any]
    # Shares the answer of an identical pending request of the session.
    join: bool
    # Kind of the request.
    kind: Literal["ask", "approval", "notice"]
    # Largest number of rounds; 5 if it is absent.
    max_rounds: int
    # Values of the agent, such as the URL at which its workflow continues. People do not see them. The
    # agent and webhooks get them back.
    metadata: Dict[str, str]
    # Outcome of a timeout.
    on_timeout: Literal["expire", "deny", "default", "escalate", "pending"]
    # Refuses the request while another one of the session is pending.
    one_at_a_time: bool
    # `tool` shows the card in the thread of the session, `questionnaire` as a card of its own.
    presentation: Literal["tool", "questionnaire"]
    # Questions of the request.
    questions: List[Question]
    # Person for whom the agent asks, who can deny but not approve. At most 100 bytes.
    requester: str
    # ID of the response, returned in events. At most 200 bytes.
    response_id: str
    # Route of the request (default "default"). At most 100 bytes.
    route: str
    # Session of the request. At most 200 bytes.
    session: str
    # Time to respond, 1s to 720h; 5m by default.
    timeout: Any
    # ID of the tool call, returned in events. At most 200 bytes.
    tool_call: str
    # Name of the tool that asks. At most 200 bytes.
    tool_name: str
    # ID of the turn, returned in events. At most 200 bytes.
    turn: str


class _Response(TypedDict):
    # Notes on the answers, such as previews.
    annotations: Dict[str, Any]
    # Time of the response.
    at: str
    state: State


class Response(_Response, total=False):
    actor: Actor
    # Answers, by question ID.
    answers: Dict[str, Any]
    # Digest of the request with the edited input.
    approved_digest: str
    # Signature of the person's passkey. If the approval is the result of votes, each vote has its own.
    assertion: Dict[str, Any]
    # Proof that the person gave for the approval. If absent, a click was enough.
    assurance: Literal["passkey"]
    # Coverage of the approval beyond this request, as the card stated it.
    covers: List[str]
    # Digest of the request.
    digest: str
    # Approved input if a person edited `approval.input`.
    input: Any
    # Message on which the person clicked.
    message: Dict[str, Any]
    # Reason that the person gave, or that nod gives for the outcome.
    reason: str
    # The reason is the result of the call, which does not run.
    respond: bool
    scope: ScopeName
    # The denial ends the agent's turn.
    stop: bool
    # Person who cancelled the request.
    withdrawn_by: Dict[str, Any]

ScopeName = Union[Literal["once", "session", "always"], str]


class _Session(TypedDict):
    # Name of the agent.
    agent: str
    # ID of the session.
    id: str
    # Number of pending requests among the recent ones.
    pending: int


class Session(_Session, total=False):
    # Creation of the newest request. It is absent if none is kept.
    last: str
    status: SessionStatus
    stopped: Stop


class SessionReport(TypedDict, total=False):
    # Time of the event. A report that is older than the state does not change the state.
    at: str
    # Branch of the session. At most 200 characters.
    branch: str
    # Directory of the session. At most 200 characters.
    folder: str
    # Computer that the session runs on. At most 200 characters.
    host: str
    # Last message of the agent. At most 1500 characters.
    last_message: str
    # Text that started the session, which is the default title. At most 200 characters.
    prompt: str
    # Route of the session (default "default"). At most 100 bytes.
    route: str
    # What the session does. waiting means for its user, at its own terminal.
    state: Literal["working", "waiting", "finished"]
    # Last step, such as a tool call. At most 200 characters.
    step: str
    # Name of a subagent. At most 200 characters.
    subagent: str
    # Value of turn in the requests of the subagent. At most 200 bytes.
    subagent_id: str
    # Title of the session. At most 200 characters.
    title: str
    # Report only a session that was reported before.
    update: bool
    # Input that a waiting session needs. At most 200 characters.
    waits_for: str


class _SessionStatus(TypedDict):
    # Name of the agent.
    agent: str
    # ID of the session.
    id: str
    # Time at which the state began.
    since: str
    # Time of the first report.
    started: str
    # Time of the last report.
    updated: str


class SessionStatus(_SessionStatus, total=False):
    # Branch of the session.
    branch: str
    # Directory of the session.
    folder: str
    # Computer that the session runs on.
    host: str
    # Last message of the agent.
    last_message: str
    # ID of the notice that shows the session. It is absent if there is none.
    message: str
    # Route of the session. If empty, it is the route named default.
    route: str
    # What the session does. waiting means for its user, at its own terminal.
    state: Literal["working", "waiting", "finished"]
    # Last step, such as a tool call.
    step: str
    # Time of the last step.
    stepped: str
    # Number of reported steps.
    steps: int
    # Title of the session.
    title: str
    # What a waiting session waits for.
    waits_for: str

State = Literal["pending", "answered", "approved", "denied", "expired", "cancelled", "superseded", "undeliverable"]


class _Steering(TypedDict):
    # Name of the agent.
    agent: str
    # Time of the message.
    at: str
    # Account and person who wrote it.
    by: Dict[str, Any]
    # Session of the message.
    session: str
    # What the person wrote.
    text: str


class Steering(_Steering, total=False):
    # A reader took the message before and did not acknowledge it, so the agent may have it.
    again: bool
    # Time of the delivery, or of the end.
    done: str
    # Whether the agent has the message, or why not.
    fate: Literal["waiting", "delivered", "ended", "expired"]
    # ID of the message.
    id: str
    # Route of the card that was replied to, if any.
    route: str
    # Chat message with the text, if any.
    where: Dict[str, Any]


class _Stop(TypedDict):
    # Name of the agent.
    agent: str
    # Time of the stop.
    at: str
    # Account that stopped the session.
    by: Dict[str, Any]
    # ID of the session.
    session: str


class Stop(_Stop, total=False):
    # Route of the session's newest request.
    route: str


OPERATIONS: Dict[str, Tuple[str, str]] = {
    "healthz": ("GET", "/healthz"),
    "readyz": ("GET", "/readyz"),
    "availability": ("GET", "/v1/availability"),
    "dialect": ("POST", "/v1/dialects/{dialect}"),
    "listGrants": ("GET", "/v1/grants"),
    "revokeGrant": ("DELETE", "/v1/grants/{grant}"),
    "listInteractions": ("GET", "/v1/interactions"),
    "createInteraction": ("POST", "/v1/interactions"),
    "getInteraction": ("GET", "/v1/interactions/{id}"),
    "cancelInteraction": ("POST", "/v1/interactions/{id}/cancel"),
    "completeInteraction": ("POST", "/v1/interactions/{id}/complete"),
    "queueInteraction": ("POST", "/v1/interactions/{id}/pending"),
    "repromptInteraction": ("POST", "/v1/interactions/{id}/reprompt"),
    "respond": ("POST", "/v1/interactions/{id}/response"),
    "sessions": ("GET", "/v1/sessions"),
    "reportSession": ("POST", "/v1/sessions/{id}"),
    "cancelSession": ("POST", "/v1/sessions/{id}/cancel"),
    "sessionMessages": ("GET", "/v1/sessions/{id}/messages"),
    "steerSession": ("POST", "/v1/sessions/{id}/messages"),
    "acknowledgeMessages": ("POST", "/v1/sessions/{id}/messages/ack"),
    "steering": ("GET", "/v1/sessions/{id}/messages/{message}"),
    "resumeSession": ("POST", "/v1/sessions/{id}/resume"),
    "stopSession": ("POST", "/v1/sessions/{id}/stop"),
}

# The texts that the digest of a request covers, and those of its approval.
COVERED = ("prompt", "error", "tool_name")
COVERED_APPROVAL = ("tool", "where", "key")
