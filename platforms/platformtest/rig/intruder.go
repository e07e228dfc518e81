package rig

import (
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
)

// Intruder can read and write Redis but has no key.
type Intruder struct {
	*Rig
	T *testing.T
}

// Intruded starts a rig whose keys are not in Redis, and an
// intruder.
func Intruded(t *testing.T, change ...func(*config.Config)) Intruder {
	t.Helper()
	return Intruder{Rig: New(t, Options{Config: func(c *config.Config) {
		Only("slack")(c)
		Auditor(c)
		bo := c.People["bo"]
		bo.Token = config.NewSecret(BoToken)
		c.People["bo"] = bo
		for _, f := range change {
			f(c)
		}
	}}), T: t}
}

// headerLen is the length of the header before the value of a stored document,
// and SealAt is the start of the seal in that header.
const (
	headerLen = 42
	SealAt    = 20
)

// DocumentKey returns the key of a document in Redis.
func DocumentKey(kind, id string) string { return "nod:{nod}:d:" + kind + ":" + id }

// valueOf returns the value of a stored document.
func valueOf(stored string) string {
	value := stored[headerLen:]
	if n := strings.LastIndex(value, "\x1e"); n >= 0 {
		value = value[:n]
	}
	return value
}

// Document returns the value of a stored document, or "".
func (r *Rig) Document(kind, id string) string {
	r.T.Helper()
	stored, err := r.Bare.Get(r.Ctx, DocumentKey(kind, id)).Result()
	if err != nil || len(stored) < headerLen {
		return ""
	}
	return valueOf(stored)
}

// Value returns the value of a document, and the header and the end around it.
func (x Intruder) Value(kind, id string) (header, value, end string) {
	x.T.Helper()
	s, err := x.Client.Get(x.Ctx, DocumentKey(kind, id)).Result()
	if err != nil || len(s) < headerLen {
		x.T.Fatalf("%s %s: %q, %v", kind, id, s, err)
	}
	value = valueOf(s)
	header, end = s[:headerLen], s[headerLen+len(value):]
	return header, value, end
}

// Rewrite replaces the value of a document, but not its seal.
func (x Intruder) Rewrite(kind, id string, change func(string) string) {
	x.T.Helper()
	header, value, end := x.Value(kind, id)
	changed := change(value)
	if changed == value {
		x.T.Fatalf("%s %s has nothing to change: %s", kind, id, value)
	}
	x.Store(kind, id, header+changed+end)
}

// Stored returns the stored form of a document.
func (x Intruder) Stored(kind, id string) string {
	x.T.Helper()
	s, err := x.Client.Get(x.Ctx, DocumentKey(kind, id)).Result()
	if err != nil {
		x.T.Fatal(err)
	}
	return s
}

// Store writes the stored form of a document.
func (x Intruder) Store(kind, id, stored string) {
	x.T.Helper()
	if err := x.Client.Set(x.Ctx, DocumentKey(kind, id), stored, 0).Err(); err != nil {
		x.T.Fatal(err)
	}
}

// ids returns the IDs of the documents of a kind.
func (x Intruder) ids(kind string) []string {
	x.T.Helper()
	prefix := DocumentKey(kind, "")
	keys, err := x.Client.Keys(x.Ctx, prefix+"*").Result()
	if err != nil {
		x.T.Fatal(err)
	}
	for n, k := range keys {
		keys[n] = strings.TrimPrefix(k, prefix)
	}
	return keys
}

// Only returns the ID of the only document of a kind.
func (x Intruder) Only(kind string) string {
	x.T.Helper()
	all := x.ids(kind)
	if len(all) != 1 {
		x.T.Fatalf("the documents of the kind %s are %q", kind, all)
	}
	return all[0]
}

// Made returns the ID of the document of a kind that f creates.
func (x Intruder) Made(kind string, f func()) string {
	x.T.Helper()
	before := x.ids(kind)
	f()
	made := slices.DeleteFunc(x.ids(kind), func(id string) bool { return slices.Contains(before, id) })
	if len(made) != 1 {
		x.T.Fatalf("%d documents of the kind %s were made", len(made), kind)
	}
	return made[0]
}

// Decided opens an approval and lets ana decide it.
func (x Intruder) Decided(req bridge.Request, reply bridge.Reply) bridge.Record {
	x.T.Helper()
	a := x.Ask(req)
	if _, err := x.Person.Respond(x.Ctx, a.Interaction.ID, reply); err != nil {
		x.T.Fatal(err)
	}
	return a.End()
}
