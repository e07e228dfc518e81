package proof

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// TestOtherVerifier checks that the verifier in JavaScript, which shares no code
// with nod, accepts the records that nod accepts, and refuses each change.
func TestOtherVerifier(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no Node.js")
		}
		t.Skip("no Node.js on this machine")
	}
	p, _, rec := decided(t)
	q, other := NewProver(signerOf(t, 2)), stored(t, rec)
	q.ProveInteraction(&other.Interaction)
	if err := q.ProveResponse(other.Interaction, other.Response, nil); err != nil {
		t.Fatal(err)
	}
	other = q.Marked(other)
	type verdict struct {
		Name   string        `json:"name"`
		Record bridge.Record `json:"record"`
		Good   bool          `json:"good"`
	}
	cases := []verdict{{"unchanged", rec, true}, {"signed with another key", other, false}}
	for name, change := range map[string]func(*bridge.Record){
		"id":               func(r *bridge.Record) { r.Interaction.ID = "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f04" },
		"agent":            func(r *bridge.Record) { r.Interaction.Agent = "other" },
		"prompt":           func(r *bridge.Record) { r.Interaction.Prompt = "May I rest?" },
		"input of request": func(r *bridge.Record) { r.Interaction.Approval.Input = json.RawMessage(`{"a":9}`) },
		"digest":           func(r *bridge.Record) { r.Interaction.Digest = strings.Repeat("0", 64) },
		"state":            func(r *bridge.Record) { r.State = bridge.StateDenied },
		"scope":            func(r *bridge.Record) { r.Response.Scope = bridge.ScopeAlways },
		"actor":            func(r *bridge.Record) { r.Response.Actor.Person = "mal" },
		"at":               func(r *bridge.Record) { r.Response.At = r.Response.At.Add(time.Second) },
		"reason":           func(r *bridge.Record) { r.Response.Reason = "other" },
		"answers":          func(r *bridge.Record) { r.Response.Answers = map[string]bridge.Answer{"q": bridge.TextAnswer("x")} },
		"input":            func(r *bridge.Record) { r.Response.Input = json.RawMessage(`{"a":3}`) },
		"no input":         func(r *bridge.Record) { r.Response.Input = nil },
		"message":          func(r *bridge.Record) { r.Response.Message = &bridge.MessageRef{Channel: "C1", Message: "2"} },
		"covers":           func(r *bridge.Record) { r.Response.Covers = []string{"all"} },
		"no response":      func(r *bridge.Record) { r.Response = nil },
		"no receipt":       func(r *bridge.Record) { r.Receipt = "" },
		"signature":        func(r *bridge.Record) { r.Receipt = r.Receipt[:len(r.Receipt)-8] + "AAAAAAAA" },
		"header":           func(r *bridge.Record) { r.Receipt = "x." + r.Receipt },
	} {
		cases = append(cases, verdict{name, altered(t, rec, change), false})
	}
	raw, err := json.Marshal(map[string]any{"keys": p.signer.PublicKeys(), "cases": cases})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cases.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	verifier, err := filepath.Abs("../../deploy/verify/receipt.mjs")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "--input-type=module", "-e", `
import { readFileSync } from "node:fs";
const { verifyRecord } = await import(process.argv[2]);
const { keys, cases } = JSON.parse(readFileSync(process.argv[1], "utf8"));
for (const c of cases) {
  let why = "";
  try { verifyRecord(c.record, keys); } catch (e) { why = e.message; }
  if (c.good !== (why === "")) console.log(c.name + ": " + (why || "accepted"));
}`, path, verifier)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if out, err := cmd.Output(); err != nil || len(out) > 0 {
		t.Errorf("the verifier in JavaScript differs: %v\n%s%s", err, out, &errs)
	}
}
