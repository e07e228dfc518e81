// Package proof creates and checks the evidence that others receive from nod:
// digests, receipts and the audit log. Data that only nod stores has a seal
// instead; see package broker.
//
// A [Digest] is the SHA-256 of the canonical JSON (RFC 8785) of a request. A
// [Receipt] is a JSON Web Signature with Ed25519 about one decision. Each entry
// of the audit log is linked to the entry before it, and a [Seal] signs the
// state of the log.
//
// To verify offline, take the public keys from a daemon once, then call
// [JWKS.VerifyRecord] for a record, [JWKS.VerifyReceipt] and [Receipt.Covers]
// for a receipt and its request, and [VerifyAudit] for an exported audit log.
// None of them needs a daemon, Redis or a private key.
//
// Code belongs here if it creates or checks evidence from values alone. Package
// core stores receipts, package journal writes entries of the audit log, and
// bridge/rooms/audit keeps it. The types that are stored and sent belong in
// bridge. Start with [Signer.Receipt] and [JWKS.VerifyRecord].
package proof
