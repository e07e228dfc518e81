package proof

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// evidenceAt is the time in all recorded evidence.
var evidenceAt = time.Date(2026, 1, 2, 3, 4, 5, 6000000, time.UTC)

const evidenceID bridge.ID = "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03"

func signerOf(t testing.TB, first byte) *Signer {
	t.Helper()
	s, err := NewSigner(bytes.Repeat([]byte{first}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// evidenceRequest is an approval whose input is not in the canonical form.
func evidenceRequest() bridge.Request {
	return bridge.Request{Ask: bridge.Ask{
		Kind: bridge.KindApproval, Prompt: "May I?", Session: "s", OnTimeout: bridge.OnTimeoutDeny,
		Approval: &bridge.Approval{Tool: "bash", Where: "/srv", Key: "k", Input: json.RawMessage(`{ "b" : 1.50, "a" : "<&>\u2028", "c": [1e2, -0] }`)},
	}}
}

// TestEvidence checks that digests and signatures have known values, so that none
// changes unnoticed: receipts that others keep have to verify.
func TestEvidence(t *testing.T) {
	t.Parallel()
	p := signerOf(t, 1)
	must := func(text string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	req := evidenceRequest()
	digest := must(DigestAsSent(req.Ask))
	approved := must(DigestAsSent(req.WithInput(json.RawMessage(`{"a":2}`))))
	i := bridge.Interaction{
		ID: evidenceID, Ask: req.Ask, Agent: "tester", Digest: digest,
		Schedule: bridge.Schedule{Created: evidenceAt, Deadline: evidenceAt.Add(time.Hour)},
		Placement: bridge.Placement{
			Destinations: []bridge.Destination{{Platform: "slack", Channel: "C1"}}, Responders: []bridge.Responder{{Person: "ana", Platform: "slack", User: "U1"}},
		},
		Lineage: bridge.Lineage{Round: 1},
	}
	i.Route, i.MaxRounds, i.Quorum = "default", 3, 2
	i.Content = contentOf(t, i)
	v := bridge.Vote{Actor: bridge.Actor{Platform: "slack", User: "U1", Person: "ana"}, State: bridge.StateApproved, At: evidenceAt, Content: i.Content}
	resp := bridge.Response{
		State: bridge.StateApproved, Scope: bridge.ScopeOnce, Actor: &v.Actor, At: evidenceAt, Digest: digest, ApprovedDigest: approved,
		Input: json.RawMessage(`{"a":2}`), Annotations: map[string]bridge.Annotation{},
	}
	receipt := signed(t, p, i, resp, v)
	e := bridge.AuditEntry{Entry: "3-0", Timestamp: 3, Type: bridge.AuditRefusal, ID: i.ID, Agent: "tester", Session: "s", Data: json.RawMessage(`{"why":"x"}`)}
	bare := i
	bare.ToolName = "Bash"
	bare.Approval = &bridge.Approval{Tool: "bash", Where: "/srv", Key: "k", Input: json.RawMessage(`{"a":1}`)}
	for name, c := range map[string]struct{ got, want string }{
		"digest":     {digest, "76f69113c55532b1acf6cbd4492e0fe5a996944541ec22ad5e6a2b003ff9b0d3"},
		"approved":   {approved, "93459c67d7b7a491108bfac4c63834fdb5c922c4c85b4858843a77fe68191a38"},
		"sent":       {must(CallDigest(req.Ask, "")), "b6b92841aa2f2c439c1c5490ade92ddabad4c3425f8f7ac952ce3d7aacd0355c"},
		"grant key":  {must(GrantKey(bare)), "15d05a8356eb33074d807ae6bd71c0e58f5a32552c71d39f380d64c85d972b03"},
		"content":    {v.Content, "c634b0a0b3f08ba7dd6e3b12c63344700b9b83c37bfdf6e7bb4eafa351dead56"},
		"audit hash": {HashAfter(e, "00"), "d45fc34f5b53e208242ddf152f6bda2e28b574bc3f92f6658f2e15306ac66d7a"},
		"receipt":    {receipt, knownReceipt},
		"seal":       {must(p.Seal(Seal{N: 2, Entry: "3-0", Hash: "bb", At: evidenceAt})), knownSeal},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %s, want %s", name, c.got, c.want)
		}
	}
}

// A receipt and a seal by the key of signerOf(t, 1).
const (
	knownReceipt = "eyJhbGciOiJFZERTQSIsImtpZCI6IlVERFJlT1psMWlwWEFmcDl3WXNtMTNzREJNSzVvZy0tUVdkQmp6dWY2bzQiLCJ0eXAiOiJub2Qt" +
		"cmVjZWlwdCtqd3MifQ.eyJpZCI6IjAxOTNiM2M0LTdkNWUtN2ExMC04ZjAwLTJiNmQwYzllNGYwMyIsImtpbmQiOiJhcHByb3ZhbCIsI" +
		"mFnZW50IjoidGVzdGVyIiwic2Vzc2lvbiI6InMiLCJyb3V0ZSI6ImRlZmF1bHQiLCJkaWdlc3QiOiI3NmY2OTExM2M1NTUzMmIxYWNmN" +
		"mNiZDQ0OTJlMGZlNWE5OTY5NDQ1NDFlYzIyYWQ1ZTZhMmIwMDNmZjliMGQzIiwic3RhdGUiOiJhcHByb3ZlZCIsInNjb3BlIjoib25jZ" +
		"SIsImFwcHJvdmVkX2RpZ2VzdCI6IjkzNDU5YzY3ZDdiN2E0OTExMDhiZmFjNGM2MzgzNGZkYjVjOTIyYzRjODViNDg1ODg0M2E3N2ZlN" +
		"jgxOTFhMzgiLCJhY3RvciI6eyJwbGF0Zm9ybSI6InNsYWNrIiwidXNlciI6IlUxIiwicGVyc29uIjoiYW5hIn0sInZvdGVzIjpbeyJhY" +
		"3RvciI6eyJwbGF0Zm9ybSI6InNsYWNrIiwidXNlciI6IlUxIiwicGVyc29uIjoiYW5hIn0sInN0YXRlIjoiYXBwcm92ZWQiLCJhdCI6I" +
		"jIwMjYtMDEtMDJUMDM6MDQ6MDUuMDA2WiIsImNvbnRlbnQiOiJjNjM0YjBhMGIzZjA4YmE3ZGQ2ZTNiMTJjNjMzNDQ3MDBiOWI4M2MzN" +
		"2JmZGY2ZTdiYjRlYWZhMzUxZGVhZDU2In1dLCJhdCI6IjIwMjYtMDEtMDJUMDM6MDQ6MDUuMDA2WiIsImNvbnRlbnQiOiJjNjM0YjBhM" +
		"GIzZjA4YmE3ZGQ2ZTNiMTJjNjMzNDQ3MDBiOWI4M2MzN2JmZGY2ZTdiYjRlYWZhMzUxZGVhZDU2IiwiaW5wdXQiOiI3ZTgwNTlmNDk1N" +
		"Tg5ZmNkOTgxMjMyY2MxMWQwMGIwMGRhMzgwMmMwMWQ2ODhmYTFjZjFmNmJlZDZlNWJiMzNjIiwicXVvcnVtIjoyfQ.FF-WFxpKGMAuDP" +
		"cNljpdPLr_8tQDhmsVCPxXRUQUO09_ENxsl0A-eL0qTJN7D94TUQjCiXwGWjTVu9b3jLj5DA"
	knownSeal = "eyJhbGciOiJFZERTQSIsImtpZCI6IlVERFJlT1psMWlwWEFmcDl3WXNtMTNzREJNSzVvZy0tUVdkQmp6dWY2bzQiLCJ0eXAiOiJub2Qt" +
		"c2VhbCtqd3MifQ.eyJuIjoyLCJlbnRyeSI6IjMtMCIsImhhc2giOiJiYiIsImF0IjoiMjAyNi0wMS0wMlQwMzowNDowNS4wMDZaIn0.7" +
		"o8LuKym0dvFVY2xZByQ18LTjtWE6JCTwyCAfr6G-m-2N5oFt8KWIJ1pVeu6Nze_-fryRGZE3ojso0inBLb7AA"
)
