package engine

import (
	"context"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/passkey"
)

// TestAssuredOutcomes checks that the port through which every part approves
// refuses an approval without the proof that its request requires.
func TestAssuredOutcomes(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	i := bridge.Interaction{Ask: bridge.Ask{Kind: bridge.KindApproval, Approval: &bridge.Approval{Tool: "x"}}}
	i.StepUp = bridge.AssurancePasskey
	rec := o.store.put(t, i)
	id := rec.Interaction.ID
	port := assuredOutcomes{o.store, o.store}
	ana := bridge.Actor{Platform: "chat", User: "U-ana", Person: "ana"}
	settle := func(r bridge.Response, known bool) error {
		s := bridge.Settlement{ID: id, Response: r}
		if known {
			s.Interaction = rec.Interaction
		}
		_, _, err := port.Settle(context.Background(), s)
		return err
	}
	for name, r := range map[string]bridge.Response{
		"a click":            {State: bridge.StateApproved, Actor: &ana},
		"no actor":           {State: bridge.StateApproved},
		"a rule of a person": {State: bridge.StateApproved, Actor: &ana, Rule: "deploy"},
		"another proof":      {State: bridge.StateApproved, Actor: &ana, Assurance: "face"},
	} {
		for _, known := range []bool{true, false} {
			if err := settle(r, known); bridge.ErrorCode(err) != bridge.CodeForbidden {
				t.Errorf("%s approves: %v", name, err)
			}
		}
	}
	_, _, err := port.Vote(context.Background(), bridge.Ballot{
		ID: id, Response: bridge.Response{State: bridge.StateApproved}, Vote: bridge.Vote{Actor: ana, State: bridge.StateApproved},
	})
	if bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("a vote without a proof: %v", err)
	}
	if got := o.store.get(id); got.State.Final() {
		t.Errorf("the request is %s", got.State)
	}
	if err := settle(bridge.Response{State: bridge.StateApproved, Actor: &ana, Assurance: bridge.AssurancePasskey}, true); err != nil {
		t.Error(err)
	}
}

// TestTicketExpires checks that a ticket ends at its time, even if the store
// still has it.
func TestTicketExpires(t *testing.T) {
	t.Parallel()
	site, err := passkey.NewSite("https://nod.example.com")
	if err != nil {
		t.Fatal(err)
	}
	o := newOffice(t, func(options *Options) {
		options.Signing = Signing{Store: struct{ passkey.Store }{}, Site: &site}
	})
	rec := o.store.put(t, bridge.Interaction{Ask: bridge.Ask{Kind: bridge.KindApproval, Approval: &bridge.Approval{Tool: "x"}}})
	for left, want := range map[time.Duration]bridge.Code{time.Minute: "", -time.Second: bridge.CodeNotFound} {
		asked := time.Now().Add(left - bridge.TicketTTL)
		ticket := bridge.Ticket{ID: rec.Interaction.ID, Statement: bridge.Statement{
			Content: rec.Interaction.Content, At: asked.UTC().Format(time.RFC3339),
		}}
		raw, err := bridge.EncodeJSON(ticket)
		if err != nil {
			t.Fatal(err)
		}
		secret := newSecret()
		if _, err := o.store.PutNote(t.Context(), ticketKey(secret), string(raw), time.Minute); err != nil {
			t.Fatal(err)
		}
		if _, _, err := o.signer.open(t.Context(), secret); bridge.ErrorCode(err) != want {
			t.Errorf("%s left: %v, want %q", left, err, want)
		}
	}
}
