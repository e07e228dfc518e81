// Package proof makes and checks evidence: digests, receipts, the audit log, and
// the proofs of what a daemon stores.
//
// A [Digest] is the SHA-256 over the canonical JSON (RFC 8785) of what a
// decision is about. A [Receipt] is a JSON Web Signature with Ed25519 about one
// decision. An entry of the audit log is linked to the one before it, and a
// [Seal] signs how far the log is. A [Signer] also makes MACs, which only
// daemons that have its keys can check.
//
// To verify offline, take the public keys from a daemon once, then call
// [JWKS.VerifyRecord] for a record, [JWKS.VerifyReceipt] and [Receipt.Covers]
// for a receipt and its request, and [VerifyAudit] for an exported audit log.
// None of them needs a daemon, Redis or a private key.
//
// Code belongs here if it makes or checks evidence from values alone. Code that
// reads or writes the store belongs in bridge/engine: it seals the audit log, and
// proves every record on its way to the store. The types that are stored and sent
// belong in bridge.
package proof
