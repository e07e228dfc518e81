package platformtest

import (
	"slices"
	"testing"
)

// RunSmall runs the part of the contract that applies to every platform: cards,
// the decisions of people who click them, callbacks, and the loss of calls. The
// platform must support HTTP mode, and approvals whose controls are buttons.
func RunSmall(t *testing.T, h Harness) {
	t.Run("posting", func(t *testing.T) {
		t.Parallel()
		only(t, New(t, h, Options{Sink: &Recorder{}, Still: true}), posting,
			"a card is posted where it belongs, with controls of its own", "what Check refuses is refused by Post",
			"a message that is gone is a final error", "an update takes the controls away", "a person is told directly",
			"a context that has ended stops a post")
	})
	for name, run := range map[string]func(*testing.T, *Rig){
		"decisions": func(t *testing.T, r *Rig) {
			only(t, r, decisions, "approve once", "deny", "a second decision loses and is told who won",
				"votes are shown and counted once for each person", "only what the agent can take is offered",
				"a click that the service delivers twice counts once")
		},
		"ends": func(t *testing.T, r *Rig) {
			only(t, r, ends, "a request expires, and the late are told", "a cancelled request says so",
				"the card says when the agent has the response", "a notice has no controls")
		},
		"callbacks": func(t *testing.T, r *Rig) {
			only(t, r, callbacks, "what the service did not sign is refused", "a forged token has no effect",
				"a replay changes nothing", "what is not a callback is refused")
		},
		"delivery": func(t *testing.T, r *Rig) {
			only(t, r, delivery, "a card is posted once the service takes it", "an edit that fails is done later")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, New(t, h, Options{HTTP: true}).Connected())
		})
	}
}

// only runs the flows with these names.
func only(t *testing.T, r *Rig, all []flow, names ...string) {
	t.Helper()
	for _, name := range names {
		n := slices.IndexFunc(all, func(f flow) bool { return f.name == name })
		if n < 0 {
			t.Fatalf("no flow %q", name)
		}
		t.Run(name, func(t *testing.T) { all[n].run(r.with(t)) })
	}
}
