// Verification of receipts: a compact JWS (RFC 7515) with Ed25519 (RFC 8032).
import { canonical, type Fields, isObject, parse, plain, sha256, webcrypto } from "./canonical.ts";
import { NodError } from "./errors.ts";
import type { RequestRecord } from "./types.ts";

/** A set of public keys, as the daemon returns it and as nod receipt keys prints it. */
export interface Keys {
  keys: { kty: string; crv: string; x: string; kid: string }[];
}

const bad = (why: string) => new NodError("forbidden", "receipt: " + why);

/** Decodes base64url in its only accepted spelling. */
function decoded(text: string): Uint8Array<ArrayBuffer> {
  try {
    const raw = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
    const again = btoa(raw).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
    if (again === text) return Uint8Array.from(raw, (c) => c.charCodeAt(0));
  } catch {
    // not base64
  }
  throw bad("not in its original encoding");
}

/** Returns the payload of a signed text that one of the keys signed. */
async function claimsOf(kind: string, signed: unknown, keys: Keys): Promise<Fields> {
  const parts = typeof signed === "string" ? signed.split(".") : [];
  if (parts.length !== 3) throw bad(signed ? "not a compact JWS" : "the record has none");
  const [first, second, third] = parts as [string, string, string];
  const header = parse(decoded(first));
  const claims = parse(decoded(second));
  if (!isObject(header) || !isObject(claims) || header.alg !== "EdDSA" || header.typ !== kind || "crit" in header) {
    throw bad("not signed by nod for this purpose");
  }
  const all = Array.isArray(keys?.keys) ? keys.keys : [];
  const found = all.find((k) => k.kid === header.kid && k.kty === "OKP" && k.crv === "Ed25519");
  if (!found) throw bad("signed with an unknown key");
  const key = await webcrypto.subtle.importKey("raw", decoded(found.x), { name: "Ed25519" }, false, ["verify"]);
  const text = new TextEncoder().encode(first + "." + second);
  if (!(await webcrypto.subtle.verify({ name: "Ed25519" }, key, decoded(third), text)))
    throw bad("the signature is not valid");
  return claims;
}

/**
 * Returns the claims of the receipt of a record. It throws unless one of the keys signed the receipt, and the receipt
 * and the record agree about the request, the decision, the person and the answers. `nod receipt verify` also compares
 * the claims that are not about the decision.
 */
export async function verify(record: RequestRecord, keys: Keys): Promise<Fields> {
  const claims = await claimsOf("nod-receipt+jws", record.receipt, keys);
  const interaction = plain(record.interaction) as Fields;
  const response = plain(record.response ?? {}) as Fields;
  const want: Fields = { state: record.state };
  for (const name of ["id", "kind", "agent", "digest", "session", "route"]) want[name] = interaction[name];
  for (const name of ["scope", "reason", "actor", "at", "approved_digest", "stop"]) want[name] = response[name];
  const answers = response.answers as Fields | undefined;
  want.answers = answers && Object.keys(answers).length > 0 ? await sha256(canonical(answers)) : undefined;
  want.input = "input" in response ? await sha256(canonical(response.input)) : undefined;
  for (const [name, value] of Object.entries(want)) {
    if (canonical(claims[name] || null) !== canonical(value || null))
      throw bad(`${name}: the record differs from its receipt`);
  }
  return claims;
}

/** Throws unless one of the keys signed an answer in another format. */
export async function verifyAnswer(statement: string | null, body: Uint8Array, keys: Keys): Promise<void> {
  const claims = await claimsOf("nod-answer+jws", statement, keys);
  if (claims.body !== (await sha256(body))) throw bad("the answer differs from the signed answer");
}
