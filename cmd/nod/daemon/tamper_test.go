package daemon_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// scene is a document that someone changes who can write to Redis and has no key.
type scene struct {
	id string
	// other is a stored document of the same kind that would help the intruder.
	// If the installation has only one document of the kind, other is of
	// another kind.
	other string
	// forge is a part of the value, and what the intruder wants instead.
	forge [2]string
	// next brings about the next version. It is nil for a document that has only one.
	next func()
	// says returns the outcome of the document.
	says func() string
}

// outcomes has the outcome of a document that no one has changed, and of each way to
// change it. A change in brackets cannot be prevented; docs/security.md lists it. A
// document that has only one version has no earlier one.
type outcomes struct{ intact, forged, swapped, earlier, deleted string }

// tampered has, for each kind of documents, a scene and the outcome of it.
var tampered = map[string]struct {
	scene func(rig.Intruder) scene
	want  outcomes
}{
	// After the life is replaced by an earlier version, its decision is missing. For a few
	// seconds, the daemon that recorded it notices that, and records it again. A deleted
	// life is not found.
	"life": {lifeScene, outcomes{"pending", "forbidden", "forbidden", "denied", "not_found"}},
	"body": {bodyScene, outcomes{"pending", "forbidden", "forbidden", "forbidden", "not_found"}},
	// No one can approve on a card that is not known to be shown. Other cards and the
	// console still take answers.
	"card": {cardScene, outcomes{"shown", "not shown", "not shown", "shown", "not shown"}},

	"call":      {callScene, outcomes{"pending", "forbidden", "forbidden", "pending", "asked again"}},
	"retry":     {retryScene, outcomes{"pending", "forbidden", "forbidden", "", "asked again"}},
	"duplicate": {duplicateScene, outcomes{"pending", "forbidden", "forbidden", "asked again", "asked again"}},

	"grant":  {grantScene, outcomes{"approved", "pending", "pending", "(approved)", "pending"}},
	"given":  {givenScene, outcomes{"revoked", "forbidden", "forbidden", "", "(given again)"}},
	"memory": {memoryScene, outcomes{"once", "", "", "(once)", ""}},

	"link":    {linkScene, outcomes{"approved", "pending", "pending", "(approved)", "pending"}},
	"passkey": {passkeyScene, outcomes{"used", "forbidden", "forbidden", "(used)", "forbidden"}},
	"note":    {noteScene, outcomes{"ana", "", "", "(ana)", ""}},
	"lease":   {leaseScene, outcomes{"held", "(free)", "(free)", "(held)", "(free)"}},
	"limit":   {limitScene, outcomes{"waits", "waits", "waits", "waits", "(turn)"}},
	"draft":   {draftScene, outcomes{"eu", "", "", "(eu)", ""}},

	"stop":   {stopScene, outcomes{"denied", "forbidden", "forbidden", "denied", "(pending)"}},
	"report": {reportScene, outcomes{"Fix it", "forbidden", "forbidden", "(Fix it)", ""}},

	// The messages say themselves whether the agent has acknowledged them.
	"inbox":   {inboxScene, outcomes{"first", "first", "first", "", "first"}},
	"message": {messageScene, outcomes{"first", "", "", "first", ""}},

	// Without the last seal, the log is sealed from the one before it, or from its
	// start. Receipts, and seals that others keep, show what was removed.
	"journal": {journalScene, outcomes{"sealed", "unavailable", "unavailable", "(sealed)", "(sealed)"}},
	// The next seal covers the same entries.
	"seal": {sealScene, outcomes{"sealed", "sealed", "sealed", "", "sealed"}},
}

// TestTampered changes documents of all kinds in Redis.
func TestTampered(t *testing.T) {
	t.Parallel()
	x := rig.Intruded(t, func(c *config.Config) {
		route(func(r *config.Route) {
			r.Responders = []string{"ana", "bo"}
			r.Escalation = []config.Step{{After: config.Duration(time.Hour), Ask: []string{"cy"}}}
		})(c)
		delete(c.People, "mal")
		c.Identity.Linking = true
		c.Agents["tester"] = config.Agent{Token: config.NewSecret(rig.TestAgentToken), PerMinute: 10_000, MaxPending: 10_000}
	})
	kinds := broker.Kinds()
	for kind := range tampered {
		if !slices.Contains(kinds, kind) {
			t.Errorf("there are no documents of the kind %s", kind)
		}
	}
	for _, kind := range kinds {
		row, ok := tampered[kind]
		if !ok {
			t.Errorf("no one knows the outcome of a changed document of the kind %s", kind)
			continue
		}
		alone := kind == "journal" || kind == "seal" // each scene changes the whole audit log
		t.Run(kind, func(t *testing.T) {
			check := func(way, want string, change func(x rig.Intruder, s scene)) {
				t.Run(way, func(t *testing.T) {
					x := x
					if x.T = t; alone {
						t.Parallel()
						x = rig.Intruded(t)
					}
					s := row.scene(x)
					if way == "earlier" && s.next == nil {
						if want != "" {
							t.Error("it has no earlier version")
						}
						return
					}
					change(x, s)
					if got := s.says(); got != strings.Trim(want, "()") {
						t.Errorf("%q; want %q", got, want)
					}
				})
			}
			check("intact", row.want.intact, func(rig.Intruder, scene) {})
			forge := func(x rig.Intruder, s scene) (header, value, end string) {
				header, value, end = x.Value(kind, s.id)
				if !strings.Contains(value, s.forge[0]) {
					x.T.Fatalf("no %q in %s", s.forge[0], value)
				}
				return header, strings.Replace(value, s.forge[0], s.forge[1], 1), end
			}
			check("forged", row.want.forged, func(x rig.Intruder, s scene) {
				header, value, end := forge(x, s)
				x.Store(kind, s.id, header+value+end)
			})
			check("planted", row.want.forged, func(x rig.Intruder, s scene) { // as a daemon without keys writes it
				header, value, end := forge(x, s)
				x.Store(kind, s.id, header[:rig.SealAt]+strings.Repeat("-", len(header)-rig.SealAt)+value+end)
			})
			check("malformed", row.want.forged, func(x rig.Intruder, s scene) { x.Store(kind, s.id, "x") })
			check("another type", row.want.deleted, func(x rig.Intruder, s scene) {
				key := rig.DocumentKey(kind, s.id)
				x.Client.Del(x.Ctx, key)
				if err := x.Client.HSet(x.Ctx, key, "a", "x").Err(); err != nil {
					x.T.Fatal(err)
				}
			})
			check("swapped", row.want.swapped, func(x rig.Intruder, s scene) { x.Store(kind, s.id, s.other) })
			check("earlier", row.want.earlier, func(x rig.Intruder, s scene) {
				was := x.Stored(kind, s.id)
				s.next()
				if now, err := x.Client.Get(x.Ctx, rig.DocumentKey(kind, s.id)).Result(); err == nil && now == was {
					x.T.Errorf("there is no next version of %s", was)
				}
				x.Store(kind, s.id, was)
			})
			check("deleted", row.want.deleted, func(x rig.Intruder, s scene) {
				if n, err := x.Client.Del(x.Ctx, rig.DocumentKey(kind, s.id)).Result(); err != nil || n != 1 {
					x.T.Fatal(n, err)
				}
			})
		})
	}
}

// outcomeOf returns the code of an error, or else what someone says.
func outcomeOf(err error, text string) string {
	if err != nil {
		return string(bridge.ErrorCode(err))
	}
	return text
}
