package daemon_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

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
			verify := func() proof.AuditReport {
				keys, err := x.Agent.Keys(x.Ctx)
				if err != nil {
					t.Fatal(err)
				}
				_, receipt := x.Receipt(rec)
				report, err := proof.VerifyAudit(bytes.NewReader(rig.Exported(x.Rig)), keys, receipt)
				if err != nil {
					t.Fatal(err)
				}
				return report
			}
			x.Eventually("the log is sealed", func() bool { r := verify(); return r.Unsealed == 0 && r.Entries == 2 })
			if r := verify(); len(r.Problems) > 0 {
				t.Fatalf("%+v", r)
			}
			data := forged(rec.Interaction, "x")
			kind, state := entry[0], entry[1]
			if kind == "" { // what a daemon wrote, once more
				kind, data = "grant", lastEntry(x, "grant")
			}
			appendEntry(x, kind, string(rec.Interaction.ID), rec.Interaction.Agent, rec.Interaction.Session, state, data)
			if what == "copied grant" {
				x.Eventually("it is sealed", func() bool { return verify().Unsealed == 0 })
			} else {
				x.Eventually("the health check says so", func() bool { return strings.Contains(rig.Fetch(x.Rig, x.Daemons[0].URL+"/healthz"), "no proof") })
				if !strings.Contains(rig.Fetch(x.Rig, x.Daemons[0].URL+"/metrics"), "nod_audit_refused 1") {
					t.Error("no metric says so")
				}
				if r := verify(); r.Unsealed == 0 {
					t.Errorf("it was sealed: %+v", r)
				}
			}
			if r := verify(); len(r.Problems) == 0 {
				t.Errorf("it is not found: %+v", r)
			}
		})
	}
}

// lastEntry is the data of the last audit entry of a type.
func lastEntry(x rig.Intruder, kind string) string {
	x.T.Helper()
	all, err := x.Client.XRange(x.Ctx, "nod:{nod}:ev", "-", "+").Result()
	if err != nil {
		x.T.Fatal(err)
	}
	for _, m := range slices.Backward(all) {
		if m.Values["k"] == kind {
			return m.Values["d"].(string)
		}
	}
	x.T.Fatalf("no %s", kind)
	return ""
}

// appendEntry appends to the audit log, as a script does it.
func appendEntry(x rig.Intruder, kind, id, agent, session, state, data string) {
	x.T.Helper()
	values := []any{"t", "", "i", id, "a", agent, "s", session, "st", state, "x", "", "k", kind, "d", data}
	if err := x.Client.XAdd(x.Ctx, &redis.XAddArgs{Stream: "nod:{nod}:ev", Values: values}).Err(); err != nil {
		x.T.Fatal(err)
	}
}
