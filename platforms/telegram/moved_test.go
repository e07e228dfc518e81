package telegram_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
)

var (
	small = strconv.FormatInt(sandbox.TelegramSmall, 10)
	grown = strconv.FormatInt(sandbox.TelegramGrown, 10)
)

// TestSupergroup checks that nod follows a basic group that becomes a
// supergroup, even after a restart, and that it reports the new ID.
func TestSupergroup(t *testing.T) {
	t.Parallel()
	s, notes := sandbox.New(sandbox.Options{NoLimits: true}), &platformtest.Memory{}
	t.Cleanup(s.Close)
	p := serveWith(t, s, notes)
	d := bridge.Destination{Channel: small}
	v := notice()
	old, err := p.Post(t.Context(), d, v, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Act(t.Context(), sandbox.Action{Service: "telegram", As: "ana", Do: "upgrade", Channel: small}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Post(t.Context(), d, v, nil); bridge.ErrorCode(err) != bridge.CodeUnavailable {
		t.Errorf("the first error is %v", err)
	}
	again := serveWith(t, s, notes)
	card, err := again.Post(t.Context(), d, v, nil)
	if err != nil || card.Channel != grown {
		t.Errorf("posted at %+v, %v", card, err)
	}
	if err := again.Remind(t.Context(), d, old, bridge.Reminder{Users: []string{"7001"}, Text: "waiting"}); err != nil {
		t.Errorf("a reminder: %v", err)
	}
	if err := again.Update(t.Context(), old, v, nil); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("the update of an old card: %v", err)
	}
	findings := again.Diagnose(t.Context(), bridge.Needs{Destinations: []bridge.Destination{d}})
	if !slices.ContainsFunc(findings, func(f bridge.Finding) bool {
		return f.Status == bridge.FindingWarning && strings.Contains(f.Fix, grown)
	}) {
		t.Errorf("doctor finds %+v", findings)
	}
}

// TestSupergroupUpdate checks that the update about a move is enough to follow
// it, and that commands in the supergroup are for the configured group too.
func TestSupergroupUpdate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, a := range []sandbox.Action{{Do: "upgrade", Channel: small}, {Do: "send", Channel: grown, Text: "/nod mute"}} {
		a.Service, a.As = "telegram", "ana"
		if _, err := w.s.Act(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		w.eventually("nod remembers the supergroup", func() bool {
			to, err := w.notes.Note(t.Context(), "moved:telegram:"+small)
			return err == nil && to == grown
		})
	}
	w.eventually("the command arrives", func() bool { return len(w.sink.Commands()) > 0 })
	if got := w.sink.Commands()[0].Channels; !slices.Contains(got, small) || !slices.Contains(got, grown) {
		t.Errorf("the command is for %v", got)
	}
}
