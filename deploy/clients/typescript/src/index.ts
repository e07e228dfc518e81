// Ask people in Slack, Discord or Telegram through nod, and act only on a yes.
import { encode, type Fields, isObject, randomID, textOf } from "./canonical.ts";
import { Aborted, DeadlineExceeded, NodError, Refused, Unexpected } from "./errors.ts";
import { atOnce, type Call, Http, json, mediaType, type Operation, type Query, type Reply, Until } from "./http.ts";
import { known, listed, recorded, same, uuid } from "./record.ts";
import type { Decision, PersonReply, Reading, RequestFields, Sending, Settings, Waiting } from "./settings.ts";
import type { Approval, Grant, Message, Recorded, Reprompt, Request, RequestRecord } from "./types.ts";
import type { Session, SessionReport, State, Steering, Stop } from "./types.ts";

export { digest } from "./canonical.ts";
export * from "./errors.ts";
export type * from "./settings.ts";
export type * from "./types.ts";

const shortPoll = 500;
const leaveFor = 3_000; // for the calls of a caller that has given up
const isOver = (record: RequestRecord) => record.state !== "pending" || Boolean(record.queued);

/** A client for one daemon. */
export class Nod {
  readonly #http: Http;

  constructor(settings: Settings = {}) {
    this.#http = new Http(settings);
  }

  /** Asks one question. Returns the option or the text, or undefined if no one answered. */
  async ask(
    prompt: string,
    options: readonly string[] = [],
    fields: RequestFields = {},
    how: Sending = {},
  ): Promise<string | undefined> {
    if (typeof options === "string") throw new NodError("invalid", "options: a text cannot be a list");
    const offered = [...options];
    const question =
      offered.length === 0
        ? { id: "q", widget: "text" as const }
        : {
            id: "q",
            widget: offered.length > 5 ? ("select" as const) : ("buttons" as const),
            options: offered.map((value) => ({ value })),
          };
    const record = await this.request({ prompt, questions: [question], ...fields }, how);
    if (record.state !== "answered") return undefined;
    const answer = record.response?.answers?.q;
    if (typeof answer !== "string" || (offered.length > 0 && !offered.includes(answer))) {
      throw new Unexpected("the answer is not one of the options");
    }
    return answer;
  }

  /** Reports whether the request was approved exactly as sent. A denial and a timeout are false. */
  async approve(
    prompt: string,
    approval: Approval = {},
    fields: RequestFields = {},
    how: Sending = {},
  ): Promise<boolean> {
    const decision = await this.decide(prompt, approval, fields, how);
    return decision.approved && !decision.edited;
  }

  /** Asks for an approval, and returns the decision. People can edit the input if approval.decisions has edit. */
  async decide(
    prompt: string,
    approval: Approval = {},
    fields: RequestFields = {},
    how: Sending = {},
  ): Promise<Decision> {
    const text = encode({ prompt, approval, ...fields });
    const record = await this.#closed(text, how);
    // What is returned comes from the text that was sent: the caller's own object may have changed since.
    const sent = (JSON.parse(text) as { approval: Approval }).approval;
    const response = record.response;
    const edited = response !== undefined && "input" in response;
    return {
      approved: record.state === "approved",
      state: record.state,
      edited,
      record,
      input: edited ? response.input : sent.input,
      scope: response?.scope ?? "",
      reason: response?.reason ?? "",
    };
  }

  /** Sends any request, and returns its record once it is closed or deferred. */
  async request(body: Request, how: Sending = {}): Promise<RequestRecord> {
    return this.#closed(encode(body), how);
  }

  /** Sends any request, and returns its record at once. */
  async open(body: Request, how: Sending = {}): Promise<RequestRecord> {
    const text = encode(body);
    const call = this.#opening("createInteraction", [], text, how);
    return this.#checked(await this.#http.call(call), undefined, JSON.parse(text) as Fields);
  }

  /** Posts a notice, which needs no answer. */
  async notify(prompt: string, fields: RequestFields = {}, how: Sending = {}): Promise<RequestRecord> {
    return this.open({ kind: "notice", prompt, ...fields }, how);
  }

  /** Waits until a request is closed or deferred. It stays open if the wait ends early. */
  async wait(id: string, how: Waiting = {}): Promise<RequestRecord> {
    return this.#waitFor(id, undefined, new Until(how.signal, how.deadline));
  }

  /** Returns a request. */
  async show(id: string): Promise<RequestRecord> {
    return this.#record("getInteraction", id);
  }

  /** Returns a page of requests, newest first. */
  async list(filter: { state?: State; session?: string; text?: string; cursor?: string; limit?: number } = {}) {
    return page(await this.#http.call({ operation: "listInteractions", query: filter, retry: true }));
  }

  /** Cancels a pending request. A closed one is returned unchanged. */
  async cancel(id: string, reason = ""): Promise<RequestRecord> {
    return this.#record("cancelInteraction", id, { reason });
  }

  /** Reports what came of a response. The card shows it. */
  async complete(id: string, completion: { result?: string; error?: string; ran?: "allowed at the terminal" }): Promise<RequestRecord> {
    return this.#record("completeInteraction", id, completion);
  }

  /** Continues without the answer. A late answer goes to the session. */
  async defer(id: string, how: { hold?: string | number; message?: string } = {}): Promise<RequestRecord> {
    return this.#record("queueInteraction", id, how);
  }

  /** Sends a follow-up in the same messages, and returns its record once it is closed. */
  async reprompt(id: string, body: Reprompt, how: Sending = {}): Promise<RequestRecord> {
    const call = this.#opening("repromptInteraction", [idOf(id)], encode(body), how);
    return this.#follow(call, async (reply) => {
      const record = known(json(reply));
      if (record.interaction.id === id || record.interaction.previous !== id)
        throw new Unexpected("the response is not the follow-up");
      return record;
    });
  }

  /** Answers a request as the person with the token. */
  async respond(id: string, reply: PersonReply): Promise<Recorded> {
    return recorded(json(await this.#http.call({ operation: "respond", path: [idOf(id)], body: encode(reply) })), id);
  }

  /** Sends a message in the format of another system, and returns the answer in the same format. */
  async exchange(dialect: string, message: unknown, query: Query = {}, how: Sending = {}): Promise<any> {
    const until = new Until(how.signal, how.deadline);
    const call: Call = {
      operation: "dialect",
      path: [dialect],
      query,
      body: encode(message),
      key: how.key,
      caller: randomID(),
      wait: this.#http.window,
      retry: true,
      until,
    };
    const open: RequestRecord[] = [];
    return this.#taken(call, open, async () => {
      for (;;) {
        const began = performance.now();
        const reply = await this.#http.call(call);
        if (reply.status !== 202) return mediaType(reply) === "text/plain" ? textOf(reply.body) : json(reply);
        open.splice(0, open.length, ...page(reply).items);
        if (performance.now() - began < shortPoll) await until.sleep(shortPoll);
      }
    });
  }

  /** Returns the sessions of the agent. */
  async sessions(session = ""): Promise<Session[]> {
    return this.#items<Session>({ operation: "sessions", query: { session }, retry: true });
  }

  /** Reports what a session does. */
  async reportSession(session: string, report: SessionReport): Promise<Session> {
    return this.#object<Session>({ operation: "reportSession", path: [session], body: encode(report) });
  }

  /** Cancels the pending requests of a session, and revokes its grants. */
  async cancelSession(session: string, reason = "") {
    return page(await this.#http.call({ operation: "cancelSession", path: [session], body: encode({ reason }), retry: true }));
  }

  /** Stops a session. */
  async stop(session: string, agent = ""): Promise<Stop[]> {
    return this.#items<Stop>({ operation: "stopSession", path: [session], retry: true, body: encode({ agent }) });
  }

  /** Resumes a session as the person with the token. */
  async resume(session: string, agent = ""): Promise<Stop[]> {
    return this.#items<Stop>({ operation: "resumeSession", path: [session], body: encode({ agent }) });
  }

  /** Returns the late answers and the messages from people of a session, oldest first. */
  async messages(session: string, how: Reading = {}): Promise<Message[]> {
    const until = new Until(how.signal, how.deadline);
    const end = performance.now() + (how.wait ?? 0);
    for (;;) {
      const left = Math.max(0, Math.min(this.#http.window, end - performance.now()));
      const { reader, lease, continued, peek } = how;
      const query = { reader, lease, continued, peek };
      const call: Call = { operation: "sessionMessages", path: [session], query, wait: left, retry: !reader, until };
      const items = await this.#items<Message>(call);
      if (items.some((m) => typeof m.id !== "string" || m.session !== session)) {
        throw new Unexpected("the response is not for this session");
      }
      if (items.length > 0 || performance.now() >= end) return items;
      await until.sleep(Math.min(100, Math.max(0, end - performance.now())));
    }
  }

  /** Forgets the messages of a session up to and including one. */
  async acknowledge(session: string, through: string): Promise<void> {
    await this.#http.call({ operation: "acknowledgeMessages", path: [session], body: encode({ through }), retry: true });
  }

  /** Sends a message to a session as the person with the token. */
  async steer(session: string, text: string, agent = ""): Promise<Steering> {
    return this.#object<Steering>({ operation: "steerSession", path: [session], body: encode({ text, agent }) });
  }

  /** Returns a message that a person sent to a session. */
  async steering(session: string, message: string): Promise<Steering> {
    return this.#object<Steering>({ operation: "steering", path: [session, message], retry: true });
  }

  /** Returns whether someone can answer now. */
  async availability(filter: { route?: string; session?: string } = {}): Promise<Fields> {
    return this.#object<Fields>({ operation: "availability", query: filter, retry: true });
  }

  /** Returns the standing approvals of the agent. */
  async grants(session = ""): Promise<Grant[]> {
    return this.#items<Grant>({ operation: "listGrants", query: { session }, retry: true });
  }

  /** Revokes a standing approval. */
  async revoke(grant: string): Promise<Grant> {
    return this.#object<Grant>({ operation: "revokeGrant", path: [grant], retry: true });
  }

  /** Returns the state of Redis and of each platform. */
  async health(): Promise<Fields> {
    return this.#object<Fields>({ operation: "healthz" });
  }

  /** Returns the same, and throws unless a platform is connected. */
  async ready(): Promise<Fields> {
    return this.#object<Fields>({ operation: "readyz" });
  }

  /** Returns the call that opens a request. The caller ID exists before the first try, so that repeats are safe. */
  #opening(operation: Operation, path: string[], body: string, how: Sending): Call {
    const until = new Until(how.signal, how.deadline);
    const query = how.now ? { query: { now: true } } : {};
    return { operation, path, ...query, body, key: how.key, caller: randomID(), retry: true, until };
  }

  /** Sends a request, and waits until it is closed or deferred. */
  async #closed(text: string, how: Sending): Promise<RequestRecord> {
    const sent = JSON.parse(text) as Fields;
    const call = this.#opening("createInteraction", [], text, how);
    return this.#follow(call, (reply) => this.#checked(reply, undefined, sent), sent);
  }

  /** Opens a request and waits for it. */
  async #follow(call: Call, read: (reply: Reply) => Promise<RequestRecord>, sent?: Fields): Promise<RequestRecord> {
    const open: RequestRecord[] = [];
    return this.#taken(call, open, async () => {
      const record = await read(await this.#http.call(call));
      open.push(record);
      return isOver(record) ? record : this.#waitFor(record.interaction.id, sent, call.until!, call.caller);
    });
  }

  /** Waits. A caller that gives up takes its requests along, at any moment. After a failure, a key finds them again. */
  async #taken<T>(call: Call, open: RequestRecord[], wait: () => Promise<T>): Promise<T> {
    try {
      return await wait();
    } catch (error) {
      const own = error instanceof DeadlineExceeded || error instanceof Aborted;
      if (call.sent && (own || !(call.key || error instanceof Refused))) await this.#leave(call, open).catch(() => {});
      throw error;
    }
  }

  /** Cancels requests for their caller. If their IDs never arrived, the same caller asks for them again. */
  async #leave(call: Call, open: RequestRecord[]): Promise<void> {
    const { caller = "" } = call;
    const until = new Until(undefined, leaveFor);
    if (open.length === 0) {
      const reply = await this.#http.call({ ...call, wait: call.wait && atOnce, until });
      if (reply.status === 202) open = page(reply).items;
      else if (call.operation !== "dialect") open = [known(json(reply))];
    }
    const body = encode({ reason: "the caller stopped waiting" });
    for (const record of open.filter((r) => !isOver(r))) {
      const path = [record.interaction.id];
      await this.#http.call({ operation: "cancelInteraction", path, body, caller, retry: true, until });
    }
  }

  async #waitFor(id: string, sent: Fields | undefined, until: Until, caller?: string): Promise<RequestRecord> {
    for (;;) {
      const began = performance.now();
      const reply = await this.#http.call({
        operation: "getInteraction",
        path: [idOf(id)],
        caller,
        wait: this.#http.window,
        retry: true,
        until,
      });
      const record = await this.#checked(reply, id, sent);
      if (isOver(record)) return record;
      if (performance.now() - began < shortPoll) await until.sleep(shortPoll); // the daemon did not wait
    }
  }

  async #record(operation: Operation, id: string, body?: unknown): Promise<RequestRecord> {
    const call: Call = { operation, path: [idOf(id)], retry: true };
    return this.#checked(await this.#http.call(body === undefined ? call : { ...call, body: encode(body) }), id);
  }

  async #checked(reply: Reply, id?: string, sent?: Fields): Promise<RequestRecord> {
    const record = known(json(reply), id);
    await same(record, sent);
    return record;
  }

  async #object<T>(call: Call): Promise<T> {
    const reply = await this.#http.call(call);
    const value = json(reply);
    if (!isObject(value)) throw new Unexpected("the response is not an object");
    return value as T;
  }

  async #items<T>(call: Call): Promise<T[]> {
    const { items } = await this.#object<{ items: T[] }>(call);
    if (!Array.isArray(items) || !items.every(isObject)) throw new Unexpected("the response is not a list");
    return items;
  }
}

function page(reply: Reply): { items: RequestRecord[]; next?: string } {
  const value = json(reply);
  if (!isObject(value) || !Array.isArray(value.items)) throw new Unexpected("the response is not a page of requests");
  const items = value.items.map((item) => listed(item));
  return typeof value.next === "string" ? { items, next: value.next } : { items };
}

function idOf(id: string): string {
  if (typeof id !== "string" || !uuid.test(id))
    throw new NodError("invalid", `${JSON.stringify(id)} is not the ID of a request`);
  return id;
}
