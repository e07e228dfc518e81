package broker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// openTries bounds how often an opening is repeated because what it would join
// has changed in the meantime.
const openTries = 10

// Open implements bridge.Openings.
func (b *Broker) Open(ctx context.Context, o bridge.Opening) (bridge.Record, bool, error) {
	i := o.Interaction
	if o.Awaited {
		b.hub.reserve(i.ID)
	}
	rec, created, err := b.open(ctx, o)
	if o.Awaited && (err != nil || !created || rec.Over()) {
		b.hub.drop(i.ID)
	}
	return rec, created, err
}

func (b *Broker) open(ctx context.Context, o bridge.Opening) (bridge.Record, bool, error) {
	i := o.Interaction
	p := i.ID.Partition()
	join, first := flag(i.Join), bridge.ID("")
	for range openTries {
		args := b.openArgs(o, join, first)
		keys := append(b.transitionKeys(i.ID), b.keys.idem(p, i.Agent, o.IdempotencyKey), b.keys.all(p), b.keys.session(p, i.Agent, i.Session))
		if rare(o) {
			place := i.Agent + "/" + i.Session + "/" + i.Route
			keys = append(keys, b.keys.in(p, "i:"+string(i.Previous)), b.keys.in(p, "i:"+string(i.Root)),
				b.keys.in(p, "tw:"+twinName(place, i)), b.keys.in(p, "b:"+place), b.keys.in(p, "i:"+string(first)))
		}
		if o.IdempotencyKey != "" {
			keys = append(keys, b.keys.plainIdem(p, i.Agent, o.IdempotencyKey))
		}
		reply, err := b.run(ctx, p, b.scripts.open, keys, args...).StringSlice()
		if err != nil {
			return bridge.Record{}, false, unavailable(err)
		}
		id := bridge.ID(reply[1])
		switch reply[0] {
		case "conflict":
			return bridge.Record{}, false, reused(id)
		case "unversioned":
			return b.unversioned(ctx, id, i)
		case "taken":
			return bridge.Record{}, false, bridge.Errorf(bridge.CodeConflict, "interaction %s was asked again already", i.Previous).WithHint("the newer one is %s", id)
		case "missing":
			return bridge.Record{}, false, bridge.Errorf(bridge.CodeNotFound, "there is no interaction %s", id)
		case "batch":
			first = id
		case "twin":
			if join, err = b.twin(ctx, id); err != nil {
				return bridge.Record{}, false, err
			}
		case "joined":
			rec, err := b.Mark(ctx, id, bridge.Mark{Joined: true})
			return rec, false, err
		case "old":
			rec, err := b.Load(ctx, id)
			return rec, false, err
		default:
			return b.opened(ctx, o, reply[2])
		}
	}
	return bridge.Record{}, false, bridge.Errorf(bridge.CodeUnavailable, "what the request would join keeps changing").WithHint("try again")
}

// unversioned is the answer to a repeat whose first request was stored by a
// version that digested the record instead of the request. It is a repeat if
// both ask for the same.
func (b *Broker) unversioned(ctx context.Context, id bridge.ID, i bridge.Interaction) (bridge.Record, bool, error) {
	rec, err := b.Load(ctx, id)
	if err == nil && rec.Interaction.Digest != i.Digest {
		return bridge.Record{}, false, reused(id)
	}
	return rec, false, err
}

func reused(id bridge.ID) error {
	return bridge.Errorf(bridge.CodeConflict, "Idempotency-Key: was used for a different request").WithHint("the first one is %s", id)
}

// opened is the record of what was opened now, in ms. It is read only where
// the opening did more than store what it was given.
func (b *Broker) opened(ctx context.Context, o bridge.Opening, now string) (bridge.Record, bool, error) {
	b.poke()
	i := o.Interaction
	if o.Awaited {
		b.hub.follow(i.ID.Partition(), now)
	}
	if o.Response != nil || o.Queued || i.Previous != "" || i.Batch > 0 {
		rec, err := b.Load(ctx, i.ID)
		return rec, true, err
	}
	at := millis(now)
	rec := bridge.Record{Interaction: i, State: bridge.StatePending, Revision: 1}
	rec.Interaction.Stated = bridge.Times{Created: i.Created, Deadline: i.Deadline}
	rec.Interaction.Created, rec.Interaction.Deadline = at, at.Add(i.Deadline.Sub(i.Created))
	if len(o.Failures) > 0 {
		rec.Failures = maps.Clone(o.Failures)
	}
	return rec, true, nil
}

// twin says how an opening goes on that found an identical request.
func (b *Broker) twin(ctx context.Context, id bridge.ID) (string, error) {
	rec, err := b.Load(ctx, id)
	switch {
	case bridge.ErrorCode(err) == bridge.CodeNotFound || err == nil && (rec.Over() || rec.Next != ""):
		return string(id), nil
	case err != nil:
		return "", err
	}
	return "join:" + string(id), nil
}

func (b *Broker) openArgs(o bridge.Opening, join string, first bridge.ID) []any {
	i := o.Interaction
	state, response, escalated := bridge.StatePending, []byte{}, []byte{}
	if o.Response != nil {
		state, response = o.Response.State, data(o.Response)
	}
	destinations, again := 0, time.Duration(0)
	if o.Escalated != nil {
		escalated, destinations, again = data(o.Escalated), len(o.Escalated.Destinations), o.Escalated.Deadline.Sub(i.Deadline)
	}
	afterHold, channel := []byte{}, ""
	if i.Session != "" || o.Timeout.State == bridge.StatePending {
		afterHold = data(o.AfterHold) // others cannot be held
	}
	if o.Awaited {
		channel = b.keys.wake(b.node)
	}
	args := []any{
		string(i.ID), o.RequestDigest, data(i), i.Deadline.Sub(i.Created).Milliseconds(), string(o.Timeout.State), data(o.Timeout),
		len(i.Destinations), i.Agent, b.retention.Milliseconds(), time.Duration(i.Hold).Milliseconds(),
		time.Duration(i.Grace).Milliseconds(), flag(o.FrontEnds), len(i.Webhooks), i.Session, correlation(i), afterHold,
		flag(o.IdempotencyKey != ""), channel, bridge.MaxTimeout.Milliseconds(), flag(o.Limited),
	}
	if !rare(o) {
		return args
	}
	args = append(args, string(state), response, escalated, destinations, again.Milliseconds(),
		string(i.Previous), data(o.Superseded), string(i.Root), flag(o.Queued), join, time.Duration(i.Batch).Milliseconds(), string(first), bridge.MaxBatch, firstStep(i), flag(i.Root != ""))
	for n, reason := range o.Failures {
		args = append(args, strconv.Itoa(n), reason)
	}
	return args
}

// rare reports whether an opening needs what few do.
func rare(o bridge.Opening) bool {
	i := o.Interaction
	return o.Response != nil || o.Escalated != nil || i.Previous != "" || o.Queued || i.Join || i.Batch > 0 || len(i.Steps) > 0 || len(o.Failures) > 0
}

// correlation are the ids that an agent's events carry; empty where there are
// none.
func correlation(i bridge.Interaction) string {
	c := correlationIDs{i.ToolCall, i.Turn, i.ResponseID}
	if c == (correlationIDs{}) {
		return ""
	}
	return string(data(c))
}

type correlationIDs struct {
	ToolCall   string `json:"tc,omitempty"`
	Turn       string `json:"tu,omitempty"`
	ResponseID string `json:"ri,omitempty"`
}

// firstStep is how long the first step of an escalation waits, in ms.
func firstStep(i bridge.Interaction) string {
	if len(i.Steps) == 0 {
		return ""
	}
	return strconv.FormatInt(time.Duration(i.Steps[0].After).Milliseconds(), 10)
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// twinName is what identical requests have in common: what is asked, and
// what can be answered.
func twinName(place string, i bridge.Interaction) string {
	if !i.Join {
		return "" // the key is not used
	}
	sum := sha256.Sum256(append(data(i.Approval), i.Digest...))
	return place + "/" + hex.EncodeToString(sum[:])
}

// Load implements bridge.Records.
func (b *Broker) Load(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	c := &call{read: b.keys.record(id)}
	if err := b.queueOf(id.Partition()).do(ctx, c); err != nil {
		return bridge.Record{}, err
	}
	return readRecord(id, c.fields)
}

func readRecord(id bridge.ID, fields *redis.MapStringStringCmd) (bridge.Record, error) {
	f, err := fields.Result()
	if err != nil {
		return bridge.Record{}, unavailable(err)
	}
	return decodeRecord(id, f)
}

// recordVersion is that of the records that scripts write; see pack in
// lua/lib.lua. One that is not known is refused, not guessed at.
const recordVersion = "1"

func decodeRecord(id bridge.ID, f map[string]string) (bridge.Record, error) {
	var r bridge.Record
	if f["req"] == "" {
		return r, bridge.Errorf(bridge.CodeNotFound, "there is no interaction %s", id)
	}
	current := f["cur"] // as it was changed since its opening
	if current == "" {
		current = f["req"]
	}
	if err := json.Unmarshal([]byte(current), &r.Interaction); err != nil {
		return r, bridge.Wrap(bridge.CodeInternal, err, "stored interaction %s", id)
	}
	packed := strings.SplitN(f["c"], "|", 4)
	if len(packed) < 4 || packed[0] != recordVersion {
		return r, bridge.Errorf(bridge.CodeInternal, "the record of interaction %s has version %q, which this nod does not know", id, packed[0]).WithHint("run the version of nod that wrote it, or a newer one")
	}
	if r.Interaction.ID != id {
		return r, bridge.Errorf(bridge.CodeNotFound, "there is no interaction %s: what is stored under its name is another", id)
	}
	r.Interaction.Stated = bridge.Times{Created: r.Interaction.Created, Deadline: r.Interaction.Deadline}
	// The clock of Redis is the one that counts.
	r.Interaction.Created, r.Interaction.Deadline = millis(packed[1]), millis(packed[2])
	if r.State = bridge.State(f["st"]); r.State == "" {
		r.State = bridge.StatePending
	}
	r.Revision, _ = strconv.ParseInt(f["rev"], 10, 64) // written by the scripts only
	r.Revision++                                       // what was opened is the first
	for name, at := range map[string]*time.Time{"dv": &r.Delivered, "q": &r.Queued, "es": &r.Escalated} {
		if f[name] != "" {
			*at = millis(f[name])
		}
	}
	r.Joined, _ = strconv.Atoi(f["jn"]) // likewise
	r.Step, _ = strconv.Atoi(f["sp"])
	r.Amended, _ = strconv.Atoi(f["av"])
	if n, err := strconv.Atoi(f["rn"]); err == nil && n > 0 {
		r.Reminders = make([]bridge.Reminder, n)
	}
	r.Batch = bridge.ID(f["b"])
	if ids := strings.Split(f["bm"], ","); len(ids) > 1 {
		for _, member := range ids {
			r.Members = append(r.Members, bridge.ID(member))
		}
	}
	var err error
	if r.Votes, err = decodeVotes(id, f["vs"]); err != nil {
		return r, err
	}
	if n, err := strconv.ParseInt(f["an"], 10, 64); err == nil {
		r.Audit = &bridge.AuditRef{Partition: id.Partition(), N: n, Link: f["al"]}
	}
	r.Held, r.Unawaited, r.Next, r.Head = f["hq"], f["nw"] == "1", bridge.ID(f["nx"]), bridge.ID(f["hd"])
	if f["co"] != "" {
		r.Completion = &bridge.Completion{}
		if err := json.Unmarshal([]byte(f["co"]), r.Completion); err != nil {
			return r, bridge.Wrap(bridge.CodeInternal, err, "stored completion %s", id)
		}
	}
	if f["res"] != "" {
		r.Response = &bridge.Response{}
		if err := json.Unmarshal([]byte(f["res"]), r.Response); err != nil {
			return r, bridge.Wrap(bridge.CodeInternal, err, "stored response %s", id)
		}
		if r.Response.Proof == "" {
			r.Response.At = millis(f["at"]) // a signed time stays as it was signed
		}
	}
	for name, v := range f {
		if len(name) < 2 {
			continue
		}
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
		case 'r':
			if n >= len(r.Reminders) {
				continue
			}
			if err := json.Unmarshal([]byte(v), &r.Reminders[n]); err != nil {
				return r, bridge.Wrap(bridge.CodeInternal, err, "stored reminder of %s", id)
			}
		case 'l':
			if r.Late == nil {
				r.Late = map[int]time.Time{}
			}
			r.Late[n] = millis(v)
		case 'f':
			if r.Failures == nil {
				r.Failures = map[int]string{}
			}
			r.Failures[n] = v
		case 's':
			if r.Shown == nil {
				r.Shown = map[int]string{}
			}
			r.Shown[n] = v
		case 'p':
			if r.Sending == nil {
				r.Sending = map[int]bridge.Sending{}
			}
			if r.Sending[n], err = decodeSending(v); err != nil {
				return r, bridge.Wrap(bridge.CodeInternal, err, "stored parts of %s", id)
			}
		}
	}
	return r, nil
}

// sentPart is a line of what was sent.
type sentPart struct {
	bridge.MessageRef
	Proof string `json:"proof,omitempty"`
}

// decodeSending reads a content, and the parts that were sent of it, by line.
func decodeSending(s string) (bridge.Sending, error) {
	content, refs, _ := strings.Cut(s, "\n")
	out := bridge.Sending{Content: content}
	for line := range strings.SplitSeq(strings.TrimSpace(refs), "\n") {
		if line == "" {
			continue
		}
		var part sentPart
		if err := json.Unmarshal([]byte(line), &part); err != nil {
			return out, err
		}
		out.Parts, out.Proofs = append(out.Parts, part.MessageRef), append(out.Proofs, part.Proof)
	}
	return out, nil
}

func millis(s string) time.Time {
	n, _ := strconv.ParseInt(s, 10, 64) // written by the scripts only
	return time.UnixMilli(n).UTC()
}

// transitionKeys are the keys that the scripts which change an interaction
// have in common; see lua/lib.lua.
func (b *Broker) transitionKeys(id bridge.ID) []string {
	p := id.Partition()
	return []string{b.keys.record(id), b.keys.deadlines(p), b.keys.outbox(p), b.keys.jobs(p), b.keys.events(p), b.keys.nodes(p), b.keys.late(p), b.keys.audit(p), b.keys.auditHead(p), b.keys.open(p)}
}

// Settle implements bridge.Outcomes.
func (b *Broker) Settle(ctx context.Context, s bridge.Settlement) (bridge.Record, bool, error) {
	response, err := json.Marshal(s.Response)
	if err != nil {
		return bridge.Record{}, false, bridge.Wrap(bridge.CodeInternal, err, "response")
	}
	reply, fields := b.runAndRead(ctx, s.ID, b.scripts.settle,
		string(s.ID), string(s.Response.State), response, s.Nonce, b.keys.wake(b.node), expected(s.Expect))
	verdict, err := reply.Text()
	if err != nil {
		b.hub.wake(s.ID, nil) // it may have settled anyway
		return bridge.Record{}, false, unavailable(err)
	}
	if verdict == "missing" {
		return bridge.Record{}, false, bridge.Errorf(bridge.CodeNotFound, "there is no interaction %s", s.ID)
	}
	if verdict == "changed" {
		return bridge.Record{}, false, changed(s.ID)
	}
	r, err := readRecord(s.ID, fields)
	if err != nil {
		b.hub.wake(s.ID, nil)
	} else {
		b.hub.wake(s.ID, &r)
	}
	b.poke()
	if verdict == "won" {
		b.verifier.add(s)
	}
	return r, verdict == "won", err
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
			data(bridge.Delivery{Destination: m.Posted.Destination, Message: &m.Posted.Ref}), m.Posted.Content}
	case m.Failed != nil:
		left := bridge.Response{State: bridge.StateUndeliverable, Reason: m.Failed.Reason, Annotations: map[string]bridge.Annotation{}}
		args = []any{"failed", m.Failed.Destination, m.Failed.Reason,
			data(bridge.Delivery{Destination: m.Failed.Destination, Reason: m.Failed.Reason}), data(left)}
	case m.Delivered:
		args = []any{"delivered"}
	case m.Queued > 0:
		args = []any{"queued", m.Queued.Milliseconds(), m.Held}
	case m.Completed != nil:
		args = []any{"completed", data(m.Completed)}
	case m.Joined:
		args = []any{"joined"}
	case m.Amended != nil:
		args = amendArgs(m.Amended)
	case m.Late != nil:
		args = []any{"late", m.Late.Destination, m.Late.Delay.Milliseconds()}
	case m.Redraw != nil:
		args = []any{"redraw", *m.Redraw}
	case m.Part != nil:
		args = []any{"part", m.Part.Destination, m.Part.Content, m.Part.N, data(sentPart{m.Part.Ref, m.Part.Proof})}
	case m.Shown != nil:
		args = []any{"shown", m.Shown.Destination, m.Shown.Content}
	default:
		return bridge.Record{}, bridge.Errorf(bridge.CodeInternal, "empty mark")
	}
	cmd, fields := b.runAndRead(ctx, id, b.scripts.mark, append([]any{string(id)}, args...)...)
	reply, err := cmd.Text()
	if err != nil {
		return bridge.Record{}, unavailable(err)
	}
	if reply == "missing" {
		return bridge.Record{}, bridge.Errorf(bridge.CodeNotFound, "there is no interaction %s", id)
	}
	b.poke()
	r, err := readRecord(id, fields)
	if err == nil && reply == "changed" {
		return r, bridge.Errorf(bridge.CodeConflict, "interaction %s was changed meanwhile", id)
	}
	if err == nil && reply == "final" {
		err = bridge.Errorf(bridge.CodeConflict, "interaction %s has ended: %s", id, r.State)
	}
	return r, err
}

func amendArgs(a *bridge.Amendment) []any {
	escalated := []byte{}
	if a.Escalated != nil {
		escalated = data(a.Escalated)
	}
	args := []any{"amended", a.Expect, data(a.Interaction), len(a.Interaction.Destinations), escalated, flag(a.Wider), a.Step, max(a.Next, -1*time.Millisecond).Milliseconds(), a.Delay.Milliseconds(), voided(a.Void)}
	for _, m := range a.Reminders {
		args = append(args, data(m))
	}
	return args
}

// voided are the voters whose approvals no longer count, each between two
// separators.
func voided(voters []string) string {
	out := ""
	for _, who := range voters {
		out += voteEnd + clean(who) + voteEnd
	}
	return out
}

// data is v as JSON; v is one of our own plain structs, which always marshal.
func data(v any) []byte {
	out, _ := json.Marshal(v)
	return out
}
