package broker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Open implements bridge.Records.
func (b *Broker) Open(ctx context.Context, o bridge.Opening) (bridge.Record, bool, error) {
	i := o.Interaction
	args, err := b.openArgs(o)
	if err != nil {
		return bridge.Record{}, false, err
	}
	p := i.ID.Partition()
	reply, err := b.scripts.open.Run(ctx, b.client, []string{
		b.keys.record(i.ID), b.keys.idem(p, i.Agent, o.IdempotencyKey), b.keys.deadlines(p), b.keys.outbox(p), b.keys.jobs(p),
		b.keys.events(p), b.keys.pending(p), b.keys.all(p), b.keys.session(p, i.Agent, i.Session),
	}, args...).StringSlice()
	if err != nil {
		return bridge.Record{}, false, unavailable(err)
	}
	if reply[0] == "conflict" {
		return bridge.Record{}, false, bridge.Errorf(bridge.CodeConflict, "Idempotency-Key: was used for a different request").WithHint("the first one is %s", reply[1])
	}
	b.poke()
	rec, err := b.Load(ctx, bridge.ID(reply[1]))
	return rec, reply[0] == "new", err
}

func (b *Broker) openArgs(o bridge.Opening) ([]any, error) {
	i := o.Interaction
	req, err := json.Marshal(i)
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "interaction")
	}
	timeout, err := json.Marshal(o.Timeout)
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "response")
	}
	state, response := bridge.StatePending, []byte{}
	if o.Response != nil {
		state = o.Response.State
		if response, err = json.Marshal(o.Response); err != nil {
			return nil, bridge.Wrap(bridge.CodeInternal, err, "response")
		}
	}
	args := []any{
		string(i.ID), requestDigest(i), req, i.Deadline.Sub(i.Created).Milliseconds(), string(o.Timeout.State), timeout,
		string(state), response, len(i.Destinations), i.Agent, i.Session, i.ToolCall, i.Turn, b.retention.Milliseconds(),
		flag(o.IdempotencyKey != ""), flag(i.Session != ""),
	}
	for n, reason := range o.Failures {
		args = append(args, strconv.Itoa(n), reason)
	}
	return args, nil
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// requestDigest tells a repeat from another request under the same key: all
// that the agent sent, and nothing that differs between repeats.
func requestDigest(i bridge.Interaction) string {
	h := sha256.New()
	for _, s := range []string{i.Digest, i.Session, i.ToolCall, i.Turn, i.Route, i.Deadline.Sub(i.Created).String(), string(i.OnTimeout)} {
		h.Write([]byte(s + "\x00"))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Load implements bridge.Records.
func (b *Broker) Load(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	f, err := b.client.HGetAll(ctx, b.keys.record(id)).Result()
	if err != nil {
		return bridge.Record{}, unavailable(err)
	}
	return decodeRecord(id, f)
}

func decodeRecord(id bridge.ID, f map[string]string) (bridge.Record, error) {
	var r bridge.Record
	if f["req"] == "" {
		return r, bridge.Errorf(bridge.CodeNotFound, "there is no interaction %s", id)
	}
	if err := json.Unmarshal([]byte(f["req"]), &r.Interaction); err != nil {
		return r, bridge.Wrap(bridge.CodeInternal, err, "stored interaction %s", id)
	}
	// The clock of Redis is the one that counts.
	r.Interaction.Created, r.Interaction.Deadline = millis(f["ct"]), millis(f["dl"])
	r.State = bridge.State(f["st"])
	r.Revision, _ = strconv.ParseInt(f["rev"], 10, 64) // written by the scripts only
	if f["dv"] != "" {
		r.Delivered = millis(f["dv"])
	}
	if f["res"] != "" {
		r.Response = &bridge.Response{}
		if err := json.Unmarshal([]byte(f["res"]), r.Response); err != nil {
			return r, bridge.Wrap(bridge.CodeInternal, err, "stored response %s", id)
		}
		r.Response.At = millis(f["at"])
	}
	for name, v := range f {
		n, err := strconv.Atoi(name[1:])
		if err != nil {
			continue
		}
		switch name[0] {
		case 'm':
			var ref bridge.MessageRef
			if err := json.Unmarshal([]byte(v), &ref); err != nil {
				return r, bridge.Wrap(bridge.CodeInternal, err, "stored message of %s", id)
			}
			if r.Messages == nil {
				r.Messages = map[int]bridge.MessageRef{}
			}
			r.Messages[n] = ref
		case 'f':
			if r.Failures == nil {
				r.Failures = map[int]string{}
			}
			r.Failures[n] = v
		}
	}
	return r, nil
}

func millis(s string) time.Time {
	n, _ := strconv.ParseInt(s, 10, 64) // written by the scripts only
	return time.UnixMilli(n).UTC()
}

// transitionKeys are the keys of every script that can end an interaction.
func (b *Broker) transitionKeys(id bridge.ID) []string {
	p := id.Partition()
	return []string{b.keys.record(id), b.keys.deadlines(p), b.keys.pending(p), b.keys.outbox(p), b.keys.jobs(p), b.keys.events(p)}
}

// Settle implements bridge.Records.
func (b *Broker) Settle(ctx context.Context, s bridge.Settlement) (bridge.Record, bool, error) {
	response, err := json.Marshal(s.Response)
	if err != nil {
		return bridge.Record{}, false, bridge.Wrap(bridge.CodeInternal, err, "response")
	}
	reply, err := b.scripts.settle.Run(ctx, b.client, b.transitionKeys(s.ID),
		string(s.ID), string(s.Cause), string(s.Response.State), response, s.Nonce).Text()
	if err != nil {
		return bridge.Record{}, false, unavailable(err)
	}
	if reply == "missing" {
		return bridge.Record{}, false, bridge.Errorf(bridge.CodeNotFound, "there is no interaction %s", s.ID)
	}
	b.poke()
	if reply == "won" {
		b.verifier.add(s)
	}
	r, err := b.Load(ctx, s.ID)
	return r, reply == "won", err
}

// Mark implements bridge.Records.
func (b *Broker) Mark(ctx context.Context, id bridge.ID, m bridge.Mark) (bridge.Record, error) {
	var args []any
	switch {
	case m.Posted != nil:
		ref, err := json.Marshal(m.Posted.Ref)
		if err != nil {
			return bridge.Record{}, bridge.Wrap(bridge.CodeInternal, err, "message reference")
		}
		args = []any{"posted", m.Posted.Destination, ref, m.Posted.Revision,
			data(bridge.Delivery{Destination: m.Posted.Destination, Message: &m.Posted.Ref})}
	case m.Failed != nil:
		left := bridge.Response{State: bridge.StateUndeliverable, Reason: m.Failed.Reason, Annotations: map[string]bridge.Annotation{}}
		args = []any{"failed", m.Failed.Destination, m.Failed.Reason,
			data(bridge.Delivery{Destination: m.Failed.Destination, Reason: m.Failed.Reason}), data(left)}
	case m.Delivered:
		args = []any{"delivered"}
	default:
		return bridge.Record{}, bridge.Errorf(bridge.CodeInternal, "empty mark")
	}
	reply, err := b.scripts.mark.Run(ctx, b.client, b.transitionKeys(id), append([]any{string(id)}, args...)...).Text()
	if err != nil {
		return bridge.Record{}, unavailable(err)
	}
	if reply == "missing" {
		return bridge.Record{}, bridge.Errorf(bridge.CodeNotFound, "there is no interaction %s", id)
	}
	b.poke()
	return b.Load(ctx, id)
}

// data is v as JSON; v is one of our own plain structs, which always marshal.
func data(v any) []byte {
	out, _ := json.Marshal(v)
	return out
}
