package passkeys

import (
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/passkey"
	"github.com/nodbridge/nod/platforms/platformtest/fake"
)

// TestTicketExpires checks that a ticket ends at its time, even if the store
// still has it.
func TestTicketExpires(t *testing.T) {
	t.Parallel()
	site, err := passkey.NewSite("https://nod.example.com")
	if err != nil {
		t.Fatal(err)
	}
	store := fake.New()
	o := engine.Options{Store: store, DB: store.DB}
	o.Default()
	room := New(engine.New(o), o, Signing{Site: &site})
	rec := store.Put(t, bridge.Interaction{Ask: bridge.Ask{Kind: bridge.KindApproval, Approval: &bridge.Approval{Tool: "x"}}})
	for left, want := range map[time.Duration]bridge.Code{time.Minute: "", -time.Second: bridge.CodeNotFound} {
		asked := time.Now().Add(left - bridge.TicketTTL)
		ticket := bridge.Ticket{ID: rec.Interaction.ID, Statement: bridge.Statement{
			Content: rec.Interaction.Content, At: asked.UTC().Format(time.RFC3339),
		}}
		raw, err := bridge.EncodeJSON(ticket)
		if err != nil {
			t.Fatal(err)
		}
		secret := bridge.NewSecret()
		if _, err := room.notes.PutNote(t.Context(), ticketKey(secret), string(raw), time.Minute); err != nil {
			t.Fatal(err)
		}
		if _, _, err := room.open(t.Context(), secret); bridge.ErrorCode(err) != want {
			t.Errorf("%s left: %v, want %q", left, err, want)
		}
	}
}
