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

// TestEvidence checks that digests, signatures and MACs have known values, so that
// none changes unnoticed: stored values, and receipts that others keep, have to
// verify.
func TestEvidence(t *testing.T) {
	t.Parallel()
	p := NewProver(signerOf(t, 1))
	must := func(text string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	req := evidenceRequest()
	digest := must(Digest(req.Ask))
	approved := must(Digest(req.WithInput(json.RawMessage(`{"a":2}`))))
	i := bridge.Interaction{
		ID: evidenceID, Ask: req.Ask, Agent: "tester", Digest: digest,
		Schedule: bridge.Schedule{Created: evidenceAt, Deadline: evidenceAt.Add(time.Hour)},
		Placement: bridge.Placement{
			Destinations: []bridge.Destination{{Platform: "slack", Channel: "C1"}}, Responders: []bridge.Responder{{Person: "ana", Platform: "slack", User: "U1"}},
		},
		Lineage: bridge.Lineage{Round: 1},
	}
	i.Route, i.MaxRounds, i.Quorum = "default", 3, 2
	prove(t, p, &i)
	v := bridge.Vote{Actor: bridge.Actor{Platform: "slack", User: "U1", Person: "ana"}, State: bridge.StateApproved, At: evidenceAt, Content: i.Content}
	p.ProveVote(i.ID, &v)
	resp := bridge.Response{
		State: bridge.StateApproved, Scope: bridge.ScopeOnce, Actor: &v.Actor, At: evidenceAt, Digest: digest, ApprovedDigest: approved,
		Input: json.RawMessage(`{"a":2}`), Annotations: map[string]bridge.Annotation{},
	}
	if err := p.ProveResponse(i, &resp, []bridge.Vote{v}); err != nil {
		t.Fatal(err)
	}
	e := bridge.AuditEntry{Entry: "3-0", Timestamp: 3, Type: bridge.AuditRefusal, ID: i.ID, Agent: "tester", Session: "s", Data: json.RawMessage(`{"why":"x"}`)}
	bare := i
	bare.ToolName = "Bash"
	bare.Approval = &bridge.Approval{Tool: "bash", Where: "/srv", Key: "k", Input: json.RawMessage(`{"a":1}`)}
	for name, c := range map[string]struct{ got, want string }{
		"digest":      {digest, "76f69113c55532b1acf6cbd4492e0fe5a996944541ec22ad5e6a2b003ff9b0d3"},
		"approved":    {approved, "93459c67d7b7a491108bfac4c63834fdb5c922c4c85b4858843a77fe68191a38"},
		"sent":        {must(Sent(req.Ask, "")), "b6b92841aa2f2c439c1c5490ade92ddabad4c3425f8f7ac952ce3d7aacd0355c"},
		"grant key":   {must(GrantDigest(bare)), "15d05a8356eb33074d807ae6bd71c0e58f5a32552c71d39f380d64c85d972b03"},
		"interaction": {i.Proof, "qdf5GIU0unxDyn2sJsSHWpNoNd-jNkGkOZdx_bHT5ZE"},
		"content":     {v.Content, "c634b0a0b3f08ba7dd6e3b12c63344700b9b83c37bfdf6e7bb4eafa351dead56"},
		"vote":        {v.Proof, "4D076kDLmjV3QfsGezXpsBhjnJM_kN8wCFhOdzSWmd6VpP5-OdZy1rfVXveeGX61Xx0ubseWHd-X0VyBLCPUBQ"},
		"audit hash":  {HashAfter(e, "00"), "d45fc34f5b53e208242ddf152f6bda2e28b574bc3f92f6658f2e15306ac66d7a"},
		"receipt":     {resp.Proof, knownReceipt},
		"seal":        {must(p.signer.Seal(Seal{N: 2, Entry: "3-0", Hash: "bb", At: evidenceAt})), knownSeal},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %s, want %s", name, c.got, c.want)
		}
	}
}

// A receipt and a seal by the key of signerOf(t, 1).
const (
	knownReceipt = "eyJhbGciOiJFZERTQSIsImtpZCI6IlVERFJlT1psMWlwWEFmcDl3WXNtMTNzREJNSzVvZy0tUVdkQmp6dWY2bzQiLCJ0eXAiOiJub2" +
		"QtcmVjZWlwdCtqd3MifQ.eyJpZCI6IjAxOTNiM2M0LTdkNWUtN2ExMC04ZjAwLTJiNmQwYzllNGYwMyIsImtpbmQiOiJhcHByb3Z" +
		"hbCIsImFnZW50IjoidGVzdGVyIiwic2Vzc2lvbiI6InMiLCJyb3V0ZSI6ImRlZmF1bHQiLCJkaWdlc3QiOiI3NmY2OTExM2M1NTU" +
		"zMmIxYWNmNmNiZDQ0OTJlMGZlNWE5OTY5NDQ1NDFlYzIyYWQ1ZTZhMmIwMDNmZjliMGQzIiwic3RhdGUiOiJhcHByb3ZlZCIsInN" +
		"jb3BlIjoib25jZSIsImFwcHJvdmVkX2RpZ2VzdCI6IjkzNDU5YzY3ZDdiN2E0OTExMDhiZmFjNGM2MzgzNGZkYjVjOTIyYzRjODV" +
		"iNDg1ODg0M2E3N2ZlNjgxOTFhMzgiLCJhY3RvciI6eyJwbGF0Zm9ybSI6InNsYWNrIiwidXNlciI6IlUxIiwicGVyc29uIjoiYW5" +
		"hIn0sInZvdGVzIjpbeyJhY3RvciI6eyJwbGF0Zm9ybSI6InNsYWNrIiwidXNlciI6IlUxIiwicGVyc29uIjoiYW5hIn0sInN0YXR" +
		"lIjoiYXBwcm92ZWQiLCJhdCI6IjIwMjYtMDEtMDJUMDM6MDQ6MDUuMDA2WiIsImNvbnRlbnQiOiJjNjM0YjBhMGIzZjA4YmE3ZGQ" +
		"2ZTNiMTJjNjMzNDQ3MDBiOWI4M2MzN2JmZGY2ZTdiYjRlYWZhMzUxZGVhZDU2IiwicHJvb2YiOiI0RDA3NmtETG1qVjNRZnNHZXp" +
		"YcHNCaGpuSk1fa044d0NGaE9kelNXbWQ2VnBQNS1PZFp5MXJmVlh2ZWVHWDYxWHgwdWJzZVdIZC1YMFZ5QkxDUFVCUSJ9XSwiYXQ" +
		"iOiIyMDI2LTAxLTAyVDAzOjA0OjA1LjAwNloiLCJjb250ZW50IjoiYzYzNGIwYTBiM2YwOGJhN2RkNmUzYjEyYzYzMzQ0NzAwYjl" +
		"iODNjMzdiZmRmNmU3YmI0ZWFmYTM1MWRlYWQ1NiIsImlucHV0IjoiN2U4MDU5ZjQ5NTU4OWZjZDk4MTIzMmNjMTFkMDBiMDBkYTM" +
		"4MDJjMDFkNjg4ZmExY2YxZjZiZWQ2ZTViYjMzYyIsInF1b3J1bSI6Mn0.JGjaZyvBi1Q1xLLzqp2HkMM9apTWhUQ4_jyfUNshJVz" +
		"Z7iJyZW8E05igraUasq0-6KqEHqNg2F9EbKyA6SE8Aw"
	knownSeal = "eyJhbGciOiJFZERTQSIsImtpZCI6IlVERFJlT1psMWlwWEFmcDl3WXNtMTNzREJNSzVvZy0tUVdkQmp6dWY2bzQiLCJ0eXAiOiJub2Qt" +
		"c2VhbCtqd3MifQ.eyJuIjoyLCJlbnRyeSI6IjMtMCIsImhhc2giOiJiYiIsImF0IjoiMjAyNi0wMS0wMlQwMzowNDowNS4wMDZaIn0.7" +
		"o8LuKym0dvFVY2xZByQ18LTjtWE6JCTwyCAfr6G-m-2N5oFt8KWIJ1pVeu6Nze_-fryRGZE3ojso0inBLb7AA"
)
