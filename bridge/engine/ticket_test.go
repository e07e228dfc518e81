package engine_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// rewriteTickets changes words in the tickets that Redis holds.
func (b *bureau) rewriteTickets(words ...string) {
	b.t.Helper()
	changed := 0
	for _, key := range b.redis.Keys(b.t.Context(), "*ticket:*").Val() {
		was := b.redis.Get(b.t.Context(), key).Val()
		now := strings.NewReplacer(words...).Replace(was)
		if now == was {
			continue
		}
		changed++
		if err := b.redis.Set(b.t.Context(), key, now, 0).Err(); err != nil {
			b.t.Fatal(err)
		}
	}
	if changed == 0 {
		b.t.Fatalf("no ticket has %s", words[0])
	}
}

// TestTicketIsBound checks that a person's signature counts only for the decision
// that was signed: whatever someone writes into the ticket without nod's keys, it
// approves nothing else.
func TestTicketIsBound(t *testing.T) {
	t.Parallel()
	const scope, input = `"scope":"once"`, `"input":{"command":"make less"}`
	for name, words := range map[string][]string{
		"session instead of once": {scope + `,"input"`, `"scope":"session","input"`, scope + `,"ann`, `"scope":"session","ann`},
		"always instead of once":  {`"state":"approved"`, `"state":"approved","scope":"always"`, scope, `"was":"once"`},
		"another input":           {input, `"input":{"command":"make worse"}`},
		"no input":                {input, `"was":{}`},
		"a denial":                {`"state":"approved"`, `"state":"denied"`},
		"another person":          {`"actor":{"platform":"chat","user":"U-ana"`, `"actor":{"platform":"chat","user":"U-bo"`},
		"another decision signed": {`"decision":"approved"`, `"decision":"denied"`},
		"a later time":            {`"at":"2`, `"at":"3`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBureau(t, bridge.AssurancePasskey)
			id := b.open(bridge.Agent{Name: "bot"}, shell("make deploy")).Interaction.ID
			link := b.press("ana", id, "C1", bridge.DecideEdit, `{"command":"make less"}`).Link
			secret := strings.TrimPrefix(link, publicURL+"/sign/")
			signed := b.signature("ana", secret)
			b.rewriteTickets(words...)
			if note, err := b.engine.Sign(t.Context(), secret, signed); err == nil {
				t.Errorf("nod recorded it: %s", note)
			}
			if rec := b.get(id); rec.State != bridge.StatePending || len(rec.Votes) > 0 {
				t.Errorf("it is %s", rec.State)
			}
		})
	}
}
