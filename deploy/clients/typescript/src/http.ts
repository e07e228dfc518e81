// Calls of the API, and their repeats while the daemon is unreachable.
import { parse } from "./canonical.ts";
import { Aborted, DeadlineExceeded, NodError, Refused, Unexpected, Unreachable } from "./errors.ts";
import type { Settings } from "./settings.ts";
import { operations } from "./types.ts";

export type Operation = keyof typeof operations;
export type Query = { [name: string]: string | number | boolean | undefined };

/** One call. Times are in milliseconds. */
export interface Call {
  operation: Operation;
  path?: string[];
  query?: Query;
  /** JSON. */
  body?: string;
  key?: string | undefined;
  caller?: string;
  /** How long the daemon waits for people. */
  wait?: number | undefined;
  retry?: boolean;
  until?: Until;
  /** Whether the call may have reached the daemon. */
  sent?: boolean;
}

/** A complete response. */
export interface Reply {
  status: number;
  headers: Headers;
  body: Uint8Array;
}

const grace = 10_000; // in which the daemon must answer after a wait
export const atOnce = 1; // a wait for what is known already
const retryFirst = 100;
const retryMost = 3_000;
const maxPause = 300_000;
const ours = "nod-daemon"; // a header of each response of a daemon
const maxBody = 256 << 20; // a page of the largest records
const codes = [
  "invalid",
  "unsupported",
  "unauthenticated",
  "forbidden",
  "not_found",
  "conflict",
  "rate_limited",
  "unavailable",
  "internal",
];

const environment = (name: string): string | undefined => {
  const env = (globalThis as { process?: { env?: { [name: string]: string | undefined } } }).process?.env;
  if (env) return env[name];
  return (globalThis as { Deno?: { env: { get(name: string): string | undefined } } }).Deno?.env.get(name);
};

/** The end of a wait: a signal and a deadline of the caller. */
export class Until {
  readonly signal: AbortSignal | undefined;
  private readonly end: number;

  constructor(signal?: AbortSignal, deadline = Infinity) {
    if (typeof deadline !== "number" || Number.isNaN(deadline))
      throw new NodError("invalid", "deadline: not a number", "pass a time in milliseconds");
    this.signal = signal;
    this.end = performance.now() + deadline;
  }

  /** Returns the time that is left, and throws if there is none. */
  left(): number {
    if (this.signal?.aborted) throw new Aborted(this.signal.reason);
    const left = this.end - performance.now();
    if (left <= 0) throw new DeadlineExceeded();
    return left;
  }

  /** Waits for a while, and throws if the end comes first. */
  async sleep(ms: number): Promise<void> {
    const time = Math.min(ms, this.left(), 2 ** 31 - 1); // the longest time of a timer
    await new Promise<void>((done) => {
      const timer = setTimeout(finish, time);
      const signal = this.signal;
      function finish() {
        clearTimeout(timer);
        signal?.removeEventListener("abort", finish);
        done();
      }
      signal?.addEventListener("abort", finish);
    });
    this.left();
  }
}

/** A failed connection. Such calls may be repeated. */
class Lost extends Error {}

/** Makes the calls to one daemon. */
export class Http {
  /** The longest wait of one call. */
  readonly window: number;
  readonly #base: string;
  readonly #token: string;
  readonly #patience: number;
  readonly #trace: string;
  readonly #fetch: typeof fetch;
  #reached = false; // a daemon has answered

  constructor(settings: Settings) {
    const url = (settings.url ?? environment("NOD_URL") ?? "http://127.0.0.1:8787").trim();
    const token = (settings.token ?? environment("NOD_TOKEN") ?? "").trim();
    let parsed: URL | undefined;
    try {
      parsed = new URL(url);
    } catch {
      // reported below
    }
    if (!parsed || !/^https?:\/\/[^/@?#]+(\/[^?#]*)?$/i.test(url)) {
      const hint = "set NOD_URL to a URL such as http://127.0.0.1:8787, without a user, a query and a fragment";
      throw new NodError("invalid", "invalid daemon URL", hint);
    }
    if (!token) throw new NodError("unauthenticated", "no token", "set NOD_TOKEN to the token of an agent");
    this.#base = parsed.href.replace(/\/+$/, "");
    this.#token = headerText(token);
    this.#patience = settings.patience ?? 120_000;
    this.window = settings.window ?? 25_000;
    this.#trace = settings.trace ?? "";
    this.#fetch = async (input, init) => (settings.fetch ?? fetch)(input, init);
  }

  /**
   * Makes a call, and repeats it while the daemon is unreachable if that is safe. An outage begins at the first failure,
   * or when the answer was due. After a failure, a call does not wait: its answer shows at once that the daemon is back.
   */
  async call(call: Call): Promise<Reply> {
    const until = call.until ?? new Until();
    let began: number | undefined;
    let pause = retryFirst;
    for (;;) {
      const started = performance.now();
      let after = 0;
      let error: NodError;
      try {
        const reply = await this.once(call, began === undefined ? call.wait : call.wait && atOnce, until);
        const foreign = !reply.headers.has(ours);
        this.#reached ||= !foreign;
        if (foreign && this.#reached) throw new Lost(`the server in front of it reports status ${reply.status}`);
        if (expected(call.operation, reply.status)) return reply;
        error = failure(reply);
        after = pauseOf(reply);
      } catch (caught) {
        if (!(caught instanceof Lost)) throw caught;
        error = unreachable(caught.message);
      }
      if (!call.retry || !["unavailable", "rate_limited"].includes(error.code)) throw error;
      began ??= Math.min(performance.now(), started + this.window);
      if (performance.now() + after - began > this.#patience) throw error;
      await until.sleep(Math.max(after, pause * (0.8 + 0.2 * Math.random())));
      pause = Math.min(2 * pause, retryMost);
    }
  }

  /** Makes one call. The limit covers the complete response, also if fetch ignores its signal. */
  private async once(call: Call, wait: number | undefined, until: Until): Promise<Reply> {
    const limit = this.window + Math.min(this.window, grace);
    const [method, path] = operations[call.operation];
    const url = new URL(this.#base + filled(path, call.path ?? []));
    const query = wait ? { ...call.query, wait: `${Math.ceil(wait)}ms` } : call.query;
    for (const [name, value] of Object.entries(query ?? {})) {
      if (value !== undefined && value !== "") url.searchParams.set(name, String(value));
    }
    const headers: { [name: string]: string } = { Authorization: `Bearer ${this.#token}` };
    if (call.body !== undefined) headers["Content-Type"] = "application/json";
    if (call.key !== undefined) headers["Idempotency-Key"] = headerText(call.key);
    if (call.caller !== undefined) headers["Nod-Caller"] = call.caller;
    if (this.#trace) headers.Traceparent = headerText(this.#trace);
    const end = new AbortController();
    const stop = () => end.abort();
    const timer = setTimeout(stop, Math.min(limit, until.left(), 2 ** 31 - 1));
    until.signal?.addEventListener("abort", stop);
    const ended = new Promise<never>((_, lose) => {
      end.signal.addEventListener("abort", () => lose(new Lost("no response in time")));
    });
    try {
      const init: RequestInit = {
        method,
        headers,
        redirect: "manual",
        signal: end.signal,
        cache: "no-store",
        credentials: "omit",
      };
      call.sent = true;
      const response = this.#fetch(url, call.body === undefined ? init : { ...init, body: call.body });
      return await Promise.race([received(response), ended]);
    } catch (error) {
      if (error instanceof Lost) until.left();
      throw error;
    } finally {
      clearTimeout(timer);
      until.signal?.removeEventListener("abort", stop);
    }
  }
}

/** Returns a complete response. */
async function received(answer: Promise<Response>): Promise<Reply> {
  try {
    const response = await answer;
    const reply = { status: response.status, headers: response.headers, body: await whole(response) };
    if (!isCut(reply)) return reply;
  } catch (error) {
    if (error instanceof Lost) throw error;
    const { cause, message } = error as { cause?: { code?: unknown; message?: unknown }; message?: unknown };
    throw new Lost(String(cause?.code ?? cause?.message ?? message));
  }
  throw new Lost("the connection was closed");
}

/** Reports whether JSON of unknown length ends early. Node.js 20 reports no error then. */
function isCut(reply: Reply): boolean {
  if (reply.headers.has("content-length") || mediaType(reply) !== "application/json") return false;
  try {
    JSON.parse(new TextDecoder().decode(reply.body));
    return false;
  } catch {
    return true;
  }
}

/** Reports whether a status has the response of an operation. */
function expected(operation: Operation, status: number): boolean {
  return (
    [200, 201, 204].includes(status) ||
    (status === 202 && operation === "dialect") ||
    (status === 503 && operation === "healthz")
  );
}

/** Reads a body of limited length. */
async function whole(response: Response): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = Number(response.headers.get("content-length")) > maxBody ? Infinity : 0;
  const reader = response.body?.getReader();
  while (reader) {
    if (size > maxBody) {
      reader.cancel().catch(() => {}); // the connection is of no more use
      throw new Lost("the response is too long");
    }
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    parts.push(value);
  }
  const out = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Returns the pause that a response asks for, in milliseconds. A time counts by the clock of its sender. */
function pauseOf({ headers }: Reply): number {
  const text = headers.get("retry-after") ?? "";
  const pause = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.parse(headers.get("date") ?? "");
  return Math.min(Math.max(pause || 0, 0), maxPause);
}

/** Returns the error in a response. Only an error of nod itself is final: a proxy in between only disturbs. */
function failure(reply: Reply): NodError {
  if (reply.status < 400) return new Unexpected(`the response with status ${reply.status} does not come from a nod daemon`);
  try {
    const { error } = json(reply) as { error: { code: string; message: string; hint?: string; fields?: unknown[] } };
    if (reply.headers.has(ours) && codes.includes(error.code) && typeof error.message === "string") {
      const Kind = error.code === "unavailable" ? Unreachable : Refused;
      return new Kind(error.code, error.message, String(error.hint ?? ""), Array.isArray(error.fields) ? error.fields : []);
    }
  } catch {
    // not an error of nod
  }
  return unreachable(`the server in front of it reports status ${reply.status}`);
}

const unreachable = (why: string) =>
  new Unreachable("unavailable", `the nod daemon is unreachable: ${why}`, "start nod serve, or set NOD_URL");

/** Returns the media type of a response. */
export function mediaType(reply: Reply): string {
  return (reply.headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
}

/** Returns the JSON of a response. */
export function json(reply: Reply): unknown {
  if (mediaType(reply) !== "application/json") throw new Unexpected("the response is not JSON");
  return parse(reply.body);
}

function filled(path: string, values: string[]): string {
  let n = 0;
  return path.replace(/\{[a-z]+\}/g, () => {
    const value = values[n++];
    if (typeof value !== "string" || ["", ".", ".."].includes(value)) {
      throw new NodError("invalid", `an ID is required, not ${JSON.stringify(value)}`);
    }
    return encodeURIComponent(value);
  });
}

function headerText(value: string): string {
  if (!/^[\x21-\x7e]+( +[\x21-\x7e]+)*$/.test(value)) {
    throw new NodError("invalid", "a token or an idempotency key has invalid characters");
  }
  return value;
}
