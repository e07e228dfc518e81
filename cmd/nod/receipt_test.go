package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/cmd/nod/caller"
	"github.com/nodbridge/nod/cmd/nod/hook"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// TestReceipt checks that the agent gets a receipt that anyone with the public
// key can verify, and that a change of any byte in the receipt or the request
// is detected.
func TestReceipt(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	req := samples.Approval()
	req.Approval.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideOnce, bridge.DecideEdit}
	a := r.Ask(req)
	r.Press("bo", a.On("slack"), "Run command")
	rec := a.End()
	keys, receipt := r.Receipt(rec)
	if receipt.ID != rec.Interaction.ID || receipt.State != bridge.StateApproved || receipt.Actor == nil || receipt.Actor.Person != "bo" || receipt.Actor.Platform != "slack" ||
		receipt.Message == nil || receipt.Message.Message != a.On("slack").Message || receipt.Content == "" || receipt.At.IsZero() {
		t.Errorf("the receipt says %+v", receipt)
	}
	if err := receipt.Covers(req, nil); err != nil {
		t.Errorf("it is not for the request: %v", err)
	}
	again, err := r.Agent.Get(r.Ctx, rec.Interaction.ID)
	if err != nil || again.Receipt != rec.Receipt {
		t.Errorf("a second read has another receipt: %v", err)
	}
	for n := range len(rec.Receipt) {
		if _, err := keys.VerifyReceipt(rec.Receipt[:n] + "\n" + rec.Receipt[n:]); n > 0 && bridge.ErrorCode(err) != bridge.CodeForbidden {
			t.Fatalf("a line break at %d was not detected: %v", n, err)
		}
		for _, flip := range []byte{1, 2, 4, 8, 16, 32} {
			b := []byte(rec.Receipt)
			b[n] ^= flip
			if _, err := keys.VerifyReceipt(string(b)); bridge.ErrorCode(err) != bridge.CodeForbidden {
				t.Fatalf("byte %d changed by %d was not detected: %v", n, flip, err)
			}
		}
	}
	other := req
	changed := *req.Approval
	changed.Input = bytes.Replace(changed.Input, []byte("make"), []byte("makf"), 1)
	other.Approval = &changed
	if err := receipt.Covers(other, nil); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("it covers the request although a byte of the payload changed: %v", err)
	}
	if err := caller.Verified(rec, other); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("the command would run: %v", err)
	}
	stranger, err := proof.NewSigner(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stranger.PublicKeys().VerifyReceipt(rec.Receipt); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("another key verifies it: %v", err)
	}
}

// TestReceiptOfAnEdit checks that the receipt has a separate digest for an
// edited input.
func TestReceiptOfAnEdit(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("discord")})
	req := samples.Approval()
	req.Approval.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideOnce, bridge.DecideEdit}
	a := r.Ask(req)
	r.Edit("ana", a.On("discord"), `{"command":"make check"}`)
	rec := a.End()
	_, receipt := r.Receipt(rec)
	if err := receipt.Covers(req, rec.Response.Input); err != nil {
		t.Errorf("it does not cover the edit: %v", err)
	}
	for name, input := range map[string]string{"the original": "", "another": `{"command":"make chek"}`} {
		if err := receipt.Covers(req, json.RawMessage(input)); bridge.ErrorCode(err) != bridge.CodeForbidden {
			t.Errorf("it covers %s as well: %v", name, err)
		}
	}
	a.Closed("-make deploy", "+make check")
}

// TestAudit checks that the log has every decision and refusal, and that any
// change of an entry is detected.
func TestAudit(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) { rig.Only("slack")(c); rig.Auditor(c) }})
	var last bridge.Record
	for range 5 {
		a := r.Ask(samples.Approval(bridge.ScopeOnce))
		r.Press("mal", a.On("slack"), "Run command") // not a responder
		r.Press("bo", a.On("slack"), "Run command")
		last = a.End()
	}
	keys, receipt := r.Receipt(last)
	var err error
	var report proof.AuditReport
	var log []byte
	r.Eventually("the log is sealed", func() bool {
		log = rig.Exported(r)
		if report, err = proof.VerifyAudit(bytes.NewReader(log), keys, receipt); err != nil {
			t.Fatal(err)
		}
		return report.Unsealed == 0 && report.Seals > 0
	})
	if len(report.Problems) > 0 || report.Entries != 10 || strings.Count(string(log), `"refusal"`) != 5 || strings.Count(string(log), `"decision"`) != 5 {
		t.Fatalf("%+v\n%s", report, log)
	}
	if report.Seals > 2 { // the first, and the newest
		t.Errorf("%d seals kept for less than a minute", report.Seals)
	}
	ways := tampered(log)
	for what, text := range ways {
		got, err := proof.VerifyAudit(strings.NewReader(text), keys, receipt)
		if err == nil && len(got.Problems) == 0 {
			t.Errorf("not found: %s", what)
		}
	}
	if len(ways) < 30 {
		t.Errorf("only %d ways were tried", len(ways))
	}

	// Someone with write access to Redis can remove and change entries, but the
	// verification detects it.
	ids, err := r.Client.XRange(r.Ctx, "nod:{nod}:s:journal", "-", "+").Result()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Client.XDel(r.Ctx, "nod:{nod}:s:journal", ids[3].ID).Err(); err != nil {
		t.Fatal(err)
	}
	if report, err = proof.VerifyAudit(bytes.NewReader(rig.Exported(r)), keys); err != nil || len(report.Problems) == 0 {
		t.Errorf("removing an entry from Redis was not detected: %+v, %v", report, err)
	}
	for token, code := range map[string]bridge.Code{rig.TestAgentToken: bridge.CodeForbidden, "": bridge.CodeUnauthenticated} {
		if err := client.New(r.Daemons[0].URL, token, nil).Audit(r.Ctx, &bytes.Buffer{}); bridge.ErrorCode(err) != code {
			t.Errorf("token %q reads the audit log: %v", token, err)
		}
	}
}

// TestAuditRetention checks that old entries are removed, that the remaining
// ones can be verified, and that only a daemon can trim the log.
func TestAuditRetention(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("slack")(c)
		rig.Auditor(c)
	}})
	keys, err := r.Agent.Keys(r.Ctx)
	if err != nil {
		t.Fatal(err)
	}
	decide := func() {
		rec, err := r.Agent.Open(r.Ctx, samples.Approval(bridge.ScopeOnce), "")
		if err == nil {
			_, err = r.Person.Respond(r.Ctx, rec.Interaction.ID, rig.AnswerOnce)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	verify := func(log []byte) proof.AuditReport {
		report, err := proof.VerifyAudit(bytes.NewReader(log), keys)
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	sealed := func() bool { return verify(rig.Exported(r)).Unsealed == 0 }
	decide()
	decide()
	r.Eventually("the log is sealed", sealed)
	before := rig.Exported(r)
	r.Eventually("old entries are removed", func() bool {
		old := time.Now().Add(-50 * time.Millisecond)
		if err := r.Daemons[0].Engine().Audit.TrimBefore(r.Ctx, old); err != nil {
			t.Fatal(err)
		}
		return verify(rig.Exported(r)).Entries == 0
	})
	decide()
	r.Eventually("the log is sealed again", sealed)
	if report := verify(rig.Exported(r)); report.Entries != 1 || len(report.Problems) > 0 {
		t.Errorf("the report is %+v, want one entry and no problems", report)
	}
	// Unless a daemon states that it trimmed the log, entries count as missing.
	lines := strings.SplitAfter(string(rig.Exported(r)), "\n")
	mark := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, `"seal"`) })
	forged := slices.Delete(lines, mark, mark+1)
	if report := verify([]byte(strings.Join(forged, ""))); len(report.Problems) == 0 {
		t.Errorf("the report on a forged log is %+v, want problems", report)
	}
	lines = strings.SplitAfter(string(before), "\n") // the counts come before the first entry
	if report := verify([]byte(strings.Join(slices.Delete(lines, 1, 2), ""))); len(report.Problems) == 0 {
		t.Errorf("removing the first entry was not detected: %+v", report)
	}
}

// tampered returns forgeries of a log, each under a description of the change.
func tampered(log []byte) map[string]string {
	lines := strings.SplitAfter(strings.TrimRight(string(log), "\n"), "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, `"counts"`) })
	entries := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, `"seal"`) })
	out := map[string]string{
		"nothing after an entry": strings.Join(append(slices.Clone(lines[:4]), lines[entries:]...), ""),
		"the end, and its seals": strings.Join(lines[:entries-2], ""),
	}
	for n := range entries {
		out["removed "+lines[n]] = strings.Join(slices.Delete(slices.Clone(lines), n, n+1), "")
		if n+1 < entries {
			swapped := slices.Clone(lines)
			swapped[n], swapped[n+1] = swapped[n+1], swapped[n]
			out["swapped "+lines[n]] = strings.Join(swapped, "")
		}
		for _, change := range [][2]string{{`"tester"`, `"tested"`}, {`"platform":"slack"`, `"platform":"slac"`}, {`"state":"approved"`, `"state":"denied"`}, {`"ts":1`, `"ts":2`}} {
			changed := slices.Clone(lines)
			if changed[n] = strings.Replace(lines[n], change[0], change[1], 1); changed[n] != lines[n] {
				out["changed "+lines[n]+change[1]] = strings.Join(changed, "")
			}
		}
	}
	return out
}

// TestKeyRotation checks that the new key signs, and that signatures of the old
// key remain valid.
func TestKeyRotation(t *testing.T) {
	t.Parallel()
	first, second := strings.Repeat("01", 32), strings.Repeat("02", 32)
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("telegram")(c)
		rig.Auditor(c)
		c.Receipts.Key = config.NewSecret(first)
	}})
	decide := func() bridge.Record {
		rec, err := r.Agent.Open(r.Ctx, samples.Approval(bridge.ScopeOnce), "")
		if err == nil {
			_, err = r.Person.Respond(r.Ctx, rec.Interaction.ID, rig.AnswerOnce)
		}
		if err == nil {
			rec, err = r.Agent.Wait(r.Ctx, rec.Interaction.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	sealed := func() bool {
		keys, err := r.Agent.Keys(r.Ctx)
		if err != nil {
			t.Fatal(err)
		}
		report, err := proof.VerifyAudit(bytes.NewReader(rig.Exported(r)), keys)
		if err != nil || len(report.Problems) > 0 {
			t.Fatalf("%+v, %v", report, err)
		}
		return report.Unsealed == 0
	}
	old := decide()
	r.Eventually("the log is sealed", sealed)
	r.Daemons[0].Stop()
	r.Config.Receipts.Key = config.NewSecret(second + "," + first)
	next := r.Start(rig.Listen(t))
	r.Agent, r.Person = client.New(next.URL, rig.TestAgentToken, nil), client.New(next.URL, rig.AnaToken, nil)
	fresh := decide()
	keys, err := r.Agent.Keys(r.Ctx)
	if err != nil || len(keys.Keys) != 2 {
		t.Fatalf("%+v, %v", keys, err)
	}
	for name, rec := range map[string]bridge.Record{"old": old, "new": fresh} {
		if _, err := keys.VerifyReceipt(rec.Receipt); err != nil {
			t.Errorf("the %s receipt: %v", name, err)
		}
	}
	if _, err := (proof.JWKS{Keys: keys.Keys[1:]}).VerifyReceipt(fresh.Receipt); err == nil {
		t.Error("the old key signed the new receipt")
	}
	r.Eventually("the log is sealed again", sealed)
}

// TestReceiptCommands checks that the commands verify receipts and logs in
// files, without a daemon.
func TestReceiptCommands(t *testing.T) {
	t.Parallel()
	signer, err := proof.NewSigner(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	keys, err := json.Marshal(signer.PublicKeys())
	if err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) (int, string) {
		var out, errs bytes.Buffer
		return Run(args, strings.NewReader(""), &out, &errs), out.String() + errs.String()
	}
	path := file("keys.json", string(keys))
	if code, said := command("receipt", "verify", file("bad", "a.b.c"), "--keys", path); code != 6 || !strings.Contains(said, "signature") {
		t.Errorf("%d: %s", code, said)
	}
	if code, said := command("audit", "verify", file("log", "{\"entry\":\"1-1\",\"ts\":1,\"type\":\"decision\"}\n"), "--keys", path); code != 6 || !strings.Contains(said, "no proof") {
		t.Errorf("%d: %s", code, said)
	}
	if code, said := command("receipt", "verify", "--keys", file("empty", "{}")); code != 2 || !strings.Contains(said, "not a JSON Web Key Set") {
		t.Errorf("%d: %s", code, said)
	}
}

// TestHookVerifies checks that no hook acts on an approval of another request,
// whether it is from a daemon or from an impostor.
func TestHookVerifies(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	a := r.Ask(samples.Approval(bridge.ScopeOnce))
	r.Press("ana", a.On("slack"), "Run command")
	other := a.End().Receipt // valid for another request
	const yes = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`
	const input = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf x"}}`
	for name, tokens := range map[string][]string{"no receipt": nil, "another's": {other}, "nonsense": {"a.b.c"}, "too many": {other, other}} {
		liar := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Nod-Receipt"] = tokens
			_, _ = io.WriteString(w, yes) // the hook may have exited
		}))
		h := startHook(t, liar.URL, "claude", input)
		if out := h.exit(t, hook.Blocks); strings.Contains(out, "allow") || !strings.Contains(h.err.String(), "cannot verify the receipt") {
			t.Errorf("%s: %s%s", name, out, h.err.String())
		}
		liar.Close()
	}
}
