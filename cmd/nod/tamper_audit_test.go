package main

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
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
			x := intruded(t)
			rec := x.decided(approval(bridge.ScopeOnce, bridge.ScopeSession), bridge.Reply{Decision: bridge.DecideSession})
			verify := func() proof.AuditReport {
				keys, err := x.agent.Keys(x.ctx)
				if err != nil {
					t.Fatal(err)
				}
				_, receipt := x.receipt(rec)
				report, err := proof.VerifyAudit(bytes.NewReader(exported(x.rig)), keys, receipt)
				if err != nil {
					t.Fatal(err)
				}
				return report
			}
			x.eventually("the log is sealed", func() bool { r := verify(); return r.Unsealed == 0 && r.Entries == 2 })
			if r := verify(); len(r.Problems) > 0 || r.Unproven > 0 {
				t.Fatalf("%+v", r)
			}
			data := forged(rec.Interaction, "x")
			kind, state := entry[0], entry[1]
			if kind == "" { // what a daemon wrote, once more
				kind, data = "grant", x.lastEntry("grant")
			}
			x.append(kind, string(rec.Interaction.ID), rec.Interaction.Agent, rec.Interaction.Session, state, data)
			if what == "copied grant" {
				x.eventually("it is sealed", func() bool { return verify().Unsealed == 0 })
			} else {
				x.eventually("the health check says so", func() bool { return strings.Contains(fetch(x.rig, x.daemons[0].url+"/healthz"), "no proof") })
				if !strings.Contains(fetch(x.rig, x.daemons[0].url+"/metrics"), "nod_audit_refused 1") {
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
func (x intruder) lastEntry(kind string) string {
	x.t.Helper()
	all, err := x.client.XRange(x.ctx, "nod:{0}:au", "-", "+").Result()
	if err != nil {
		x.t.Fatal(err)
	}
	for _, m := range slices.Backward(all) {
		if m.Values["t"] == kind {
			return m.Values["d"].(string)
		}
	}
	x.t.Fatalf("no %s", kind)
	return ""
}

// append appends to the audit log, linked as a script does it.
func (x intruder) append(kind, id, agent, session, state, data string) {
	x.t.Helper()
	head, err := x.client.HMGet(x.ctx, "nod:{0}:auh", "n", "l").Result()
	if err != nil {
		x.t.Fatal(err)
	}
	var n int
	if _, err := fmt.Sscan(head[0].(string), &n); err != nil {
		x.t.Fatal(err)
	}
	n++
	at := fmt.Sprint(time.Now().UnixMilli())
	parts := []string{head[1].(string)}
	for _, f := range []string{fmt.Sprint(n), at, kind, id, agent, session, state, data} {
		parts = append(parts, fmt.Sprintf("%d:%s", len(f), f))
	}
	sum := sha1.Sum([]byte(strings.Join(parts, "\n")))
	link := hex.EncodeToString(sum[:])
	if err := x.client.XAdd(x.ctx, &redis.XAddArgs{Stream: "nod:{0}:au", Values: []any{"n", n, "ts", at, "t", kind, "i", id, "a", agent, "s", session, "st", state, "d", data, "l", link}}).Err(); err != nil {
		x.t.Fatal(err)
	}
	x.set("nod:{0}:auh", "n", n, "l", link)
}
