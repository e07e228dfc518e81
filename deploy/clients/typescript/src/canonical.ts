// Canonical JSON (RFC 8785), the digest of a request, and strict parsing.
import { NodError, Unexpected } from "./errors.ts";
import { coveredOfApproval, coveredTexts } from "./types.ts";

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Fields = { [name: string]: unknown };

const maxDepth = 600;

/** Returns a random ID. */
export const randomID = (): string => globalThis.crypto.randomUUID();

/** Reports whether a value is an object with named fields. */
export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Returns a value as JSON, once. What people approve is this text: it is sent, hashed and given back. A value that
 * JSON cannot carry is refused with its place.
 */
export function encode(value: unknown): string {
  return written(value, "", "", []);
}

function written(value: unknown, name: string, place: string, above: object[]): string {
  const refuse = (what: string) =>
    new NodError("invalid", `${place || "the message"}: ${what} cannot be sent as JSON`, "send its content as text, numbers, lists and plain objects");
  if (value === null || typeof value === "boolean") return JSON.stringify(value);
  if (typeof value === "string") {
    if (!wellFormed(value)) throw refuse("a text with an unpaired surrogate");
    return JSON.stringify(value);
  }
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw refuse(String(value));
    return JSON.stringify(value);
  }
  if (typeof value !== "object") throw refuse(`a ${typeof value}`);
  if (above.includes(value)) throw refuse("a value that contains itself");
  if (above.length >= maxDepth) throw refuse("so many levels of nesting");
  const inside = [...above, value];
  const { toJSON } = value as { toJSON?: unknown };
  if (value instanceof Date && Number.isNaN(value.getTime())) throw refuse("an invalid date");
  if (typeof toJSON === "function") return written(toJSON.call(value, name), name, place, inside);
  if (Object.getOwnPropertySymbols(value).some((name) => Object.prototype.propertyIsEnumerable.call(value, name)))
    throw refuse("a field whose name is a symbol");
  if (Array.isArray(value)) {
    if (Object.keys(value).length !== value.length) throw refuse("a list with gaps or names");
    return "[" + Array.from(value, (v, n) => written(v, String(n), `${place}[${n}]`, inside)).join(",") + "]";
  }
  if (!isPlain(value)) throw refuse(`a ${value.constructor?.name || "special object"}`);
  const fields: string[] = [];
  for (const [key, v] of Object.entries(value)) {
    if (v === undefined) continue;
    fields.push(written(key, "", "a name", []) + ":" + written(v, key, place ? `${place}.${key}` : key, inside));
  }
  return "{" + fields.join(",") + "}";
}

/** Reports whether an object is only its fields. A Map, an Error and an instance of a class are more. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Returns a copy of a value, as JSON has it. */
export const plain = (value: unknown): unknown => JSON.parse(encode(value));

/** Returns JSON in which the same value always has the same characters. */
function canonical(value: unknown): string {
  if (typeof value === "string" && !wellFormed(value))
    throw new NodError("invalid", "a text has an unpaired surrogate");
  if (Array.isArray(value)) return "[" + value.map(canonical).join(",") + "]";
  if (!isObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort(); // by UTF-16 code units, as the RFC requires
  return "{" + names.map((name) => canonical(name) + ":" + canonical(value[name])).join(",") + "}";
}

function wellFormed(text: string): boolean {
  return !/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text);
}

/** Returns the hex SHA-256 of a text. */
async function sha256(text: string): Promise<string> {
  const sum = new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Array.from(sum, (b) => b.toString(16).padStart(2, "0")).join("");
}

/** Returns the digest of a request or of an interaction, as the daemon computes it. */
export async function digest(request: object): Promise<string> {
  const sent = plain(request) as Fields;
  const approval = sent.approval as Fields | undefined;
  const payload: Fields = { kind: sent.kind || (approval ? "approval" : "ask"), ...covered(sent, coveredTexts) };
  if (Array.isArray(sent.questions) && sent.questions.length > 0) payload.questions = sent.questions;
  if (approval) {
    payload.approval = covered(approval, coveredOfApproval);
    if ("input" in approval) (payload.approval as Fields).input = approval.input;
  }
  return sha256(canonical(payload));
}

/** Returns those of the named texts that are not empty. */
const covered = (values: Fields, names: string[]): Fields =>
  Object.fromEntries(names.filter((name) => values[name]).map((name) => [name, values[name]]));

const token = /\s*(?:([{}[\],:])|"((?:[^"\\\u0000-\u001f]|\\.)*)"|[^\s{}[\],:"]+)/y;

/** Returns a response that is a text. */
export function textOf(raw: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(raw);
  } catch {
    throw new Unexpected("the response is not valid UTF-8");
  }
}

/** Parses a response. It refuses what only a lenient parser accepts, such as a duplicate name. */
export function parse(raw: Uint8Array): unknown {
  const text = textOf(raw);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Unexpected("the response is not valid JSON");
  }
  // The text is valid JSON, so a string before a colon is a name.
  const names: Set<string>[] = [];
  let last = "";
  token.lastIndex = 0;
  for (let match = token.exec(text); match; match = token.exec(text)) {
    if (match[1] === "{" || match[1] === "[") names.push(new Set());
    else if (match[1] === "}" || match[1] === "]") names.pop();
    else if (match[1] === ":") {
      const open = names[names.length - 1] as Set<string>;
      const name = JSON.parse(`"${last}"`) as string;
      if (open.has(name)) throw new Unexpected("the response is not valid JSON");
      open.add(name);
    }
    if (names.length > maxDepth) throw new Unexpected("the response is nested too deeply");
    last = match[2] ?? "";
  }
  return value;
}
