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
	other := stored(t, rec)
	other.Receipt = signed(t, signerOf(t, 2), other.Interaction, *other.Response)
	type verdict struct {
		Name   string `json:"name"`
		Record string `json:"record"` // text of the record
		Good   bool   `json:"good"`
	}
	cases := []verdict{
		{"unchanged", text(t, rec), true}, {"rewritten", rewritten(t, rec), true}, {"signed with another key", text(t, other), false},
		{"two prompts", strings.Replace(text(t, rec), `"prompt":`, `"prompt":"May I rest?","prompt":`, 1), false},
	}
	var full bridge.Interaction // with a value in every field
	readFixture(t, "interaction.json", &full)
	full.ID, full.Digest = rec.Interaction.ID, rec.Interaction.Digest
	full.Content = contentOf(t, full)
	everything := bridge.Record{Interaction: full, State: rec.State, Response: stored(t, rec).Response}
	everything.Receipt = signed(t, p, full, *everything.Response)
	cases = append(cases, verdict{"every field", rewritten(t, everything), true})
	for name, change := range map[string]func(*bridge.Record){
		"id":               func(r *bridge.Record) { r.Interaction.ID = "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f04" },
		"agent":            func(r *bridge.Record) { r.Interaction.Agent = "other" },
		"prompt":           func(r *bridge.Record) { r.Interaction.Prompt = "May I rest?" },
		"input of request": func(r *bridge.Record) { r.Interaction.Approval.Input = json.RawMessage(`{"a":9}`) },
		"content":          func(r *bridge.Record) { r.Interaction.Content = strings.Repeat("0", 64) },
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
		"route":            func(r *bridge.Record) { r.Interaction.OwnRoute = "other" },
		"risk":             func(r *bridge.Record) { r.Interaction.Risk = "low" },
		"hidden text":      func(r *bridge.Record) { r.Interaction.Redacted, r.Interaction.Prompt = 1, "May I ****?" },
		"no receipt":       func(r *bridge.Record) { r.Receipt = "" },
		"signature":        func(r *bridge.Record) { r.Receipt = r.Receipt[:len(r.Receipt)-8] + "AAAAAAAA" },
		"header":           func(r *bridge.Record) { r.Receipt = "x." + r.Receipt },
	} {
		cases = append(cases, verdict{name, text(t, altered(t, rec, change)), false})
	}
	table, err := filepath.Abs("../../deploy/clients/canonical.json")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(map[string]any{"keys": p.PublicKeys(), "cases": cases, "table": table})
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
const { verifyRecord, parse, digest } = await import(process.argv[2]);
const { keys, cases, table } = JSON.parse(readFileSync(process.argv[1], "utf8"));
for (const row of JSON.parse(readFileSync(table, "utf8"))) {
  if (row.digest && digest({ kind: "approval", prompt: "Go?", approval: { tool: "t", input: parse(row.json) } }) !== row.digest) console.log(row.json);
}
for (const c of cases) {
  let why = "";
  try { verifyRecord(parse(c.record), keys); } catch (e) { why = e.message; }
  if (c.good !== (why === "")) console.log(c.name + ": " + (why || "accepted"));
}`, path, verifier)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if out, err := cmd.Output(); err != nil || len(out) > 0 {
		t.Errorf("the verifier in JavaScript differs: %v\n%s%s", err, out, &errs)
	}
}
