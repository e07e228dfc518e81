package proof

import (
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// TestStoredState checks that grants, links, notes, drafts and remembered
// approvals verify if unchanged, and do not verify after a change or without a
// proof.
func TestStoredState(t *testing.T) {
	t.Parallel()
	p := NewProver(signerOf(t, 1))
	grant := bridge.Grant{Agent: "ci", Key: "exact:1", At: evidenceAt, Expires: evidenceAt.Add(time.Hour)}
	link := bridge.Link{Person: "ana", Platform: "slack", User: "U1"}
	draft := bridge.Draft{Answers: map[string]bridge.Answer{"q": bridge.TextAnswer("x")}}
	accepts := func(p *Prover, g bridge.Grant, l bridge.Link, d bridge.Draft) [3]bool {
		return [3]bool{p.CheckGrant(g) == nil, p.AcceptsLink(l, "slack", "U1"), p.AcceptsDraft(evidenceID, d)}
	}
	all, none := [3]bool{true, true, true}, [3]bool{}
	if got := accepts(p, grant, link, draft); got != none {
		t.Errorf("without proofs: %v", got)
	}
	p.ProveGrant(&grant)
	p.ProveLink(&link)
	p.ProveDraft(evidenceID, &draft)
	if got := accepts(p, grant, link, draft); got != all {
		t.Errorf("with proofs: %v", got)
	}
	grant.Session, link.Person, draft.Answers = "s", "eve", nil
	if got := accepts(p, grant, link, draft); got != none {
		t.Errorf("after a change: %v", got)
	}
	if p.AcceptsLink(bridge.Link{}, "slack", "U1") || p.AcceptsLink(bridge.Link{Person: "ana", Platform: "slack", User: "U2"}, "slack", "U1") {
		t.Error("a link of another account counts")
	}
	var nobody *Prover
	nobody.ProveGrant(&grant)
	if err := nobody.CheckGrant(bridge.Grant{}); err != nil {
		t.Errorf("without a signer: %v", err)
	}
}

// TestMemory checks that a remembered approval is valid only for its agent,
// session, key and scope.
func TestMemory(t *testing.T) {
	t.Parallel()
	p := NewProver(signerOf(t, 1))
	session, always := p.ProveMemory("ci", "s", "k", bridge.ScopeSession), p.ProveMemory("ci", "s", "k", bridge.ScopeAlways)
	for what, c := range map[string]struct{ got, want bridge.Scope }{
		"the session":          {p.Memory("ci", "s", "k", session), bridge.ScopeSession},
		"another session":      {p.Memory("ci", "t", "k", session), ""},
		"always":               {p.Memory("ci", "t", "k", always), bridge.ScopeAlways},
		"another agent":        {p.Memory("cd", "s", "k", always), ""},
		"another key":          {p.Memory("ci", "s", "l", always), ""},
		"more than was given":  {p.Memory("ci", "s", "k", bridge.ScopeAlways+session[len(bridge.ScopeSession):]), ""},
		"no proof":             {p.Memory("ci", "s", "k", bridge.ScopeAlways), ""},
		"two words":            {p.Memory("ci", "s", "k", "always x"), ""},
		"no time":              {p.Memory("ci", "s", "k", "always x y"), ""},
		"one that has expired": {p.Memory("ci", "s", "k", "always 2020-01-01T00:00:00Z y"), ""},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", what, c.got, c.want)
		}
	}
	note := p.ProveNote("link:1", "ana")
	for stored, want := range map[string]string{note: "ana", note + "x": "", "ana": "", "x ana": ""} {
		if got := p.Note("link:1", stored); got != want {
			t.Errorf("note %q: got %q, want %q", stored, got, want)
		}
	}
	if p.Note("link:2", note) != "" {
		t.Error("a note counts under another key")
	}
}

// TestVotes checks that a vote counts only on its own interaction, and with a
// proof.
func TestVotes(t *testing.T) {
	t.Parallel()
	p, i, resp := provable(t, `"x"`)
	i.Quorum = 2
	prove(t, p, &i)
	v := bridge.Vote{Actor: *resp.Actor, State: bridge.StateApproved, Scope: bridge.ScopeOnce, At: resp.At, Content: i.Content}
	if p.AcceptsVote(i.ID, v) {
		t.Error("a vote without a proof")
	}
	p.ProveVote(i.ID, &v)
	fresh := NewProver(signerOf(t, 1))
	for n := range 2 { // the second time, the vote is cached
		if !fresh.AcceptsVote(i.ID, v) || fresh.AcceptsVote(evidenceID, v) {
			t.Errorf("check %d of the vote", n)
		}
	}
	w := v
	w.Actor = bridge.Actor{Platform: "slack", User: "U2", Person: "bo"}
	p.ProveVote(i.ID, &w)
	for what, c := range map[string]struct {
		scope bridge.Scope
		votes []bridge.Vote
		good  bool
	}{
		"as it was voted":  {bridge.ScopeOnce, []bridge.Vote{v, w}, true},
		"wider than voted": {bridge.ScopeSession, []bridge.Vote{v, w}, false},
		"voted twice":      {bridge.ScopeOnce, []bridge.Vote{v, v}, false},
		"voted by one":     {bridge.ScopeOnce, []bridge.Vote{v}, false},
	} {
		resp.Scope = c.scope
		if err := p.ProveResponse(i, &resp, c.votes); err != nil {
			t.Fatal(err)
		}
		got := p.Checked(bridge.Record{Interaction: i, State: resp.State, Response: &resp, Votes: c.votes})
		if (got.Unverified == "") != c.good || (got.State == bridge.StateApproved) != c.good {
			t.Errorf("%s: %s, %q", what, got.State, got.Unverified)
		}
	}
}

// TestUnprovenRecords checks that records are not accepted without a proof or
// with an invalid one.
func TestUnprovenRecords(t *testing.T) {
	t.Parallel()
	p, i, resp := provable(t, `"x"`)
	bare := i
	prove(t, p, &i)
	if err := p.ProveResponse(i, &resp, nil); err != nil {
		t.Fatal(err)
	}
	unsigned, other := resp, resp
	unsigned.Proof, other.Reason = "", "other"
	expired := bridge.Response{State: bridge.StateExpired}
	for what, c := range map[string]struct {
		rec  bridge.Record
		good bool
	}{
		"as it was stored":    {bridge.Record{Interaction: i, State: bridge.StateApproved, Response: &resp}, true},
		"no proof":            {bridge.Record{Interaction: bare, State: bridge.StatePending}, false},
		"no receipt":          {bridge.Record{Interaction: i, State: bridge.StateApproved, Response: &unsigned}, false},
		"another reason":      {bridge.Record{Interaction: i, State: bridge.StateApproved, Response: &other}, false},
		"no response":         {bridge.Record{Interaction: i, State: bridge.StateApproved}, false},
		"pending and decided": {bridge.Record{Interaction: i, State: bridge.StatePending, Response: &resp}, false},
		"expired":             {bridge.Record{Interaction: i, State: bridge.StateExpired, Response: &expired}, true},
	} {
		if why := p.Marked(c.rec).Unverified; (why == "") != c.good {
			t.Errorf("%s: %q", what, why)
		}
	}
	if p.InteractionProblem(i) != "" || p.InteractionProblem(bare) == "" {
		t.Error("the problem of an interaction")
	}
	if r := (*Prover)(nil).Marked(bridge.Record{Interaction: bare, State: bridge.StatePending}); r.Unverified != "" {
		t.Errorf("without a signer: %s", r.Unverified)
	}
}

// TestDelivery checks that delivery marks count only if a daemon created them.
func TestDelivery(t *testing.T) {
	t.Parallel()
	p, i, _ := provable(t, `"x"`)
	prove(t, p, &i)
	ref := bridge.MessageRef{Channel: "C1", Message: "1"}
	m := p.ProveMark(i.ID, bridge.Mark{
		Posted: &bridge.Posted{Destination: 0, Content: "aa"}, Shown: &bridge.Shown{Destination: 1, Content: "bb"},
		Part: &bridge.Part{Destination: 2, Content: "cc", Ref: ref}, Queued: time.Hour,
	})
	rec := bridge.Record{
		Interaction: i, State: bridge.StatePending, Held: m.Held, Queued: evidenceAt,
		Shown:   map[int]string{0: m.Posted.Content, 1: m.Shown.Content, 2: m.Shown.Content, 3: "aa"},
		Sending: map[int]bridge.Sending{2: {Content: "cc", Parts: []bridge.MessageRef{ref, ref}, Proofs: []string{m.Part.Proof, m.Part.Proof}}},
	}
	got := p.Checked(rec)
	if got.Unverified != "" || len(got.Shown) != 2 || got.Shown[0] != "aa" || got.Shown[1] != "bb" || len(got.Sending[2].Parts) != 1 {
		t.Errorf("%q, shown %v, sent %v", got.Unverified, got.Shown, got.Sending)
	}
	if end := p.openUntil(rec); end.Before(time.Now().Add(time.Hour)) {
		t.Errorf("it is held until %s", end)
	}
	rec.Shown, rec.Sending = map[int]string{0: "aa"}, map[int]bridge.Sending{2: {Content: "cc", Parts: []bridge.MessageRef{ref}}}
	if got := p.Checked(rec); len(got.Shown) != 0 || len(got.Sending[2].Parts) != 0 {
		t.Errorf("marks without proofs: shown %v, sent %v", got.Shown, got.Sending)
	}
	if p.ProveMark(i.ID, bridge.Mark{}).Held != "" {
		t.Error("an empty mark has a proof")
	}
}
