// Types of the API, written from its OpenAPI description by `make reference`.

export interface Actor {
  // Display name of the person in the config.
  known?: string;
  // Display name of the account. The account's owner can choose any.
  name?: string;
  // Name of the person in the config.
  person?: string;
  // Platform of the account; `api` for the API and the console.
  platform: string;
  // ID of the account on the platform.
  user: string;
}

export interface Approval {
  // The agent stores session and always approvals itself. nod passes the choice back and stores no
  // grant.
  agent_remembers?: boolean;
  // Text that an approver must type, such as the name of the database. At most 100 bytes.
  confirm?: string;
  // Decisions that the card offers, if the agent can take more or fewer than deny, deny with a reason,
  // and the scopes.
  decisions?: Array<DecisionName>;
  // The card highlights no approving control.
  default_no?: boolean;
  // Input of the tool; any JSON.
  input?: unknown;
  // The tool's own name for the approval; does not affect grants. At most 500 bytes.
  key?: string;
  // Coverage of each scope. With `agent_remembers`, this is text of the agent. Otherwise nod replaces
  // it.
  scope_notes?: Record<string, string>;
  // Scopes that the card offers.
  scopes?: Array<ScopeName>;
  // Name of the tool that needs approval. At most 200 bytes.
  tool?: string;
  // Directory or environment; a grant applies only there. At most 3000 bytes.
  where?: string;
}

export type DecisionName = "deny" | "deny_reason" | "deny_always" | "deny_stop" | "respond" | "once" | "session" | "always" | "edit" | `${"deny" | "deny_always" | "once" | "session" | "always"}:${number}`;

export interface Grant {
  // Person who gave the grant.
  actor: Record<string, unknown>;
  // Name of the agent.
  agent: string;
  // Coverage as the card stated it: the exact request, or everything that a rule matches.
  covers?: string;
  // Time at which the grant expires.
  expires: string;
  // The people who approved.
  givers?: Array<Record<string, unknown>>;
  // ID of the grant.
  id: string;
  // Internal key of the coverage.
  key: string;
  // ID of the request in which the grant was given.
  origin: string;
  // Rule that the grant covers. If empty, it covers the exact request.
  rule?: string;
  // Session that the grant covers. If empty, it covers every session.
  session?: string;
  // Name of the tool.
  tool?: string;
  // The grant as a sentence.
  words: string;
}

export interface Health {
  // Reason for the state.
  reason?: string;
  // Time since which the state holds.
  since?: string;
  // State of the connection.
  state: "starting" | "up" | "degraded" | "standby" | "down";
}

export interface Interaction {
  // Name of the agent.
  agent: string;
  approval?: Approval;
  // Hex SHA-256 over everything that people see of the request. A decision is bound to it.
  content?: string;
  // The agent's user can decide at the agent's own terminal as well, so an answer that was sent may have
  // come too late.
  contested?: boolean;
  // Time at which the request was opened.
  created: string;
  // Time at which the timeout applies.
  deadline: string;
  // Platforms and channels that show the request.
  destinations: Array<Record<string, unknown>>;
  // Hex SHA-256 over the canonical form (RFC 8785) of kind, prompt, error, tool_name and questions, and
  // of the tool, where, key and input of an approval.
  digest: string;
  // Text above the questions, such as the reason why they are asked again. At most 3000 bytes.
  error?: string;
  // Groups of responders.
  groups?: Array<string>;
  // ID of the request.
  id: string;
  // Kind of the request.
  kind: "ask" | "approval" | "notice";
  // Values of the agent, such as the URL at which its workflow continues. People do not see them. The
  // agent and webhooks get them back.
  metadata?: Record<string, string>;
  // People, and groups with one member each, who must approve.
  must?: Array<string>;
  // Outcome of a timeout.
  on_timeout: string;
  // Route that the request named if the policy sent it elsewhere.
  own_route?: string;
  // ID of the request that this follow-up replaced.
  previous?: string;
  // Text that people see, in Markdown. At most 65536 bytes.
  prompt: string;
  // Questions of the request.
  questions?: Array<Question>;
  // Number of people who must approve.
  quorum?: number;
  // Number of redacted credentials.
  redacted?: number;
  // A redacted credential is part of the text that would be executed, so approving needs a typed
  // confirmation.
  redacted_command?: boolean;
  // Person for whom the agent asks, who can deny but not approve. At most 100 bytes.
  requester?: string;
  // Requirements of each route if the policy names several: route, responders, groups, quorum and must.
  requirements?: Array<Record<string, unknown>>;
  // People who can respond.
  responders: Array<Record<string, unknown>>;
  // ID of the response, returned in events. At most 200 bytes.
  response_id?: string;
  // Risk level.
  risk?: string;
  // Number of the round, starting at 1.
  round?: number;
  // Route of the request (default "default"). At most 100 bytes.
  route?: string;
  // Policy rule that decided.
  rule?: string;
  // Reason that the config gives for the rule.
  rule_reason?: string;
  // Session of the request. At most 200 bytes.
  session?: string;
  // Proof that every approval requires in addition to a click. If absent, a click is enough.
  step_up?: "passkey";
  // Number of times that the requirements became stricter while the request was pending.
  terms?: number;
  // ID of the tool call, returned in events. At most 200 bytes.
  tool_call?: string;
  // Name of the tool that asks. At most 200 bytes.
  tool_name?: string;
  // `traceparent` of the request (W3C Trace Context).
  trace?: string;
  // ID of the turn, returned in events. At most 200 bytes.
  turn?: string;
}

export interface Message {
  // Time of the answer, or of the message.
  at: string;
  // ID of the message.
  id: string;
  record?: RequestRecord;
  // Session of the message.
  session: string;
  steering?: Steering;
  // The answer or the message as text.
  text: string;
}

export interface Option {
  // Explanation below the label. At most 3000 bytes.
  description?: string;
  // Label that people see; without it, people see the value. At most 300 characters.
  label?: string;
  // Preview of the result of the option, for single choices only. At most 65536 bytes.
  preview?: string;
  // Value that the agent gets. At most 1000 bytes.
  value: string;
}

export interface Passkey {
  created: string;
  // ID of the passkey in base64url.
  id: string;
  // Name that the person chose.
  label?: string;
  person: string;
  revoked?: string;
  // Whether the passkey is copied between devices.
  synchronized: boolean;
  // Time of the last signature.
  used?: string;
}

export interface Question {
  // People can type another answer.
  allow_other?: boolean;
  default?: unknown;
  // Explanation below the question. At most 3000 bytes.
  description?: string;
  // Short label on the card, at most 12 characters.
  header?: string;
  // ID of the question, which is the key of its answer.
  id?: string;
  // Only whole numbers are allowed.
  integer?: boolean;
  // Items of a feedback.
  items?: Array<Record<string, unknown>>;
  // Largest number.
  max?: number;
  // Largest number of choices.
  max_choices?: number;
  // Largest number of characters.
  max_length?: number;
  // Smallest number.
  min?: number;
  // Smallest number of choices.
  min_choices?: number;
  // Smallest number of characters.
  min_length?: number;
  // Choices.
  options?: Array<Option>;
  // RE2 expression that must match the complete text. At most 1000 bytes.
  pattern?: string;
  // Text for people if the pattern does not match. At most 3000 bytes.
  pattern_hint?: string;
  // Hint inside an empty text input. At most 3000 bytes.
  placeholder?: string;
  // Plan of a plan_review in Markdown. At most 65536 bytes.
  plan?: string;
  // An answer is required, unless this is false.
  required?: boolean;
  // JSON Schema of a form: see docs/widgets.md.
  schema?: Record<string, unknown>;
  // Text of the question, below the prompt. At most 3000 bytes.
  text?: string;
  // Input type: see docs/widgets.md.
  widget: "buttons" | "confirm" | "select" | "radio" | "action_selection" | "checkbox" | "text" | "textarea" |
    "number" | "date" | "time" | "datetime" | "email" | "url" | "plan_review" | "feedback" | "form";
}

export interface RequestRecord {
  // Audit entry that was written with the response.
  audit?: Record<string, unknown>;
  // Result that the agent reported.
  completion?: Record<string, unknown>;
  // Time at which an agent received the response.
  delivered?: string;
  // Reasons why destinations did not show the card.
  failures?: Record<string, unknown>;
  interaction: Interaction;
  // Expected time of a delayed card, by index of the destination.
  late?: Record<string, unknown>;
  // Messages that show the card, by index of the destination.
  messages?: Record<string, unknown>;
  // ID of the follow-up.
  next?: string;
  // Time at which the agent deferred the request. The state stays pending.
  queued?: string;
  // Signed receipt of the decision: a compact JWS with Ed25519, see GET /v1/keys. A request that closed
  // without a decision has none.
  receipt?: string;
  response?: Response;
  // Number of the change; it grows with every change.
  revision: number;
  state: State;
  // No caller was waiting when the response arrived.
  unawaited?: boolean;
  // Reason why the stored record does not verify. Only people see such a record; an agent gets the error
  // forbidden.
  unverified?: string;
  // Decisions so far of an approval that requires several.
  votes?: Array<Record<string, unknown>>;
}

export interface Recorded {
  // ID of the request.
  id: string;
  // An earlier call with the same key or ID opened the request. Only calls that open a request return
  // it.
  repeated?: boolean;
  // Number of the change; it grows with every change.
  revision: number;
  state: State;
}

export interface Repeated {
  interaction: Interaction;
  // Always true.
  repeated: boolean;
  response?: Response;
  // Number of the change.
  revision?: number;
  state?: State;
}

export interface Reprompt {
  approval?: Approval;
  // Cancels the request when the waiting connection ends, or that of the last front end if no chat
  // accepts answers.
  cancel_on_disconnect?: boolean;
  // Content of the closed card.
  completed_view?: Record<string, unknown>;
  // People can close a question without an answer.
  declinable?: boolean;
  // Text above the questions, such as the reason why they are asked again. At most 3000 bytes.
  error?: string;
  // Delay before cards are posted, such as 10s. In that time, someone can answer at the keyboard.
  grace?: string;
  // How long a deferred request stays open, 7 days by default.
  hold?: string | number;
  // Initial values, by question ID.
  initial?: Record<string, unknown>;
  // Shares the answer of an identical pending request of the session.
  join?: boolean;
  // Kind of the request.
  kind?: "ask" | "approval" | "notice";
  // Largest number of rounds; 5 if it is absent.
  max_rounds?: number;
  // Values of the agent, such as the URL at which its workflow continues. People do not see them. The
  // agent and webhooks get them back.
  metadata?: Record<string, string>;
  // Outcome of a timeout.
  on_timeout?: "expire" | "deny" | "default" | "escalate" | "pending";
  // Refuses the request while another one of the session is pending.
  one_at_a_time?: boolean;
  // `tool` shows the card in the thread of the session, `questionnaire` as a card of its own.
  presentation?: "tool" | "questionnaire";
  // Text that people see, in Markdown. At most 65536 bytes.
  prompt?: string;
  // Questions of the request.
  questions?: Array<Question>;
  // Person for whom the agent asks, who can deny but not approve. At most 100 bytes.
  requester?: string;
  // ID of the response, returned in events. At most 200 bytes.
  response_id?: string;
  // Route of the request (default "default"). At most 100 bytes.
  route?: string;
  // Session of the request. At most 200 bytes.
  session?: string;
  // Time to respond, 1s to 720h; 5m by default.
  timeout?: string | number;
  // ID of the tool call, returned in events. At most 200 bytes.
  tool_call?: string;
  // Name of the tool that asks. At most 200 bytes.
  tool_name?: string;
  // ID of the turn, returned in events. At most 200 bytes.
  turn?: string;
}

export interface Request {
  approval?: Approval;
  // Cancels the request when the waiting connection ends, or that of the last front end if no chat
  // accepts answers.
  cancel_on_disconnect?: boolean;
  // Content of the closed card.
  completed_view?: Record<string, unknown>;
  // People can close a question without an answer.
  declinable?: boolean;
  // Text above the questions, such as the reason why they are asked again. At most 3000 bytes.
  error?: string;
  // Delay before cards are posted, such as 10s. In that time, someone can answer at the keyboard.
  grace?: string;
  // How long a deferred request stays open, 7 days by default.
  hold?: string | number;
  // Initial values, by question ID.
  initial?: Record<string, unknown>;
  // Shares the answer of an identical pending request of the session.
  join?: boolean;
  // Kind of the request.
  kind?: "ask" | "approval" | "notice";
  // Largest number of rounds; 5 if it is absent.
  max_rounds?: number;
  // Values of the agent, such as the URL at which its workflow continues. People do not see them. The
  // agent and webhooks get them back.
  metadata?: Record<string, string>;
  // Outcome of a timeout.
  on_timeout?: "expire" | "deny" | "default" | "escalate" | "pending";
  // Refuses the request while another one of the session is pending.
  one_at_a_time?: boolean;
  // `tool` shows the card in the thread of the session, `questionnaire` as a card of its own.
  presentation?: "tool" | "questionnaire";
  // Text that people see, in Markdown. At most 65536 bytes.
  prompt: string;
  // Questions of the request.
  questions?: Array<Question>;
  // Person for whom the agent asks, who can deny but not approve. At most 100 bytes.
  requester?: string;
  // ID of the response, returned in events. At most 200 bytes.
  response_id?: string;
  // Route of the request (default "default"). At most 100 bytes.
  route?: string;
  // Session of the request. At most 200 bytes.
  session?: string;
  // Time to respond, 1s to 720h; 5m by default.
  timeout?: string | number;
  // ID of the tool call, returned in events. At most 200 bytes.
  tool_call?: string;
  // Name of the tool that asks. At most 200 bytes.
  tool_name?: string;
  // ID of the turn, returned in events. At most 200 bytes.
  turn?: string;
}

export interface Response {
  actor?: Actor;
  // Notes on the answers, such as previews.
  annotations: Record<string, unknown>;
  // Answers, by question ID.
  answers?: Record<string, unknown>;
  // Digest of the request with the edited input.
  approved_digest?: string;
  // Signature of the person's passkey. If the approval is the result of votes, each vote has its own.
  assertion?: Record<string, unknown>;
  // Proof that the person gave for the approval. If absent, a click was enough.
  assurance?: "passkey";
  // Time of the response.
  at: string;
  // Coverage of the approval beyond this request, as the card stated it.
  covers?: Array<string>;
  // Digest of the request.
  digest?: string;
  // Approved input if a person edited `approval.input`.
  input?: unknown;
  // Message on which the person clicked.
  message?: Record<string, unknown>;
  // Reason that the person gave, or that nod gives for the outcome.
  reason?: string;
  // The reason is the result of the call, which does not run.
  respond?: boolean;
  scope?: ScopeName;
  state: State;
  // The denial ends the agent's turn.
  stop?: boolean;
  // Person who cancelled the request.
  withdrawn_by?: Record<string, unknown>;
}

export type ScopeName = "once" | "session" | "always" | `${"once" | "session" | "always"}:${number}`;

export interface Session {
  // Name of the agent.
  agent: string;
  // ID of the session.
  id: string;
  // Creation of the newest request. It is absent if none is kept.
  last?: string;
  // Number of pending requests among the recent ones.
  pending: number;
  status?: SessionStatus;
  stopped?: Stop;
}

export interface SessionReport {
  // Time of the event. A report that is older than the state does not change the state.
  at?: string;
  // Branch of the session. At most 200 characters.
  branch?: string;
  // Directory of the session. At most 200 characters.
  folder?: string;
  // Computer that the session runs on. At most 200 characters.
  host?: string;
  // Last message of the agent. At most 1500 characters.
  last_message?: string;
  // Text that started the session, which is the default title. At most 200 characters.
  prompt?: string;
  // Route of the session (default "default"). At most 100 bytes.
  route?: string;
  // What the session does. waiting means for its user, at its own terminal.
  state?: "working" | "waiting" | "finished";
  // Last step, such as a tool call. At most 200 characters.
  step?: string;
  // Name of a subagent. At most 200 characters.
  subagent?: string;
  // Value of turn in the requests of the subagent. At most 200 bytes.
  subagent_id?: string;
  // Title of the session. At most 200 characters.
  title?: string;
  // Report only a session that was reported before.
  update?: boolean;
  // Input that a waiting session needs. At most 200 characters.
  waits_for?: string;
}

export interface SessionStatus {
  // Name of the agent.
  agent: string;
  // Branch of the session.
  branch?: string;
  // Directory of the session.
  folder?: string;
  // Computer that the session runs on.
  host?: string;
  // ID of the session.
  id: string;
  // Last message of the agent.
  last_message?: string;
  // ID of the notice that shows the session. It is absent if there is none.
  message?: string;
  // Route of the session. If empty, it is the route named default.
  route?: string;
  // Time at which the state began.
  since: string;
  // Time of the first report.
  started: string;
  // What the session does. waiting means for its user, at its own terminal.
  state?: "working" | "waiting" | "finished";
  // Last step, such as a tool call.
  step?: string;
  // Time of the last step.
  stepped?: string;
  // Number of reported steps.
  steps?: number;
  // Title of the session.
  title?: string;
  // Time of the last report.
  updated: string;
  // What a waiting session waits for.
  waits_for?: string;
}

export type State = "pending" | "answered" | "approved" | "denied" | "expired" | "cancelled" | "superseded" | "undeliverable";

export interface Steering {
  // A reader took the message before and did not acknowledge it, so the agent may have it.
  again?: boolean;
  // Name of the agent.
  agent: string;
  // Time of the message.
  at: string;
  // Account and person who wrote it.
  by: Record<string, unknown>;
  // Time of the delivery, or of the end.
  done?: string;
  // Whether the agent has the message, or why not.
  fate?: "waiting" | "delivered" | "ended" | "expired";
  // ID of the message.
  id?: string;
  // Route of the card that was replied to, if any.
  route?: string;
  // Session of the message.
  session: string;
  // What the person wrote.
  text: string;
  // Chat message with the text, if any.
  where?: Record<string, unknown>;
}

export interface Stop {
  // Name of the agent.
  agent: string;
  // Time of the stop.
  at: string;
  // Account that stopped the session.
  by: Record<string, unknown>;
  // Route of the session's newest request.
  route?: string;
  // ID of the session.
  session: string;
}

export const operations = {
  healthz: ["GET", "/healthz"],
  readyz: ["GET", "/readyz"],
  availability: ["GET", "/v1/availability"],
  dialect: ["POST", "/v1/dialects/{dialect}"],
  listGrants: ["GET", "/v1/grants"],
  revokeGrant: ["DELETE", "/v1/grants/{grant}"],
  listInteractions: ["GET", "/v1/interactions"],
  createInteraction: ["POST", "/v1/interactions"],
  getInteraction: ["GET", "/v1/interactions/{id}"],
  cancelInteraction: ["POST", "/v1/interactions/{id}/cancel"],
  completeInteraction: ["POST", "/v1/interactions/{id}/complete"],
  queueInteraction: ["POST", "/v1/interactions/{id}/pending"],
  repromptInteraction: ["POST", "/v1/interactions/{id}/reprompt"],
  respond: ["POST", "/v1/interactions/{id}/response"],
  sessions: ["GET", "/v1/sessions"],
  reportSession: ["POST", "/v1/sessions/{id}"],
  cancelSession: ["POST", "/v1/sessions/{id}/cancel"],
  sessionMessages: ["GET", "/v1/sessions/{id}/messages"],
  steerSession: ["POST", "/v1/sessions/{id}/messages"],
  acknowledgeMessages: ["POST", "/v1/sessions/{id}/messages/ack"],
  steering: ["GET", "/v1/sessions/{id}/messages/{message}"],
  resumeSession: ["POST", "/v1/sessions/{id}/resume"],
  stopSession: ["POST", "/v1/sessions/{id}/stop"],
} as const;

// The texts that the digest of a request covers, and those of its approval.
export const coveredTexts = ["prompt", "error", "tool_name"];
export const coveredOfApproval = ["tool", "where", "key"];
