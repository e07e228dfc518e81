package session

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// saidMark is the start of the IDs of messages from people. The ID of a late
// answer is that of its interaction.
const saidMark = "m-"

func isSaid(id string) bool { return strings.HasPrefix(id, saidMark) }

// messageID returns the ID of a message from a person. Messages of a session with
// the same nonempty key have the same ID.
func messageID(owner, key string) string {
	if key == "" {
		key = rand.Text()
	}
	sum := sha256.Sum256([]byte(owner + "\x00" + key))
	return saidMark + hex.EncodeToString(sum[:12])
}

// said returns the keys of the messages from people among the members of an index.
func said(found []broker.Member) (keys []broker.Key) {
	for _, f := range found {
		if isSaid(f.Name) {
			keys = append(keys, messageDocs.Key(f.Name))
		}
	}
	return keys
}

func isForged(err error) bool { return errors.As(err, new(*broker.ForgedError)) }

// unchanged returns ErrUnchanged if the argument is true, and nil otherwise.
func unchanged(is bool) error {
	if is {
		return broker.ErrUnchanged
	}
	return nil
}

// public returns the message in its public form.
func (m message) public() bridge.Steering {
	out := m.Steering
	out.Told, out.Note = m.Told, m.Note
	return out
}

// next returns the position of a new message, which is later than all others.
func (in *inbox) next(now time.Time) time.Time {
	if !now.After(in.Last) {
		now = in.Last.Add(time.Millisecond)
	}
	in.Last = now
	return now
}

// texts returns the messages from people.
func texts(all []item) (out []item) {
	for _, i := range all {
		if i.said != nil {
			out = append(out, i)
		}
	}
	return out
}

// inOrder sorts the messages from people by their positions, whatever the index
// says. The late answers keep their places.
func inOrder(all []item) []item {
	sorted := texts(all)
	slices.SortStableFunc(sorted, func(a, b item) int { return a.said.Put.Compare(b.said.Put) })
	for n, i := range all {
		if i.said != nil {
			all[n], sorted = sorted[0], sorted[1:]
		}
	}
	return all
}

// take returns the first messages that a reader gets. Only a reader of answers
// gets late answers, and none gets messages that another reader has reserved. A
// named reader reserves them.
func (in *inbox) take(t bridge.Taking, all []item, answers bool, most int, now time.Time) (out []item) {
	if t.Continued != nil {
		if in.Continued++; !*t.Continued {
			in.Continued = 0
		}
		if in.Continued >= bridge.MaxContinued {
			return nil
		}
	}
	reserved := in.Reader != "" && in.Reader != t.Reader && now.Before(in.Until)
	for _, i := range all {
		if len(out) < most && (i.said == nil && answers || i.said != nil && !reserved) {
			out = append(out, i)
		}
	}
	if len(out) > 0 && t.Reader != "" {
		in.Reader, in.Until = t.Reader, now.Add(t.Lease)
	}
	return out
}

// marks marks a message from a person as taken, and reports whether that changed
// it. A peek marks nothing.
func (i *item) marks(reader string, answers bool) bool {
	if i.said == nil || reader == "" && !answers || i.said.Given == answers && (answers || i.said.Reader == reader) {
		return false
	}
	i.said.Given, i.said.Reader = answers, cmp.Or(reader, i.said.Reader)
	return true
}

// release ends the lease of a reader that has acknowledged a message.
func (in *inbox) release(reader string) {
	if in.Reader == reader {
		in.Reader, in.Until = "", time.Time{}
	}
}

// covered returns the messages that an acknowledgment of the given one covers:
// it and the earlier ones that its reader was given. If the message no longer
// waits, there are none.
//
// A reader of late answers does not get the messages that another one has
// reserved. Every reader that gets a message from a person gets the earlier ones as
// well, but late answers only if it has no name. If readers of both kinds got
// it, either one may acknowledge it, so that covers no late answers.
func covered(all []item, through string) (out []item) {
	n := slices.IndexFunc(all, func(i item) bool { return i.id == through })
	if n < 0 {
		return nil
	}
	last := all[n].said
	answers := last == nil || last.Given && last.Reader == ""
	for _, i := range all[:n+1] {
		if i.said == nil && answers || i.said != nil && (last != nil || i.said.Given) {
			out = append(out, i)
		}
	}
	return out
}
