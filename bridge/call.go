package bridge

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// RepeatTime is the time for which nod repeats an answer to a caller that sends
// an idempotency key without a caller ID. It starts when the answer is sent.
const RepeatTime = time.Minute

// CallID identifies a call of an agent, so that a repeat of the call finds the
// request that the call opened.
type CallID struct {
	// Connection is the connection or process in which ID is unique. It may be
	// empty.
	Connection string
	// ID is the ID that the agent chose for the call, with its format. Agents
	// reuse such IDs for other calls.
	ID string
	// Key is the idempotency key that the caller chose. It replaces ID.
	Key string
	// Caller is the random ID that a client sends with a call and with all of
	// its retries.
	Caller string
	// Part is the index of the request in a message with several requests.
	// First is the interaction of the first request of the message. First is
	// empty for the first request itself.
	Part  int
	First ID
}

// Identity holds the values that are the same in two calls if one call repeats
// the other.
type Identity struct {
	// Name is the same for every repetition. It is empty if neither an ID nor a
	// key identifies the call.
	Name string
	// Retry is the same for every retry by one caller. It is empty if the
	// caller sent no caller ID.
	Retry string
	// Chosen means that the caller chose the name. A caller never uses a chosen
	// name for another request.
	Chosen bool
	// Digest is the digest of what the agent sent.
	Digest string
	// Key binds the stored request to the call; see Interaction.RequestKey.
	Key string
	// Caller identifies the caller among all callers that wait for one request;
	// see Abandon of package core.
	Caller string
}

// Prefixes of the keys in Identity.Key. The rest of a key is a hash.
const (
	markCall  = "call."
	markKey   = "key."
	markRetry = "retry."
)

// Identity returns the identity of a call with a digest of its content. It
// covers the agent, the connection, the session or thread, the ID, and, unless
// the caller chose a key, the content.
func (c CallID) Identity(agent, session, digest string) Identity {
	id, part := Identity{Digest: digest, Caller: CallerName(c.Caller)}, strconv.Itoa(c.Part)
	switch {
	case c.Key != "":
		id.Name, id.Chosen = hashOf(markKey, agent, c.Key, part), true
		id.Key = markKey + id.Name[:32]
		if c.First != "" {
			id.Key += "." + string(c.First)
		}
	case c.ID != "":
		id.Name = hashOf(markCall, agent, c.Connection, session, c.ID, digest)
		id.Key = CallKey(agent, c.ID) + "." + id.Name[:16]
	}
	if c.Caller != "" {
		id.Retry = hashOf(markRetry, agent, session, c.ID, c.Key, part, digest, c.Caller)
	}
	if id.Name == "" && id.Retry != "" {
		id.Key = markRetry + id.Retry[:32]
	}
	return id
}

// Anyone is the name of a caller that sent no caller ID.
const Anyone = "*"

// CallerName returns the name under which a caller waits for a request.
func CallerName(caller string) string {
	if caller == "" {
		return Anyone
	}
	return hashOf("caller", caller)[:16]
}

// CallKey returns the start of Interaction.RequestKey for a call with an ID.
func CallKey(agent, id string) string { return markCall + hashOf(agent, id)[:32] }

func hashOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		sum := sha256.Sum256([]byte(p))
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Repeatable reports whether another caller can repeat the call that opened the
// interaction. If so, the answer is spent once nod has sent it.
func (i Interaction) Repeatable() bool {
	return i.RequestKey != "" && !strings.HasPrefix(i.RequestKey, markRetry)
}

// Keyed reports whether a caller chose the key of the interaction. Other
// callers with the same key may wait for it, but only one of them gets an
// approval.
func (i Interaction) Keyed() bool { return strings.HasPrefix(i.RequestKey, markKey) }

// First returns the first interaction of the message that opened the
// interaction. For a message with one request, that is the interaction itself.
// The documents of the first interaction name the caller that gets the
// approvals of a message with a key, so that approvals of one message never go
// to different callers.
func (i Interaction) First() ID {
	if _, first, ok := strings.Cut(strings.TrimPrefix(i.RequestKey, markKey), "."); ok && i.Keyed() {
		return ID(first)
	}
	return i.ID
}

// Repetition is the outcome of a repeated call.
type Repetition int

// Outcomes of a repeated call.
const (
	Asks  Repetition = iota // a separate call, which opens a request
	Joins                   // the call gets the request that the first call opened
	Spent                   // the call gets nothing, because the answer to its key has already been sent
)

// Repeat returns the outcome of a call that has the same name as an earlier
// call with the record r. It is not used for a retry by the same caller. Now is
// the time of the store.
//
// An answer that has been sent is not sent again. Without a person's answer, an
// ID does not return the outcome of an earlier call, such as its timeout.
func (id Identity) Repeat(r Record, now time.Time) Repetition {
	sent := r.Sent
	if sent.IsZero() {
		sent = r.Delivered
	}
	switch {
	case !r.State.Final():
		return Joins
	case !id.Chosen:
		if sent.IsZero() && r.Response != nil && r.Response.Actor != nil && r.State.Decided() {
			return Joins
		}
		return Asks
	case sent.IsZero(), id.Retry == "" && now.Before(sent.Add(RepeatTime)):
		return Joins
	}
	return Spent
}

// RepeatedError is the error of a call whose key belongs to a request whose
// answer went to another caller.
type RepeatedError struct{ Interaction Interaction }

// Error implements error.
func (e *RepeatedError) Error() string { return e.public().Error() }

// Unwrap returns the error for the caller.
func (e *RepeatedError) Unwrap() error { return e.public() }

func (e *RepeatedError) public() error {
	return Errorf(CodeConflict, "Idempotency-Key: the answer to interaction %s was already sent under this key", e.Interaction.ID).
		WithHint("use another key to ask again")
}
