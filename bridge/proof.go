package bridge

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Domains keep a proof of one kind from passing for one of another.
const (
	domainInteraction = "nod interaction v1"
	domainGrant       = "nod grant v1"
	domainLink        = "nod link v1"
	domainDraft       = "nod draft v1"
	domainNote        = "nod note v1"
	domainMemory      = "nod tool memory v1"
	domainVote        = "nod vote v1"
	domainEntry       = "nod audit entry v1"
	domainShown       = "nod shown v1"
	domainPart        = "nod part v1"
	domainHeld        = "nod held v1"
)

// Reasons why a record is not acted on. People read them on its card.
const (
	whyAltered  = "this request was changed outside nod, so nothing that is stored for it counts"
	whyUnproven = "this request has no proof: an earlier version of nod stored it, or it was written outside nod"
	whyForged   = "the decision of this request was changed outside nod, so it does not count"
	whyNoProof  = "the decision of this request has no proof: an earlier version of nod made it, or it was written outside nod"
	whyMoved    = "the deadline of this request was changed outside nod, so it can no longer be decided"
	whyLate     = "the decision of this request came after its deadline, which was changed outside nod"
	whyVotes    = "the votes on this request were changed outside nod, so they do not count"
)

// earlyBy is the difference between the clocks of Redis and of a daemon above
// which a response that was prepared for a deadline counts as applied too early.
const earlyBy = 2 * time.Minute

// prover makes the proofs of what a daemon stores, and checks those of what it
// reads. A nil prover makes and checks nothing. It is safe for concurrent use.
type prover struct {
	signer *Signer
	// strict refuses what has no proof. Keys that are kept in Redis prove
	// nothing against those who can read them there, so records of an earlier
	// version are accepted with such keys.
	strict bool
	known  *receiptCache
}

func newProver(s *Signer, keysInRedis bool) *prover {
	if s == nil {
		return nil
	}
	return &prover{signer: s, strict: !keysInRedis, known: newReceiptCache()}
}

// framed joins a domain and parts so that no two lists of parts look alike.
func framed(domain string, parts ...[]byte) []byte {
	n := len(domain) + 1
	for _, p := range parts {
		n += 8 + len(p)
	}
	out := append(make([]byte, 0, n), domain...)
	out = append(out, 0)
	for _, p := range parts {
		out = binary.BigEndian.AppendUint64(out, uint64(len(p)))
		out = append(out, p...)
	}
	return out
}

// mac proves something to the daemons that have the key, and to no one else.
func (s *Signer) mac(domain string, parts ...[]byte) string {
	return base64.RawURLEncoding.EncodeToString(macWith(s.macs[0], framed(domain, parts...)))
}

func macWith(key, text []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(text)
	return h.Sum(nil)
}

// macIs reports whether a proof is the MAC of parts, by any of the keys.
func (s *Signer) macIs(proof, domain string, parts ...[]byte) bool {
	sum, err := decodeStrict(proof)
	if err != nil || len(sum) != sha256.Size {
		return false
	}
	text := framed(domain, parts...)
	good := false
	for _, key := range s.macs {
		good = hmac.Equal(sum, macWith(key, text)) || good
	}
	return good
}

// detached proves something to everyone who has the public key.
func (s *Signer) detached(domain string, parts ...[]byte) string {
	return base64.RawURLEncoding.EncodeToString(ed25519.Sign(s.keys[0], framed(domain, parts...)))
}

// detachedIs reports whether a proof is a signature of parts, by any of the
// keys.
func (set JWKS) detachedIs(proof, domain string, parts ...[]byte) bool {
	sig, err := decodeStrict(proof)
	if err != nil || len(sig) != ed25519.SignatureSize {
		return false
	}
	text := framed(domain, parts...)
	for _, k := range set.Keys {
		if key, err := k.public(); err == nil && ed25519.Verify(key, text, sig) {
			return true
		}
	}
	return false
}

// stable is v as JSON that stays the same when it is stored and read again:
// Marshal escapes the replacement of invalid UTF-8, and writes the character
// itself once it was read.
func stable(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		return nil // v is one of our own plain structs, which always marshal
	}
	return bytes.ReplaceAll(out, []byte(`\ufffd`), []byte("\ufffd"))
}

// content returns the part of an interaction that cannot change while it is
// open, as JSON: all but who is asked and for how long. A field that amendments
// change must be left out here, and be added to amendable.
func (i Interaction) content() []byte {
	i.Proof, i.Created, i.Deadline = "", time.Time{}, time.Time{}
	i.Destinations, i.Responders, i.Groups, i.Called = nil, nil, nil, nil
	return stable(i)
}

// amendable has the fields that delegation and escalation change.
type amendable struct {
	Created, Deadline time.Time
	Destinations      []Destination
	Responders        []Responder
	Groups, Called    []string
}

// contentHash returns the hash of the content that a receipt states.
func contentHash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// proofParts returns the content, and the text that an interaction's proof
// covers: all of the interaction.
func (i Interaction) proofParts() (content, rest []byte) {
	times := i.Stated
	if times == (Times{}) {
		times = Times{i.Created, i.Deadline}
	}
	content = i.content()
	sum := sha256.Sum256(content)
	return content, append(sum[:], stable(amendable{times.Created.UTC(), times.Deadline.UTC(), i.Destinations, i.Responders, i.Groups, i.Called})...)
}

// proveInteraction signs an interaction as it is going to be stored.
func (p *prover) proveInteraction(i *Interaction) {
	i.Stated = Times{i.Created, i.Deadline}
	_, rest := i.proofParts()
	i.Proof = p.signer.mac(domainInteraction, rest)
}

// interactionProblem says why an interaction is not the one that a daemon
// stored. It is empty if it is.
func (p *prover) interactionProblem(i Interaction) (content []byte, why string) {
	content, rest := i.proofParts()
	switch {
	case i.Proof == "" && !p.strict:
		return content, ""
	case i.Proof == "":
		return content, whyUnproven
	case !p.signer.macIs(i.Proof, domainInteraction, rest):
		return content, whyAltered
	}
	return content, ""
}

// Times holds the creation and the deadline of an interaction.
type Times struct{ Created, Deadline time.Time }

// provenTimes keeps the times of an interaction as it was just read.
func (i *Interaction) provenTimes() { i.Stated = Times{i.Created, i.Deadline} }
