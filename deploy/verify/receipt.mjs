#!/usr/bin/env node
// Verifies offline who decided what, and what people signed with their passkeys.
// It needs Node.js 20 and nothing of nod. The formats are described in
// docs/receipts.md and docs/access/passkeys.md.
//
//   nod receipt keys > keys.json           (with a token, while nod runs)
//   nod show ID --json > record.json
//   node receipt.mjs keys.json record.json
//
// The second file holds a record, a receipt, or one assertion. It prints a line
// for the decision and one for each passkey, and exits with 0 only if everything
// is valid.
import { createHash, createPublicKey, verify as verifySignature } from "node:crypto";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const fields = ["at", "content", "decision", "nonce", "payload", "person", "request", "scope", "version"]; // sorted
const sha256 = (data) => createHash("sha256").update(data).digest();

function must(ok, what) {
  if (!ok) throw new Error(what);
}

// bytes decodes unpadded base64url. It accepts only one encoding of the same bytes.
function bytes(text, name) {
  const raw = Buffer.from(String(text), "base64url");
  must(typeof text === "string" && raw.length > 0 && raw.toString("base64url") === text, name + ": not base64url");
  return raw;
}

// challenge returns the hash that the passkey signs: of a domain and the
// statement as canonical JSON (RFC 8785), whose members are strings and a number.
export function challenge(statement) {
  must(Object.keys(statement).sort().join() === fields.join(), "statement: missing or unknown fields");
  must(statement.version === 1, "statement: unknown version");
  must(fields.every((f) => f === "version" || (typeof statement[f] === "string" && statement[f])), "statement: empty fields");
  must(bytes(statement.nonce, "nonce").length === 32, "nonce: not 32 bytes");
  return sha256("nod passkey v1\n" + JSON.stringify(statement, fields)).toString("base64url");
}

// verifyAssertion throws unless a key of the person signed the statement. At is
// the time of the decision.
export function verifyAssertion(a, passkeys, at) {
  const key = passkeys.keys.find((k) => k.credential === a.credential && k.person === a.statement.person);
  must(key, "no key of this person with this ID");
  must(!key.revoked || !at || new Date(at) < new Date(key.revoked), "the key had already been revoked");
  const client = bytes(a.client_data, "client_data");
  const auth = bytes(a.authenticator_data, "authenticator_data");
  const data = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(client));
  must(data.type === "webauthn.get", "signed for another purpose");
  must(data.challenge === challenge(a.statement), "signed for another request, decision or person");
  must(data.origin === a.origin && passkeys.origins.includes(a.origin), "signed on another page");
  must(!data.crossOrigin && !data.topOrigin, "signed inside the page of another site");
  must(a.rp_id === passkeys.rp_id, "signed for another site");
  must(auth.length >= 37 && auth.subarray(0, 32).equals(sha256(passkeys.rp_id)), "signed for another site");
  must(auth[32] & 0x01, "no person was present");
  must(auth[32] & 0x04, "the person was not verified");
  must(auth[32] & 0x08 || !(auth[32] & 0x10), "contradictory backup flags");
  must(auth[32] & 0xc0 || auth.length === 37, "unexpected data");
  const publicKey = createPublicKey({ key: key.jwk, format: "jwk" });
  const hash = { ES256: "sha256", RS256: "sha256", EdDSA: null }[key.jwk.alg];
  must(hash !== undefined, "unknown algorithm");
  const signed = Buffer.concat([auth, sha256(client)]);
  must(verifySignature(hash, signed, publicKey, bytes(a.signature, "signature")), "the signature is invalid");
  return a.statement;
}

// openReceipt returns the content of a receipt, after it has verified the
// signature of nod.
export function openReceipt(token, keys) {
  const parts = String(token || "").split(".");
  must(parts.length === 3, "receipt: not a compact JWS");
  const header = JSON.parse(bytes(parts[0], "header"));
  must(header.alg === "EdDSA" && header.typ === "nod-receipt+jws", "receipt: not a receipt of nod");
  const jwk = keys.keys.find((k) => k.kid === header.kid);
  must(jwk, "receipt: made with an unknown key");
  const key = createPublicKey({ key: { kty: jwk.kty, crv: jwk.crv, x: jwk.x }, format: "jwk" });
  must(verifySignature(null, Buffer.from(parts[0] + "." + parts[1]), key, bytes(parts[2], "signature")), "receipt: changed");
  return JSON.parse(bytes(parts[1], "payload"));
}

// canonical returns JSON in which the same value always has the same characters
// (RFC 8785).
function canonical(v) {
  if (Array.isArray(v)) return "[" + v.map(canonical).join() + "]";
  if (typeof v !== "object" || v === null) return JSON.stringify(v);
  return "{" + Object.keys(v).sort().map((k) => JSON.stringify(k) + ":" + canonical(v[k])).join() + "}";
}

const token = /\s*(?:([{}[\],:])|("(?:[^"\\]|\\.)*")|[^\s{}[\],:"]+)/y;

// parse refuses an object in which a name occurs twice, because two programs
// could read different values.
export function parse(text) {
  const value = JSON.parse(text);
  const names = [];
  let last = "";
  token.lastIndex = 0;
  for (let m = token.exec(text); m; m = token.exec(text)) {
    if (m[1] === "{" || m[1] === "[") names.push(new Set());
    else if (m[1] === "}" || m[1] === "]") names.pop();
    else if (m[1] === ":") {
      const open = names[names.length - 1];
      must(!open.has(JSON.parse(last)), "JSON: the name " + last + " occurs twice");
      open.add(JSON.parse(last));
    }
    last = m[2];
  }
  return value;
}

const hash = (v) => sha256(canonical(v)).toString("hex");

// covered copies those of the named texts that are not empty.
const covered = (from, names) => Object.fromEntries(names.filter((f) => from[f]).map((f) => [f, from[f]]));

// The texts of a request and of its approval that a decision covers, written
// from the table of texts by make reference.
const coveredTexts = ["prompt", "error", "tool_name"];
const coveredOfApproval = ["tool", "where", "key"];

// digest returns the digest of a request: of its kind, its questions, and the
// texts and the input that a decision covers.
export function digest({ kind, questions, approval, ...texts }) {
  const payload = { kind, ...covered(texts, coveredTexts) };
  if (questions?.length) payload.questions = questions;
  if (approval) payload.approval = covered(approval, coveredOfApproval);
  if ("input" in (approval || {})) payload.approval.input = approval.input;
  return hash(payload);
}

// content returns the hash of everything in a request that cannot change while
// it is open.
function content(i) {
  const none = "0001-01-01T00:00:00Z";
  const fixed = { ...i, created: none, deadline: none, destinations: null, responders: null };
  for (const f of ["content", "groups", "called", "added", "requirements", "unfound", "steps", "names", "told"]) delete fixed[f];
  return hash(fixed);
}

// verifyRecord returns the content of the receipt of a record. It throws unless
// they agree about the request, the decision, the person and the answers.
export function verifyRecord(record, keys) {
  const { interaction: i, response: r = {} } = record;
  const receipt = openReceipt(record.receipt, keys);
  const want = { state: record.state, input: "input" in r ? hash(r.input) : "" };
  for (const f of ["id", "kind", "agent", "digest", "session", "route"]) want[f] = i[f];
  for (const f of ["scope", "reason", "actor", "at", "approved_digest", "stop", "message", "covers", "grant", "assurance", "assertion"]) want[f] = r[f];
  if (receipt.votes) want.votes = record.votes;
  want.answers = Object.keys(r.answers || {}).length > 0 ? hash(r.answers) : "";
  for (const [f, value] of Object.entries(want)) must(canonical(receipt[f] || null) === canonical(value || null), f + ": the record differs from its receipt");
  must(content(i) === receipt.content, "interaction: the record differs from its receipt");
  must(i.content === receipt.content, "content: the record differs from its receipt");
  if (i.redacted) return receipt; // the digest covers the text before it was redacted
  must(digest(i) === receipt.digest, "digest: the request differs from its receipt");
  if ("input" in r) must(digest({ ...i, approval: { ...i.approval, input: r.input } }) === receipt.approved_digest, "input: differs from the approved input");
  return receipt;
}

// verifyPasskeys returns the statements that people signed about the decision of
// a receipt. It throws if one is about another decision or is not valid.
export function verifyPasskeys(r, passkeys) {
  const approvals = (r.votes || []).filter((v) => v.state === "approved" && v.assertion);
  if (r.assertion) approvals.push({ actor: r.actor, assertion: r.assertion, scope: r.scope, at: r.at });
  must(r.assurance !== "passkey" || approvals.length > 0, "the signature is missing");
  must(passkeys || approvals.length === 0, "keys: no keys of people");
  return approvals.map((v) => {
    const s = verifyAssertion(v.assertion, passkeys, v.at);
    const want = { request: r.id, payload: r.approved_digest || r.digest, content: r.content, decision: r.state, scope: v.scope, person: v.actor.person };
    for (const [f, value] of Object.entries(want)) must(s[f] === value, "signed another " + f);
    const late = (new Date(v.at) - new Date(s.at)) / 60000; // minutes, between clocks that differ by up to 2
    must(late >= -2 && late <= 7, "signed at another time");
    return s;
  });
}

function main([keysPath, path]) {
  const keys = parse(readFileSync(keysPath, "utf8"));
  const text = readFileSync(path, "utf8").trim();
  const given = text.startsWith("{") ? parse(text) : { receipt: text };
  let signed;
  if (given.statement) signed = [verifyAssertion(given, keys.passkeys)];
  else {
    const r = given.interaction ? verifyRecord(given, keys) : openReceipt(given.receipt, keys);
    signed = verifyPasskeys(r, keys.passkeys);
    console.log(`good: ${r.state} by ${r.actor?.person || "no person"} at ${r.at}, request ${r.id}, sha256:${r.approved_digest || r.digest}`);
  }
  for (const s of signed) console.log(`good: ${s.decision} ${s.scope} by the passkey of ${s.person}, request ${s.request}, sha256:${s.payload}`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    main(process.argv.slice(2));
  } catch (e) {
    console.error("receipt: " + e.message);
    process.exitCode = 6;
  }
}
