// Errors of the client. None of them is ever a yes.

/** A call that failed. code is an error code of the API, or unexpected, deadline or aborted. */
export class NodError extends Error {
  readonly code: string;
  readonly hint: string;
  readonly fields: unknown[];

  constructor(code: string, message: string, hint = "", fields: unknown[] = []) {
    super(message + (hint ? ` (hint: ${hint})` : ""));
    this.name = new.target.name;
    this.code = code;
    this.hint = hint;
    this.fields = fields;
  }
}

/** The daemon refused the call, for the reason in code. */
export class Refused extends NodError {}

/** The daemon did not answer for longer than the patience of the client. */
export class Unreachable extends NodError {}

/** The response cannot come from a nod daemon, or belongs to another request. */
export class Unexpected extends NodError {
  constructor(what: string) {
    super("unexpected", what, "check NOD_URL and any proxies in between");
  }
}

/** The deadline of the caller ended before the request was closed. */
export class DeadlineExceeded extends NodError {
  constructor() {
    super("deadline", "no answer before the deadline of the caller");
  }
}

/** The signal of the caller was aborted. Its reason is the cause. */
export class Aborted extends NodError {
  constructor(reason?: unknown) {
    super("aborted", "the caller stopped waiting");
    this.cause = reason;
  }
}
