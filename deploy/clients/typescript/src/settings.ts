// The settings of a client, and of its calls.
import type { Request, RequestRecord, State } from "./types.ts";

/** The settings of a client. */
export interface Settings {
  /** The address of the daemon; NOD_URL by default. */
  url?: string | undefined;
  /** The token of an agent or a person; NOD_TOKEN by default. */
  token?: string | undefined;
  /** The time in milliseconds for which the daemon may be unreachable; two minutes by default. */
  patience?: number | undefined;
  /**
   * The longest wait of one call in milliseconds; 25 seconds by default. It must be shorter than the time after which a
   * proxy closes a silent connection.
   */
  window?: number | undefined;
  /** A traceparent (W3C Trace Context). */
  trace?: string | undefined;
  /** Replaces fetch. */
  fetch?: typeof fetch | undefined;
}

/** The end of a wait. After either, the client cancels the request. */
export interface Waiting {
  signal?: AbortSignal | undefined;
  /** The longest wait in milliseconds. */
  deadline?: number | undefined;
}

/** How to send a request. */
export interface Sending extends Waiting {
  /** The idempotency key. A repeat in another process gets the same request until its answer was sent. */
  key?: string | undefined;
  /** Ends the request as undeliverable if every platform is down when it opens, instead of waiting for one. */
  now?: boolean | undefined;
}

/** The other fields of a request, such as session, route and timeout. */
export type RequestFields = Partial<Omit<Request, "prompt" | "questions" | "kind" | "approval">>;

/** The outcome of an approval. Read approved: the object itself is always true. */
export interface Decision {
  approved: boolean;
  state: State;
  /** What to run: the input that was sent or, if a person edited it, theirs. */
  input: unknown;
  edited: boolean;
  scope: string;
  reason: string;
  record: RequestRecord;
}

/** How to read the messages of a session. */
export interface Reading extends Waiting {
  /** The time in milliseconds to wait for the first message. */
  wait?: number;
  reader?: string;
  lease?: string;
  continued?: boolean;
  /** Whether to return only the messages from people that no reader has reserved, and to reserve none. */
  peek?: boolean;
}

/** What a person answers. */
export interface PersonReply {
  decision?: string;
  reason?: string;
  input?: unknown;
  confirm?: string;
  terms?: number;
  answers?: { [question: string]: unknown };
  others?: { [question: string]: string };
  decline?: boolean;
}
