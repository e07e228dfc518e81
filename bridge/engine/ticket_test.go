package engine_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// rewriteTicket changes words in the ticket of a secret.
func (b *bureau) rewriteTicket(secret string, words ...string) {
	b.t.Helper()
	sum := sha256.Sum256([]byte(secret))
	key := "ticket:" + hex.EncodeToString(sum[:])
	was, err := b.store.Notes().Note(b.t.Context(), key)
	now := strings.NewReplacer(words...).Replace(was)
	if err == nil {
		err = b.store.Notes().SetNote(b.t.Context(), key, now, time.Minute)
	}
	if err != nil || now == was {
		b.t.Fatalf("the ticket %q has no %s, %v", was, words[0], err)
	}
}

// TestTicketIsBound checks that a person's signature counts only for the decision
// that was signed: whatever is in the ticket by then, it approves nothing else.
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
			b.rewriteTicket(secret, words...)
			if note, err := b.engine.Passkeys.Sign(t.Context(), secret, signed); err == nil {
				t.Errorf("nod recorded it: %s", note)
			}
			if rec := b.get(id); rec.State != bridge.StatePending || len(rec.Votes) > 0 {
				t.Errorf("it is %s", rec.State)
			}
		})
	}
}
