package daemon_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// verified returns everything that the verification of the audit log with receipts says.
func verified(x rig.Intruder, receipts ...proof.Receipt) proof.AuditReport {
	x.T.Helper()
	keys, err := x.Agent.Keys(x.Ctx)
	must(x, err)
	report, err := proof.VerifyAudit(bytes.NewReader(rig.Exported(x.Rig)), keys, receipts...)
	must(x, err)
	return report
}

// TestForgedAudit checks that an entry that no daemon wrote is not sealed, and
// that it is found, in a log and by a health check.
func TestForgedAudit(t *testing.T) {
	t.Parallel()
	for what, entry := range map[string][]string{
		"decision": {"decision", "approved"}, "vote": {"vote", "pending"}, "grant": {"grant", ""}, "link": {"link", ""}, "copied grant": {"", ""},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			x := rig.Intruded(t)
			rec := x.Decided(samples.Approval(bridge.ScopeOnce, bridge.ScopeSession), bridge.Reply{Decision: bridge.DecideSession})
			_, receipt := x.Receipt(rec)
			x.Eventually("the log is sealed", func() bool { r := verified(x, receipt); return r.Unsealed == 0 && r.Entries == 2 })
			if r := verified(x, receipt); len(r.Problems) > 0 {
				t.Fatalf("%+v", r)
			}
			data := forged(rec.Interaction, "x")
			kind, state := entry[0], entry[1]
			if kind == "" { // what a daemon wrote, once more
				kind, data = "grant", lastEntry(x, "grant")
			}
			i := rec.Interaction
			appendEntry(x, map[string]any{"k": kind, "i": string(i.ID), "a": i.Agent, "s": i.Session, "st": state, "d": data})
			if what == "copied grant" {
				x.Eventually("it is sealed", func() bool { return verified(x, receipt).Unsealed == 0 })
			} else {
				x.Eventually("the health check says so", func() bool { return strings.Contains(rig.Fetch(x.Rig, x.Daemons[0].URL+"/healthz"), "no proof") })
				if !strings.Contains(rig.Fetch(x.Rig, x.Daemons[0].URL+"/metrics"), "nod_audit_refused 1") {
					t.Error("no metric says so")
				}
				if r := verified(x, receipt); r.Unsealed == 0 {
					t.Errorf("it was sealed: %+v", r)
				}
			}
			if r := verified(x, receipt); len(r.Problems) == 0 {
				t.Errorf("it is not found: %+v", r)
			}
		})
	}
}

const journal = "nod:{nod}:s:journal"

// lastEntry is the data of the last audit entry of a type.
func lastEntry(x rig.Intruder, kind string) string {
	x.T.Helper()
	all, err := x.Client.XRange(x.Ctx, journal, "-", "+").Result()
	must(x, err)
	for _, m := range slices.Backward(all) {
		if m.Values["k"] == kind {
			return m.Values["d"].(string)
		}
	}
	x.T.Fatalf("no %s", kind)
	return ""
}

// appendEntry appends to the journal, as a script does it.
func appendEntry(x rig.Intruder, fields map[string]any) {
	x.T.Helper()
	values := map[string]any{"t": "", "i": "", "a": "", "s": "", "st": "", "x": "", "k": "", "d": ""}
	maps.Copy(values, fields)
	must(x, x.Client.XAdd(x.Ctx, &redis.XAddArgs{Stream: journal, Values: values}).Err())
}

// sealedLog seals a log with one decision. It returns a function that adds another one,
// and one that adds one and says the outcome of the log.
func sealedLog(x rig.Intruder) (more func(), says func() string) {
	x.T.Helper()
	decide := func() proof.Receipt {
		_, receipt := x.Receipt(x.Decided(samples.Approval(bridge.ScopeOnce), rig.AnswerOnce))
		return receipt
	}
	receipts := []proof.Receipt{decide()}
	sealed := func() {
		x.Eventually("the log is sealed", func() bool { return verified(x, receipts...).Unsealed == 0 })
	}
	sealed()
	more = func() { receipts = append(receipts, decide()); sealed() }
	return more, func() string {
		if err := x.Person.Audit(x.Ctx, &bytes.Buffer{}); err != nil {
			return outcomeOf(err, "")
		}
		receipts = append(receipts, decide())
		said := ""
		x.Eventually("the log is sealed, or a problem is found", func() bool {
			r := verified(x, receipts...)
			if len(r.Problems) > 0 {
				said = "a problem"
			} else if r.Unsealed == 0 && int(r.Entries) == len(receipts) {
				said = "sealed"
			}
			return said != ""
		})
		return said
	}
}

func journalScene(x rig.Intruder) scene {
	more, says := sealedLog(x)
	return scene{
		id: "head", other: x.Stored("seal", x.Only("seal")), forge: [2]string{`"sealed":"`, `"sealed":"x`}, next: more, says: says,
	}
}

func sealScene(x rig.Intruder) scene {
	_, says := sealedLog(x)
	return scene{
		id: x.Only("seal"), other: x.Stored("journal", "head"), forge: [2]string{`"`, `"x`}, says: says,
	}
}
