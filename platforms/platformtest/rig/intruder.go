package rig

import (
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
)

// Intruder is someone who can read and write Redis but has no key.
type Intruder struct {
	*Rig
	T *testing.T
}

// Intruded starts a rig with one partition whose keys are not in Redis, and an
// intruder.
func Intruded(t *testing.T, change ...func(*config.Config)) Intruder {
	t.Helper()
	return Intruder{Rig: New(t, Options{Single: true, Config: func(c *config.Config) {
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

// Record returns the key of a stored interaction.
func Record(id bridge.ID) string { return "nod:{nod}:i:" + string(id) }

// Set writes fields of a hash.
func (x Intruder) Set(key string, fields ...any) {
	x.T.Helper()
	if err := x.Client.HSet(x.Ctx, key, fields...).Err(); err != nil {
		x.T.Fatal(err)
	}
}

// Field returns a field of a hash.
func (x Intruder) Field(key, name string) string {
	x.T.Helper()
	s, err := x.Client.HGet(x.Ctx, key, name).Result()
	if err != nil {
		x.T.Fatal(err)
	}
	return s
}

// Decided opens an approval that ana decides.
func (x Intruder) Decided(req bridge.Request, reply bridge.Reply) bridge.Record {
	x.T.Helper()
	a := x.Ask(req)
	if _, err := x.Person.Respond(x.Ctx, a.Interaction.ID, reply); err != nil {
		x.T.Fatal(err)
	}
	return a.End()
}
