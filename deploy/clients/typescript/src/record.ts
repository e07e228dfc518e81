// Whether a response is the record of a request, and of the one that was sent.
import { digest, type Fields, isObject } from "./canonical.ts";
import { Refused, Unexpected } from "./errors.ts";
import type { Recorded, RequestRecord } from "./types.ts";

export const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const hex = /^[0-9a-f]{64}$/;
const scope = /^(once|session|always)(:[0-9]+)?$/; // a number names one of several options
const states = ["pending", "answered", "approved", "denied", "expired", "cancelled", "superseded", "undeliverable"];
const matches = (pattern: RegExp, value: unknown) => typeof value === "string" && pattern.test(value);

/** Returns a value if it is a nod daemon's record of the request with an ID. */
export function known(value: unknown, id?: string): RequestRecord {
  if (isObject(value) && value.repeated === true && !("state" in value)) {
    throw new Refused("conflict", "an earlier call with this key has the answer", "use another key to ask again");
  }
  if (!isObject(value) || !isObject(value.interaction) || !valid(value, value.interaction)) {
    throw new Unexpected("the response is not the record of a request");
  }
  if (id !== undefined && value.interaction.id !== id) throw new Unexpected("the response is for another request");
  return value as unknown as RequestRecord;
}

/** Returns a value of a list if it is a record, or one that the daemon could not verify, whose parts may disagree. */
export function listed(value: unknown): RequestRecord {
  if (!isObject(value) || !value.unverified) return known(value);
  if (!isObject(value.interaction) || !matches(uuid, value.interaction.id) || !states.includes(value.state as string)) {
    throw new Unexpected("the response is not the record of a request");
  }
  return value as unknown as RequestRecord;
}

/** Returns a value if it is what became of the request with an ID. */
export function recorded(value: unknown, id: string): Recorded {
  if (
    !isObject(value) ||
    value.id !== id ||
    !states.includes(value.state as string) ||
    !Number.isInteger(value.revision)
  ) {
    throw new Unexpected("the response is not about the request");
  }
  return value as unknown as Recorded;
}

/** Reports whether a value has the form of a record, and its parts agree. */
function valid(record: Fields, interaction: Fields): boolean {
  const { state, response } = record;
  const { kind } = interaction;
  if (
    !states.includes(state as string) ||
    !matches(uuid, interaction.id) ||
    !matches(hex, interaction.digest) ||
    typeof interaction.prompt !== "string" ||
    typeof interaction.agent !== "string" ||
    !Array.isArray(interaction.questions ?? []) ||
    !["ask", "approval", "notice"].includes(kind as string) ||
    !Number.isInteger(record.revision) ||
    record.unverified ||
    (kind === "approval" && !isObject(interaction.approval)) ||
    ((state === "approved" || state === "denied") && kind !== "approval") ||
    (state === "answered" && kind === "approval")
  ) {
    return false;
  }
  if (state === "pending") return response === undefined || response === null;
  return (
    isObject(response) &&
    response.state === state &&
    (response.digest === interaction.digest || (!response.digest && !["approved", "denied", "answered"].includes(state as string))) &&
    isObject(response.answers ?? {}) &&
    (state !== "approved" || matches(scope, response.scope)) &&
    (state === "approved" || !("input" in response))
  );
}

/** Throws unless a record is for the request that was sent. */
export async function same(record: RequestRecord, sent?: Fields): Promise<void> {
  const interaction = record.interaction as unknown as Fields;
  const response = (record.response ?? {}) as unknown as Fields;
  const whole = !interaction.redacted;
  if (sent) {
    const kind = sent.kind || (sent.approval ? "approval" : "ask");
    const named = ((sent.questions ?? []) as Fields[]).map((q, n) => q.id || `q${n + 1}`);
    const asked = ((interaction.questions ?? []) as Fields[]).map((q) => q?.id);
    const other = named.length > 0 && (named.length !== asked.length || named.some((id, n) => id !== asked[n]));
    if (kind !== interaction.kind || (whole && sent.prompt !== interaction.prompt) || other) {
      throw new Unexpected("the response is for another request");
    }
    if (
      kind === "approval" &&
      (await digest({ ...sent, kind, approval: sent.approval ?? {} })) !== interaction.digest
    ) {
      throw new Unexpected("the digest of the response is for another request");
    }
  }
  if (whole && (await digest(interaction)) !== interaction.digest) {
    throw new Unexpected("the digest of the response differs from its content");
  }
  const base = sent?.approval ? sent : whole ? interaction : undefined;
  if ("input" in response && base) {
    const approval = { ...(base.approval as Fields), input: response.input };
    if ((await digest({ ...base, kind: "approval", approval })) !== response.approved_digest) {
      throw new Unexpected("the digest of the edited input differs");
    }
    const { decisions } = (sent?.approval ?? {}) as { decisions?: string[] };
    if (sent && !decisions?.includes("edit")) throw new Unexpected("the approval is for another input");
  }
}
