package console_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge/proof"
)

// TestEvidence checks that auditors read and verify the audit log, that others
// do not, and that a receipt verifies only unchanged.
func TestEvidence(t *testing.T) {
	t.Parallel()
	signer, err := proof.NewSigner([]byte(strings.Repeat("s", 32)))
	if err != nil {
		t.Fatal(err)
	}
	o := newOfficeWith(t, signer)
	ana, aud := o.signedIn("ana"), o.signedIn("aud")
	id := o.asks(command("make a"))
	if status, text := ana.approve(id, map[string]any{"decision": "once"}); status != http.StatusOK {
		t.Fatal(status, text)
	}
	_, text := aud.call(http.MethodGet, "/console/audit", nil)
	if !strings.Contains(text, `"type":"decision","id":"`+string(id)+`","title":"Run make a?","agent":"ci","session":"s","state":"approved","by":"ana on api"`) {
		t.Errorf("the log is %s", text)
	}
	var report proof.AuditReport
	_, text = aud.call(http.MethodPost, "/console/audit/verify", "{}")
	if err := json.Unmarshal([]byte(text), &report); err != nil || report.Entries == 0 || len(report.Problems) > 0 {
		t.Errorf("the report is %s", text)
	}
	for method, path := range map[string]string{http.MethodGet: "/console/audit", http.MethodPost: "/console/audit/verify"} {
		if status, _ := ana.call(method, path, nil); status != http.StatusForbidden {
			t.Errorf("ana at %s: %d", path, status)
		}
	}
	var c struct{ Receipt string }
	_, text = ana.call(http.MethodGet, "/console/cards/"+string(id), nil)
	if err := json.Unmarshal([]byte(text), &c); err != nil || c.Receipt == "" {
		t.Fatalf("the card has no receipt: %s", text)
	}
	record, err := json.Marshal(o.get(id))
	if err != nil {
		t.Fatal(err)
	}
	for what, body := range map[string]map[string]any{"id": {"id": id}, "receipt": {"receipt": c.Receipt}, "record": {"receipt": string(record)}} {
		if status, text := ana.call(http.MethodPost, "/console/receipts", body); status != http.StatusOK || !strings.Contains(text, "approved by ana") {
			t.Errorf("%s: %d %s", what, status, text)
		}
	}
	for what, body := range map[string]map[string]any{
		"forged": {"receipt": c.Receipt[:len(c.Receipt)-8] + "AAAAAAAA"}, "changed": {"receipt": strings.Replace(string(record), "make a", "make b", 1)}, "nothing": {"receipt": ""},
	} {
		if status, text := ana.call(http.MethodPost, "/console/receipts", body); status < 400 || status >= 500 {
			t.Errorf("%s: %d %s", what, status, text)
		}
	}
	if status, text := o.signedIn("cy").call(http.MethodPost, "/console/receipts", map[string]any{"id": id}); status != http.StatusNotFound {
		t.Errorf("the receipt of a request that cy may not read: %d %s", status, text)
	}
}
