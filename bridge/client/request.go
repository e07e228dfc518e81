package client

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// leaveFor limits the calls of a caller that has given up.
const leaveFor = 3 * time.Second

// RequestOptions holds the options of Request.
type RequestOptions struct {
	Key string // idempotency key; it may be empty
	// Keep leaves the request open if ctx ends.
	Keep bool
	// Reason returns the reason that the caller gave up, for the card. It may
	// be nil.
	Reason func() string
	// Opened, if not nil, is called once the request is open.
	Opened func(bridge.Record)
}

// LeftError is the error of a caller that gave up before its request was closed.
type LeftError struct {
	Cause error // cause of the end
	// ID is empty if it is unknown whether the request was opened.
	ID bridge.ID
	// Ended is the record after the caller has left. It is not set if Err is
	// set.
	Ended bridge.Record
	Err   error
}

// Error implements error.
func (e *LeftError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *LeftError) Unwrap() error { return e.Cause }

// Request sends a request, and returns its record once it is closed or
// deferred. The record belongs to exactly the request that was sent. If ctx
// ends before that, Request cancels the request and returns a LeftError. After
// another failure, it also cancels the request unless a key can find it again.
// A person's decision counts only if the caller also verifies its receipt, or
// trusts the connection.
func (c *Client) Request(ctx context.Context, r bridge.Request, o RequestOptions) (bridge.Record, error) {
	if r.CallID.Caller == "" {
		r.CallID.Caller = uuid.NewString()
	}
	rec, err := c.Open(ctx, r, o.Key)
	var opened bridge.Record
	if err == nil {
		opened = rec
		if o.Opened != nil {
			o.Opened(rec)
		}
		if !rec.Over() {
			rec, err = c.wait(ctx, rec.Interaction.ID, http.Header{"Nod-Caller": {r.CallID.Caller}})
		}
	}
	if err != nil && ctx.Err() != nil {
		return rec, c.leave(ctx, r, o, opened)
	}
	if err == nil {
		err = same(rec, r.Ask)
	}
	if err == nil {
		return rec, nil
	}
	if o.Key == "" && gaveUp(err) {
		_ = c.leave(ctx, r, o, opened) // best effort: the first error has more details
	}
	return bridge.Record{}, err
}

// gaveUp reports whether a failure leaves a request open.
func gaveUp(err error) bool {
	code := bridge.ErrorCode(err)
	return code == bridge.CodeUnavailable || code == bridge.CodeRateLimited || errors.Is(err, ErrUnexpected)
}

// leave cancels the request that a caller has opened, unless it was already
// closed. If the caller never received the ID, it asks for the ID again as the
// same caller.
func (c *Client) leave(ctx context.Context, r bridge.Request, o RequestOptions, opened bridge.Record) error {
	left := &LeftError{Cause: context.Cause(ctx), ID: opened.Interaction.ID}
	if o.Keep || opened.Over() {
		return left
	}
	late, stop := context.WithTimeout(context.WithoutCancel(ctx), leaveFor)
	defer stop()
	c = c.leaving()
	if left.ID == "" {
		rec, err := c.Open(late, r, o.Key)
		if err != nil {
			left.Err = err
			return left
		}
		if left.ID = rec.Interaction.ID; rec.Over() {
			left.Ended = rec
			return left
		}
	}
	left.Ended, left.Err = c.Leave(late, left.ID, r.CallID.Caller, why(o.Reason))
	return left
}

// leaving returns a client for the calls of a caller that has given up.
func (c *Client) leaving() *Client {
	return &Client{Patience: leaveFor / 2, Window: c.Window, Trace: c.Trace, base: c.base, token: c.token, http: c.http}
}

// why returns the reason that a caller has given up.
func why(reason func() string) string {
	if reason == nil {
		return "the caller stopped waiting"
	}
	return reason()
}

// whole returns an error unless rec is a record of a nod daemon for the request
// with an ID, or for any request if id is empty, and its parts are consistent.
// The parts of a record that the daemon itself could not verify may be
// inconsistent. It returns a RepeatedError if an earlier call got the answer.
func whole(rec bridge.Record, id bridge.ID) error {
	i, resp := rec.Interaction, rec.Response
	if rec.Repeated && rec.State == "" {
		return &bridge.RepeatedError{Interaction: i}
	}
	if _, err := bridge.ParseID(string(i.ID)); err != nil || id != "" && i.ID != id || !slices.Contains(bridge.States, rec.State) {
		return foreign()
	}
	if rec.Unverified != "" {
		return nil
	}
	digest, err := hex.DecodeString(i.Digest)
	wrong := err != nil || len(digest) != 32 ||
		!slices.Contains([]bridge.Kind{bridge.KindAsk, bridge.KindApproval, bridge.KindNotice}, i.Kind) ||
		(i.Kind == bridge.KindApproval) != (i.Approval != nil) || rec.Revision < 1
	switch rec.State {
	case bridge.StatePending:
		wrong = wrong || resp != nil
	case bridge.StateApproved, bridge.StateDenied:
		wrong = wrong || i.Kind != bridge.KindApproval
	case bridge.StateAnswered:
		wrong = wrong || i.Kind == bridge.KindApproval
	}
	if wrong {
		return foreign()
	}
	if rec.State.Final() {
		scopes := []bridge.Scope{bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways}
		approved := rec.State == bridge.StateApproved
		if resp == nil || resp.State != rec.State || resp.Digest != i.Digest && (resp.Digest != "" || rec.State.Decided()) || approved && !slices.Contains(scopes, resp.Scope.Kind()) || !approved && len(resp.Input) > 0 {
			return foreign()
		}
	}
	if i.Redacted == 0 {
		if now, err := proof.Digest(i.Ask); err != nil || now != i.Digest {
			return foreign()
		}
	}
	return nil
}

// same returns an error unless a record belongs to the request that was sent.
func same(rec bridge.Record, sent bridge.Ask) error {
	if err := sent.Normalize(); err != nil {
		return err
	}
	i, resp := rec.Interaction, rec.Response
	named := func(a, b bridge.Question) bool { return a.ID == b.ID }
	if rec.Unverified != "" || i.Kind != sent.Kind || i.Redacted == 0 && i.Prompt != sent.Prompt || !slices.EqualFunc(i.Questions, sent.Questions, named) {
		return foreign()
	}
	if digest, err := proof.Digest(sent); i.Kind == bridge.KindApproval && (err != nil || digest != i.Digest) {
		return foreign()
	}
	if resp == nil {
		return nil
	}
	if len(resp.Input) > 0 {
		now, err := proof.Digest(sent.WithInput(resp.Input))
		if err != nil || now != resp.ApprovedDigest || !slices.Contains(sent.Approval.Decisions, bridge.DecideEdit) {
			return foreign()
		}
	}
	if rec.State != bridge.StateAnswered {
		return nil
	}
	for id := range resp.Answers {
		if !slices.ContainsFunc(sent.Questions, func(q bridge.Question) bool { return q.ID == id }) {
			return foreign()
		}
	}
	for _, q := range sent.Questions {
		if len(q.Options) == 0 || q.AllowOther || q.Composite() {
			continue
		}
		a := resp.Answers[q.ID]
		if _, problem := q.Check(a, ""); problem != "" || a.List != nil && !q.Multiple() {
			return foreign()
		}
	}
	return nil
}
