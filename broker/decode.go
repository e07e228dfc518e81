package broker

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// decoder is a record whose fields are being decoded.
type decoder struct {
	bridge.Record
	id     bridge.ID
	fields map[string]string
	index  int // of the numbered field that is decoded
}

// json decodes a value that nod has encoded. The name of the value, what,
// appears in errors.
func (d *decoder) json(what, v string, into any) error {
	if err := json.Unmarshal([]byte(v), into); err != nil {
		return bridge.Wrap(bridge.CodeInternal, err, "stored %s %s", what, d.id)
	}
	return nil
}

func decodeOpened(d *decoder, v string) error {
	if d.fields["cur"] != "" {
		return nil
	}
	return d.json("interaction", v, &d.Interaction)
}

func decodeCurrent(d *decoder, v string) error {
	return d.json("interaction", v, &d.Interaction)
}

func decodePacked(d *decoder, v string) error {
	packed := strings.SplitN(v, "|", 4)
	if len(packed) < 4 || packed[0] != recordVersion {
		return bridge.Errorf(bridge.CodeInternal,
			"the record of interaction %s has the unknown version %q", d.id, packed[0]).
			WithHint("run the version of nod that wrote it, or a newer one")
	}
	i := &d.Interaction
	if i.ID != d.id {
		return bridge.Errorf(bridge.CodeNotFound,
			"interaction %s not found: its key holds the record of another one", d.id)
	}
	i.Stated = bridge.Times{Created: i.Created, Deadline: i.Deadline}
	i.Created, i.Deadline = millis(packed[1]), millis(packed[2]) // the clock of Redis decides
	return nil
}

func decodeState(d *decoder, v string) error {
	d.State = bridge.State(v)
	return nil
}

func decodeResponse(d *decoder, v string) error {
	d.Response = &bridge.Response{}
	if err := d.json("response", v, d.Response); err != nil {
		return err
	}
	if d.Response.Proof == "" {
		d.Response.At = millis(d.fields["at"]) // a signed time must not change
	}
	return nil
}

func decodeUnawaited(d *decoder, v string) error {
	d.Unawaited = v == "1"
	return nil
}

func decodeQueued(d *decoder, v string) error {
	d.Queued = millis(v)
	return nil
}

func decodeHeld(d *decoder, v string) error {
	d.Held = v
	return nil
}

func decodeDelivered(d *decoder, v string) error {
	d.Delivered = millis(v)
	return nil
}

func decodeSent(d *decoder, v string) error {
	d.Sent = millis(v)
	return nil
}

func decodeCompletion(d *decoder, v string) error {
	d.Completion = &bridge.Completion{}
	return d.json("completion", v, d.Completion)
}

func decodeRevision(d *decoder, v string) error {
	n, _ := strconv.ParseInt(v, 10, 64) // only the scripts write numbers
	d.Revision = n + 1                  // revision 1 is the opening
	return nil
}

func decodeJoined(d *decoder, v string) error {
	d.Joined, _ = strconv.Atoi(v)
	return nil
}

func decodeAmended(d *decoder, v string) error {
	d.Amended, _ = strconv.Atoi(v)
	return nil
}

func decodeStep(d *decoder, v string) error {
	d.Step, _ = strconv.Atoi(v)
	return nil
}

func decodeReminders(d *decoder, v string) error {
	if n, err := strconv.Atoi(v); err == nil && n > 0 {
		d.Reminders = make([]bridge.Reminder, min(n, len(d.fields))) // each has a field
	}
	return nil
}

func decodeVoted(d *decoder, v string) (err error) {
	d.Votes, err = decodeVotes(d.id, v)
	return err
}

func decodeAudit(d *decoder, v string) error {
	d.Audit = &bridge.AuditRef{Entry: v}
	return nil
}

func decodeNext(d *decoder, v string) error {
	d.Next = bridge.ID(v)
	return nil
}

func decodeHead(d *decoder, v string) error {
	d.Head = bridge.ID(v)
	return nil
}

func decodeMessage(d *decoder, v string) error {
	var ref bridge.MessageRef
	if err := d.json("message of", v, &ref); err != nil {
		return err
	}
	put(&d.Messages, d.index, ref)
	return nil
}

func decodeFailure(d *decoder, v string) error {
	put(&d.Failures, d.index, v)
	return nil
}

func decodeLate(d *decoder, v string) error {
	put(&d.Late, d.index, millis(v))
	return nil
}

func decodeShown(d *decoder, v string) error {
	put(&d.Shown, d.index, v)
	return nil
}

func decodeParts(d *decoder, v string) error {
	s, err := decodeSending(v)
	if err != nil {
		return bridge.Wrap(bridge.CodeInternal, err, "stored parts of %s", d.id)
	}
	put(&d.Sending, d.index, s)
	return nil
}

func decodeReminder(d *decoder, v string) error {
	if d.index >= len(d.Reminders) {
		return nil
	}
	return d.json("reminder of", v, &d.Reminders[d.index])
}

// put sets an element of a map that may be nil.
func put[V any](m *map[int]V, n int, v V) {
	if *m == nil {
		*m = map[int]V{}
	}
	(*m)[n] = v
}

// sentPart is a line of the parts that were sent.
type sentPart struct {
	bridge.MessageRef
	Proof string `json:"proof,omitempty"`
}

// decodeSending decodes a digest of content, and the parts of it that were
// sent, one per line.
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
	n, _ := strconv.ParseInt(s, 10, 64) // only the scripts write it
	return time.UnixMilli(n).UTC()
}
