package broker

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

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

// data is v as JSON; v is one of our own plain structs, which always marshal.
func data(v any) []byte {
	out, _ := json.Marshal(v)
	return out
}
